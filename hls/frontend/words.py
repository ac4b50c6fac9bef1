"""The words of OpenCL C that plain C does not have, and what the C grammar is told they are.

The grammar of pycparser stays untouched: an address space looks like a type qualifier to it, ``__kernel`` like
``inline``, a built-in type like ``int``. The word itself travels in the token's value.
"""

__all__ = ["ACCESS_WORDS", "REFUSED_WORDS", "SPELLINGS", "STREAM_WORDS", "TYPE_WORDS", "VECTOR_TYPES"]

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

#: operators on types, of the form of ``sizeof``
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

#: words that make a declaration one of a channel or a pipe, where a type follows
STREAM_WORDS = {"channel": "channel", "pipe": "pipe", "__pipe": "pipe"}
#: words that say what may be done with a pipe (or an image, of which there are none)
ACCESS_WORDS = {word: name for name in ("read_only", "write_only", "read_write") for word in (name, f"__{name}")}

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
