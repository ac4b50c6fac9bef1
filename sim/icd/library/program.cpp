#include "program.h"

#include <algorithm>

#include "entries.h"

namespace sluice {

Program::~Program() {
  for (auto call = releases.rbegin(); call != releases.rend(); ++call) (*call)();
  if (id != 0) context->server->forget(id);
}

std::vector<size_t> Program::places_of(cl_uint count, const cl_device_id* list) const {
  require((count == 0) == (list == nullptr), CL_INVALID_VALUE, "number and list of devices do not go together");
  if (count == 0) return places;
  std::vector<size_t> found;
  for (cl_uint k = 0; k < count; ++k) {
    size_t place = context->place_of(*find<Device>(list[k]));
    require(std::find(places.begin(), places.end(), place) != places.end(), CL_INVALID_DEVICE,
            "the device is none of the program's");
    found.push_back(place);
  }
  return found;
}

bool Program::is_executable() {
  std::lock_guard<std::mutex> guard(lock);
  return std::any_of(builds.begin(), builds.end(), [](const auto& one) {
    return one.second.status == CL_BUILD_SUCCESS && one.second.kind == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  });
}

namespace {

std::shared_ptr<const KernelFacts> read_kernel(Reply& reply) {
  auto made = std::make_shared<KernelFacts>();
  made->name = reply.bytes();
  made->attributes = reply.bytes();
  for (int64_t left = reply.number(); left > 0; --left) {
    ParameterFacts one;
    for (auto* fact : {&one.kind, &one.bytes, &one.alignment, &one.limit, &one.written, &one.address, &one.access,
                       &one.qualifier}) {
      *fact = reply.number();
    }
    one.name = reply.bytes();
    one.type = reply.bytes();
    made->parameters.push_back(one);
  }
  for (int64_t left = reply.number(); left > 0; --left) {
    auto place = static_cast<size_t>(reply.number());
    GroupFacts& one = made->groups[place];
    for (auto* fact : {&one.most, &one.room, &one.multiple, &one.local_bytes, &one.private_bytes, &one.many_items,
                       &one.required[0], &one.required[1], &one.required[2]}) {
      *fact = reply.number();
    }
  }
  return made;
}

}  // namespace

void Program::take(Reply& reply, const std::vector<size_t>& built, const std::string& options, cl_int code) {
  std::lock_guard<std::mutex> guard(lock);
  cl_int failure = CL_SUCCESS;
  std::string why;
  for (size_t place : built) {
    Build& build = builds[place];
    auto status = static_cast<cl_int>(reply.number());
    build.status = status == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    build.kind = static_cast<cl_program_binary_type>(reply.number());
    build.log = reply.bytes();
    build.binary = reply.bytes();
    build.variables = static_cast<size_t>(reply.number());
    build.options = options;
    if (status == CL_SUCCESS) continue;
    failure = status == CL_BUILD_PROGRAM_FAILURE ? code : status;
    why = build.log;
  }
  facts.clear();
  for (int64_t left = reply.number(); left > 0; --left) facts.push_back(read_kernel(reply));
  if (failure != CL_SUCCESS) throw Refused{failure, why};
}

namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

std::vector<int64_t> as_numbers(const std::vector<size_t>& places) { return {places.begin(), places.end()}; }

std::shared_ptr<Program> make_program(const std::shared_ptr<Context>& context) {
  auto made = std::make_shared<Program>();
  made->context = context;
  for (size_t k = 0; k < context->devices.size(); ++k) made->places.push_back(k);
  return made;
}

cl_program CL_API_CALL create_program_with_source(cl_context handle, cl_uint count, const char** strings,
                                                  const size_t* lengths, cl_int* code) {
  return created("clCreateProgramWithSource", code, [&] {
    auto context = find<Context>(handle);
    require(count != 0 && strings != nullptr, CL_INVALID_VALUE, "no source is given");
    auto made = make_program(context);
    for (cl_uint k = 0; k < count; ++k) {
      require(strings[k] != nullptr, CL_INVALID_VALUE, "a part of the source is null");
      bool ends = lengths == nullptr || lengths[k] == 0;
      made->source.append(strings[k], ends ? std::strlen(strings[k]) : lengths[k]);
    }
    int64_t id = context->server->next_id();
    context->server->call(Request("source").number(id).number(context->id).text(made->source));
    made->id = id;
    return publish(made);
  });
}

cl_program CL_API_CALL create_program_with_binary(cl_context handle, cl_uint count, const cl_device_id* list,
                                                  const size_t* lengths, const unsigned char** binaries,
                                                  cl_int* statuses, cl_int* code) {
  return created("clCreateProgramWithBinary", code, [&] {
    auto context = find<Context>(handle);
    require(count != 0 && list != nullptr && lengths != nullptr && binaries != nullptr, CL_INVALID_VALUE,
            "devices, lengths or binaries are missing");
    auto made = std::make_shared<Program>();
    made->context = context;
    Request request("binary");
    int64_t id = context->server->next_id();
    request.number(id).number(context->id);
    for (cl_uint k = 0; k < count; ++k) {
      made->places.push_back(context->place_of(*find<Device>(list[k])));
      bool given = lengths[k] != 0 && binaries[k] != nullptr;
      if (statuses != nullptr) statuses[k] = given ? CL_SUCCESS : CL_INVALID_VALUE;
      require(given, CL_INVALID_VALUE, "a binary is empty");
    }
    request.numbers(as_numbers(made->places));
    for (cl_uint k = 0; k < count; ++k) request.bytes(binaries[k], lengths[k]);
    Reply reply = context->server->call(request);
    made->id = id;
    cl_int failure = CL_SUCCESS;
    std::string why;
    for (cl_uint k = 0; k < count; ++k) {
      auto status = static_cast<cl_int>(reply.number());
      std::string text = reply.bytes();
      if (statuses != nullptr) statuses[k] = status;
      Build& build = made->builds[made->places[k]];
      build.kind = static_cast<cl_program_binary_type>(reply.number());
      // one that is to be linked is compiled already; a whole program is built first
      bool linked = build.kind != CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
      if (status == CL_SUCCESS && linked) build.status = CL_BUILD_SUCCESS;
      build.binary.assign(reinterpret_cast<const char*>(binaries[k]), lengths[k]);
      if (status == CL_SUCCESS) continue;
      failure = status;
      why = text;
    }
    if (failure != CL_SUCCESS) throw Refused{failure, why};
    return publish(made);
  });
}

cl_int CL_API_CALL retain_program(cl_program program) { return retain<Program>("clRetainProgram", program); }

cl_int CL_API_CALL release_program(cl_program program) { return release<Program>("clReleaseProgram", program); }

std::string text_of(const char* options) { return options == nullptr ? "" : options; }

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* list, const char* options,
                                 Notify notify, void* data) {
  cl_int code = answered("clBuildProgram", [&] {
    auto found = find<Program>(program);
    require(notify != nullptr || data == nullptr, CL_INVALID_VALUE, "data is given without a function");
    auto places = found->places_of(count, list);
    std::lock_guard<std::mutex> guard(found->building);
    require(found->kernels == 0, CL_INVALID_OPERATION, "the program has kernels; release them first");
    Reply reply = found->context->server->call(
        Request("build").number(found->id).numbers(as_numbers(places)).text(text_of(options)));
    found->take(reply, places, text_of(options), CL_BUILD_PROGRAM_FAILURE);
  });
  bool built = code == CL_SUCCESS || code == CL_BUILD_PROGRAM_FAILURE;
  if (notify != nullptr && built) notify(program, data);
  return code;
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id* list, const char* options,
                                   cl_uint header_count, const cl_program* headers, const char** names, Notify notify,
                                   void* data) {
  cl_int code = answered("clCompileProgram", [&] {
    auto found = find<Program>(program);
    require(notify != nullptr || data == nullptr, CL_INVALID_VALUE, "data is given without a function");
    bool given = header_count != 0;
    require(given == (headers != nullptr) && given == (names != nullptr), CL_INVALID_VALUE,
            "number, programs and names of headers do not go together");
    auto places = found->places_of(count, list);
    std::lock_guard<std::mutex> guard(found->building);
    require(found->kernels == 0, CL_INVALID_OPERATION, "the program has kernels; release them first");
    require(!found->source.empty(), CL_INVALID_OPERATION, "the program has no source");
    Request request("compile");
    request.number(found->id).numbers(as_numbers(places)).text(text_of(options));
    request.number(header_count);
    for (cl_uint k = 0; k < header_count; ++k) {
      require(names[k] != nullptr, CL_INVALID_VALUE, "the name of a header is null");
      request.text(names[k]).text(find<Program>(headers[k])->source);
    }
    Reply reply = found->context->server->call(request);
    found->take(reply, places, text_of(options), CL_COMPILE_PROGRAM_FAILURE);
  });
  bool built = code == CL_SUCCESS || code == CL_COMPILE_PROGRAM_FAILURE;
  if (notify != nullptr && built) notify(program, data);
  return code;
}

cl_program CL_API_CALL link_program(cl_context handle, cl_uint count, const cl_device_id* list, const char* options,
                                    cl_uint input_count, const cl_program* inputs, Notify notify, void* data,
                                    cl_int* code) {
  // a program whose link failed is returned as well: it has the log
  cl_program result = nullptr;
  cl_int found_code = answered("clLinkProgram", [&] {
    auto context = find<Context>(handle);
    require(notify != nullptr || data == nullptr, CL_INVALID_VALUE, "data is given without a function");
    require(input_count != 0 && inputs != nullptr, CL_INVALID_VALUE, "no programs are given");
    auto made = make_program(context);
    made->places = made->places_of(count, list);
    int64_t id = context->server->next_id();
    std::vector<int64_t> ids;
    for (cl_uint k = 0; k < input_count; ++k) {
      auto input = find<Program>(inputs[k]);
      require(input->context == context, CL_INVALID_PROGRAM, "a program is of another context");
      std::lock_guard<std::mutex> guard(input->lock);
      for (size_t place : made->places) {
        require(input->builds[place].status == CL_BUILD_SUCCESS, CL_INVALID_OPERATION,
                "a program has not been compiled for all the devices");
      }
      ids.push_back(input->id);
    }
    Reply reply = context->server->call(Request("link")
                                            .number(id)
                                            .number(context->id)
                                            .numbers(as_numbers(made->places))
                                            .text(text_of(options))
                                            .numbers(ids));
    made->id = id;
    result = publish(made);
    made->take(reply, made->places, text_of(options), CL_LINK_PROGRAM_FAILURE);
  });
  if (code != nullptr) *code = found_code;
  if (notify != nullptr && result != nullptr) notify(result, data);
  return result;
}

std::string names_of(Program& program) {
  std::string all;
  for (const auto& one : program.facts) all += (all.empty() ? "" : ";") + one->name;
  return all;
}

void answer_binaries(Program& program, const Answer& answer) {
  size_t bytes = program.places.size() * sizeof(unsigned char*);
  if (answer.size_ret != nullptr) *answer.size_ret = bytes;
  if (answer.value == nullptr) return;
  require(answer.size >= bytes, CL_INVALID_VALUE, "the list has no room for a pointer for each device");
  auto** targets = static_cast<unsigned char**>(answer.value);
  for (size_t k = 0; k < program.places.size(); ++k) {
    const std::string& binary = program.builds[program.places[k]].binary;
    if (targets[k] != nullptr) std::memcpy(targets[k], binary.data(), binary.size());
  }
}

cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info parameter, size_t size, void* value,
                                    size_t* size_ret) {
  return answered("clGetProgramInfo", [&] {
    auto found = find<Program>(program);
    Answer answer{size, value, size_ret};
    if (parameter == CL_PROGRAM_NUM_KERNELS || parameter == CL_PROGRAM_KERNEL_NAMES) {
      require(found->has_kernels(), CL_INVALID_PROGRAM_EXECUTABLE, "the program has not been built");
    }
    std::lock_guard<std::mutex> guard(found->lock);
    std::vector<void*> handles;
    std::vector<size_t> sizes;
    switch (parameter) {
      case CL_PROGRAM_REFERENCE_COUNT: return answer.of(found->references());
      case CL_PROGRAM_CONTEXT: return answer.of(found->context->handle());
      case CL_PROGRAM_NUM_DEVICES: return answer.of(static_cast<cl_uint>(found->places.size()));
      case CL_PROGRAM_DEVICES:
        for (size_t place : found->places) handles.push_back(found->context->devices[place]->handle());
        return answer.bytes(handles.data(), handles.size() * sizeof(void*));
      case CL_PROGRAM_SOURCE: return answer.text(found->source);
      case CL_PROGRAM_IL: return answer.bytes(nullptr, 0);
      case CL_PROGRAM_BINARY_SIZES:
        for (size_t place : found->places) sizes.push_back(found->builds[place].binary.size());
        return answer.bytes(sizes.data(), sizes.size() * sizeof(size_t));
      case CL_PROGRAM_BINARIES: return answer_binaries(*found, answer);
      case CL_PROGRAM_NUM_KERNELS: return answer.of(found->facts.size());
      case CL_PROGRAM_KERNEL_NAMES: return answer.text(names_of(*found));
      case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
      case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: return answer.of<cl_bool>(CL_FALSE);
      default: unknown_query(parameter);
    }
  });
}

cl_int CL_API_CALL get_program_build_info(cl_program program, cl_device_id device, cl_program_build_info parameter,
                                          size_t size, void* value, size_t* size_ret) {
  return answered("clGetProgramBuildInfo", [&] {
    auto found = find<Program>(program);
    auto places = found->places_of(1, &device);
    Answer answer{size, value, size_ret};
    std::lock_guard<std::mutex> guard(found->lock);
    const Build& build = found->builds[places[0]];
    switch (parameter) {
      case CL_PROGRAM_BUILD_STATUS: return answer.of(build.status);
      case CL_PROGRAM_BUILD_OPTIONS: return answer.text(build.options);
      case CL_PROGRAM_BUILD_LOG: return answer.text(build.log);
      case CL_PROGRAM_BINARY_TYPE: return answer.of(build.kind);
      case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: return answer.of(build.variables);
      default: unknown_query(parameter);
    }
  });
}

cl_program CL_API_CALL create_program_with_built_in_kernels(cl_context context, cl_uint, const cl_device_id*,
                                                            const char*, cl_int* code) {
  return created("clCreateProgramWithBuiltInKernels", code, [&]() -> cl_program {
    find<Context>(context);
    throw Refused{CL_INVALID_VALUE, "boards have no built-in kernels"};
  });
}

cl_program CL_API_CALL create_program_with_il(cl_context context, const void*, size_t, cl_int* code) {
  return created("clCreateProgramWithIL", code, [&]() -> cl_program {
    find<Context>(context);
    throw Refused{CL_INVALID_OPERATION, "programs are made from OpenCL C, not from an intermediate language"};
  });
}

cl_int CL_API_CALL set_program_release_callback(cl_program program, Notify, void*) {
  return answered("clSetProgramReleaseCallback", [&] {
    find<Program>(program);
    throw Refused{CL_INVALID_OPERATION, "programs have no global destructors"};
  });
}

cl_int CL_API_CALL set_program_specialization_constant(cl_program program, cl_uint, size_t, const void*) {
  return answered("clSetProgramSpecializationConstant", [&] {
    find<Program>(program);
    throw Refused{CL_INVALID_OPERATION, "programs of OpenCL C have no specialization constants"};
  });
}

}  // namespace

bool Program::has_kernels() {
  std::lock_guard<std::mutex> guard(building);
  if (is_executable()) return true;
  std::vector<size_t> whole;
  {
    std::lock_guard<std::mutex> reading(lock);
    for (const auto& [place, build] : builds) {
      bool is_whole = build.kind == CL_PROGRAM_BINARY_TYPE_EXECUTABLE && !build.binary.empty();
      if (is_whole && build.status == CL_BUILD_NONE) whole.push_back(place);
    }
  }
  if (whole.empty()) return false;
  Reply reply = context->server->call(Request("build").number(id).numbers(as_numbers(whole)).text(""));
  take(reply, whole, "", CL_INVALID_PROGRAM_EXECUTABLE);
  return is_executable();
}

void add_program_entries(cl_icd_dispatch& table) {
  table.clCreateProgramWithSource = create_program_with_source;
  table.clCreateProgramWithBinary = create_program_with_binary;
  table.clRetainProgram = retain_program;
  table.clReleaseProgram = release_program;
  table.clBuildProgram = build_program;
  table.clCompileProgram = compile_program;
  table.clLinkProgram = link_program;
  table.clGetProgramInfo = get_program_info;
  table.clGetProgramBuildInfo = get_program_build_info;
  table.clCreateProgramWithBuiltInKernels = create_program_with_built_in_kernels;
  table.clCreateProgramWithIL = create_program_with_il;
  table.clSetProgramReleaseCallback = set_program_release_callback;
  table.clSetProgramSpecializationConstant = set_program_specialization_constant;
}

}  // namespace sluice
