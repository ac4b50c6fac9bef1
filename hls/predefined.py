"""The macros every kernel sees: versions, limits and constants of OpenCL C 1.2, and the marks of FPGA compilers."""

__all__ = ["FEATURES", "PREDEFINED", "STANDARDS"]

_VERSIONS = {
    "__OPENCL_VERSION__": "120",
    "__OPENCL_C_VERSION__": "120",
    "CL_VERSION_1_0": "100",
    "CL_VERSION_1_1": "110",
    "CL_VERSION_1_2": "120",
    "__ENDIAN_LITTLE__": "1",
    # kernels written for the discontinued compilers test these
    "ALTERA_CL": "171",
    "INTELFPGA_CL": "171",
    "__SLUICE__": "1",
}

#: extension names: programs test them with #ifdef before they use double, atomics or channels
_EXTENSIONS = dict.fromkeys(
    (
        "cl_khr_fp64",
        "cl_khr_fp16",
        "cl_khr_byte_addressable_store",
        "cles_khr_int64",
        "cl_khr_global_int32_base_atomics",
        "cl_khr_global_int32_extended_atomics",
        "cl_khr_local_int32_base_atomics",
        "cl_khr_local_int32_extended_atomics",
        "cl_khr_int64_base_atomics",
        "cl_khr_int64_extended_atomics",
        "cl_altera_channels",
        "cl_intel_channels",
    ),
    "1",
)

_LIMITS = {
    "CHAR_BIT": "8",
    "SCHAR_MAX": "127",
    "SCHAR_MIN": "(-127-1)",
    "CHAR_MAX": "SCHAR_MAX",
    "CHAR_MIN": "SCHAR_MIN",
    "UCHAR_MAX": "255",
    "SHRT_MAX": "32767",
    "SHRT_MIN": "(-32767-1)",
    "USHRT_MAX": "65535",
    "INT_MAX": "2147483647",
    "INT_MIN": "(-2147483647-1)",
    "UINT_MAX": "0xffffffffU",
    "LONG_MAX": "0x7fffffffffffffffL",
    "LONG_MIN": "(-0x7fffffffffffffffL-1)",
    "ULONG_MAX": "0xffffffffffffffffUL",
}

_FLOATS = {
    "FLT_DIG": "6",
    "FLT_MANT_DIG": "24",
    "FLT_MAX_10_EXP": "38",
    "FLT_MAX_EXP": "128",
    "FLT_MIN_10_EXP": "(-37)",
    "FLT_MIN_EXP": "(-125)",
    "FLT_RADIX": "2",
    "FLT_MAX": "0x1.fffffep127f",
    "FLT_MIN": "0x1.0p-126f",
    "FLT_EPSILON": "0x1.0p-23f",
    "MAXFLOAT": "0x1.fffffep127f",
    "INFINITY": "as_float(0x7f800000)",
    "HUGE_VALF": "as_float(0x7f800000)",
    "NAN": "as_float(0x7fc00000)",
    "M_E_F": "2.71828182845904523536f",
    "M_LOG2E_F": "1.44269504088896340736f",
    "M_LOG10E_F": "0.43429448190325182765f",
    "M_LN2_F": "0.69314718055994530942f",
    "M_LN10_F": "2.30258509299404568402f",
    "M_PI_F": "3.14159265358979323846f",
    "M_PI_2_F": "1.57079632679489661923f",
    "M_PI_4_F": "0.78539816339744830962f",
    "M_1_PI_F": "0.31830988618379067154f",
    "M_2_PI_F": "0.63661977236758134308f",
    "M_2_SQRTPI_F": "1.12837916709551257390f",
    "M_SQRT2_F": "1.41421356237309504880f",
    "M_SQRT1_2_F": "0.70710678118654752440f",
}

_DOUBLES = {
    "DBL_DIG": "15",
    "DBL_MANT_DIG": "53",
    "DBL_MAX_10_EXP": "308",
    "DBL_MAX_EXP": "1024",
    "DBL_MIN_10_EXP": "(-307)",
    "DBL_MIN_EXP": "(-1021)",
    "DBL_RADIX": "2",
    "DBL_MAX": "0x1.fffffffffffffp1023",
    "DBL_MIN": "0x1.0p-1022",
    "DBL_EPSILON": "0x1.0p-52",
    "HUGE_VAL": "as_double(0x7ff0000000000000L)",
    **{name.removesuffix("_F"): text.removesuffix("f") for name, text in _FLOATS.items() if name.startswith("M_")},
}

_HALVES = {
    "HALF_DIG": "3",
    "HALF_MANT_DIG": "11",
    "HALF_MAX_10_EXP": "4",
    "HALF_MAX_EXP": "16",
    "HALF_MIN_10_EXP": "(-4)",
    "HALF_MIN_EXP": "(-13)",
    "HALF_RADIX": "2",
    "HALF_MAX": "((half)65504.0f)",
    "HALF_MIN": "((half)0x1.0p-14f)",
    "HALF_EPSILON": "((half)0x1.0p-10f)",
    **{f"{name[:-1]}H": f"((half){text})" for name, text in _FLOATS.items() if name.startswith("M_")},
}

_WORDS = {
    "true": "1",
    "false": "0",
    "NULL": "((void *)0)",
    "CLK_LOCAL_MEM_FENCE": "1",
    "CLK_GLOBAL_MEM_FENCE": "2",
    "CLK_CHANNEL_MEM_FENCE": "4",
}

#: functions of later versions, and of other compilers, expressed by functions that exist here
_FUNCTIONS = {
    "get_global_linear_id()": "(((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - "
    "get_global_offset(1)) "
    "* get_global_size(0) + get_global_id(0) - get_global_offset(0))",
    "get_local_linear_id()": "((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + "
    "get_local_id(0))",
    "get_enqueued_local_size(d)": "get_local_size(d)",
    "__builtin_expect(x, y)": "(x)",
    "__kernel_exec(x, t)": "__kernel __attribute__((work_group_size_hint(x, 1, 1))) __attribute__((vec_type_hint(t)))",
}

#: name -> replacement text (no __IMAGE_SUPPORT__: there are no images)
PREDEFINED: dict[str, str] = {
    **_VERSIONS,
    **_EXTENSIONS,
    **_LIMITS,
    **_FLOATS,
    **_DOUBLES,
    **_HALVES,
    **_WORDS,
    **_FUNCTIONS,
}

#: the optional features of OpenCL C 3.0 that are there, as programs test them
FEATURES = ("__opencl_c_fp64", "__opencl_c_int64")

#: of OpenCL C 3.0: atomic types are the plain ones, and each operation is ordered at least as it asks
_ATOMICS = {
    **{f"atomic_{t}": t for t in ("int", "uint", "long", "ulong", "float", "double")},
    **{f"atomic_{t}": t for t in ("size_t", "intptr_t", "uintptr_t", "ptrdiff_t")},
    "atomic_flag": "int",
    "ATOMIC_FLAG_INIT": "0",
    "ATOMIC_VAR_INIT(v)": "(v)",
    "memory_order": "int",
    **{f"memory_order_{name}": str(k) for k, name in ((0, "relaxed"), (2, "acquire"), (3, "release"), (4, "acq_rel"))},
    "memory_scope": "int",
    **{f"memory_scope_{name}": str(k) for k, name in enumerate(("work_item", "work_group", "device"))},
    "atomic_init(p, v)": "((void)(*(p) = (v)))",
    "atomic_load_explicit(p, ...)": "__atom_load(p)",
    "atomic_store_explicit(p, v, ...)": "((void)atom_xchg(p, v))",
    "atomic_exchange_explicit(p, v, ...)": "atom_xchg(p, v)",
    **{
        f"atomic_fetch_{name}_explicit(p, v, ...)": f"atom_{name}(p, v)"
        for name in ("add", "sub", "or", "xor", "and", "min", "max")
    },
    **{
        # the bits are compared: numbers in floating point may be equal, or not, where these are not, or are
        f"atomic_compare_exchange_{name}_explicit(p, e, d, ...)": "({ typeof(*(e)) *e__ = (e); "
        "union { typeof(*(e)) value; ulong bits; } was__, now__; was__.bits = now__.bits = 0; was__.value = *e__; "
        "now__.value = atom_cmpxchg(p, was__.value, d); *e__ = now__.value; (bool)(now__.bits == was__.bits); })"
        for name in ("strong", "weak")
    },
    "atomic_flag_test_and_set_explicit(p, ...)": "((bool)(atom_xchg(p, 1) != 0))",
    "atomic_flag_clear_explicit(p, ...)": "((void)atom_xchg(p, 0))",
    "atomic_work_item_fence(flags, ...)": "mem_fence(flags)",
}

#: by the word behind ``-cl-std=``, the macros that differ from those of OpenCL C 1.2
STANDARDS: dict[str, dict[str, str]] = {
    "CL1.0": {"__OPENCL_C_VERSION__": "100"},
    "CL1.1": {"__OPENCL_C_VERSION__": "110"},
    "CL1.2": {},
    # what hosts with opencl.hpp ask for where they ask for nothing
    "CL2.0": {"__OPENCL_VERSION__": "200", "__OPENCL_C_VERSION__": "200", "CL_VERSION_2_0": "200", **_ATOMICS},
    "CL3.0": {
        "__OPENCL_VERSION__": "300",
        "__OPENCL_C_VERSION__": "300",
        "CL_VERSION_2_0": "200",
        "CL_VERSION_3_0": "300",
        **dict.fromkeys(FEATURES, "1"),
        **_ATOMICS,
    },
}
