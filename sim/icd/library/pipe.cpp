#include "pipe.h"

#include "entries.h"

namespace sluice {
namespace {

cl_mem CL_API_CALL create_pipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint most_packets,
                               const cl_pipe_properties* properties, cl_int* code) {
  return created("clCreatePipe", code, [&] {
    auto made = std::make_shared<Pipe>();
    made->context = find<Context>(context);
    require(!(flags & ~static_cast<cl_mem_flags>(CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS)), CL_INVALID_VALUE,
            "the flags of a pipe are CL_MEM_READ_WRITE and CL_MEM_HOST_NO_ACCESS");
    require(properties == nullptr || *properties == 0, CL_INVALID_VALUE, "pipes have no properties");
    require(packet_bytes != 0 && most_packets != 0, CL_INVALID_PIPE_SIZE, "a pipe has packets, and room for some");
    made->flags = flags == 0 ? CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS : flags;
    made->packet_bytes = packet_bytes;
    made->most_packets = most_packets;
    return publish(made);
  });
}

cl_int CL_API_CALL get_pipe_info(cl_mem pipe, cl_pipe_info parameter, size_t size, void* value, size_t* size_ret) {
  return answered("clGetPipeInfo", [&] {
    auto found = find<Pipe>(pipe);
    Answer answer{size, value, size_ret};
    switch (parameter) {
      case CL_PIPE_PACKET_SIZE: return answer.of(found->packet_bytes);
      case CL_PIPE_MAX_PACKETS: return answer.of(found->most_packets);
      case CL_PIPE_PROPERTIES: return answer.bytes(nullptr, 0);
      default: unknown_query(parameter);
    }
  });
}

}  // namespace

void add_pipe_entries(cl_icd_dispatch& table) {
  table.clCreatePipe = create_pipe;
  table.clGetPipeInfo = get_pipe_info;
}

}  // namespace sluice
