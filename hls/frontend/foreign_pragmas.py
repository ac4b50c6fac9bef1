"""Pragmas of other tools: OpenMP, OpenACC, Vivado HLS, GCC and Clang; what to write here in their place."""

import re

__all__ = ["foreign_pragma"]

_PIPELINED = "every loop is pipelined without a pragma"
_THREADS = (
    f"{_PIPELINED}; #pragma unroll N before it works on N iterations at a time, #pragma ivdep says that they are "
    "independent in memory"
)
_REMOVE_INLINE = "remove it: a function is part of each kernel that calls it"
#: directives of Vivado and Vitis HLS, in lower case
_HLS = {
    "pipeline": f"remove it: {_PIPELINED}; #pragma ii N before it demands an interval",
    "unroll": "write #pragma unroll N before the loop, not in it",
    "dataflow": "write a kernel for each stage, and join them by channels",
    "stream": "a stream is a channel: channel int c __attribute__((depth(N))); at file scope",
    "array_partition": "write __attribute__((numbanks(N))) at the array's declaration, or __attribute__((register))",
    "array_reshape": "write __attribute__((bankwidth(BYTES))) at the array's declaration",
    "bind_storage": 'write __attribute__((memory("BLOCK_RAM"))) or "MLAB" at the array\'s declaration',
    "resource": 'write __attribute__((memory("BLOCK_RAM"))) or "MLAB" at the array\'s declaration',
    "dependence": "write #pragma ivdep before the loop: array(NAME) and safelen(N) limit what it says",
    "loop_flatten": "write #pragma loop_coalesce before the outer loop",
    "loop_merge": "write #pragma loop_fuse before a block of the loops",
    "loop_tripcount": "remove it: the limits of a loop are found, and counted in a run",
    "interface": "remove it: a __global pointer is a port to memory, and other arguments are registers",
    "inline": _REMOVE_INLINE,
    "function_instantiate": _REMOVE_INLINE,
    "allocation": "remove it: operations are shared where the interval of their loop allows it",
    "latency": "remove it: the schedule has the least latency at the clock of --clock",
}
_FACTOR = re.compile(r"(?:factor|ii)\s*=\s*(\w+)", re.IGNORECASE)
_CLANG = {
    "unroll_count": "unroll {}",
    "unroll": "unroll",
    "pipeline_initiation_interval": "ii {}",
    "vectorize_width": "unroll {}",
}


def foreign_pragma(text: str) -> str:
    """What to write in place of another tool's pragma, without the word `#pragma`; empty if it is none."""
    words = text.replace("(", " ").replace(")", " ").split()
    tool, directive = (*(word.lower() for word in words[:2]), "", "")[:2]
    if tool == "hls":
        return _of_hls(directive, text)
    if tool in ("omp", "acc"):
        return _of_threads(directive)
    if tool == "gcc":
        return {"ivdep": "write #pragma ivdep", "unroll": f"write #pragma unroll {' '.join(words[2:3])}".rstrip()}.get(
            directive, ""
        )
    form = _CLANG.get(words[2], "") if words[:2] == ["clang", "loop"] and len(words) > 2 else ""
    return f"write #pragma {form.format(*(words[3:] or ['N']))}" if form else ""


def _of_hls(directive: str, text: str) -> str:
    number = _FACTOR.search(text)
    if directive == "unroll" and number is not None:
        return f"write #pragma unroll {number[1]} before the loop, not in it"
    if directive == "pipeline" and number is not None and number[1] != "1":
        return f"{_PIPELINED}: write #pragma ii {number[1]} before it, not in it, to demand this interval"
    return _HLS.get(directive, "the pragmas here are unroll, ii, ivdep, loop_coalesce and loop_fuse, before a loop")


def _of_threads(directive: str) -> str:
    if directive in ("critical", "atomic"):
        return "write an atomic function, such as atomic_add(p, x)"
    if directive == "barrier":
        return "write barrier(CLK_LOCAL_MEM_FENCE)"
    return _THREADS
