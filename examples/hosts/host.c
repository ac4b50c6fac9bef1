/* A host program in C, for any OpenCL: reads kernel.cl (or a binary named on the command line), runs it, checks it.
 *
 *   cc host.c -o host_c -lOpenCL
 *   ./host_c [kernel.cl | kernel.aocx]
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1024

static void check(cl_int code, const char *what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s failed with error %d\n", what, code);
  exit(1);
}

static unsigned char *read_file(const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) {
    fprintf(stderr, "cannot read %s\n", name);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *text = malloc(*size + 1);
  *size = fread(text, 1, *size, file);
  text[*size] = 0;
  fclose(file);
  return text;
}

static cl_program load(cl_context context, cl_device_id device, const char *name) {
  size_t size;
  cl_int code, status = CL_SUCCESS;
  unsigned char *text = read_file(name, &size);
  size_t length = strlen(name);
  cl_program program;
  if (length > 5 && strcmp(name + length - 5, ".aocx") == 0) {
    program = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&text, &status, &code);
  } else {
    program = clCreateProgramWithSource(context, 1, (const char **)&text, &size, &code);
  }
  check(code, "creating the program");
  free(text);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
    char log[4096] = "";
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
    exit(1);
  }
  return program;
}

int main(int argc, char **argv) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  char name[256];
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), "clGetDeviceInfo");
  printf("device: %s\n", name);

  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
  check(code, "clCreateCommandQueue");
  cl_program program = load(context, device, argc > 1 ? argv[1] : "kernel.cl");
  cl_kernel kernel = clCreateKernel(program, "saxpy", &code);
  check(code, "clCreateKernel");

  float x[COUNT], y[COUNT], a = 2.5f;
  for (int i = 0; i < COUNT; ++i) {
    x[i] = (float)i;
    y[i] = (float)(2 * i);
  }
  cl_mem dx = clCreateBuffer(context, CL_MEM_READ_ONLY, sizeof x, NULL, &code);
  check(code, "clCreateBuffer");
  cl_mem dy = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof y, y, &code);
  check(code, "clCreateBuffer");
  check(clEnqueueWriteBuffer(queue, dx, CL_FALSE, 0, sizeof x, x, 0, NULL, NULL), "clEnqueueWriteBuffer");
  check(clSetKernelArg(kernel, 0, sizeof dx, &dx), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof dy, &dy), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, sizeof a, &a), "clSetKernelArg");

  size_t count = COUNT, group = 64;
  cl_event event;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, &group, 0, NULL, &event), "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, dy, CL_TRUE, 0, sizeof y, y, 1, &event, NULL), "clEnqueueReadBuffer");

  cl_ulong start, end;
  check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "profiling");
  check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "profiling");
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) wrong += y[i] != a * (float)i + (float)(2 * i);
  printf("%d elements, %d wrong, %llu ns\n", COUNT, wrong, (unsigned long long)(end - start));

  clReleaseEvent(event);
  clReleaseMemObject(dx);
  clReleaseMemObject(dy);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return wrong != 0;
}
