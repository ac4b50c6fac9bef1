// Kernels and their arguments.
#include "entries.h"
#include "program.h"

namespace sluice {

Kernel::~Kernel() { --program->kernels; }

namespace {

std::shared_ptr<Kernel> make_kernel(const std::shared_ptr<Program>& program,
                                    const std::shared_ptr<const KernelFacts>& facts) {
  auto made = std::make_shared<Kernel>();
  made->program = program;
  made->facts = facts;
  made->arguments.resize(facts->parameters.size());
  ++program->kernels;
  return made;
}

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* code) {
  return created("clCreateKernel", code, [&] {
    auto found = find<Program>(program);
    require(name != nullptr, CL_INVALID_VALUE, "the name is null");
    require(found->has_kernels(), CL_INVALID_PROGRAM_EXECUTABLE, "the program has not been built");
    std::lock_guard<std::mutex> guard(found->lock);
    for (const auto& one : found->facts) {
      if (one->name == name) return publish(make_kernel(found, one));
    }
    throw Refused{CL_INVALID_KERNEL_NAME, "the program has no kernel " + std::string(name)};
  });
}

cl_int CL_API_CALL create_kernels_in_program(cl_program program, cl_uint count, cl_kernel* kernels, cl_uint* found) {
  return answered("clCreateKernelsInProgram", [&] {
    auto of = find<Program>(program);
    require(of->has_kernels(), CL_INVALID_PROGRAM_EXECUTABLE, "the program has not been built");
    std::lock_guard<std::mutex> guard(of->lock);
    require(kernels == nullptr || count >= of->facts.size(), CL_INVALID_VALUE, "there is no room for all kernels");
    for (size_t k = 0; kernels != nullptr && k < of->facts.size(); ++k) {
      kernels[k] = publish(make_kernel(of, of->facts[k]));
    }
    if (found != nullptr) *found = static_cast<cl_uint>(of->facts.size());
  });
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel kernel, cl_int* code) {
  return created("clCloneKernel", code, [&] {
    auto found = find<Kernel>(kernel);
    auto made = make_kernel(found->program, found->facts);
    std::lock_guard<std::mutex> guard(found->lock);
    made->arguments = found->arguments;
    return publish(made);
  });
}

cl_int CL_API_CALL retain_kernel(cl_kernel kernel) { return retain<Kernel>("clRetainKernel", kernel); }

cl_int CL_API_CALL release_kernel(cl_kernel kernel) { return release<Kernel>("clReleaseKernel", kernel); }

std::string place_of(const Kernel& kernel, cl_uint index) {
  const auto& parameter = kernel.facts->parameters[index];
  return "argument " + std::to_string(index) + " of kernel " + kernel.facts->name + ", `" + parameter.type + " " +
         parameter.name + "`: ";
}

void set_buffer(const Kernel& kernel, cl_uint index, size_t size, const void* value, Argument& argument) {
  if (size != sizeof(cl_mem)) {
    throw Refused{CL_INVALID_ARG_SIZE, place_of(kernel, index) + "a cl_mem is wanted, of " +
                                           std::to_string(sizeof(cl_mem)) + " bytes, not " + std::to_string(size)};
  }
  cl_mem handle = nullptr;
  if (value != nullptr) std::memcpy(&handle, value, sizeof handle);
  if (handle == nullptr) return;
  auto found = std::dynamic_pointer_cast<Memory>(find_object(handle));
  if (found == nullptr) throw Refused{CL_INVALID_MEM_OBJECT, place_of(kernel, index) + "this is no memory object"};
  if (found->context != kernel.program->context) {
    throw Refused{CL_INVALID_MEM_OBJECT, place_of(kernel, index) + "the buffer is of another context"};
  }
  argument.points = true;
  argument.memory = found;
}

/// Kernels are joined by the names of their pipe parameters, so a host has to join them alike: one pipe for one name.
void set_pipe(const Kernel& kernel, cl_uint index, size_t size, const void* value) {
  Argument ignored;
  auto pipe = value != nullptr && size == sizeof(cl_mem)
                  ? std::dynamic_pointer_cast<Pipe>(find_object(*static_cast<const cl_mem*>(value)))
                  : nullptr;
  if (pipe == nullptr) return set_buffer(kernel, index, size, value, ignored);
  const auto& name = kernel.facts->parameters[index].name;
  require(pipe->context == kernel.program->context, CL_INVALID_MEM_OBJECT, "the pipe is of another context");
  {
    std::lock_guard<std::mutex> guard(pipe->lock);
    if (!pipe->name.empty() && pipe->name != name) {
      throw Refused{CL_INVALID_ARG_VALUE, place_of(kernel, index) + "kernels are joined by the names of their pipe " +
                                              "parameters, and this pipe has been passed for `" + pipe->name +
                                              "`; give both parameters one name"};
    }
    pipe->name = name;
  }
  std::lock_guard<std::mutex> guard(kernel.program->lock);
  auto& known = kernel.program->pipes[name];
  auto before = known.lock();
  if (before != nullptr && before != pipe) {
    throw Refused{CL_INVALID_ARG_VALUE, place_of(kernel, index) + "kernels are joined by the names of their pipe " +
                                            "parameters, and another pipe has been passed for this name; give " +
                                            "parameters of different pipes different names"};
  }
  known = pipe;
}

void set_local(const Kernel& kernel, cl_uint index, size_t size, const void* value, Argument& argument) {
  const auto& parameter = kernel.facts->parameters[index];
  if (value != nullptr) {
    throw Refused{CL_INVALID_ARG_VALUE, place_of(kernel, index) + "the value of local memory is null"};
  }
  if (size == 0 || (parameter.limit >= 0 && size > static_cast<size_t>(parameter.limit))) {
    throw Refused{CL_INVALID_ARG_SIZE,
                  place_of(kernel, index) + "the hardware has " + std::to_string(parameter.limit) +
                      " bytes for it, not " + std::to_string(size) +
                      "; declare it with __attribute__((local_mem_size(" + std::to_string(size) + ")))"};
  }
  argument.local = size;
}

void set_scalar(const Kernel& kernel, cl_uint index, size_t size, const void* value, Argument& argument) {
  const auto& parameter = kernel.facts->parameters[index];
  if (value == nullptr) throw Refused{CL_INVALID_ARG_VALUE, place_of(kernel, index) + "the value is null"};
  if (size != static_cast<size_t>(parameter.bytes)) {
    throw Refused{CL_INVALID_ARG_SIZE, place_of(kernel, index) + std::to_string(parameter.bytes) +
                                           " bytes are wanted, not " + std::to_string(size)};
  }
  argument.bytes.assign(static_cast<const char*>(value), size);
}

cl_int CL_API_CALL set_kernel_arg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  return answered("clSetKernelArg", [&] {
    auto found = find<Kernel>(kernel);
    require(index < found->arguments.size(), CL_INVALID_ARG_INDEX, "the kernel has fewer arguments");
    Argument argument;
    argument.set = true;
    switch (found->facts->parameters[index].kind) {
      case ParameterFacts::kBuffer: set_buffer(*found, index, size, value, argument); break;
      case ParameterFacts::kLocal: set_local(*found, index, size, value, argument); break;
      case ParameterFacts::kScalar: set_scalar(*found, index, size, value, argument); break;
      default: set_pipe(*found, index, size, value);
    }
    std::lock_guard<std::mutex> guard(found->lock);
    found->arguments[index] = argument;
  });
}

cl_int CL_API_CALL set_kernel_exec_info(cl_kernel kernel, cl_kernel_exec_info parameter, size_t, const void* value) {
  return answered("clSetKernelExecInfo", [&] {
    find<Kernel>(kernel);
    require(value != nullptr, CL_INVALID_VALUE, "the value is null");
    if (parameter == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM) {
      cl_bool wanted;
      std::memcpy(&wanted, value, sizeof wanted);
      require(wanted == CL_FALSE, CL_INVALID_OPERATION, "fine-grained shared virtual memory is not supported");
      return;
    }
    require(parameter == CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_INVALID_VALUE, "unknown information");
  });
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info parameter, size_t size, void* value,
                                   size_t* size_ret) {
  return answered("clGetKernelInfo", [&] {
    auto found = find<Kernel>(kernel);
    Answer answer{size, value, size_ret};
    switch (parameter) {
      case CL_KERNEL_FUNCTION_NAME: return answer.text(found->facts->name);
      case CL_KERNEL_NUM_ARGS: return answer.of(static_cast<cl_uint>(found->arguments.size()));
      case CL_KERNEL_REFERENCE_COUNT: return answer.of(found->references());
      case CL_KERNEL_CONTEXT: return answer.of(found->program->context->handle());
      case CL_KERNEL_PROGRAM: return answer.of(found->program->handle());
      case CL_KERNEL_ATTRIBUTES: return answer.text(found->facts->attributes);
      default: unknown_query(parameter);
    }
  });
}

cl_int CL_API_CALL get_kernel_arg_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info parameter, size_t size,
                                       void* value, size_t* size_ret) {
  return answered("clGetKernelArgInfo", [&] {
    auto found = find<Kernel>(kernel);
    require(index < found->arguments.size(), CL_INVALID_ARG_INDEX, "the kernel has fewer arguments");
    const auto& facts = found->facts->parameters[index];
    Answer answer{size, value, size_ret};
    switch (parameter) {
      case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return answer.of(static_cast<cl_kernel_arg_address_qualifier>(facts.address));
      case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        return answer.of(static_cast<cl_kernel_arg_access_qualifier>(facts.access));
      case CL_KERNEL_ARG_TYPE_NAME: return answer.text(facts.type);
      case CL_KERNEL_ARG_TYPE_QUALIFIER:
        return answer.of(static_cast<cl_kernel_arg_type_qualifier>(facts.qualifier));
      case CL_KERNEL_ARG_NAME: return answer.text(facts.name);
      default: unknown_query(parameter);
    }
  });
}

size_t local_bytes(Kernel& kernel, const GroupFacts& facts) {
  std::lock_guard<std::mutex> guard(kernel.lock);
  auto bytes = static_cast<size_t>(facts.local_bytes);
  for (const auto& one : kernel.arguments) bytes += one.local;
  return bytes;
}

cl_int CL_API_CALL get_kernel_work_group_info(cl_kernel kernel, cl_device_id device,
                                              cl_kernel_work_group_info parameter, size_t size, void* value,
                                              size_t* size_ret) {
  return answered("clGetKernelWorkGroupInfo", [&] {
    auto found = find<Kernel>(kernel);
    const auto& program = *found->program;
    require(device != nullptr || program.places.size() == 1, CL_INVALID_DEVICE,
            "the program has several devices: name one");
    size_t place = device == nullptr ? program.places[0] : program.places_of(1, &device)[0];
    auto known = found->facts->groups.find(place);
    require(known != found->facts->groups.end(), CL_INVALID_DEVICE, "the program was not built for the device");
    const GroupFacts& facts = known->second;
    Answer answer{size, value, size_ret};
    size_t required[3];
    for (int k = 0; k < 3; ++k) required[k] = static_cast<size_t>(facts.required[k]);
    switch (parameter) {
      case CL_KERNEL_WORK_GROUP_SIZE: return answer.of(static_cast<size_t>(facts.most));
      case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: return answer.of(required);
      case CL_KERNEL_LOCAL_MEM_SIZE: return answer.of<cl_ulong>(local_bytes(*found, facts));
      case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: return answer.of(static_cast<size_t>(facts.multiple));
      case CL_KERNEL_PRIVATE_MEM_SIZE: return answer.of(static_cast<cl_ulong>(facts.private_bytes));
      case CL_KERNEL_GLOBAL_WORK_SIZE:
        throw Refused{CL_INVALID_VALUE, "only built-in kernels and custom devices have a most global size"};
      default: unknown_query(parameter);
    }
  });
}

cl_int CL_API_CALL get_kernel_sub_group_info(cl_kernel kernel, cl_device_id, cl_kernel_sub_group_info, size_t,
                                             const void*, size_t, void*, size_t*) {
  return answered("clGetKernelSubGroupInfo", [&] {
    find<Kernel>(kernel);
    throw Refused{CL_INVALID_OPERATION, "sub-groups are not supported"};
  });
}

}  // namespace

void add_kernel_entries(cl_icd_dispatch& table) {
  table.clCreateKernel = create_kernel;
  table.clCreateKernelsInProgram = create_kernels_in_program;
  table.clCloneKernel = clone_kernel;
  table.clRetainKernel = retain_kernel;
  table.clReleaseKernel = release_kernel;
  table.clSetKernelArg = set_kernel_arg;
  table.clSetKernelExecInfo = set_kernel_exec_info;
  table.clGetKernelInfo = get_kernel_info;
  table.clGetKernelArgInfo = get_kernel_arg_info;
  table.clGetKernelWorkGroupInfo = get_kernel_work_group_info;
  table.clGetKernelSubGroupInfo = get_kernel_sub_group_info;
  table.clGetKernelSubGroupInfoKHR = get_kernel_sub_group_info;
}

}  // namespace sluice
