// Threads that use one context as hosts do on their worst days: objects are released while commands use them, commands
// are held back by user events that other threads end, callbacks release what they are called for, and with "leave" the
// process ends in the middle of it all. Prints the number of rounds, and what was wrong.
#include <CL/cl.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kItems = 64;
const char* const kSource =
    "__kernel void add(__global int *a, int n) { a[get_global_id(0)] += n; }\n"
    "__kernel void sum(__global const int *restrict a, __global int *restrict s, int n) {\n"
    "  int t = 0; for (int i = 0; i < n; ++i) t += a[i]; s[0] = t; }\n";

cl_device_id device;
cl_context context;
cl_program program;
std::atomic<int> wrong{0}, rounds{0}, called{0}, registered{0};

void check(cl_int code, int line) {
  if (code == CL_SUCCESS) return;
  if (++wrong < 20) std::printf("line %d: error %d\n", line, code);
}
#define DO(CALL) check((CALL), __LINE__)

void expect(int found, int wanted, int line) {
  if (found == wanted) return;
  if (++wrong < 20) std::printf("line %d: %d instead of %d\n", line, found, wanted);
}

void CL_CALLBACK count(cl_event event, cl_int, void*) {
  ++called;
  clReleaseEvent(event);
}

void CL_CALLBACK destroyed(cl_mem, void*) { ++called; }

cl_command_queue make_queue(bool ordered) {
  cl_int code;
  cl_command_queue_properties bits = ordered ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  cl_command_queue made = clCreateCommandQueue(context, device, bits | CL_QUEUE_PROFILING_ENABLE, &code);
  DO(code);
  return made;
}

/// The event has a reference for the callback, which releases it.
void watch(cl_event event) {
  ++registered;
  DO(clRetainEvent(event));
  DO(clSetEventCallback(event, CL_COMPLETE, count, nullptr));
}

/// Writes, a launch and a map in any order that the events allow; everything is released before it has begun.
void held_back(int seed) {
  cl_int code;
  cl_command_queue queue = make_queue(false);
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, kItems * sizeof(int), nullptr, &code);
  DO(code);
  ++registered;
  DO(clSetMemObjectDestructorCallback(memory, destroyed, nullptr));
  std::vector<int> data(kItems, seed);
  cl_event gate = clCreateUserEvent(context, &code), written, added, mapped;
  DO(code);
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  DO(code);
  size_t size = kItems;
  DO(clSetKernelArg(kernel, 0, sizeof memory, &memory));
  DO(clSetKernelArg(kernel, 1, sizeof seed, &seed));
  DO(clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, kItems * sizeof(int), data.data(), 1, &gate, &written));
  DO(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &size, nullptr, 1, &written, &added));
  auto* seen = static_cast<int*>(clEnqueueMapBuffer(queue, memory, CL_FALSE, CL_MAP_READ, 0, kItems * sizeof(int), 1,
                                                    &added, &mapped, &code));
  DO(code);
  watch(added);
  watch(mapped);
  DO(clReleaseKernel(kernel));
  DO(clReleaseEvent(written));
  DO(clReleaseEvent(added));
  std::thread other([gate] {
    DO(clSetUserEventStatus(gate, CL_COMPLETE));
    DO(clReleaseEvent(gate));
  });
  DO(clFlush(queue));
  DO(clWaitForEvents(1, &mapped));
  for (int k = 0; k < kItems; ++k) expect(seen[k], 2 * seed, __LINE__);
  DO(clEnqueueUnmapMemObject(queue, memory, seen, 0, nullptr, nullptr));
  DO(clReleaseMemObject(memory));
  DO(clReleaseEvent(mapped));
  other.join();
  DO(clReleaseCommandQueue(queue));
}

/// A chain in order, whose result a host polls for.
void polled(int seed) {
  cl_int code;
  cl_command_queue queue = make_queue(true);
  std::vector<int> data(kItems, seed);
  cl_mem from = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, kItems * sizeof(int), data.data(), &code);
  DO(code);
  cl_mem to = clCreateBuffer(context, 0, sizeof(int), nullptr, &code);
  DO(code);
  cl_kernel kernel = clCreateKernel(program, "sum", &code);
  DO(code);
  int n = kItems, result = -1;
  size_t one = 1;
  DO(clSetKernelArg(kernel, 0, sizeof from, &from));
  DO(clSetKernelArg(kernel, 1, sizeof to, &to));
  DO(clSetKernelArg(kernel, 2, sizeof n, &n));
  DO(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr));
  DO(clReleaseMemObject(from));
  DO(clReleaseKernel(kernel));
  cl_event read;
  DO(clEnqueueReadBuffer(queue, to, CL_FALSE, 0, sizeof result, &result, 0, nullptr, &read));
  DO(clReleaseMemObject(to));
  cl_int status = CL_QUEUED;
  while (status > CL_COMPLETE) DO(clGetEventInfo(read, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  expect(status, CL_COMPLETE, __LINE__);
  expect(result, kItems * seed, __LINE__);
  cl_ulong start = 0, end = 0;
  DO(clGetEventProfilingInfo(read, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr));
  DO(clGetEventProfilingInfo(read, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr));
  expect(end >= start, 1, __LINE__);
  DO(clReleaseEvent(read));
  DO(clReleaseCommandQueue(queue));
}

void work(int number, int count) {
  for (int k = 0; k < count; ++k) {
    held_back(number * 1000 + k);
    polled(number * 7 + k);
    ++rounds;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 8, count = argc > 2 ? std::atoi(argv[2]) : 4;
  bool leave = argc > 3 && !std::strcmp(argv[3], "leave");
  cl_int code;
  cl_platform_id platform;
  DO(clGetPlatformIDs(1, &platform, nullptr));
  DO(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  DO(code);
  program = clCreateProgramWithSource(context, 1, const_cast<const char**>(&kSource), nullptr, &code);
  DO(code);
  DO(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  std::vector<std::thread> all;
  for (int k = 0; k < threads; ++k) all.emplace_back(work, k + 1, count);
  while (leave && rounds < count) std::this_thread::yield();
  if (leave) std::exit(3);
  for (auto& one : all) one.join();
  for (int k = 0; k < 2000 && called < registered; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  expect(called, registered, __LINE__);
  DO(clReleaseProgram(program));
  DO(clReleaseContext(context));
  std::printf("%d rounds, %d wrong\n", rounds.load(), wrong.load());
  return wrong != 0;
}
