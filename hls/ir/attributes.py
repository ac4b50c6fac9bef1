"""The attributes of operations, functions, memories and channels: key, holders, type and meaning of each.

A pass names a key as ``Attr.KEY``, never as a string of its own, so that one table defines what an attribute in the IR
means and which holders may have it. The verifier rejects an attribute that the table does not allow for its holder, and
a value of another type. The writers and readers of each key are found in the source text
(tests/attribute_table.py) and printed with the table in docs/contributing/attributes.md.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeGuard

__all__ = [
    "ATTRIBUTES",
    "CHANNELS",
    "FUNCTIONS",
    "MEMORIES",
    "Attr",
    "AttributeInfo",
    "AttributeType",
    "AttributeValue",
    "Attributes",
    "Copying",
    "InterleaveReason",
    "misuse",
]

#: a value of the type in its key's row: a type checker cannot follow that, the verifier checks it after every pass
AttributeValue = Any
Attributes = dict[str, AttributeValue]

#: holders other than operations: a function, a memory object of a function, a channel of the module
FUNCTIONS, MEMORIES, CHANNELS = "function", "memory", "channel"


@dataclass(frozen=True)
class AttributeType:
    """``text`` names the type in documentation and messages; ``accepts`` says whether a value has the type."""

    text: str
    accepts: Callable[[object], bool]


@dataclass(frozen=True)
class AttributeInfo:
    """One row of the table. ``asked``: it comes from an attribute or pragma of the source text."""

    key: str
    holders: frozenset[str]
    type: AttributeType
    meaning: str
    asked: bool = False


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _tuple_of(*members: AttributeType) -> AttributeType:
    """Any number of values of one type, or exactly one of each of several."""
    if len(members) == 1:
        (member,) = members
        return AttributeType(f"tuple of {member.text}s", lambda v: isinstance(v, tuple) and all(map(member.accepts, v)))
    return AttributeType(
        f"({', '.join(member.text for member in members)})",
        lambda v: (
            isinstance(v, tuple)
            and len(v) == len(members)
            and all(member.accepts(one) for member, one in zip(members, v))
        ),
    )


def _either(one: AttributeType, other: AttributeType) -> AttributeType:
    return AttributeType(f"{one.text} or {other.text}", lambda v: one.accepts(v) or other.accepts(v))


def _one_of(*words: str) -> AttributeType:
    return AttributeType(" or ".join(f'"{word}"' for word in words), lambda v: isinstance(v, str) and v in words)


FLAG = AttributeType("True", lambda v: v is True)
BOOLEAN = AttributeType("bool", lambda v: isinstance(v, bool))
INTEGER = AttributeType("int", _is_int)
NATURAL = AttributeType("int >= 0", lambda v: _is_int(v) and v >= 0)
COUNT = AttributeType("int >= 1", lambda v: _is_int(v) and v >= 1)
TEXT = AttributeType("str", lambda v: isinstance(v, str))
NAMES = _tuple_of(TEXT)
# the verifier checks the value against that type
CONSTANT = AttributeType("a value of the result's type", lambda v: True)

#: the rows, in the order of the keys in :class:`Attr`
_ROWS: list[AttributeInfo] = []


def _key(key: str, holders: str, type: AttributeType, meaning: str, asked: bool = False) -> str:
    """Add a row for the holders, which are separated by spaces; returns the key."""
    _ROWS.append(AttributeInfo(key, frozenset(holders.split()), type, meaning, asked))
    return key


_LOADS, _ACCESSES, _MEMORY_OPS, _CALLS = "load", "load store", "load store atomic", "channel_read channel_write"
_ROUNDED = "fintegral sitofp uitofp fptosi fptoui fresize"
_FLOAT_ARITHMETIC = "fadd fsub fmul fdiv fma fsum fsqrt"
_CHANNELS = f"{CHANNELS} {MEMORIES}"  # until it is linked, a pipe is a memory of the function
_RTL = "rtl rtl_wait"
_NAMED = "addr given fresh shift fill hazard"


class InterleaveReason(StrEnum):
    """Why invocations of a loop are not interleaved, or only as many as ``max_interleaving`` says."""

    AWAITED = "awaited"  #: the outer loop waits for its result
    CHANNEL_ORDER = "channel-order"  #: channel calls execute in program order
    GROUP = "group"  #: the work-items of a group stay together
    PRIVATE_COPIES = "private-copies"  #: each invocation fills a private copy of an array

    __repr__ = str.__repr__  # IR that was parsed holds the plain word


class Copying(StrEnum):
    """What a loop is for in a kernel that works on copies of its buffers in launches whose buffers are small."""

    MOVES = "moves"  #: it copies a buffer to the chip, or back
    WITHOUT = "without"  #: it is executed where a buffer is too large

    __repr__ = str.__repr__


class Attr:
    """The keys. They are plain strings: ``op.attrs[Attr.TRIP_COUNT]``."""

    # operations: their function
    VALUE = _key("value", "const copy_number", CONSTANT, "the constant")
    MEM = _key("mem", _NAMED, TEXT, "the name of the memory")
    FN = _key("fn", "atomic work_item", TEXT, "which atomic operation, or which work-item function")
    DIM = _key("dim", "work_item", NATURAL, "the dimension that a work-item function is asked for")
    CALLEE = _key("callee", "call", TEXT, "the name of the function that is called")
    RTL_MODULE = _key("module", f"{_RTL} {FUNCTIONS}", TEXT, "the user's Verilog module that computes the function")
    RTL_LATENCY = _key("latency", f"{_RTL} {FUNCTIONS}", NATURAL, "cycles of that module from operands to result")
    RTL_PORTS = _key("ports", f"{_RTL} {FUNCTIONS}", NAMES, "its ports, see hls.ir.rtl_ports; empty: none")
    RTL_WAITS = _key("waits", f"{_RTL} {FUNCTIONS}", NATURAL, "it waits; the most operands inside of it")
    RTL_MODEL = _key("model", _RTL, NAMES, "the function that it computes: the lines of its IR")
    FORMAT = _key("format", "printf", TEXT, "the format string of printf")
    FORMAT_NUMBER = _key("format_number", "printf", NATURAL, "the format's number, where hardware prints")
    FLAGS = _key("flags", "barrier mem_fence", NATURAL, "what is fenced: 1 local, 2 global memory, 4 channels, summed")
    KIND = _key("kind", "mem_fence", _one_of("all", "read", "write"), "which accesses the fence keeps in order")
    ROUNDING = _key("rounding", _ROUNDED, TEXT, "the rounding mode, where it is not the operation's default")
    TERMS = _key("terms", "fsum", NAMES, "sign of each term of a sum, and whether it is a product: +, -, +*, -*")
    TABLE = _key(
        "table", "lut", NATURAL, "bit ``m`` is the result where the operands' bits, the first lowest, are ``m``"
    )
    FLUSH_DENORMALS = _key("flush", _FLOAT_ARITHMETIC, FLAG, "subnormal operands and results are zeros of their sign")
    SET = _key("set", "fresh", BOOLEAN, "the program sets the memory to 0; otherwise reading it unwritten is undefined")
    BY = _key("by", "shift", INTEGER, "by how many places the elements move up; negative: down")
    LOW = _key("low", "shift fill", NATURAL, "the first element that is moved or set")
    HIGH = _key("high", "shift fill", COUNT, "the element behind the last one that is moved or set")

    # loads, stores and atomic operations
    ALIGN = _key("align", _ACCESSES, COUNT, "known alignment in bytes, where it is less than the size")
    UNIT = _key("unit", _ACCESSES, _tuple_of(TEXT, INTEGER), "LSU kind that the program chooses, bytes of its cache")
    FRESH = _key("fresh", "load", FLAG, "reads memory anew each time: others may have written there")
    EARLY = _key("early", "load", FLAG, "is made before it is known whether the program makes it; see `check`")
    STEPPING = _key(
        "stepping", "load", COUNT, "is early, at an address that an iteration moves on by at most so many bytes"
    )
    LANE = _key("lane", _MEMORY_OPS, NATURAL, "the number of its lane, of accesses of work-items side by side")
    ALONE = _key("alone", _ACCESSES, FLAG, "is coalesced with no other access: its own condition keeps the order")
    WRITER = _key("writer", "store", _tuple_of(INTEGER), "numbers of the stores that this one stands for")
    APART = _key("apart", _ACCESSES, _tuple_of(INTEGER), "stores of the same iteration that need no order to it")
    MEMBERS = _key("members", _ACCESSES, COUNT, "how many accesses were coalesced into this one")
    LINES = _key("lines", _ACCESSES, _tuple_of(INTEGER), "source lines of the accesses that this one stands for")
    TURNS = _key("turns", "store", COUNT, "how many stores of the source this one makes in turn")
    HAZARDS = _key(
        "hazards", "store", _tuple_of(_tuple_of(INTEGER, INTEGER)), "(hazard, place in it) that compare with this store"
    )
    PORT_GROUP = _key(
        "port_group", "store atomic", NATURAL, "stores of a region with one number share a level, a cycle for each"
    )
    BOOKED = _key(
        "booked", "store atomic", TEXT, "those with one name share a write port over levels and reserve cycles of it"
    )
    FUSING = _key("fusing", "loop load store", COUNT, "which of two loops it is of, where fusion is tested")
    NEST_PART = _key("nest_part", "loop load store", COUNT, "which part of a nest it is of, for a test of order")

    INBOUNDS = _key("inbounds", "add sub mul", FLAG, "is part of an address: does not wrap, but leaves all memories")
    EXTENT = _key("extent", "mul", COUNT, "its first operand is a subscript of an array of so many elements")
    WRAPS = _key(
        "wraps",
        "add sub mul shl",
        FLAG,
        "wraps around: unsigned in the source; in less than 32 bits only with a large constant",
    )

    # order of memory accesses and work-items
    MEMS = _key("mems", "fence meet group", NAMES, "memories whose stores are waited for, or that have copies")
    FLUSH = _key("flush", f"fence meet {_CALLS}", NAMES, "memories whose load units must forget what they hold")
    COPIES = _key("copies", "group memory", COUNT, "how many copies groups or iterations take turns in")
    CALLS = _key("calls", "group", FLAG, "lets one group at a time make its GATED calls, instead of giving out copies")
    NUMBER = _key("number", "hazard", NATURAL, "the number of the hazard unit, see HAZARDS")
    ASKS = _key("asks", "hazard", _tuple_of(_tuple_of(INTEGER)), "for each access, the stores it is compared with")
    CERTAIN = _key("certain", "hazard", _tuple_of(INTEGER), "for each store 1 if its predicate is known in time")
    FINDS = _key("finds", "hazard", FLAG, "answers which stores in flight have the addresses, and waits for none")
    UNTIL_PUSHED = _key("until_pushed", "hazard", FLAG, "compares with stores that are not issued yet, by their slots")

    # channel calls
    CHANNEL = _key("channel", _CALLS, TEXT, "the name of the channel, or of the memory that is a pipe")
    BLOCKING = _key("blocking", _CALLS, BOOLEAN, "waits until there is a value, or room for one")
    CHANNEL_COUNT = _key("length", _CALLS, COUNT, "how many channels the array has that the call's channel is one of")
    CHOSEN = _key("chosen", _CALLS, FLAG, "the channel is chosen at run time: the call may never be made")
    ORDER = _key("order", _CALLS, NATURAL, "place of the call in the program, over all channels of the kernel")
    TURN = _key("turn", _CALLS, NATURAL, "place of the call among those of its region on one end of a channel")
    AT_ONCE = _key("at_once", _CALLS, FLAG, "answers in the cycle in which it is made: alone on its end, never waits")
    GATED = _key("gated", _CALLS, FLAG, "all work-items of a group make it before any of the next group does")
    PHASE = _key(
        "phase", _CALLS, NATURAL, "calls of a region on one end with one number take turns: the barriers before them"
    )
    SORTED = _key("sorted", "channel_write", FLAG, "its value says its place, so it keeps no order with other calls")
    BETWEEN_PARTS = _key(
        "between_parts",
        _CALLS,
        FLAG,
        "joins parts of a kernel, none of which loads what another stores: orders no access",
    )

    # loops: requests of the program
    LABEL = _key("label", "loop", TEXT, "the loop's label in the source, or what the compiler calls it")
    FORM = _key(
        "form", "loop", _one_of("for", "while", "do", "ndrange", "restart"), "how the loop is written; of work-items"
    )
    UNROLL = _key(
        "unroll", "loop shift fill", INTEGER, "how often to unroll; -1 entirely, 0 if it pays, 1 not at all", True
    )
    II = _key("ii", "loop", COUNT, "the initiation interval that is asked for", True)
    IVDEP = _key(
        "ivdep", "loop", _tuple_of(_tuple_of(TEXT, INTEGER)), "(memory or all, safe distance or 0) without dependence"
    )
    LOOP_COALESCE = _key("loop_coalesce", "loop", INTEGER, "how many levels to make one loop; -1 all", True)
    FLATTEN_BY_TEST = _key(
        "flatten_by_test", "loop", FLAG, "is to be one loop with the one inside it, each iteration one of either"
    )
    FLATTEN_BY_END = _key(
        "flatten_by_end", "loop", FLAG, "is to be one loop with the one inside it, each iteration one of the inner loop"
    )
    FLATTENED = _key("flattened", "loop", FLAG, "was a nest: each iteration is one of either loop")
    DELAY_EXIT = _key("delay_exit", "loop", FLAG, "is to learn an iteration later whether it goes on")
    LOOP_INTERCHANGE = _key("loop_interchange", "loop", FLAG, "is to change places with the loop inside it")
    LOOP_FUSE = _key(
        "loop_fuse", "loop", _tuple_of(INTEGER, INTEGER, INTEGER), "number of the block of loops, depth, 1: independent"
    )
    NOFUSION = _key("nofusion", "loop", FLAG, "is not fused with others", True)
    MAX_CONCURRENCY = _key(
        "max_concurrency", "loop memory", NATURAL, "iterations in flight, or copies of a memory, at most; 0 any", True
    )
    MAX_INTERLEAVING = _key("max_interleaving", "loop", NATURAL, "invocations in flight at most; 0 any", True)
    SPECULATED_ITERATIONS = _key(
        "speculated_iterations", "loop", NATURAL, "iterations to begin before the exit condition is known", True
    )
    DISABLE_LOOP_PIPELINING = _key("disable_loop_pipelining", "loop", FLAG, "one iteration at a time", True)
    PIPELINED = _key("pipelined", "loop", FLAG, "is to stay a pipelined loop: not unrolled unasked", True)

    # loops: results of passes
    TRIP_COUNT = _key("trip_count", "loop", NATURAL, "how often it runs, where that is a constant")
    EXIT_DELAYED = _key("exit_delayed", "loop", FLAG, "makes one more iteration than the program, without effects")
    INTERCHANGED = _key("interchanged", "loop", FLAG, "changed places with the loop inside it")
    COPYING = _key(
        "copying", "loop", _one_of(*Copying), "copies a buffer to the chip, or is for launches without copies"
    )
    PARALLEL = _key("parallel", "loop", FLAG, "its iterations are work-items: none needs another")
    RING = _key("ring", "loop", FLAG, "holds a barrier: the work-items of a group do each iteration together")
    OWN = _key("own", "loop", NAMES, "memories of which an iteration reads nothing that was stored before it")
    ANEW = _key("anew", "loop", NAMES, "memories that each iteration declares, of which `ivdep` asserts nothing")
    INTERLEAVE = _key("interleave", "loop", BOOLEAN, "whether invocations may be in flight together")
    INTERLEAVE_REASON = _key("interleave_reason", "loop", _one_of(*InterleaveReason), "why they may not, or not more")
    APART_IF_OVERLAP = _key("apart", "loop", FLAG, "invocations are not interleaved in launches whose buffers overlap")

    # functions: requests of the program
    WORK_GROUP_SIZE = _key(
        "work_group_size", FUNCTIONS, _tuple_of(COUNT, COUNT, COUNT), "the size that every work-group has", True
    )
    MAX_WORK_GROUP_SIZE = _key(
        "max_work_group_size",
        FUNCTIONS,
        _either(COUNT, _tuple_of(COUNT)),
        "the largest work-group: work-items, or size in each dimension",
        True,
    )
    HINTS = _key("hints", FUNCTIONS, NAMES, "what the program tells compilers of its work-items, for hosts that ask")
    NUM_SIMD_WORK_ITEMS = _key("num_simd_work_items", FUNCTIONS, COUNT, "work-items side by side", True)
    NUM_COMPUTE_UNITS = _key(
        "num_compute_units",
        FUNCTIONS,
        _either(COUNT, _tuple_of(COUNT)),
        "how many copies; of an autorun kernel in each dimension",
        True,
    )
    MAX_GLOBAL_WORK_DIM = _key("max_global_work_dim", FUNCTIONS, NATURAL, "dimensions at most; 0: one work-item", True)
    USES_GLOBAL_WORK_OFFSET = _key(
        "uses_global_work_offset", FUNCTIONS, NATURAL, "0: launches have no global offset", True
    )
    CONSOLE = _key("console", FUNCTIONS, TEXT, "the channel that takes what it prints")
    AUTORUN = _key("autorun", FUNCTIONS, FLAG, "starts by itself and again when it ends", True)
    TASK = _key("task", FUNCTIONS, FLAG, "is a single work-item", True)
    FEED_FORWARD = _key(
        "feed_forward",
        f"{FUNCTIONS} loop",
        _either(FLAG, _tuple_of(NATURAL, COUNT)),
        "is to be split into a memory part and a compute part, or its loads are to run ahead, of a loop; (M, C): is to "
        "be C copies that share its iterations, each split into both parts unless M is 0",
        True,
    )
    INDEPENDENT = _key(
        "independent", FUNCTIONS, FLAG, "no iteration of its loops uses what another one stores to buffers", True
    )
    SILENT_STORES = _key(
        "silent_stores", FUNCTIONS, FLAG, "independent, but for stores that leave an element of a buffer as it is", True
    )
    MAX_UNROLL_LOOPS = _key("max_unroll_loops", FUNCTIONS, COUNT, "how often to unroll loops at most, unasked", True)
    SCHEDULER_TARGET_FMAX_MHZ = _key("scheduler_target_fmax_mhz", FUNCTIONS, COUNT, "clock to schedule for, MHz", True)
    NUM_SHARE_RESOURCES = _key("num_share_resources", FUNCTIONS, COUNT, "units to share; warned of", True)
    MAX_SHARE_RESOURCES = _key("max_share_resources", FUNCTIONS, COUNT, "units to share at most; warned of", True)
    USE_STALL_ENABLE_CLUSTERS = _key("use_stall_enable_clusters", FUNCTIONS, FLAG, "form of pipeline; warned of", True)

    # functions: results of the front end and passes
    NDRANGE = _key("ndrange", FUNCTIONS, BOOLEAN, "is a kernel of many work-items")
    REASON = _key("reason", FUNCTIONS, TEXT, "why it is a kernel of one, or of many work-items, for the report")
    FP_CONTRACT = _key("fp_contract", FUNCTIONS, BOOLEAN, "False: a pragma forbids to round sums of products once")
    LIBRARY = _key("library", FUNCTIONS, FLAG, "is part of the math library: its operations stay as they are written")
    LANES = _key("lanes", FUNCTIONS, COUNT, "for how many work-items, neighbours in dimension 0, one run stands")
    UNITS = _key("units", FUNCTIONS, COUNT, "how many compute units take groups of one launch")
    LAUNCH_ARGS = _key("launch_args", FUNCTIONS, NAMES, "names of the hidden arguments, the last ones of the function")
    COPY_BYTES = _key("copy_bytes", FUNCTIONS, COUNT, "bytes of the largest buffer that it works on a copy of")
    SHARES = _key(
        "shares", FUNCTIONS, COUNT, "the number of copies of a kernel that share its iterations, of each copy"
    )
    PART_OF = _key("part_of", FUNCTIONS, TEXT, "the kernel that it is a part of, with which it starts and ends")
    LOADS_FOR = _key("loads_for", FUNCTIONS, TEXT, "of a memory part: the compute part that it sends values to")
    PARTS = _key("parts", FUNCTIONS, NAMES, "the other parts of a split kernel, which start and end with it")
    PROMISED = _key("promised", FUNCTIONS, FLAG, "only the program knows that all work-items reach its barriers")

    # memories: requests of the program
    RAM_KIND = _key("memory", MEMORIES, _either(TEXT, FLAG), "kind of RAM; True: any, but no registers", True)
    REGISTER = _key("register", MEMORIES, FLAG, "is kept in registers", True)
    NUMBANKS = _key("numbanks", MEMORIES, COUNT, "number of banks", True)
    BANKWIDTH = _key("bankwidth", MEMORIES, COUNT, "bytes of a bank's word", True)
    BANK_BITS = _key(
        "bank_bits", MEMORIES, _either(NATURAL, _tuple_of(NATURAL)), "bits of the address that choose the bank", True
    )
    SINGLEPUMP = _key("singlepump", MEMORIES, FLAG, "is clocked with the kernel", True)
    DOUBLEPUMP = _key("doublepump", MEMORIES, FLAG, "is clocked twice as fast: twice the ports", True)
    NUMREADPORTS = _key("numreadports", MEMORIES, COUNT, "read ports of a bank", True)
    NUMWRITEPORTS = _key("numwriteports", MEMORIES, COUNT, "write ports of a bank", True)
    SIMPLE_DUAL_PORT = _key("simple_dual_port", MEMORIES, FLAG, "each block has one read and one write port", True)
    MERGE = _key(
        "merge", MEMORIES, _either(TEXT, _tuple_of(TEXT, TEXT)), "name of those to merge with; by depth or width", True
    )
    MAX_REPLICATES = _key("max_replicates", MEMORIES, COUNT, "copies for more read ports at most", True)
    PRIVATE_COPIES = _key("private_copies", MEMORIES, NATURAL, "copies for iterations in flight; 0 as needed", True)
    MAX_PRIVATE_COPIES = _key("max_private_copies", MEMORIES, NATURAL, "copies at most; 0 any", True)
    STATIC_ARRAY_OFFSET = _key("static_array_offset", MEMORIES, NATURAL, "where it begins in its RAM; warned of", True)
    FORCE_POW2_DEPTH = _key("force_pow2_depth", MEMORIES, NATURAL, "a power of two words; warned of", True)
    ALIGNED = _key("aligned", MEMORIES, _either(COUNT, FLAG), "alignment in bytes; True: the largest", True)
    LOCAL_MEM_SIZE = _key("local_mem_size", MEMORIES, COUNT, "bytes of a local argument at most", True)
    BUFFER_LOCATION = _key(
        "buffer_location", MEMORIES, TEXT, "the board's memory that holds the buffer, where not the default", True
    )

    # memories: results of the front end and passes
    CONSTANT_MEMORY = _key("constant", MEMORIES, FLAG, "is a buffer in the constant address space")
    WORD_BYTES = _key("word_bytes", MEMORIES, COUNT, "bytes of a word of the memory named by BUFFER_LOCATION")
    FENCED = _key("fenced", MEMORIES, FLAG, "is volatile because of fences, not by its declaration")
    MERGED = _key("merged", MEMORIES, NAMES, "the arrays that were merged into it, in order")
    COPY_OF = _key("copy_of", MEMORIES, TEXT, "the buffer or array that a launch works on it for")
    DELAY_LINE = _key("ring", MEMORIES, COUNT, "is a delay line of so many elements")
    CONDITIONAL = _key("conditional", MEMORIES, FLAG, "is of an array that only some iterations shift")
    HOLDS_UP = _key("holds_up", MEMORIES, FLAG, "would hold up a loop as registers")

    # channels
    CARRIES = _key("carries", CHANNELS, TEXT, "what passes between two parts of a kernel, for messages")
    CHANNEL_DEPTH = _key("depth", _CHANNELS, NATURAL, "values that the channel holds at least", True)
    IO = _key("io", _CHANNELS, TEXT, "the board's stream that the channel is bound to", True)
    PIPE_BLOCKING = _key("blocking", _CHANNELS, FLAG, "is a pipe whose reads and writes wait", True)
    PRINTS = _key("prints", CHANNELS, FLAG, "its values are records of printf, which the host shows")
    PLACES = _key("places", CHANNELS, NATURAL, "lanes of its records of printf that say their place in the text")
    HOST_PIPE = _key("pipe", CHANNELS, FLAG, "joins pipe arguments of one name")


#: the table, by the name of the member of :class:`Attr`
ATTRIBUTES: dict[str, AttributeInfo] = dict(
    zip([name for name in vars(Attr) if not name.startswith("_")], _ROWS, strict=True)
)

_OF_HOLDER: dict[tuple[str, str], AttributeInfo] = {
    (holder, row.key): row for row in _ROWS for holder in sorted(row.holders)
}


def misuse(holder: str, attrs: Iterable[tuple[str, object]]) -> str | None:
    """What is wrong with the attributes of a ``holder`` (an opcode, or one of the three others), as the rest of a
    sentence about it; None if they conform to the table."""
    for key, value in attrs:
        row = _OF_HOLDER.get((holder, key))
        if row is None:
            return f"has the attribute {key!r}, which no {holder} has"
        if not row.type.accepts(value):
            return f"has {key} = {value!r}, which is not {row.type.text}"
    return None
