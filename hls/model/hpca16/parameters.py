"""The parameters of the model (the paper's Tables 1 and 2), and the hierarchy of basic blocks that they belong to."""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "LATENCIES",
    "Block",
    "Branches",
    "Launch",
    "Loop",
    "MemoryInstruction",
    "Node",
    "Platform",
    "Resources",
    "Sequence",
    "blocks",
]

#: Table 2: cycles of computation instructions
LATENCIES = {
    "fp_sqrt": 28,
    "fp_mul": 5,
    "fp_add": 7,
    "local_memory": 7,
    "fp_div": 14,
    "int_mul": 3,
    "int_div": 32,
    "branch": 1,
    "int_add": 1,  # and bitwise operations
}


@dataclass(frozen=True)
class MemoryInstruction:
    """A load or store of global memory in the source: ``bytes`` (ls_bytes) of one execution.

    *Coalesced* means two things in the paper: in Eq. 2 that the copies which unrolling and SIMD make of the instruction
    access consecutive addresses (``copies_adjacent``), in Eq. 4 that neighbouring work-items do (``items_adjacent``).
    """

    bytes: int
    copies_adjacent: bool
    items_adjacent: bool
    scale: int = 1  #: f = #UL x #SIMD, the copies of the instruction


@dataclass(frozen=True)
class Block:
    """A basic block: its memory instructions, #Cycle (cycles of the critical path, at least 1), and the cycles between
    the iterations or work-items that enter it, which the paper takes to be 1. Each block of a hierarchy is an object of
    its own, also where two are equal."""

    name: str
    instructions: tuple[MemoryInstruction, ...]
    cycles: int
    interval: float = 1.0


@dataclass(frozen=True)
class Sequence:
    """Nodes that tokens pass in order."""

    children: tuple["Node", ...]


@dataclass(frozen=True)
class Branches:
    """The two sides of an ``if``."""

    children: tuple["Node", "Node"]


@dataclass(frozen=True)
class Loop:
    """A loop: ``trips`` (#Trip) are the mean iterations of an invocation, above 0 and already divided by #UL."""

    trips: float
    children: tuple["Node", ...]


Node = Block | Sequence | Branches | Loop


@dataclass(frozen=True)
class Resources:
    """Shares, from 0 to 1, of the logic blocks, memory blocks and DSP blocks of a device."""

    logic: float
    memory: float
    dsp: float


#: I_L, I_M, I_D of the paper's board (section 3.1): what its shell leaves
INITIAL = Resources(0.83, 0.89, 1.0)


@dataclass(frozen=True)
class Platform:
    """The board: #Banks, #Mem_trans_width in bytes, #Freq in Hz, the memory's peak bandwidth in bytes a second, and
    what its shell leaves of the resources (I_L, I_M, I_D)."""

    banks: int
    width: int
    frequency: float
    bandwidth: float
    initial: Resources = INITIAL


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel: its global size in work-items, #SIMD, #CU, and the hierarchy of its blocks."""

    global_size: int
    simd: int
    units: int
    root: Node


def blocks(node: Node, around: tuple[float, ...] = ()) -> Iterator[tuple[Block, tuple[float, ...]]]:
    """The basic blocks below a node, in order, each with #Trip of the loops around it, outermost first."""
    if isinstance(node, Block):
        yield node, around
        return
    inside = (*around, node.trips) if isinstance(node, Loop) else around
    for child in node.children:
        yield from blocks(child, inside)
