"""Knobs: what a search may choose in a program, found in its text and in what its launches do."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..design import Design, Setting
from ..diag import Span
from ..ir import Attr, Function, Module, Op, Region, walk
from ..model.workload import Workload

__all__ = ["Knob", "Values", "design_of", "find_knobs", "most_copies"]

#: the values of knobs by name; None leaves a knob as the program has it
Values = Mapping[str, "int | str | None"]

MOST_COPIES = 64  #: of a loop's body that are tried
MOST_LANES = 16
MOST_UNITS = 8
#: sizes of a load cache in bytes that are tried
CACHES = (0, 4096, 65536)
#: attributes of a loop by which the program asks for it to stay as it is
_PACED = frozenset({Attr.II, Attr.DISABLE_LOOP_PIPELINING, Attr.LOOP_COALESCE})


@dataclass(frozen=True)
class Knob:
    """``name`` as tables show it (``unroll k@11``). ``kind``: a kind of settings, "define", or an option of the
    compiler. ``place`` is that of the loop or kernel; ``values`` are tried in order, and None stands for the program
    as written."""

    name: str
    kind: str
    place: Span | None
    values: tuple[int | str | None, ...]


def find_knobs(
    module: Module,
    workloads: Sequence[Workload],
    main: str,
    defines: Mapping[str, Sequence[str]] | None = None,
    relaxed: bool = False,
) -> tuple[Knob, ...]:
    """The knobs of a program as the front end leaves it, in the order of its text.

    ``workloads`` tell which loops run, and how often. ``defines`` are values of macros; ``relaxed`` allows other orders
    of floating-point additions.
    """
    found = [Knob(f"-D {name}", "define", None, tuple(values)) for name, values in (defines or {}).items()]
    launched = {one.kernel for one in workloads}
    for function in module.functions.values():
        if function.kind == "kernel" and function.name in launched:
            found += _of_kernel(function)
        if function.kind != "kernel" or function.name in launched:
            found += _of_loops(function, workloads, main)
    found.append(Knob("cache bytes", "cache_bytes", None, (None, *CACHES)))
    if relaxed:
        found.append(Knob("-fp-relaxed", "fp_relaxed", None, (None, 1)))
    return tuple(_unique(knob for knob in found if len(knob.values) > 1))


def _unique(knobs: Iterable[Knob]) -> list[Knob]:
    """Each place once, though several kernels may include it."""
    return list({(knob.kind, knob.name): knob for knob in knobs}.values())


def _of_kernel(kernel: Function) -> list[Knob]:
    if not kernel.attrs.get(Attr.NDRANGE) or kernel.attrs.get(Attr.AUTORUN) or kernel.span is None:
        return []
    found = []
    size = kernel.attrs.get(Attr.WORK_GROUP_SIZE)
    if size:
        lanes = [n for n in _powers(MOST_LANES) if size[0] % n == 0]
        found.append(Knob(f"simd {kernel.name}", "num_simd_work_items", kernel.span, (None, *lanes)))
    found.append(Knob(f"units {kernel.name}", "num_compute_units", kernel.span, (None, *_powers(MOST_UNITS))))
    return found


def _of_loops(function: Function, workloads: Sequence[Workload], main: str) -> list[Knob]:
    found = []
    for op in walk(function.body):
        if op.opcode == "loop" and op.span is not None and not _PACED & op.attrs.keys():
            longest, same = _trips(op, workloads, main)
            copies = _powers(min(MOST_COPIES, longest - 1 if same else longest))
            entirely = (-1,) if same and longest <= MOST_COPIES else ()
            name = f"unroll {op.attrs.get(Attr.LABEL, 'loop')}@{op.span.line}"
            found.append(Knob(name, "unroll", op.span, (None, *copies, *entirely)))
    return found


def _trips(loop: Op, workloads: Sequence[Workload], main: str) -> tuple[int, bool]:
    """The most iterations of an invocation, 0 for a loop that never ran, and whether all have as many."""
    ranges = [
        one
        for workload in workloads
        for runs in workload.loops
        if loop.span is not None and runs.place.is_at(loop.span, main)
        for one in runs.trips.ranges
    ]
    longest = max((one.high for one in ranges), default=0)
    return longest, all(one.low == longest for one in ranges)


def _powers(most: int) -> tuple[int, ...]:
    """2, 4, 8, ... up to ``most``."""
    return tuple(1 << k for k in range(1, max(most, 1).bit_length()))


def most_copies(module: Module, knobs: Sequence[Knob], values: Values) -> int:
    """How many copies of the innermost body of one nest the values make at least: the product of the factors of the
    loops around it and of its kernel. A loop that is unrolled entirely counts as one."""
    factors: Counter[Span] = Counter()
    for knob in knobs:
        value = values.get(knob.name)
        if knob.place is not None and isinstance(value, int) and value > 1:
            factors[_start(knob.place)] = value * max(1, factors[_start(knob.place)])
    return max((_copies(one.span, (one.body,), factors) for one in module.functions.values()), default=1)


def _copies(span: Span | None, regions: Iterable[Region], factors: Mapping[Span, int]) -> int:
    inside = (_copies(op.span, op.regions, factors) for region in regions for op in region.ops if op.regions)
    return (factors.get(_start(span), 1) if span is not None else 1) * max(inside, default=1)


def _start(span: Span) -> Span:
    return Span(span.file, span.line, span.column)


def design_of(knobs: Sequence[Knob], values: Values, source_hash: str, main: str) -> Design:
    """The design with those values of the knobs."""
    chosen = {knob: values.get(knob.name) for knob in knobs}
    settings = [
        Setting(_file(knob.place, main), knob.place.line, knob.place.column, knob.kind, value)
        for knob, value in chosen.items()
        if knob.place is not None and isinstance(value, int)
    ]
    cache = next((value for knob, value in chosen.items() if knob.kind == "cache_bytes"), None)
    relaxed = next((value for knob, value in chosen.items() if knob.kind == "fp_relaxed"), None)
    return Design(
        1,
        source_hash,
        tuple(sorted(settings)),
        tuple((knob.name.removeprefix("-D "), str(value)) for knob, value in chosen.items() if knob.kind == "define"),
        cache if isinstance(cache, int) else None,
        None,
        bool(relaxed) if relaxed is not None else None,
    )


def _file(place: Span, main: str) -> str:
    return "" if place.file == main else place.file
