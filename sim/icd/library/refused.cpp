// Images and samplers, which boards do not have: refused by name with the code of the standard.
#include "context.h"
#include "entries.h"
#include "queue.h"

namespace sluice {
namespace {

constexpr const char* kImages = "images are not supported: CL_DEVICE_IMAGE_SUPPORT is false";
constexpr const char* kSamplers = "samplers are not supported: CL_DEVICE_IMAGE_SUPPORT is false";

template <typename T>
T refuse(const char* call, cl_context context, cl_int code, const char* what, cl_int* stored) {
  return created(call, stored, [&]() -> T {
    find<Context>(context);
    throw Refused{code, what};
  });
}

cl_int refuse_queue(const char* call, cl_command_queue queue) {
  return answered(call, [&] {
    find<Queue>(queue);
    throw Refused{CL_INVALID_OPERATION, kImages};
  });
}

cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags, const cl_image_format*, const cl_image_desc*, void*,
                                cl_int* code) {
  return refuse<cl_mem>("clCreateImage", context, CL_INVALID_OPERATION, kImages, code);
}

cl_mem CL_API_CALL create_image_with_properties(cl_context context, const cl_mem_properties*, cl_mem_flags,
                                                const cl_image_format*, const cl_image_desc*, void*, cl_int* code) {
  return refuse<cl_mem>("clCreateImageWithProperties", context, CL_INVALID_OPERATION, kImages, code);
}

cl_mem CL_API_CALL create_image_2d(cl_context context, cl_mem_flags, const cl_image_format*, size_t, size_t, size_t,
                                   void*, cl_int* code) {
  return refuse<cl_mem>("clCreateImage2D", context, CL_INVALID_OPERATION, kImages, code);
}

cl_mem CL_API_CALL create_image_3d(cl_context context, cl_mem_flags, const cl_image_format*, size_t, size_t, size_t,
                                   size_t, size_t, void*, cl_int* code) {
  return refuse<cl_mem>("clCreateImage3D", context, CL_INVALID_OPERATION, kImages, code);
}

cl_int CL_API_CALL get_supported_image_formats(cl_context context, cl_mem_flags, cl_mem_object_type, cl_uint,
                                               cl_image_format*, cl_uint* found) {
  return answered("clGetSupportedImageFormats", [&] {
    find<Context>(context);
    if (found != nullptr) *found = 0;
  });
}

cl_int CL_API_CALL get_image_info(cl_mem, cl_image_info, size_t, void*, size_t*) {
  return answered("clGetImageInfo", [] { throw Refused{CL_INVALID_MEM_OBJECT, kImages}; });
}

cl_sampler CL_API_CALL create_sampler(cl_context context, cl_bool, cl_addressing_mode, cl_filter_mode, cl_int* code) {
  return refuse<cl_sampler>("clCreateSampler", context, CL_INVALID_OPERATION, kSamplers, code);
}

cl_sampler CL_API_CALL create_sampler_with_properties(cl_context context, const cl_sampler_properties*, cl_int* code) {
  return refuse<cl_sampler>("clCreateSamplerWithProperties", context, CL_INVALID_OPERATION, kSamplers, code);
}

cl_int CL_API_CALL use_sampler(cl_sampler) {
  return answered("a call with a sampler", [] { throw Refused{CL_INVALID_SAMPLER, kSamplers}; });
}

cl_int CL_API_CALL get_sampler_info(cl_sampler sampler, cl_sampler_info, size_t, void*, size_t*) {
  return use_sampler(sampler);
}

cl_int CL_API_CALL enqueue_read_image(cl_command_queue queue, cl_mem, cl_bool, const size_t*, const size_t*, size_t,
                                      size_t, void*, cl_uint, const cl_event*, cl_event*) {
  return refuse_queue("clEnqueueReadImage", queue);
}

cl_int CL_API_CALL enqueue_write_image(cl_command_queue queue, cl_mem, cl_bool, const size_t*, const size_t*, size_t,
                                       size_t, const void*, cl_uint, const cl_event*, cl_event*) {
  return refuse_queue("clEnqueueWriteImage", queue);
}

cl_int CL_API_CALL enqueue_fill_image(cl_command_queue queue, cl_mem, const void*, const size_t*, const size_t*,
                                      cl_uint, const cl_event*, cl_event*) {
  return refuse_queue("clEnqueueFillImage", queue);
}

cl_int CL_API_CALL enqueue_copy_image(cl_command_queue queue, cl_mem, cl_mem, const size_t*, const size_t*,
                                      const size_t*, cl_uint, const cl_event*, cl_event*) {
  return refuse_queue("clEnqueueCopyImage", queue);
}

cl_int CL_API_CALL enqueue_copy_image_to_buffer(cl_command_queue queue, cl_mem, cl_mem, const size_t*, const size_t*,
                                                size_t, cl_uint, const cl_event*, cl_event*) {
  return refuse_queue("clEnqueueCopyImageToBuffer", queue);
}

cl_int CL_API_CALL enqueue_copy_buffer_to_image(cl_command_queue queue, cl_mem, cl_mem, size_t, const size_t*,
                                                const size_t*, cl_uint, const cl_event*, cl_event*) {
  return refuse_queue("clEnqueueCopyBufferToImage", queue);
}

void* CL_API_CALL enqueue_map_image(cl_command_queue queue, cl_mem, cl_bool, cl_map_flags, const size_t*,
                                    const size_t*, size_t*, size_t*, cl_uint, const cl_event*, cl_event*,
                                    cl_int* code) {
  cl_int found = refuse_queue("clEnqueueMapImage", queue);
  if (code != nullptr) *code = found;
  return nullptr;
}

}  // namespace

void add_refused_entries(cl_icd_dispatch& table) {
  table.clCreateImage = create_image;
  table.clCreateImageWithProperties = create_image_with_properties;
  table.clCreateImage2D = create_image_2d;
  table.clCreateImage3D = create_image_3d;
  table.clGetSupportedImageFormats = get_supported_image_formats;
  table.clGetImageInfo = get_image_info;
  table.clCreateSampler = create_sampler;
  table.clCreateSamplerWithProperties = create_sampler_with_properties;
  table.clRetainSampler = use_sampler;
  table.clReleaseSampler = use_sampler;
  table.clGetSamplerInfo = get_sampler_info;
  table.clEnqueueReadImage = enqueue_read_image;
  table.clEnqueueWriteImage = enqueue_write_image;
  table.clEnqueueFillImage = enqueue_fill_image;
  table.clEnqueueCopyImage = enqueue_copy_image;
  table.clEnqueueCopyImageToBuffer = enqueue_copy_image_to_buffer;
  table.clEnqueueCopyBufferToImage = enqueue_copy_buffer_to_image;
  table.clEnqueueMapImage = enqueue_map_image;
}

}  // namespace sluice
