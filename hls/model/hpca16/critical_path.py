"""#Cycle of Table 1: the critical path of a basic block with the latencies of Table 2."""

import math
from collections.abc import Container

from ...ir import Op
from ...planning.schedule import RegionPlan
from .parameters import LATENCIES

__all__ = ["critical_path"]

#: by opcode, its row of Table 2; operations that the paper does not list are wires, or take no cycle
_ROWS = {
    **dict.fromkeys(("fadd", "fsub"), "fp_add"),
    **dict.fromkeys(("udiv", "sdiv", "urem", "srem"), "int_div"),
    **dict.fromkeys(("add", "sub", "ptradd", "and", "or", "xor", "lut", "shl", "lshr", "ashr"), "int_add"),
    **dict.fromkeys(("eq", "ne", "ult", "ule", "slt", "sle", "feq", "fne", "flt", "fle", "select"), "int_add"),
    "fmul": "fp_mul",
    "fdiv": "fp_div",
    "fsqrt": "fp_sqrt",
    "mul": "int_mul",
}


def critical_path(plan: RegionPlan, outside: Container[Op]) -> int:
    """Cycles of the longest chain of operations in a region, without the loops inside and without the accesses
    ``outside``, those to global memory; the block ends with a branch."""
    done: dict[Op, int] = {}
    for op in plan.region.ops:
        if op in plan.place and op.opcode != "loop":
            before = max((done.get(value.op, 0) for value in op.operands if value.op is not None), default=0)
            done[op] = before + (0 if op in outside else _latency(op))
    return max(done.values(), default=0) + LATENCIES["branch"]


def _latency(op: Op) -> int:
    if op.opcode in ("load", "store", "atomic"):
        return LATENCIES["local_memory"]
    if op.opcode == "fma":
        return LATENCIES["fp_mul"] + LATENCIES["fp_add"]
    if op.opcode == "fsum":
        return LATENCIES["fp_add"] * max(1, math.ceil(math.log2(len(op.operands))))
    row = _ROWS.get(op.opcode)
    return LATENCIES[row] if row else 0
