// Pipes that a host creates.
#pragma once
#include "context.h"

namespace sluice {

/// What a host passes for the pipe parameters of kernels. Kernels are joined by the names of these parameters when the
/// program is compiled, so the object stands for one name, and holds nothing.
class Pipe : public Object {
 public:
  SLUICE_HANDLE(cl_mem, CL_INVALID_MEM_OBJECT, "pipe");

  std::shared_ptr<Context> context;
  cl_mem_flags flags = 0;
  cl_uint packet_bytes = 0, most_packets = 0;
  std::mutex lock;
  std::string name;  ///< of the parameters that it was passed for, under `lock`
};

}  // namespace sluice
