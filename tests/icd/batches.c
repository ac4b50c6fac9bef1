// Enqueues short launches, and prints their number and that of the messages to the server: the driver sends each with the
// sendmsg() of the process, which is the one here.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kLaunches = 300 };
static int messages;

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
  messages++;
  return syscall(SYS_sendmsg, socket, message, flags);
}

int main() {
  const char *text = "__kernel void add(__global int *a, int n) { a[0] += n; }";
  cl_platform_id platform;
  cl_device_id device;
  int found = 0;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
  clBuildProgram(program, 1, &device, "", NULL, NULL);
  cl_kernel kernel = clCreateKernel(program, "add", NULL);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof found, &found, NULL);
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  messages = 0;
  for (int k = 0; k < kLaunches; k++) {
    clSetKernelArg(kernel, 1, sizeof k, &k);
    clEnqueueTask(queue, kernel, 0, NULL, NULL);
  }
  clFinish(queue);
  printf("%d %d\n", kLaunches, messages);
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof found, &found, 0, NULL, NULL);
  return found != kLaunches * (kLaunches - 1) / 2;
}
