// The same host program in C++, with the bindings of opencl.hpp.
//
//   c++ -std=c++17 host.cpp -o host_cpp -lOpenCL
//   ./host_cpp [kernel.cl]
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>

int main(int argc, char** argv) try {
  std::ifstream file(argc > 1 ? argv[1] : "kernel.cl");
  std::stringstream source;
  source << file.rdbuf();

  cl::Device device = cl::Device::getDefault();
  std::cout << "device: " << device.getInfo<CL_DEVICE_NAME>() << "\n";
  cl::Context context(device);
  cl::CommandQueue queue(context, device, CL_QUEUE_PROFILING_ENABLE);
  cl::Program program(context, source.str());
  try {
    program.build();
  } catch (const cl::Error&) {
    std::cerr << program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device) << "\n";
    return 1;
  }

  std::vector<float> x(1024), y(1024);
  std::iota(x.begin(), x.end(), 0.0f);
  for (size_t i = 0; i < y.size(); ++i) y[i] = 2.0f * static_cast<float>(i);
  const float a = 2.5f;
  cl::Buffer dx(context, x.begin(), x.end(), true), dy(context, y.begin(), y.end(), false);
  auto saxpy = cl::KernelFunctor<cl::Buffer, cl::Buffer, cl_float>(program, "saxpy");
  cl::Event event = saxpy(cl::EnqueueArgs(queue, cl::NDRange(x.size()), cl::NDRange(64)), dx, dy, a);
  cl::copy(queue, dy, y.begin(), y.end());

  size_t wrong = 0;
  for (size_t i = 0; i < y.size(); ++i) wrong += y[i] != a * x[i] + 2.0f * static_cast<float>(i);
  auto ns = event.getProfilingInfo<CL_PROFILING_COMMAND_END>() - event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
  std::cout << y.size() << " elements, " << wrong << " wrong, " << ns << " ns\n";
  return wrong != 0;
} catch (const cl::Error& error) {
  std::cerr << error.what() << " failed with error " << error.err() << "\n";
  return 1;
}
