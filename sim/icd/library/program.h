// Programs and kernels.
#pragma once
#include <set>

#include "memory.h"
#include "pipe.h"

namespace sluice {

struct ParameterFacts {
  enum Kind { kBuffer, kLocal, kScalar, kPipe };
  int64_t kind = kScalar, bytes = 0, alignment = 1, limit = -1, address = 0, access = 0, qualifier = 0, written = 0;
  std::string name, type;
};

/// What a kernel's build says of its work-groups on one device.
struct GroupFacts {
  int64_t most = 1;  ///< as hosts are told
  int64_t room = 1;  ///< as launches may have
  int64_t multiple = 1, local_bytes = 0, private_bytes = 0, many_items = 0;
  int64_t required[3] = {0, 0, 0};
};

struct KernelFacts {
  std::string name, attributes;
  std::vector<ParameterFacts> parameters;
  std::map<size_t, GroupFacts> groups;  ///< by the place of the device in the context
};

struct Build {
  cl_build_status status = CL_BUILD_NONE;
  cl_program_binary_type kind = CL_PROGRAM_BINARY_TYPE_NONE;
  std::string options, log, binary;
  size_t variables = 0;  ///< bytes of its variables in global memory
};

class Program : public Object, public std::enable_shared_from_this<Program> {
 public:
  SLUICE_HANDLE(cl_program, CL_INVALID_PROGRAM, "program");
  ~Program() override;

  std::shared_ptr<Context> context;
  int64_t id = 0;
  std::string source;
  std::vector<size_t> places;  ///< its devices, as places in the context
  std::atomic<int> kernels{0};  ///< kernel objects: while there are some, it cannot be built again

  std::mutex building;  ///< held while the server builds the program
  std::mutex lock;
  std::map<size_t, Build> builds;
  std::vector<std::shared_ptr<const KernelFacts>> facts;
  std::vector<std::function<void()>> releases;
  std::map<std::string, std::weak_ptr<Pipe>> pipes;  ///< that the host passed, by the names of the parameters

  /// The places of a host's list of devices, all of the program's for none. Throws Refused.
  std::vector<size_t> places_of(cl_uint count, const cl_device_id* list) const;
  /// Reads what the server answers to a build, compilation or link; throws Refused with `code` if it failed.
  void take(Reply& reply, const std::vector<size_t>& built, const std::string& options, cl_int code);
  bool is_executable();
  /// Whether it is executable; one of a whole binary that the host did not build is built now. Hosts for other FPGAs,
  /// where the binary is the hardware, never build. Throws Refused if that fails.
  bool has_kernels();
};

struct Argument {
  bool set = false;
  bool points = false;           ///< to `memory`; a null pointer otherwise
  std::weak_ptr<Memory> memory;  ///< as the standard says, a kernel does not keep what the host releases
  std::shared_ptr<Memory> buffer;  ///< the same, of a command, which does
  size_t offset = 0;  ///< of a pointer into shared virtual memory
  std::string bytes;  ///< of a scalar
  size_t local = 0;   ///< bytes of local memory
};

class Kernel : public Object {
 public:
  SLUICE_HANDLE(cl_kernel, CL_INVALID_KERNEL, "kernel");
  ~Kernel() override;

  std::shared_ptr<Program> program;
  std::shared_ptr<const KernelFacts> facts;
  std::mutex lock;
  std::vector<Argument> arguments;
  std::string quick;  ///< the last launch that ended within its call: all but the values of its scalars
};

}  // namespace sluice
