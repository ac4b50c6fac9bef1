// A host that creates a pipe and passes it to both kernels, as programs for other devices do.
#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>
#include <stdio.h>

static int calls;
#define NEED(condition) \
  if (calls++, !(condition)) return printf("line %d: " #condition "\n", __LINE__), 1

static const char *text =
    "__kernel void put(int n, __write_only pipe int __attribute__((blocking)) p) {\n"
    "  for (int i = 0; i < n; i++) { int x = i * i; write_pipe(p, &x); }\n"
    "}\n"
    "__kernel void get(int n, __global int *restrict out, __read_only pipe int __attribute__((blocking)) p) {\n"
    "  for (int i = 0; i < n; i++) { int x; read_pipe(p, &x); out[i] = x; }\n"
    "}\n"
    "__kernel void pass(int n, __read_only pipe int __attribute__((blocking)) q,\n"
    "                   __write_only pipe int __attribute__((blocking)) r) {\n"
    "  for (int i = 0; i < n; i++) { int x; read_pipe(q, &x); write_pipe(r, &x); }\n"
    "}\n"
    "__kernel void feed(int n, __write_only pipe int __attribute__((blocking)) q) {\n"
    "  for (int i = 0; i < n; i++) { int x = -i; write_pipe(q, &x); }\n"
    "}\n"
    "__kernel void sink(int n, __read_only pipe int __attribute__((blocking)) r) {\n"
    "  for (int i = 0; i < n; i++) { int x; read_pipe(r, &x); }\n"
    "}\n";

int main() {
  enum { kCount = 100 };
  cl_platform_id platform;
  cl_device_id device;
  cl_int code, count = kCount, out[kCount];
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue first = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
  cl_command_queue second = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
  NEED(clBuildProgram(program, 1, &device, "-cl-std=CL2.0", NULL, NULL) == CL_SUCCESS);
  cl_kernel put = clCreateKernel(program, "put", NULL), get = clCreateKernel(program, "get", NULL);
  cl_kernel pass = clCreateKernel(program, "pass", NULL);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof out, NULL, NULL);

  NEED(clCreatePipe(context, 0, 0, 4, NULL, &code) == NULL && code == CL_INVALID_PIPE_SIZE);
  NEED(clCreatePipe(context, CL_MEM_READ_ONLY, 4, 4, NULL, &code) == NULL && code == CL_INVALID_VALUE);
  cl_mem pipe = clCreatePipe(context, CL_MEM_HOST_NO_ACCESS, sizeof(cl_int), 64, NULL, &code);
  NEED(pipe != NULL && code == CL_SUCCESS);
  cl_uint told = 0;
  cl_mem_object_type type = 0;
  NEED(clGetPipeInfo(pipe, CL_PIPE_MAX_PACKETS, sizeof told, &told, NULL) == CL_SUCCESS && told == 64);
  NEED(clGetMemObjectInfo(pipe, CL_MEM_TYPE, sizeof type, &type, NULL) == CL_SUCCESS && type == CL_MEM_OBJECT_PIPE);
  NEED(clRetainMemObject(pipe) == CL_SUCCESS && clReleaseMemObject(pipe) == CL_SUCCESS);
  NEED(clEnqueueReadBuffer(first, pipe, CL_TRUE, 0, 4, out, 0, NULL, NULL) == CL_INVALID_MEM_OBJECT);
  NEED(clSetKernelArg(get, 1, sizeof pipe, &pipe) == CL_INVALID_MEM_OBJECT);

  NEED(clSetKernelArg(put, 0, sizeof count, &count) == CL_SUCCESS);
  NEED(clSetKernelArg(put, 1, 4, &pipe) == CL_INVALID_ARG_SIZE);
  NEED(clSetKernelArg(put, 1, sizeof pipe, &pipe) == CL_SUCCESS);
  NEED(clSetKernelArg(get, 0, sizeof count, &count) == CL_SUCCESS);
  NEED(clSetKernelArg(get, 1, sizeof buffer, &buffer) == CL_SUCCESS);
  NEED(clSetKernelArg(get, 2, sizeof pipe, &pipe) == CL_SUCCESS);
  // other joints than those of the names
  NEED(clSetKernelArg(pass, 1, sizeof pipe, &pipe) == CL_INVALID_ARG_VALUE);
  cl_mem other = clCreatePipe(context, 0, sizeof(cl_int), 64, NULL, &code);
  NEED(clSetKernelArg(get, 2, sizeof other, &other) == CL_INVALID_ARG_VALUE);
  NEED(clReleaseMemObject(other) == CL_SUCCESS && clReleaseMemObject(other) == CL_INVALID_MEM_OBJECT);

  size_t one = 1;
  NEED(clEnqueueNDRangeKernel(first, put, 1, NULL, &one, &one, 0, NULL, NULL) == CL_SUCCESS);
  NEED(clEnqueueNDRangeKernel(second, get, 1, NULL, &one, &one, 0, NULL, NULL) == CL_SUCCESS);
  NEED(clFinish(first) == CL_SUCCESS && clFinish(second) == CL_SUCCESS);
  NEED(clEnqueueReadBuffer(second, buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL) == CL_SUCCESS);
  for (int i = 0; i < kCount; i++) NEED(out[i] == i * i);
  NEED(clReleaseMemObject(pipe) == CL_SUCCESS && clRetainMemObject(pipe) == CL_INVALID_MEM_OBJECT);
  return 0;
}
