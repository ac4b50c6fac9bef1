"""The area of a design by its structure and by source line, from the pieces of its Verilog.

Every piece (:class:`hls.model.area.Piece`) is a leaf of the tree and belongs to a line, so both sum to the same total.
Names in the Verilog are those that hardware generation gave to values and operations of a kernel; the longest prefix of
a name that is known says which value, operation and thereby line it is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..diag import Span
from ..ir import Function, MemoryObject, Op, Value, walk
from ..model.area import NOTHING, DesignArea, Piece, Resources
from ..narrow import present
from .facts.area import AreaNode, LineArea, Operator, Role
from .identity import LoopIds
from .phrasing import say_operation
from .shared_area import SharedUsers

__all__ = ["KernelNames", "area_by_line", "area_tree", "counters_of", "leaves", "operators_of", "role_of"]

#: roles of the instances in the top module, other than kernels
_SHARED: tuple[tuple[re.Pattern, Role], ...] = (
    (re.compile(r"control_windows|(read|write)_master\w*"), Role.BOARD),
    (re.compile(r"(read|write)_interconnect\w*|atomic\w*"), Role.INTERCONNECT),
    (re.compile(r"constant\w*"), Role.CONSTANT_CACHE),
    (re.compile(r"shared_cache\w+"), Role.SHARED_CACHE),
    (re.compile(r"channel_\w+"), Role.CHANNELS),
)
#: roles of the instances in a kernel, and in its regions
_IN_KERNEL: tuple[tuple[re.Pattern, Role], ...] = (
    (re.compile(r"counters"), Role.COUNTERS),
    (re.compile(r"dispatcher"), Role.DISPATCH),
    (re.compile(r"static"), Role.INVARIANT),
    (re.compile(r"memory_\w+"), Role.LOCAL_MEMORY),
    (re.compile(r"\w+_(unit|fence|fences|port|store)|bookings\d+"), Role.ACCESS),
    (re.compile(r"(carried|history)_\w+"), Role.FEEDBACK),
    (re.compile(r"level\d+"), Role.ARITHMETIC),
)
#: parts of a name that say how a signal was derived from a value
_PREFIX = re.compile(r"^(carried|history|late|stall|gate|delay)_")
#: memories and their addresses, in a level, that delay values
_DELAY = re.compile(r"delay(\d+)?_\w+")


@dataclass(frozen=True)
class KernelNames:
    """An entry of the report for one kernel or several equal ones, and what names in its Verilog stand for."""

    name: str
    function: Function
    instances: tuple[
        str, ...
    ]  #: of the kernels in the top module, all copies; NAME_control holds the registers of NAME, NAME_counters counts
    named: Mapping[str, Value | Op]
    loops: LoopIds
    #: what counters have of the logic and of the registers of the control registers: they grow by it
    counter_shares: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class _Leaf:
    """A piece with what is known of it. ``chain`` are the ids of the loops around it, outermost first."""

    piece: Piece
    kernel: KernelNames | None
    role: Role
    span: Span | None
    chain: tuple[str, ...] = ()
    name: str = ""
    op: Op | None = None  #: the operation that it is an arithmetic part of

    @property
    def resources(self) -> Resources:
        return self.piece.resources


class _Rounded:
    """A share of integers, in integers that sum to the same share of their sum, rounded."""

    def __init__(self, share: float) -> None:
        self.share, self._left = share, 0.0

    def of(self, whole: int) -> int:
        """The share of the next integer."""
        exact = whole * self.share + self._left
        found = min(max(round(exact), 0), whole)
        self._left = exact - found
        return found


class _Kernel:
    """Finds what the pieces of one kernel are."""

    def __init__(self, kernel: KernelNames) -> None:
        self.kernel = kernel
        self.arguments = {
            value: op for op in walk(kernel.function.body) if op.opcode == "loop" for value in op.regions[0].args
        }
        self._logic, self._registers = (_Rounded(share) for share in kernel.counter_shares)

    def leaves(self, piece: Piece) -> list[_Leaf]:
        """What the piece is. Its path begins with an instance of the kernel, of its control registers, or of its
        totals."""
        from ..rtl.system import parts_of  # not for a plan alone

        if piece.path[0] in self.kernel.instances:
            return [self._inside(piece)]
        span, used = self.kernel.function.span, piece.resources
        if piece.path[0] in {parts_of(one)[2] for one in self.kernel.instances}:
            return [_Leaf(piece, self.kernel, Role.COUNTERS, span)]
        logic, registers = self._logic.of(used.logic), self._registers.of(used.registers)
        counters = replace(piece, resources=Resources(logic, registers))
        rest = replace(piece, resources=replace(used, logic=used.logic - logic, registers=used.registers - registers))
        both = ((counters, Role.COUNTERS), (rest, Role.DISPATCH))
        return [_Leaf(one, self.kernel, role, span) for one, role in both if one.resources != NOTHING]

    def _inside(self, piece: Piece) -> _Leaf:
        path, chain, role = piece.path[1:], [], None
        span, name, op = self.kernel.function.span, "", None
        for part in path:
            found = self.named(part)
            if part in self.kernel.named and found in self.kernel.loops.ids:
                chain.append(self.kernel.loops.ids[found])
                span = found.span or span
                continue
            if role is Role.ARITHMETIC and op is None:
                if _DELAY.fullmatch(part):
                    role = Role.STATE
                else:
                    op = self.producer(found)
            if role is None:
                role = _role(part, _IN_KERNEL)
                name = part
            span = self.place(found) or span
        span = self.place(self.named(piece.signal)) or span
        if role is Role.ARITHMETIC:
            role = self.in_level(piece)
        if role is None:
            role = Role.STATE
        return _Leaf(piece, self.kernel, role, span, tuple(chain), name, op)

    def in_level(self, piece: Piece) -> Role:
        """In a level, registers and memories keep values for later stages; everything else computes them."""
        if piece.resources.registers and piece.signal or _DELAY.fullmatch(piece.signal):
            return Role.STATE
        found = self.named(piece.signal)
        return Role.FEEDBACK if isinstance(found, Value) and found in self.arguments else Role.ARITHMETIC

    def named(self, name: str) -> Value | Op | None:
        """What the longest known prefix of a name stands for."""
        name = _PREFIX.sub("", name.partition("$")[0].partition(".")[0])
        while name:
            if name in self.kernel.named:
                return self.kernel.named[name]
            name = name.rpartition("_")[0]
        return None

    def producer(self, found: Value | Op | None) -> Op | None:
        """The operation that computes a value; of a carried value its loop."""
        return (found.op or self.arguments.get(found)) if isinstance(found, Value) else found

    def place(self, found: Value | Op | None) -> Span | None:
        op = self.producer(found)
        return op.span if op is not None else None


def _role(name: str, table) -> Role | None:
    return next((role for pattern, role in table if pattern.fullmatch(name)), None)


def role_of(instance: str, in_kernel: bool, control: bool = False) -> str:
    """The role of an instance of that name in a kernel or in the top module, as the report words it; "" for one in a
    kernel that has none of its own. ``control``: it holds the control registers of a kernel."""
    if control:
        return str(Role.DISPATCH)
    if in_kernel:
        return str(_role(instance, _IN_KERNEL) or "")
    return str(_role(instance, _SHARED) or Role.BOARD)


def leaves(area: DesignArea, kernels: Iterable[KernelNames]) -> list[_Leaf]:
    """All pieces of a design with what is known of them."""
    from ..rtl.system import parts_of

    owners: dict[str, _Kernel] = {}
    for kernel in kernels:
        finder = _Kernel(kernel)
        owners |= {name: finder for one in kernel.instances for name in parts_of(one)}
    found = []
    for piece in area.pieces:
        if piece.resources == NOTHING:
            continue
        owner = owners.get(piece.path[0]) if piece.path else None
        if owner is not None:
            found += owner.leaves(piece)
        else:
            role = (_role(piece.path[0], _SHARED) if piece.path else None) or Role.BOARD
            found.append(_Leaf(piece, None, role, None, name=piece.path[0] if piece.path else ""))
    return found


def area_by_line(found: Iterable[_Leaf], users: SharedUsers) -> tuple[LineArea, ...]:
    """By kernel, line and role, in that order; what belongs to no line comes first. What kernels share is split among
    the lines of its ``users``."""
    sums: dict[tuple, Resources] = {}
    shared: dict[tuple[str, Role], Resources] = {}
    for leaf in found:
        if leaf.kernel is None:
            shared[leaf.name, leaf.role] = shared.get((leaf.name, leaf.role), NOTHING) + leaf.resources
            continue
        span = Span(leaf.span.file, leaf.span.line) if leaf.span else None
        key = (leaf.kernel.name, span, leaf.role)
        sums[key] = sums.get(key, NOTHING) + leaf.resources
    for (name, role), used in shared.items():
        for span, part in users.split(name, used):
            sums["", span, role] = sums.get(("", span, role), NOTHING) + part
    ordered = sorted(sums.items(), key=lambda item: (item[0][0], item[0][1] or Span("", 0), item[0][2]))
    return tuple(LineArea(kernel, role, span, used) for (kernel, span, role), used in ordered)


def operators_of(found: Iterable[_Leaf], kernel: str, memories: Mapping[str, MemoryObject]) -> tuple[Operator, ...]:
    """The arithmetic parts of one kernel's entry, the largest first; ``memories`` are those of the source."""
    sums: dict[tuple[str, str, Span | None, str], Resources] = {}
    parts: dict[tuple[str, str, Span | None, str], set[tuple[str, ...]]] = {}
    for leaf in found:
        if leaf.op is None or leaf.kernel is None or leaf.kernel.name != kernel:
            continue
        words, loop = say_operation(leaf.op, memories), leaf.chain[-1] if leaf.chain else ""
        key = (words, leaf.op.opcode, leaf.op.span, loop)
        sums[key] = sums.get(key, NOTHING) + leaf.resources
        parts.setdefault(key, set()).add(leaf.piece.path)
    operators = (
        Operator(words, opcode, span, loop, used, len(parts[words, opcode, span, loop]))
        for (words, opcode, span, loop), used in sums.items()
    )
    return tuple(
        sorted(operators, key=lambda one: (-one.resources.logic, -one.resources.dsps, str(one.span), one.words))
    )


def counters_of(found: Iterable[_Leaf], kernel: str | None = None) -> Resources:
    """What hardware counters take: all, or those of one kernel's entry."""
    return sum(
        (
            leaf.resources
            for leaf in found
            if leaf.role is Role.COUNTERS and (kernel is None or leaf.kernel and leaf.kernel.name == kernel)
        ),
        NOTHING,
    )


def area_tree(found: Iterable[_Leaf], name: str) -> AreaNode:
    """The design: what kernels share by role, then each kernel with its loops, roles and lines."""
    shared: dict[Role, list[Resources]] = {}
    kernels: dict[str, list[_Leaf]] = {}
    for leaf in found:
        if leaf.kernel is None:
            shared.setdefault(leaf.role, []).append(leaf.resources)
        else:
            kernels.setdefault(leaf.kernel.name, []).append(leaf)
    children = [AreaNode(role.value, role, sum(used, NOTHING)) for role, used in sorted(shared.items())]
    children += [_kernel_node(inside) for inside in kernels.values()]
    return AreaNode(name, Role.SYSTEM, _sum(children), children=tuple(children))


def _kernel_node(inside: list[_Leaf]) -> AreaNode:
    kernel = present(inside[0].kernel)
    children = tuple(_region(inside, kernel, 0))
    return AreaNode(kernel.name, Role.KERNEL, _sum(children), kernel.function.span, children, len(kernel.instances))


def _region(inside: list[_Leaf], kernel: KernelNames, depth: int) -> Iterator[AreaNode]:
    """What is directly in a region by role, each with its lines, and then its loops."""
    own = [leaf for leaf in inside if len(leaf.chain) == depth]
    for role in sorted({leaf.role for leaf in own}):
        mine = [leaf for leaf in own if leaf.role is role]
        lines: dict[Span | None, list[_Leaf]] = {}
        for leaf in mine:
            lines.setdefault(Span(leaf.span.file, leaf.span.line) if leaf.span else None, []).append(leaf)
        children = tuple(
            AreaNode(_line_name(span), role, sum((one.resources for one in part), NOTHING), span)
            for span, part in sorted(lines.items(), key=lambda item: item[0] or Span("", 0))
        )
        yield AreaNode(role.value, role, _sum(children), children[0].span if len(children) == 1 else None, children)
    loops: dict[str, list[_Leaf]] = {}
    for leaf in inside:
        if len(leaf.chain) > depth:
            loops.setdefault(leaf.chain[depth], []).append(leaf)
    for id, part in loops.items():
        children = tuple(_region(part, kernel, depth + 1))
        loop = kernel.loops.by_id[id]
        yield AreaNode(f"loop {loop.label}".rstrip(), Role.LOOP, _sum(children), loop.span, children, id=id)


def _line_name(span: Span | None) -> str:
    return f"line {span.line}" if span else "no line"


def _sum(nodes: Iterable[AreaNode]) -> Resources:
    return sum((node.resources for node in nodes), NOTHING)
