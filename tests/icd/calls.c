/* Calls of the host API with what the standard demands of each; prints those that answer otherwise. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong = 0, done = 0;

static void expect(const char *text, int line, long found, long wanted) {
  ++done;
  if (found == wanted) return;
  ++wrong;
  printf("line %d: %s: %ld instead of %ld\n", line, text, found, wanted);
}
#define EXPECT(WANTED, CALL) expect(#CALL, __LINE__, (long)(CALL), (long)(WANTED))
/* a call that stores its code at `code` */
#define EXPECT_CODE(WANTED, CALL) ((void)(CALL), expect(#CALL, __LINE__, code, WANTED))

static const char *source =
    "__kernel void add(__global int *a, __global const int *b, int n) { int i = get_global_id(0); if (i < n) a[i] += b[i]; }\n"
    "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void four(__global int *a, __local int *t) {\n"
    "  t[get_local_id(0)] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  a[get_global_id(0)] = t[3 - get_local_id(0)]; }\n";

static cl_platform_id platform;
static cl_device_id device;
static cl_context context, second;
static cl_command_queue queue;
static cl_program program;
static cl_kernel add, four;
static cl_mem a, b;
static cl_int code;

static void platforms(void) {
  cl_uint count;
  char text[8];
  EXPECT(CL_SUCCESS, clGetPlatformIDs(1, &platform, &count));
  EXPECT(1, count);
  EXPECT(CL_INVALID_VALUE, clGetPlatformIDs(0, &platform, NULL));
  EXPECT(CL_INVALID_VALUE, clGetPlatformInfo(platform, CL_PLATFORM_NAME, 1, text, NULL));
  EXPECT(CL_INVALID_VALUE, clGetPlatformInfo(platform, 12345, 0, NULL, NULL));
  EXPECT(CL_DEVICE_NOT_FOUND, clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
  EXPECT(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(platform, 1 << 20, 1, &device, NULL));
  EXPECT(CL_INVALID_VALUE, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &device, NULL));
  EXPECT(CL_SUCCESS, clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, &count));
  EXPECT(1, count);
  EXPECT(CL_INVALID_VALUE, clGetDeviceInfo(device, 1, 0, NULL, NULL));
  EXPECT(CL_INVALID_DEVICE, clGetDeviceInfo(NULL, CL_DEVICE_NAME, 0, NULL, NULL));
}

static void contexts(void) {
  cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, CL_CONTEXT_PLATFORM,
                                   (cl_context_properties)platform, 0};
  cl_context_properties unknown[] = {77, 1, 0};
  EXPECT_CODE(CL_INVALID_VALUE, clCreateContext(NULL, 0, &device, NULL, NULL, &code));
  EXPECT_CODE(CL_INVALID_VALUE, clCreateContext(NULL, 1, NULL, NULL, NULL, &code));
  EXPECT_CODE(CL_INVALID_PROPERTY, clCreateContext(twice, 1, &device, NULL, NULL, &code));
  EXPECT_CODE(CL_INVALID_PROPERTY, clCreateContext(unknown, 1, &device, NULL, NULL, &code));
  EXPECT_CODE(CL_DEVICE_NOT_FOUND, clCreateContextFromType(NULL, CL_DEVICE_TYPE_GPU, NULL, NULL, &code));
  EXPECT_CODE(CL_SUCCESS, second = clCreateContextFromType(NULL, CL_DEVICE_TYPE_DEFAULT, NULL, NULL, &code));
  EXPECT_CODE(CL_SUCCESS, context = clCreateContext(NULL, 1, &device, NULL, NULL, &code));
  cl_uint count = 0;
  EXPECT(CL_SUCCESS, clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL));
  EXPECT(1, count);
  EXPECT(CL_SUCCESS, clRetainContext(context));
  clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL);
  EXPECT(2, count);
  EXPECT(CL_SUCCESS, clReleaseContext(context));
  EXPECT(CL_INVALID_CONTEXT, clRetainContext(NULL));
}

static void queues(void) {
  EXPECT_CODE(CL_INVALID_VALUE, clCreateCommandQueue(context, device, 1 << 9, &code));
  EXPECT_CODE(CL_INVALID_CONTEXT, clCreateCommandQueue(NULL, device, 0, &code));
  EXPECT_CODE(CL_INVALID_DEVICE, clCreateCommandQueue(context, NULL, 0, &code));
  EXPECT_CODE(CL_SUCCESS, queue = clCreateCommandQueue(context, device, 0, &code));
  EXPECT(CL_INVALID_COMMAND_QUEUE, clFinish(NULL));
  cl_command_queue other = clCreateCommandQueue(context, device, 0, &code);
  EXPECT(CL_SUCCESS, clReleaseCommandQueue(other));
  EXPECT(CL_INVALID_COMMAND_QUEUE, clFinish(other));
  EXPECT(CL_INVALID_COMMAND_QUEUE, clReleaseCommandQueue(other));
}

static void buffers(void) {
  int host[64];
  cl_ulong most;
  cl_buffer_region inside = {128, 64}, outside = {0, 1 << 20}, odd = {4, 8};
  clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
  EXPECT_CODE(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, 0, NULL, &code));
  EXPECT_CODE(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, most + 1, NULL, &code));
  EXPECT_CODE(CL_INVALID_VALUE, clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, NULL, &code));
  EXPECT_CODE(CL_INVALID_HOST_PTR, clCreateBuffer(context, 0, 4, host, &code));
  EXPECT_CODE(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4, NULL, &code));
  EXPECT_CODE(CL_SUCCESS, a = clCreateBuffer(context, CL_MEM_READ_WRITE, 256, NULL, &code));
  EXPECT_CODE(CL_SUCCESS, b = clCreateBuffer(context, CL_MEM_READ_ONLY, 256, NULL, &code));
  EXPECT(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 257, host, 0, NULL, NULL));
  EXPECT(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 4, NULL, 0, NULL, NULL));
  EXPECT(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, NULL, CL_TRUE, 0, 4, host, 0, NULL, NULL));
  EXPECT(CL_INVALID_EVENT_WAIT_LIST, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 4, host, 1, NULL, NULL));
  EXPECT(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, a, a, 0, 8, 16, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueCopyBuffer(queue, a, a, 0, 16, 16, 0, NULL, NULL));
  EXPECT(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, a, host, 3, 0, 6, 0, NULL, NULL));
  EXPECT_CODE(CL_INVALID_VALUE, clCreateSubBuffer(a, 0, CL_BUFFER_CREATE_TYPE_REGION, &outside, &code));
  EXPECT_CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET, clCreateSubBuffer(a, 0, CL_BUFFER_CREATE_TYPE_REGION, &odd, &code));
  cl_mem part;
  EXPECT_CODE(CL_SUCCESS, part = clCreateSubBuffer(a, 0, CL_BUFFER_CREATE_TYPE_REGION, &inside, &code));
  EXPECT_CODE(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &inside, &code));
  EXPECT(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, part, a, 0, 130, 16, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clReleaseMemObject(part));
  cl_mem hidden = clCreateBuffer(context, CL_MEM_HOST_NO_ACCESS, 64, NULL, &code);
  EXPECT(CL_INVALID_OPERATION, clEnqueueReadBuffer(queue, hidden, CL_TRUE, 0, 4, host, 0, NULL, NULL));
  EXPECT(CL_INVALID_OPERATION, clEnqueueWriteBuffer(queue, hidden, CL_TRUE, 0, 4, host, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clReleaseMemObject(hidden));
  EXPECT(CL_INVALID_MEM_OBJECT, clReleaseMemObject(hidden));
}

static void programs(void) {
  const char *bad = "__kernel void k(__global int *a) { a[0] = nothing; }";
  const unsigned char junk[] = "no binary", *binary = junk;
  size_t size = sizeof junk, count = 0;
  cl_int status = 1;
  EXPECT_CODE(CL_INVALID_VALUE, clCreateProgramWithSource(context, 0, NULL, NULL, &code));
  EXPECT_CODE(CL_INVALID_BINARY, clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &code));
  EXPECT(CL_INVALID_BINARY, status);
  program = clCreateProgramWithSource(context, 1, &bad, NULL, &code);
  EXPECT_CODE(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(program, "k", &code));
  EXPECT(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 0, NULL, "", NULL, NULL));
  EXPECT(CL_SUCCESS, clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &count));
  EXPECT(1, count > 20);
  EXPECT(CL_SUCCESS, clReleaseProgram(program));
  program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  EXPECT(CL_INVALID_BUILD_OPTIONS, clBuildProgram(program, 0, NULL, "-nonsense", NULL, NULL));
  EXPECT(CL_SUCCESS, clBuildProgram(program, 1, &device, "-DX=1", NULL, NULL));
  EXPECT_CODE(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "nobody", &code));
  EXPECT_CODE(CL_INVALID_VALUE, clCreateKernel(program, NULL, &code));
  EXPECT_CODE(CL_SUCCESS, add = clCreateKernel(program, "add", &code));
  EXPECT_CODE(CL_SUCCESS, four = clCreateKernel(program, "four", &code));
  EXPECT(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, "", NULL, NULL));
  EXPECT(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
  EXPECT(2, count);
}

/* the hosts of boards whose binary is the hardware make kernels of it at once */
static void binaries(void) {
  size_t size, count = 0;
  EXPECT(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  unsigned char *bytes = malloc(size);
  EXPECT(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
  const unsigned char *binary = bytes;
  for (int names_first = 0; names_first < 2; ++names_first) {
    cl_program saved;
    EXPECT_CODE(CL_SUCCESS, saved = clCreateProgramWithBinary(context, 1, &device, &size, &binary, NULL, &code));
    if (names_first) EXPECT(CL_SUCCESS, clGetProgramInfo(saved, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
    cl_kernel kernel;
    EXPECT_CODE(CL_SUCCESS, kernel = clCreateKernel(saved, "add", &code));
    EXPECT_CODE(CL_INVALID_KERNEL_NAME, clCreateKernel(saved, "nobody", &code));
    EXPECT(CL_SUCCESS, clReleaseKernel(kernel));
    EXPECT(CL_SUCCESS, clReleaseProgram(saved));
  }
  EXPECT(2, count);
  free(bytes);
}

/* another vendor's way to give a host pointer and a bank */
static void extended_pointers(void) {
  struct { unsigned flags; void *host; void *kernel; } extended = {2, NULL, NULL};
  cl_mem_flags extends = (cl_mem_flags)1 << 31, flags;
  int values[4] = {1, 2, 3, 4}, found[4] = {0};
  EXPECT_CODE(CL_INVALID_HOST_PTR, clCreateBuffer(context, extends | CL_MEM_READ_WRITE, 16, NULL, &code));
  cl_mem made = clCreateBuffer(context, extends | CL_MEM_READ_WRITE, 16, &extended, &code);
  EXPECT(CL_SUCCESS, code);
  EXPECT(CL_SUCCESS, clReleaseMemObject(made));
  extended.host = values;
  EXPECT_CODE(CL_INVALID_HOST_PTR, clCreateBuffer(context, extends | CL_MEM_READ_WRITE, 16, &extended, &code));
  for (unsigned topology = 0; topology < 2; ++topology) {
    extended.flags = topology ? 1u << 31 | 1 : 2; /* the second bank */
    made = clCreateBuffer(context, extends | CL_MEM_USE_HOST_PTR, 16, &extended, &code);
    EXPECT(CL_SUCCESS, code);
    EXPECT(CL_SUCCESS, clGetMemObjectInfo(made, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    EXPECT(2 << 16, flags & 7 << 16);
    EXPECT(CL_SUCCESS, clEnqueueReadBuffer(queue, made, CL_TRUE, 0, 16, found, 0, NULL, NULL));
    EXPECT(0, memcmp(found, values, 16));
    EXPECT(CL_SUCCESS, clReleaseMemObject(made));
  }
}

static void arguments(void) {
  int n = 16;
  cl_mem null = NULL;
  cl_mem foreign = clCreateBuffer(second, 0, 64, NULL, &code);
  EXPECT(CL_INVALID_ARG_INDEX, clSetKernelArg(add, 3, sizeof n, &n));
  EXPECT(CL_INVALID_ARG_SIZE, clSetKernelArg(add, 2, 8, &n));
  EXPECT(CL_INVALID_ARG_VALUE, clSetKernelArg(add, 2, sizeof n, NULL));
  EXPECT(CL_INVALID_ARG_SIZE, clSetKernelArg(add, 0, 4, &a));
  EXPECT(CL_INVALID_MEM_OBJECT, clSetKernelArg(add, 0, sizeof a, &queue));
  EXPECT(CL_INVALID_MEM_OBJECT, clSetKernelArg(add, 0, sizeof a, &foreign));
  size_t items = 16;
  EXPECT(CL_SUCCESS, clSetKernelArg(add, 0, sizeof a, &a));
  EXPECT(CL_SUCCESS, clSetKernelArg(add, 2, sizeof n, &n));
  cl_mem brief = clCreateBuffer(context, 0, 64, NULL, &code); /* a kernel does not keep it */
  EXPECT(CL_SUCCESS, clSetKernelArg(add, 1, sizeof brief, &brief));
  EXPECT(CL_SUCCESS, clReleaseMemObject(brief));
  EXPECT(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &items, NULL, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clSetKernelArg(add, 0, sizeof a, &null));
  EXPECT(CL_INVALID_ARG_VALUE, clSetKernelArg(four, 1, 16, &n));
  EXPECT(CL_INVALID_ARG_SIZE, clSetKernelArg(four, 1, 0, NULL));
  EXPECT(CL_INVALID_KERNEL, clSetKernelArg(NULL, 0, sizeof a, &a));
  EXPECT(CL_INVALID_KERNEL, clSetKernelArg((cl_kernel)a, 0, sizeof a, &a));
  EXPECT(CL_INVALID_ARG_INDEX, clSetKernelArg(add, 77, sizeof a, &a));
  EXPECT(CL_INVALID_ARG_SIZE, clSetKernelArg(add, 2, 0, &n));
  EXPECT(CL_INVALID_ARG_SIZE, clSetKernelArg(add, 0, 0, NULL));
  EXPECT(CL_SUCCESS, clSetKernelArg(add, 0, sizeof a, NULL)); /* a null pointer */
  EXPECT(CL_INVALID_MEM_OBJECT, clSetKernelArg(add, 1, sizeof brief, &brief)); /* released */
  EXPECT(CL_SUCCESS, clReleaseMemObject(foreign));
}

static void launches(void) {
  size_t size = 16, zero = 0, three = 3, four_items = 4, huge = ~(size_t)0, most = huge / 2;
  size_t cube[3] = {(size_t)1 << 32, (size_t)1 << 32, 1};
  int n = 16, first[64], other[64];
  for (int k = 0; k < 64; ++k) first[k] = k, other[k] = 100;
  EXPECT(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(queue, four, 1, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, 256, first, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, 256, other, 0, NULL, NULL));
  clSetKernelArg(add, 0, sizeof a, &a);
  clSetKernelArg(add, 1, sizeof b, &b);
  clSetKernelArg(add, 2, sizeof n, &n);
  clSetKernelArg(four, 0, sizeof a, &a);
  EXPECT(CL_SUCCESS, clSetKernelArg(four, 1, 16, NULL));
  EXPECT(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(queue, add, 4, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(queue, add, 0, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_INVALID_COMMAND_QUEUE, clEnqueueNDRangeKernel(NULL, add, 1, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_INVALID_COMMAND_QUEUE, clEnqueueNDRangeKernel((cl_command_queue)a, add, 1, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_INVALID_KERNEL, clEnqueueNDRangeKernel(queue, NULL, 1, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_INVALID_KERNEL, clEnqueueTask(queue, NULL, 0, NULL, NULL));
  cl_command_queue foreign = clCreateCommandQueue(second, device, 0, &code);
  cl_event far, invalid = (cl_event)a;
  EXPECT(CL_INVALID_CONTEXT, clEnqueueNDRangeKernel(foreign, add, 1, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueMarkerWithWaitList(foreign, 0, NULL, &far));
  EXPECT(CL_INVALID_CONTEXT, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 1, &far, NULL));
  EXPECT(CL_INVALID_EVENT_WAIT_LIST, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 0, &far, NULL));
  EXPECT(CL_INVALID_EVENT_WAIT_LIST, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 1, NULL, NULL));
  EXPECT(CL_INVALID_EVENT_WAIT_LIST, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 1, &invalid, NULL));
  EXPECT(CL_SUCCESS, clReleaseEvent(far));
  EXPECT(CL_SUCCESS, clReleaseCommandQueue(foreign));
  size_t odd_size = 18;
  EXPECT(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, four, 1, NULL, &odd_size, NULL, 0, NULL, NULL));
  EXPECT(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, &zero, 0, NULL, NULL));
  EXPECT(CL_INVALID_WORK_GROUP_SIZE, clEnqueueTask(queue, four, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &zero, NULL, 0, NULL, NULL)); /* nothing to do */
  EXPECT(CL_INVALID_GLOBAL_WORK_SIZE, clEnqueueNDRangeKernel(queue, add, 1, NULL, &huge, NULL, 0, NULL, NULL));
  EXPECT(CL_INVALID_GLOBAL_OFFSET, clEnqueueNDRangeKernel(queue, add, 1, &most, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, add, 3, NULL, cube, cube, 0, NULL, NULL));
  EXPECT(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, &three, 0, NULL, NULL));
  EXPECT(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, four, 1, NULL, &size, &size, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueNDRangeKernel(queue, four, 1, NULL, &size, &four_items, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 256, first, 0, NULL, NULL));
  EXPECT(103, first[0]);
  EXPECT(112, first[15]);
  EXPECT(16, first[16]);
  EXPECT(CL_INVALID_OPERATION, clEnqueueNativeKernel(queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
}

static void mappings(void) {
  int *seen = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 256, 0, NULL, NULL, &code);
  EXPECT(CL_SUCCESS, code);
  EXPECT(103, seen[0]);
  cl_uint count;
  clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof count, &count, NULL);
  EXPECT(1, count);
  seen[0] = 7;
  EXPECT(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, a, seen + 1, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueUnmapMemObject(queue, a, seen, 0, NULL, NULL));
  EXPECT(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, a, seen, 0, NULL, NULL));
  int found = 0, host[16];
  EXPECT(CL_SUCCESS, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 4, &found, 0, NULL, NULL));
  EXPECT(7, found);
  for (int k = 0; k < 16; ++k) host[k] = k;
  cl_mem own = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof host, host, &code);
  clSetKernelArg(add, 0, sizeof own, &own);
  size_t size = 16;
  EXPECT(CL_SUCCESS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 0, NULL, NULL));
  seen = clEnqueueMapBuffer(queue, own, CL_TRUE, CL_MAP_READ, 4, 8, 0, NULL, NULL, &code);
  EXPECT(1, seen == host + 1);
  EXPECT(101, host[1]);
  clEnqueueUnmapMemObject(queue, own, seen, 0, NULL, NULL);
  EXPECT(CL_SUCCESS, clFinish(queue));
  clReleaseMemObject(own);
  clSetKernelArg(add, 0, sizeof a, &a);
}

static void rectangles(void) {
  unsigned char host[64], back[64] = {0};
  size_t origin[3] = {2, 1, 0}, zero[3] = {0, 0, 0}, region[3] = {3, 2, 1}, empty[3] = {3, 0, 1}, wraps[3] = {1, 3, 1};
  for (int k = 0; k < 64; ++k) host[k] = (unsigned char)k;
  EXPECT(CL_SUCCESS, clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, 64, host, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueReadBufferRect(queue, a, CL_TRUE, origin, zero, region, 8, 0, 0, 0, back, 0, NULL, NULL));
  EXPECT(10, back[0]);
  EXPECT(18, back[3]);
  EXPECT(20, back[5]);
  EXPECT(CL_INVALID_VALUE,
         clEnqueueReadBufferRect(queue, a, CL_TRUE, origin, zero, empty, 8, 0, 0, 0, back, 0, NULL, NULL));
  EXPECT(CL_INVALID_VALUE, /* a product that wraps around to 0 */
         clEnqueueReadBufferRect(queue, a, CL_TRUE, zero, zero, wraps, (size_t)1 << 63, 0, 0, 0, back, 0, NULL, NULL));
  EXPECT(CL_INVALID_VALUE,
         clEnqueueReadBufferRect(queue, a, CL_TRUE, origin, zero, region, 2, 0, 0, 0, back, 0, NULL, NULL));
  EXPECT(CL_MEM_COPY_OVERLAP,
         clEnqueueCopyBufferRect(queue, a, a, zero, origin, region, 8, 0, 8, 0, 0, NULL, NULL));
  origin[0] = 3, origin[1] = 0;
  EXPECT(CL_SUCCESS, clEnqueueCopyBufferRect(queue, a, a, zero, origin, region, 8, 0, 8, 0, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 64, back, 0, NULL, NULL));
  EXPECT(0, back[3]);
  EXPECT(10, back[13]);
}

static void events(void) {
  cl_event user, write, marker;
  int value = 5, found = 0;
  cl_int status;
  cl_ulong time;
  EXPECT(CL_INVALID_VALUE, clWaitForEvents(0, NULL));
  EXPECT_CODE(CL_SUCCESS, user = clCreateUserEvent(context, &code));
  EXPECT(CL_SUCCESS, clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, 4, &value, 1, &user, &write));
  EXPECT(CL_SUCCESS, clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker));
  EXPECT(CL_SUCCESS, clGetEventInfo(write, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  EXPECT(CL_QUEUED, status);
  EXPECT(CL_INVALID_VALUE, clSetUserEventStatus(user, CL_RUNNING));
  EXPECT(CL_INVALID_EVENT, clSetUserEventStatus(write, CL_COMPLETE));
  value = 6; /* the transfer has not begun */
  EXPECT(CL_SUCCESS, clSetUserEventStatus(user, CL_COMPLETE));
  EXPECT(CL_INVALID_OPERATION, clSetUserEventStatus(user, CL_COMPLETE));
  EXPECT(CL_SUCCESS, clWaitForEvents(1, &marker));
  EXPECT(CL_PROFILING_INFO_NOT_AVAILABLE,
         clGetEventProfilingInfo(write, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL));
  EXPECT(CL_SUCCESS, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 4, &found, 0, NULL, NULL));
  EXPECT(6, found);
  clReleaseEvent(user), clReleaseEvent(write), clReleaseEvent(marker);

  user = clCreateUserEvent(context, &code);
  EXPECT(CL_SUCCESS, clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, 4, &value, 1, &user, &write));
  EXPECT(CL_SUCCESS, clSetUserEventStatus(user, -42));
  EXPECT(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &write));
  clGetEventInfo(write, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
  EXPECT(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, status);
  EXPECT(CL_SUCCESS, clFinish(queue));
  clReleaseEvent(user), clReleaseEvent(write);
  EXPECT(CL_INVALID_EVENT, clReleaseEvent(write));
}

static void unsupported(void) {
  cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc facts;
  cl_uint count = 9;
  memset(&facts, 0, sizeof facts);
  EXPECT_CODE(CL_INVALID_OPERATION, clCreateImage(context, 0, &format, &facts, NULL, &code));
  EXPECT_CODE(CL_INVALID_OPERATION, clCreateSampler(context, 0, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code));
  EXPECT(CL_SUCCESS, clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &count));
  EXPECT(0, count);
}

static void shared_memory(void) {
  int *data = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
  size_t size = 16;
  EXPECT(1, data != NULL);
  EXPECT(1, clSVMAlloc(context, CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 0) == NULL);
  EXPECT(CL_SUCCESS, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, data, 64, 0, NULL, NULL));
  for (int k = 0; k < 16; ++k) data[k] = k;
  EXPECT(CL_SUCCESS, clEnqueueSVMUnmap(queue, data, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clSetKernelArgSVMPointer(add, 0, data));
  EXPECT(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(add, 0, &size));
  EXPECT(CL_SUCCESS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data, 64, 0, NULL, NULL));
  EXPECT(103, data[3]);
  EXPECT(CL_SUCCESS, clEnqueueSVMUnmap(queue, data, 0, NULL, NULL));
  cl_mem alias; /* a buffer there has the same bytes */
  cl_bool shared = CL_FALSE;
  EXPECT_CODE(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 65, data, &code));
  EXPECT_CODE(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 0, data, &code));
  EXPECT_CODE(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 61, data + 1, &code));
  EXPECT_CODE(CL_SUCCESS, alias = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 64, data, &code));
  EXPECT(CL_SUCCESS, clGetMemObjectInfo(alias, CL_MEM_USES_SVM_POINTER, sizeof shared, &shared, NULL));
  EXPECT(CL_TRUE, shared);
  clSetKernelArg(add, 0, sizeof alias, &alias);
  EXPECT(CL_SUCCESS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(CL_SUCCESS, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data, 64, 0, NULL, NULL));
  EXPECT(203, data[3]);
  EXPECT(CL_SUCCESS, clEnqueueSVMUnmap(queue, data, 0, NULL, NULL));
  clReleaseMemObject(alias);
  clFinish(queue);
  clSVMFree(context, data);
}

int main(void) {
  platforms();
  contexts();
  queues();
  buffers();
  programs();
  binaries();
  extended_pointers();
  arguments();
  launches();
  mappings();
  rectangles();
  events();
  unsupported();
  shared_memory();
  printf("%d calls, %d wrong\n", done, wrong);
  return wrong != 0;
}
