/* A host that moves its data by migrations, as hosts of one vendor do: without mappings, or inside of one. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024, ROUNDS = 3 };
static const char *source =
    "__kernel void add(__global int *a, __global int *b, __global int *out) {"
    "  size_t i = get_global_id(0); out[i] = a[i] + b[i]; }"
    "__kernel void twice(__global int *a) { a[get_global_id(0)] *= 2; }";

static cl_command_queue queue;
static cl_kernel add, twice;

static void check(cl_int code, int line) {
  if (code == CL_SUCCESS) return;
  printf("line %d: error %d\n", line, code);
  exit(1);
}
#define CHECK(CALL) check(CALL, __LINE__)

static void expect(const int *found, int factor, int more, int line) {
  for (int i = 0; i < N; ++i) {
    if (found[i] == factor * i + more) continue;
    printf("line %d: element %d is %d, not %d\n", line, i, found[i], factor * i + more);
    exit(1);
  }
}
#define EXPECT(FOUND, FACTOR, MORE) expect(FOUND, FACTOR, MORE, __LINE__)

static void migrate(cl_mem one, cl_mem other, cl_mem_migration_flags flags) {
  cl_mem list[] = {one, other};
  CHECK(clEnqueueMigrateMemObjects(queue, other == NULL ? 1 : 2, list, flags, 0, NULL, NULL));
}

static void run(cl_kernel kernel, cl_mem *arguments, int count) {
  size_t items = N;
  for (int k = 0; k < count; ++k) CHECK(clSetKernelArg(kernel, k, sizeof(cl_mem), &arguments[k]));
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
}

static void set(int *to, int factor, int more) {
  for (int i = 0; i < N; ++i) to[i] = factor * i + more;
}

/* a, b and out are what the host sees of m[0], m[1] and m[2] */
static void rounds(int *a, int *b, int *out, cl_mem *m) {
  for (int round = 1; round <= ROUNDS; ++round) {
    set(a, round, 0);
    set(b, 1, round);
    migrate(m[0], m[1], 0);
    run(add, m, 3);
    migrate(m[2], NULL, CL_MIGRATE_MEM_OBJECT_HOST);
    CHECK(clFinish(queue));
    EXPECT(out, round + 1, round);
  }
  /* what a kernel wrote stays through a migration to the board, as the standard says */
  set(a, 1, 1);
  migrate(m[0], NULL, 0);
  run(twice, m, 1);
  migrate(m[0], NULL, 0);
  run(twice, m, 1);
  migrate(m[0], NULL, CL_MIGRATE_MEM_OBJECT_HOST);
  CHECK(clFinish(queue));
  EXPECT(a, 4, 4);
  /* and what a command wrote; nothing moves if the content is undefined */
  set(out, 3, 9);
  CHECK(clEnqueueWriteBuffer(queue, m[0], CL_TRUE, 0, N / 2 * sizeof(int), out, 0, NULL, NULL));
  for (int i = N / 2; i < N; ++i) a[i] = 3 * i + 9;
  migrate(m[0], NULL, 0);
  set(b, 0, 0);
  migrate(m[0], NULL, CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
  CHECK(clEnqueueReadBuffer(queue, m[0], CL_TRUE, 0, N * sizeof(int), b, 0, NULL, NULL));
  EXPECT(b, 3, 9);
  /* a command from or to what the host sees leaves both sides the same, so that what the host writes then is newer */
  set(a, 1, 0);
  CHECK(clEnqueueWriteBuffer(queue, m[0], CL_TRUE, 0, N * sizeof(int), a, 0, NULL, NULL));
  set(a, 2, 1);
  migrate(m[0], NULL, 0);
  run(twice, m, 1);
  CHECK(clEnqueueReadBuffer(queue, m[0], CL_TRUE, 0, N * sizeof(int), a, 0, NULL, NULL));
  EXPECT(a, 4, 2);
  set(a, 5, 3);
  migrate(m[0], NULL, 0);
  CHECK(clEnqueueReadBuffer(queue, m[0], CL_TRUE, 0, N * sizeof(int), b, 0, NULL, NULL));
  EXPECT(b, 5, 3);
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  CHECK(clGetPlatformIDs(1, &platform, NULL));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
  add = clCreateKernel(program, "add", &code), twice = clCreateKernel(program, "twice", &code);
  CHECK(code);
  int *seen[3];
  cl_mem own[3], mapped[3], whole, parts[3];
  for (int k = 0; k < 3; ++k) {
    seen[k] = aligned_alloc(4096, N * sizeof(int));
    own[k] = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, N * sizeof(int), seen[k], &code);
    CHECK(code);
  }
  rounds(seen[0], seen[1], seen[2], own);
  for (int k = 0; k < 3; ++k) {
    mapped[k] = clCreateBuffer(context, CL_MEM_READ_WRITE, N * sizeof(int), NULL, &code);
    cl_map_flags both = CL_MAP_READ | CL_MAP_WRITE;
    seen[k] = clEnqueueMapBuffer(queue, mapped[k], CL_TRUE, both, 0, N * sizeof(int), 0, NULL, NULL, &code);
    CHECK(code);
  }
  rounds(seen[0], seen[1], seen[2], mapped);
  int *host = aligned_alloc(4096, 3 * N * sizeof(int));
  whole = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 3 * N * sizeof(int), host, &code);
  for (int k = 0; k < 3; ++k) {
    cl_buffer_region region = {k * N * sizeof(int), N * sizeof(int)};
    parts[k] = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    CHECK(code);
  }
  rounds(host, host + N, host + 2 * N, parts);
  puts("all right");
  return 0;
}
