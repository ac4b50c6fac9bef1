"""Knobs: what a search may choose in a program, found in its text and in what its launches do."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..design import Design, Setting
from ..diag import Span
from ..ir import Attr, Function, Module, Op, Region, walk
from ..model.workload import Workload

__all__ = [
    "FP_RELAXED",
    "Knob",
    "Values",
    "adds_floats",
    "design_of",
    "find_knobs",
    "group_text",
    "most_copies",
    "powers",
    "relaxed_knob",
    "trips",
]

#: the values of knobs by name; None leaves a knob as the program has it
Values = Mapping[str, "int | str | None"]

MOST_COPIES = 64  #: of a loop's body that are tried
MOST_LANES = 16
MOST_UNITS = 8
#: sizes of a load cache in bytes that are tried
CACHES = (0, 4096, 65536)
#: other orders of floating-point additions, which only the user can allow
FP_RELAXED = "-fp-relaxed"
_ADDITIONS = frozenset({"fadd", "fsub"})
#: kinds of knobs whose values are copies of what stands there
_COPIES = frozenset({"unroll", "num_simd_work_items", "num_compute_units", "feed_forward"})
#: attributes of a loop by which the program asks for it to stay as it is
_PACED = frozenset({Attr.II, Attr.DISABLE_LOOP_PIPELINING, Attr.LOOP_COALESCE})


@dataclass(frozen=True)
class Knob:
    """``name`` as tables show it (``unroll k@11``). ``kind``: a kind of settings, "define", or an option of the
    compiler. ``place`` is that of the loop, kernel or array; ``values`` are tried in order, and None stands for the
    program as written. The settings are at ``places`` where these are others than the place, and come with the
    settings ``also`` (place, kind and value), as far as no other knob has that kind there. ``kernel`` is that of the
    place, where it is in one."""

    name: str
    kind: str
    place: Span | None
    values: tuple[int | str | None, ...]
    places: tuple[Span, ...] = ()
    also: tuple[tuple[Span, str, int | str], ...] = ()
    kernel: str = ""

    def is_more(self, value: int | str | None, other: int | str | None) -> bool:
        """Whether a value makes more copies than another one; not of a knob whose values are no numbers of copies. They
        ascend, behind the program as written."""
        one, than = (number if isinstance(number, int) else 1 for number in (value, other))
        return self.kind in _COPIES and one > than


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
            found += _of_kernel(function, workloads)
        if function.kind != "kernel" or function.name in launched:
            found += _of_loops(function, workloads, main)
    found.append(Knob("cache bytes", "cache_bytes", None, (None, *CACHES)))
    if relaxed:
        found.append(relaxed_knob())
    return tuple(_unique(knob for knob in found if len(knob.values) > 1))


def relaxed_knob() -> Knob:
    """The knob that allows other orders of floating-point additions."""
    return Knob(FP_RELAXED, "fp_relaxed", None, (None, 1))


def adds_floats(module: Module) -> bool:
    """Whether there are floating-point additions that another order could change."""
    return any(op.opcode in _ADDITIONS for function in module.functions.values() for op in walk(function.body))


def _unique(knobs: Iterable[Knob]) -> list[Knob]:
    """Each place once, though several kernels may include it."""
    return list({(knob.kind, knob.name): knob for knob in knobs}.values())


def _of_kernel(kernel: Function, workloads: Sequence[Workload]) -> list[Knob]:
    if not kernel.attrs.get(Attr.NDRANGE) or kernel.attrs.get(Attr.AUTORUN) or kernel.span is None:
        return []
    found = []
    asked = kernel.attrs.get(Attr.WORK_GROUP_SIZE)
    sizes = {asked} if asked else {one.local_size for one in workloads if one.kernel == kernel.name}
    if len(sizes) == 1:  # lanes need groups of a known size: that of all launches, where the kernel says none
        (size,) = sizes
        lanes = [n for n in powers(MOST_LANES) if size and size[0] % n == 0]
        also = () if asked else ((kernel.span, "reqd_work_group_size", group_text(size)),)
        found.append(Knob(f"simd {kernel.name}", "num_simd_work_items", kernel.span, (None, *lanes), also=also))
    found.append(Knob(f"units {kernel.name}", "num_compute_units", kernel.span, (None, *powers(MOST_UNITS))))
    return found


def _of_loops(function: Function, workloads: Sequence[Workload], main: str) -> list[Knob]:
    found = []
    for op in walk(function.body):
        if op.opcode == "loop" and op.span is not None and not _PACED & op.attrs.keys():
            longest, same = trips(op, workloads, main)
            copies = powers(min(MOST_COPIES, longest - 1 if same else longest))
            entirely = (-1,) if same and longest <= MOST_COPIES else ()
            name = f"unroll {op.attrs.get(Attr.LABEL, 'loop')}@{op.span.line}"
            found.append(Knob(name, "unroll", op.span, (None, *copies, *entirely)))
    return found


def trips(loop: Op, workloads: Sequence[Workload], main: str) -> tuple[int, bool]:
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


def group_text(size: Sequence[int]) -> str:
    """The value of a setting of the size of work-groups of one to three dimensions."""
    return ",".join(map(str, (*size, 1, 1)[:3]))


def powers(most: int) -> tuple[int, ...]:
    """2, 4, 8, ... up to ``most``."""
    return tuple(1 << k for k in range(1, max(most, 1).bit_length()))


def most_copies(module: Module, knobs: Sequence[Knob], values: Values) -> int:
    """How many copies of the innermost body of one nest the values make at least: the product of the factors of the
    loops around it and of its kernel. A loop that is unrolled entirely counts as one."""
    factors: Counter[Span] = Counter()
    for knob in knobs:
        value = values.get(knob.name)
        if knob.place is not None and knob.kind in _COPIES and isinstance(value, int) and value > 1:
            factors[_start(knob.place)] = value * max(1, factors[_start(knob.place)])
    return max((_copies(one.span, (one.body,), factors) for one in module.functions.values()), default=1)


def _copies(span: Span | None, regions: Iterable[Region], factors: Mapping[Span, int]) -> int:
    inside = (_copies(op.span, op.regions, factors) for region in regions for op in region.ops if op.regions)
    return (factors.get(_start(span), 1) if span is not None else 1) * max(inside, default=1)


def _start(span: Span) -> Span:
    return Span(span.file, span.line, span.column)


def design_of(knobs: Sequence[Knob], values: Values, source_hash: str, main: str) -> Design:
    """The design with those values of the knobs."""
    chosen = {knob: value for knob in knobs if (value := values.get(knob.name)) is not None}
    options = {knob.kind: value for knob, value in chosen.items() if knob.place is None}
    defines = ((knob.name.removeprefix("-D "), str(value)) for knob, value in chosen.items() if knob.kind == "define")
    cache, constant, relaxed = (options.get(name) for name in ("cache_bytes", "const_cache_bytes", "fp_relaxed"))
    return Design(
        1,
        source_hash,
        tuple(sorted(_settings(chosen, main))),
        tuple(defines),
        cache if isinstance(cache, int) else None,
        constant if isinstance(constant, int) else None,
        bool(relaxed) if relaxed is not None else None,
    )


def _settings(chosen: Mapping[Knob, int | str], main: str) -> list[Setting]:
    """The settings of knobs with their values, each kind once at a place: what comes with another knob comes last."""
    asked = [
        (place, knob.kind, value)
        for knob, value in chosen.items()
        if knob.place is not None
        for place in knob.places or (knob.place,)
    ]
    asked += [one for knob in chosen for one in knob.also]
    found: dict[tuple[Span, str], Setting] = {}
    for place, kind, value in asked:
        setting = Setting(_file(place, main), place.line, place.column, kind, value)
        found.setdefault((_start(place), kind), setting)
    return list(found.values())


def _file(place: Span, main: str) -> str:
    return "" if place.file == main else place.file
