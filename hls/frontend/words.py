"""The words of OpenCL C that plain C lacks, and how each is presented to the C grammar.

The grammar of pycparser stays unchanged: an address space is presented as a type qualifier, ``__kernel`` as ``inline``,
a built-in type as ``int``. The word itself is in the token's value.
"""

__all__ = [
    "ACCESS_WORDS",
    "DEVICE_QUEUES",
    "NOT_BUILT_TYPES",
    "REFUSED_WORDS",
    "RESERVATIONS",
    "RESERVED_WORDS",
    "SPELLINGS",
    "STREAM_WORDS",
    "TYPE_WORDS",
    "VECTOR_TYPES",
]

_SPACES = {
    spelling: ("VOLATILE", f"__{name}")
    for name in ("global", "local", "constant", "private")
    for spelling in (name, f"__{name}")
} | {"__generic": ("VOLATILE", "__private")}

_QUALIFIERS = {
    "restrict": ("RESTRICT", "restrict"),
    "__restrict": ("RESTRICT", "restrict"),
    "__restrict__": ("RESTRICT", "restrict"),
    "__const": ("CONST", "const"),
    "__volatile__": ("VOLATILE", "volatile"),
    "kernel": ("INLINE", "__kernel"),
    "__kernel": ("INLINE", "__kernel"),
    "inline": ("INLINE", "inline"),
    "__inline": ("INLINE", "inline"),
    "__inline__": ("INLINE", "inline"),
}

#: operators on types, with the syntax of ``sizeof``
_OPERATORS = {
    **{word: ("SIZEOF", "alignof") for word in ("__alignof__", "__alignof", "_Alignof", "alignof")},
    **{word: ("TYPEOF", "typeof") for word in ("typeof", "__typeof__", "__typeof")},
    "vec_step": ("SIZEOF", "vec_step"),
}

_SCALARS = ("bool", "uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t", "half")
VECTOR_TYPES = frozenset(
    f"{base}{n}"
    for n in (2, 3, 4, 8, 16)
    for base in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half")
)
_OPAQUE = (
    "image1d_t",
    "image2d_t",
    "image3d_t",
    "image1d_array_t",
    "image1d_buffer_t",
    "image2d_array_t",
    "sampler_t",
    "event_t",
)
TYPE_WORDS = frozenset(_SCALARS) | VECTOR_TYPES | frozenset(_OPAQUE)

#: spelling -> (token type of the C grammar, word as the compiler knows it)
SPELLINGS: dict[str, tuple[str, str]] = {
    **_SPACES,
    **_QUALIFIERS,
    **_OPERATORS,
    **{word: ("INT", word) for word in TYPE_WORDS},
}

#: keywords that OpenCL C has and C has not, and that look like names
RESERVED_WORDS = frozenset(("global", "local", "constant", "private", "kernel"))

#: words that declare a channel or a pipe if a type follows
STREAM_WORDS = {"channel": "channel", "pipe": "pipe", "__pipe": "pipe"}
#: access words of a pipe (or an image, which is not supported)
ACCESS_WORDS = {word: name for name in ("read_only", "write_only", "read_write") for word in (name, f"__{name}")}

RESERVATIONS = "write_pipe(p, &value) and read_pipe(p, &value) take one value at a time"
DEVICE_QUEUES = "let the host launch the kernel, or call it as a function"
#: types of OpenCL C 2.0 that are not there, and that a program of 1.2 may declare -> (what they are for, hint)
NOT_BUILT_TYPES = {
    "reserve_id_t": ("reservations of pipes", RESERVATIONS),
    **{name: ("kernels that launch kernels", DEVICE_QUEUES) for name in ("queue_t", "clk_event_t", "ndrange_t")},
}

#: spelling -> (message, hint)
REFUSED_WORDS: dict[str, tuple[str, str]] = {
    **{
        word: ("inline assembly is not supported", "write the operation in OpenCL C")
        for word in ("asm", "__asm", "__asm__")
    },
    **{
        word: (f"'{word}' is not a word of OpenCL C", "name the type instead")
        for word in ("_Generic", "_Atomic", "_Alignas", "_Thread_local", "_Complex")
    },
    "_Static_assert": ("'_Static_assert' is not a word of OpenCL C", "use #if and #error"),
}
