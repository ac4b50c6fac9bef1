"""Words of C++, CUDA and other languages, which kernels from elsewhere contain: what an error at one of them says."""

import re
from collections.abc import Container

__all__ = ["PLAIN_WORDS", "foreign_function", "foreign_hint", "foreign_include"]

_CUDA = {
    "__global__": "mark a kernel with __kernel, and its pointers with __global",
    "__device__": "a helper function needs no word",
    "__host__": "a helper function needs no word",
    "__forceinline__": "a helper function needs no word: it is part of each kernel that calls it",
    "__noinline__": "a helper function needs no word: it is part of each kernel that calls it",
    "__launch_bounds__": "a kernel has __attribute__((reqd_work_group_size(X, Y, Z)))",
    "__shared__": "memory of a work-group is __local",
    "__constant__": "a table of constants is __constant",
    "threadIdx": "x is get_local_id(0), y is get_local_id(1)",
    "blockIdx": "x is get_group_id(0), y is get_group_id(1)",
    "blockDim": "x is get_local_size(0), y is get_local_size(1)",
    "gridDim": "x is get_num_groups(0), y is get_num_groups(1)",
    "warpSize": "there are no warps: a work-group shares __local memory and waits at barrier(CLK_LOCAL_MEM_FENCE)",
    "dim3": "the host gives the sizes of a launch; three numbers are an int3, as (int3)(x, y, z)",
}
_CPP = {
    "template": "write the function for each type, or as a macro",
    "typename": "write the function for each type, or as a macro",
    "class": "write a struct, and functions that take it",
    "namespace": "put the name of the namespace into those of its functions",
    "using": "typedef names a type",
    "constexpr": "write #define, or __constant at file scope",
    "consteval": "write #define, or __constant at file scope",
    "decltype": "write typeof",
    "nullptr": "write 0",
    "static_cast": "write a conversion as (int)x",
    "dynamic_cast": "write a conversion as (int *)p",
    "reinterpret_cast": "write as_int(x), or a conversion as (__global int *)p",
    "const_cast": "write a conversion as (int *)p",
    "std": "built-in functions have no namespace: min(a, b)",
    "new": "declare an array of constant length, or pass a __global buffer",
    "delete": "an array ends with its block: remove this",
    "try": "there are no exceptions: return a number that says what went wrong",
    "catch": "there are no exceptions: return a number that says what went wrong",
    "throw": "there are no exceptions: return a number that says what went wrong",
    "operator": "give the function a name",
    "this": "pass a pointer to the struct",
    "string": "a text is a __constant array of char",
    "vector": "declare an array of constant length, or a vector as float4",
    "and": "write &&",
    "or": "write ||",
    "not": "write !",
    "xor": "write ^",
}
_HLS = {
    "hls": "a stream is a channel: channel int c; at file scope, with read_channel_intel and write_channel_intel",
    "ap_int": '#include "ihc_apint.h" declares int1_t to int64_t',
    "ap_uint": '#include "ihc_apint.h" declares uint1_t to uint64_t',
    "ap_fixed": "write an integer and shift it",
    "ap_ufixed": "write an integer and shift it",
    "sycl": "a kernel is a function marked __kernel, and the host launches it",
}
_OTHER = {word: "write else if" for word in ("elif", "elseif", "elsif")} | {
    "then": "nothing stands between the condition and the statement: remove it"
}
#: words that are also good names in C: they explain an error only where the parser stopped
PLAIN_WORDS = frozenset(_OTHER) | frozenset(
    [
        "and",
        "or",
        "not",
        "xor",
        "new",
        "delete",
        "try",
        "catch",
        "throw",
        "operator",
        "this",
        "string",
        "vector",
        "hls",
        "sycl",
        "then",
    ]
)
#: (the words of a language, how it is called, what precedes the advice)
_LANGUAGES = (
    (_CUDA, "CUDA", "in OpenCL C "),
    (_CPP, "C++, and kernels are C", ""),
    (_HLS, "another tool's", "in OpenCL C "),
    (_OTHER, "another language's", ""),
)

_ALL_WAIT = "barrier(CLK_LOCAL_MEM_FENCE) lets the work-items of a group wait for each other"
_SHARE = "let work-items share values in a __local array, with barrier(CLK_LOCAL_MEM_FENCE) between stores and loads"
_COPY = "copy with a loop, or with = if it is one struct"
_NO_THREADS = "a loop is pipelined without threads; get_global_id(0) numbers work-items"
#: functions of CUDA and of the C library, by what to write in OpenCL C
_FUNCTIONS = {
    "__syncthreads": "barrier(CLK_LOCAL_MEM_FENCE) is the same",
    "__syncwarp": _ALL_WAIT,
    "__threadfence": "mem_fence(CLK_GLOBAL_MEM_FENCE) is the same",
    "__threadfence_block": "mem_fence(CLK_LOCAL_MEM_FENCE) is the same",
    "__ldg": "load the element: *p or p[i]",
    "__popc": "write popcount(x)",
    "__popcll": "write popcount(x)",
    "__clz": "write clz(x)",
    "__clzll": "write clz(x)",
    "__ffs": "write x ? ctz(x) + 1 : 0",
    "__brev": "swap the bits with shifts and masks",
    "__mul24": "write mul24(x, y)",
    "__umul24": "write mul24(x, y)",
    "__mulhi": "write mul_hi(x, y)",
    "__umulhi": "write mul_hi(x, y)",
    "__saturatef": "write clamp(x, 0.0f, 1.0f)",
    "__fdividef": "write x / y",
    "clock": "`sluice profile` measures where the cycles go",
    "clock64": "`sluice profile` measures where the cycles go",
    "assert": "hardware cannot stop: print with printf under a condition, or store what is wrong into a buffer",
    "exit": "return ends a kernel",
    "abort": "return ends a kernel",
    "memcpy": _COPY,
    "memmove": _COPY,
    "memset": "store the value with a loop",
    "strlen": "a text has sizeof(text) - 1 characters",
    "rand": "there is no generator: pass a seed, and compute the numbers, for example x = 1664525u * x + 1013904223u",
    "srand": "there is no generator: pass a seed as an argument",
    "puts": 'write printf("...\\n")',
    "fprintf": "write printf",
    "sprintf": "printf alone prints from a kernel",
    "omp_get_thread_num": _NO_THREADS,
    "omp_get_num_threads": _NO_THREADS,
}
_ATOMICS = {
    **{f"atomic{name}": f"atomic_{name.lower()}" for name in ("Add", "Sub", "Min", "Max", "And", "Or", "Xor")},
    "atomicExch": "atomic_xchg",
    "atomicCAS": "atomic_cmpxchg",
    "atomicInc": "atomic_inc",
    "atomicDec": "atomic_dec",
}
_MADE = re.compile(r"make_(u?(?:char|short|int|long)|float|double)([234])$")
_ACROSS = re.compile(r"__(shfl|ballot|any|all|activemask|reduce|match)\w*$")

#: headers of the C library, whose functions have other names here
_OF_C = re.compile(r"(assert|ctype|errno|inttypes|math|memory|signal|stdarg|stdio|stdlib|string|time)\.h$")
_OF_CPP = frozenset(
    [
        "algorithm",
        "array",
        "atomic",
        "bitset",
        "cassert",
        "cfloat",
        "climits",
        "cmath",
        "complex",
        "cstddef",
        "cstdint",
        "cstdio",
        "cstdlib",
        "cstring",
        "deque",
        "functional",
        "iomanip",
        "iostream",
        "limits",
        "list",
        "map",
        "memory",
        "numeric",
        "queue",
        "random",
        "set",
        "sstream",
        "stack",
        "string",
        "thread",
        "tuple",
        "type_traits",
        "utility",
        "vector",
    ]
)
_INCLUDES = {
    **dict.fromkeys(
        ("ap_int.h", "ap_cint.h"), '#include "ihc_apint.h" declares int1_t to int64_t and uint1_t to uint64_t'
    ),
    "ap_fixed.h": "there are no fixed-point types: compute with integers and shift them",
    "hls_stream.h": "remove the line: " + _HLS["hls"],
    "hls_math.h": "remove the line; the functions of OpenCL C need no header",
    "omp.h": "remove the line: a loop is pipelined without threads",
    **{
        name: "remove the line: it is for programs of the host, and a kernel needs no header"
        for name in (
            "cuda.h",
            "cuda_runtime.h",
            "device_launch_parameters.h",
            "CL/cl.h",
            "CL/opencl.h",
            "sycl/sycl.hpp",
        )
    },
}


def foreign_hint(name: str) -> str:
    """What to write for a word of CUDA, C++ or another language; empty for all other names."""
    for words, language, before in _LANGUAGES:
        if name in words:
            return f"'{name}' is {language}: {before}{words[name]}"
    return ""


def foreign_function(name: str, known: Container[str]) -> str:
    """What to write for a function of CUDA, of the C library or of OpenMP; empty for all others. ``known`` are the
    built-in functions: those of C's library that end in f have the name without it."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    if name in _ATOMICS:
        return f"write {_ATOMICS[name]}(p, ...)"
    if made := _MADE.match(name):
        return f"write ({made[1]}{made[2]})(...)"
    if _ACROSS.match(name):
        return _SHARE
    plain = name.removeprefix("__")[:-1] if name.endswith("f") else ""
    return f"write {plain}(...), which takes every floating-point type" if plain in known else ""


def foreign_include(path: str) -> str:
    """What to write in place of a header of C, C++, CUDA or another tool; empty for all other files."""
    if path in _INCLUDES:
        return _INCLUDES[path]
    if _OF_C.match(path):
        return "a kernel has no C library: remove the line; the functions of OpenCL C need no header"
    if path in _OF_CPP:
        return "kernels are C, without the C++ library: remove the line; the functions of OpenCL C need no header"
    return ""
