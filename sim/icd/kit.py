"""The folder that stands for the vendors' kits: headers that their hosts include beside those of the system, and the
commands."""

import sys
from pathlib import Path

from sim.cache import cached, content_key

__all__ = ["vendor_kit"]

BANKS = "".join(
    f"#ifndef {name}_{k}_{maker}\n#define {name}_{k}_{maker} ((cl_mem_flags){k} << 16)\n#endif\n"
    for name, maker in (("CL_MEM_BANK", "ALTERA"), ("CL_CHANNEL", "INTELFPGA"))
    for k in range(1, 8)
)
#: what the vendor's headers have besides; hosts include it by its own name, or get it with either of two others.
#: The counters that it reads are those of the vendor's hardware: there are none (SLUICE_PROFILE has ours).
INTEL_HEADER = f"""#ifndef SLUICE_CL_EXT_INTELFPGA_H
#define SLUICE_CL_EXT_INTELFPGA_H
#include <CL/cl.h>
{BANKS}#ifndef CL_MEM_HETEROGENEOUS_INTELFPGA
#define CL_MEM_HETEROGENEOUS_INTELFPGA (1 << 19)
#endif
static inline cl_int clGetProfileDataDeviceIntelFPGA(cl_device_id device, cl_program program, cl_bool kernels,
                                                     cl_bool autorun, cl_bool clear, size_t size, void* value,
                                                     size_t* size_ret, cl_int* code) {{
  (void)device, (void)program, (void)kernels, (void)autorun, (void)clear, (void)size, (void)value, (void)size_ret;
  if (code) *code = CL_INVALID_OPERATION;
  return CL_INVALID_OPERATION;
}}
static inline cl_int clGetProfileInfoIntelFPGA(cl_event event) {{
  (void)event;
  return CL_INVALID_OPERATION;
}}
#endif
"""
WITH_INTEL = "#include_next <CL/{}>\n#include <CL/cl_ext_intelfpga.h>\n"
#: The C++ interface of OpenCL 1.x, which both vendors' kits have, and which many systems no longer do: the present one
#: with the names that have changed since.
CPP_HEADER = """#if defined(__has_include_next) && __has_include_next(<CL/cl.hpp>)
#include_next <CL/cl.hpp>
#elif !defined(SLUICE_CL_HPP)
#define SLUICE_CL_HPP
#ifndef CL_HPP_TARGET_OPENCL_VERSION
#define CL_HPP_TARGET_OPENCL_VERSION 120
#endif
#ifndef CL_HPP_MINIMUM_OPENCL_VERSION
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#endif
#define CL_HPP_CL_1_2_DEFAULT_BUILD
#define CL_HPP_ENABLE_PROGRAM_CONSTRUCTION_FROM_ARRAY_COMPATIBILITY
#define CL_HPP_ENABLE_SIZE_T_COMPATIBILITY
#if defined(__CL_ENABLE_EXCEPTIONS) && !defined(CL_HPP_ENABLE_EXCEPTIONS)
#define CL_HPP_ENABLE_EXCEPTIONS
#endif
#include <CL/opencl.hpp>
#ifndef VECTOR_CLASS
#define VECTOR_CLASS cl::vector
#endif
#ifndef STRING_CLASS
#define STRING_CLASS cl::string
#endif
namespace cl {
using compatibility::make_kernel;
}
#endif
"""
#: the header of another vendor, which its hosts include: a buffer whose host pointer is a structure that names a bank,
#: and streams between host and kernel, which xcl2.hpp mentions in every host: declared here, and asked for by name at
#: run time, where the answer is that there are none
XILINX_HEADER = """#ifndef SLUICE_CL_EXT_XILINX_H
#define SLUICE_CL_EXT_XILINX_H
#include <CL/cl.h>
#define CL_MEM_EXT_PTR_XILINX (1u << 31)
#define XCL_MEM_TOPOLOGY (1u << 31)
#define XCL_MEM_DDR_BANK0 (1u << 0)
#define XCL_MEM_DDR_BANK1 (1u << 1)
#define XCL_MEM_DDR_BANK2 (1u << 2)
#define XCL_MEM_DDR_BANK3 (1u << 3)
typedef struct {
  union {
    struct {
      unsigned flags;
      void* obj;
      void* param;
    };
    struct {
      unsigned banks;
      void* host_ptr;
      cl_kernel kernel;
    };
  };
} cl_mem_ext_ptr_t;
typedef struct _cl_stream* cl_stream;
typedef cl_ulong cl_stream_flags;
typedef cl_uint cl_stream_attributes;
#define CL_STREAM_READ_ONLY (1 << 0)
#define CL_STREAM_WRITE_ONLY (1 << 1)
#define CL_STREAM_POLLING (1 << 2)
#define XCL_STREAM_WRITE_ONLY (1 << 0)
#define XCL_STREAM_READ_ONLY (1 << 1)
#define XCL_STREAM_POLLING (1 << 2)
#define CL_STREAM (1 << 0)
#define CL_PACKET (1 << 1)
#define CL_STREAM_EOT (1 << 0)
#define CL_STREAM_CDH (1 << 1)
#define CL_STREAM_NONBLOCKING (1 << 2)
#define CL_STREAM_SILENT (1 << 3)
typedef struct {
  unsigned flags;
  char* cdh;
  unsigned cdh_len;
  void* priv_data;
  unsigned timeout;
} cl_stream_xfer_req;
typedef struct {
  void* priv_data;
  size_t nbytes;
  int err_code;
} cl_streams_poll_req_completions;
#ifdef __cplusplus
extern "C" {
#endif
cl_stream clCreateStream(cl_device_id, cl_stream_flags, cl_stream_attributes, cl_mem_ext_ptr_t*, cl_int*);
cl_int clReleaseStream(cl_stream);
cl_int clReadStream(cl_stream, void*, size_t, cl_stream_xfer_req*, cl_int*);
cl_int clWriteStream(cl_stream, const void*, size_t, cl_stream_xfer_req*, cl_int*);
cl_int clPollStreams(cl_device_id, cl_streams_poll_req_completions*, cl_int, cl_int, cl_int*, cl_int, cl_int*);
#ifdef __cplusplus
}
#endif
#endif
"""
#: below ``host/include/CL``
HEADERS = {
    "opencl.h": WITH_INTEL.format("opencl.h"),
    "cl_ext.h": WITH_INTEL.format("cl_ext.h"),
    "cl_ext_intelfpga.h": INTEL_HEADER,
    "cl_ext_xilinx.h": XILINX_HEADER,
    "cl.hpp": CPP_HEADER,
}


def vendor_kit(python: str = sys.executable) -> Path:
    """The folder for which Makefiles of the vendors' examples ask by INTELFPGAOCLSDKROOT or XILINX_XRT:
    ``host/include`` or ``include`` for the headers, ``bin`` for the commands.

    Raises BuildError if the cache cannot be written.
    """
    commands = Path(python).parent

    def make(folder: Path) -> None:
        (folder / headers).mkdir(parents=True)
        for name, text in HEADERS.items():
            (folder / headers / name).write_text(text)
        (folder / "include").symlink_to("host/include")
        (folder / "bin").symlink_to(commands)

    headers = "host/include/CL"
    key = content_key([*HEADERS, *HEADERS.values(), str(commands)])
    return cached("kit", key, f"{headers}/opencl.h", make).parents[3]
