"""Memory merging by attribute: several arrays in one memory, one after the other or side by side."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...diag import Code, CompileError, Diagnostic
from ...ir import Attr, Builder, Function, MemoryObject, Op, Value, uses, walk
from ...ir.accesses import moved_type
from ...ir.clone import clone_function
from ...ir.rewrite import rewrite
from ..manager import Form, FunctionPass

__all__ = ["MergeMemories", "merged_by"]

DEPTH, WIDTH = "depth", "width"


@dataclass(frozen=True)
class _Place:
    """The position of an array in its memory: byte ``offset`` of the array is at ``scale`` * offset + ``base``."""

    memory: str
    scale: int
    base: int


@dataclass(frozen=True)
class MergeMemories(FunctionPass):
    """Memory merging (attribute ``merge``). Before: arrays whose attribute ``merge`` names the same label are separate
    memories, and accesses are naturally aligned. After: they are one memory, whose ports they share. ``depth``: one
    array after the other. ``width``: element k of each is in word k, so arrays are accessed by whole elements of one
    size.

    ``warn`` is told of a label that only one array has, or is left with.
    """

    warn: Callable[[Diagnostic], None] | None = None
    name = "merge-memories"
    requires = frozenset({Form.ACCESSES_LEGAL})

    def run(self, function: Function) -> Function:
        """Raises CompileError for arrays that cannot be merged."""
        groups = self._groups(function)
        if not groups:
            return function
        sizes = _access_sizes(function)
        places: dict[str, _Place] = {}
        result = clone_function(function)
        for members in groups:
            memory, found = _merged(members, sizes)
            places |= found
            for member in members:
                del result.memories[member.name]
            result.memories[memory.name] = memory
        for op in walk(result.body):
            if op.opcode == "loop":
                _rename(op, places)
        rewrite(result.body, lambda op, b: _address(op, b, places))
        return result

    def _groups(self, function: Function) -> list[list[MemoryObject]]:
        labels: dict[tuple[str, str], list[MemoryObject]] = {}
        for memory in function.memories.values():
            if memory.onchip and (label := _wish(memory)[0]) is not None:
                labels.setdefault((memory.space, label), []).append(memory)
        for (_, label), members in labels.items():
            if len(members) == 1 and self.warn is not None:
                self.warn(
                    Diagnostic(
                        f"the attribute 'merge' of '{members[0].name}' has no effect",
                        members[0].span,
                        f'no other memory of its kind is merged under "{label}": give another array the same label',
                        "warning",
                        code=Code.ATTRIBUTE_NO_EFFECT,
                    )
                )
        return [members for members in labels.values() if len(members) > 1]


def merged_by(memory: MemoryObject) -> str:
    """ "depth" or "width": how the arrays of a merged memory are laid out."""
    return _wish(memory)[1]


def _wish(memory: MemoryObject) -> tuple[str | None, str]:
    """The label of ``merge`` (None: no such attribute) and the direction."""
    given = dict(memory.attrs).get(Attr.MERGE)
    if given is None:
        return None, DEPTH
    return (given, DEPTH) if isinstance(given, str) else given


def _access_sizes(function: Function) -> dict[str, set[int]]:
    """The sizes in bytes of the loads, stores and atomic operations of each memory."""
    found: dict[str, set[int]] = {}
    table = uses(function.body)
    for op in walk(function.body):
        if op.opcode == "addr":
            found.setdefault(op.attrs[Attr.MEM], set()).update(
                moved_type(user).bytes for user, _ in table.get(op.result, [])
            )
    return found


def _merged(members: list[MemoryObject], sizes: dict[str, set[int]]) -> tuple[MemoryObject, dict[str, _Place]]:
    """The merged memory of some arrays, and the position of each in it."""
    first = members[0]
    direction = _wish(first)[1]
    for other in members[1:]:
        if _wish(other)[1] != direction:
            raise CompileError.at(
                other.span,
                f"'{first.name}' and '{other.name}' are merged under one label, but one by depth and one by width",
                f'write "{direction}" for both, or give them labels of their own',
                code=Code.MERGE,
            )
        if other.element.bytes != first.element.bytes:
            raise CompileError.at(
                other.span,
                f"'{first.name}' and '{other.name}' cannot be one memory: their elements have {first.element.bytes} "
                "and "
                f"{other.element.bytes} bytes",
                "give both elements of one size, or remove the attribute 'merge'",
                code=Code.MERGE,
            )
    name = "_".join(member.name for member in members)
    merged = replace(first, name=name, attrs=_attributes(members))
    by = _by_width if direction == WIDTH else _by_depth
    length, scale, bases = by(members, sizes)
    return replace(merged, length=length), {
        member.name: _Place(name, scale, base) for member, base in zip(members, bases, strict=True)
    }


def _by_depth(members: list[MemoryObject], sizes: dict[str, set[int]]) -> tuple[int, int, list[int]]:
    """The elements of the memory, the scale of an offset, and the first byte of each array."""
    element, at, bases = members[0].element.bytes, 0, []
    unit = max([element, *(size for member in members for size in sizes.get(member.name, ()))])
    for member in members:
        bases.append(at)
        at += -(-member.elements * element // unit) * unit
    return at // element, 1, bases


def _by_width(members: list[MemoryObject], sizes: dict[str, set[int]]) -> tuple[int, int, list[int]]:
    """As :func:`_by_depth`; a word holds a power of two of elements."""
    element = members[0].element.bytes
    for member in members:
        others = sizes.get(member.name, set()) - {element}
        if others or element & element - 1:
            raise CompileError.at(
                member.span,
                f"'{member.name}' is merged by width, but its elements have {element} bytes and are not accessed as "
                "a whole"
                if others
                else f"'{member.name}' is merged by width, but its elements have {element} bytes, no power of two",
                'merge by "depth", or access whole elements of 1, 2, 4 or 8 bytes',
                code=Code.MERGE,
            )
    lanes = 1 << (len(members) - 1).bit_length()
    return lanes * max(member.elements for member in members), lanes, [k * element for k in range(len(members))]


def _attributes(members: list[MemoryObject]) -> tuple[tuple[str, object], ...]:
    """The storage attributes of the arrays, on which they must agree; with ``width``, words hold an element of each."""
    found: dict[str, object] = {}
    for member in members:
        for name, value in member.attrs:
            if found.setdefault(name, value) != value:
                raise CompileError.at(
                    member.asked_at(name),
                    f"the arrays that are merged with '{member.name}' ask for {name}({found[name]}) and "
                    f"{name}({value})",
                    f"write {name}({found[name]}) for all of them",
                    code=Code.MERGE,
                )
        _check_pumping(found, member)
    if _wish(members[0])[1] == WIDTH:  # so that one block holds a word, rather than a block for each lane
        found.setdefault(Attr.BANKWIDTH, members[0].element.bytes << (len(members) - 1).bit_length())
    return (*found.items(), (Attr.MERGED, tuple(member.name for member in members)))


def _check_pumping(asked: dict[str, object], last: MemoryObject) -> None:
    """Raise CompileError if the attributes of the arrays up to ``last`` conflict in one memory: no single declaration
    may have both."""
    if Attr.DOUBLEPUMP not in asked:
        return
    other = (
        Attr.SINGLEPUMP
        if Attr.SINGLEPUMP in asked
        else 'memory("MLAB")'
        if asked.get(Attr.RAM_KIND) == "MLAB"
        else None
    )
    if other is not None:
        mine = Attr.DOUBLEPUMP if Attr.DOUBLEPUMP in dict(last.attrs) else other.partition("(")[0]
        raise CompileError.at(
            last.asked_at(mine),
            f"the arrays that are merged with '{last.name}' ask for doublepump and {other}",
            f"write doublepump or {other} for all of them",
            code=Code.MERGE,
        )


def _rename(loop: Op, places: dict[str, _Place]) -> None:
    """Replace arrays by the memory in attributes of a loop, if the loop has the attribute for all arrays in it."""
    together = {
        place.memory: {name for name, other in places.items() if other.memory == place.memory}
        for place in places.values()
    }
    if Attr.OWN in loop.attrs:
        own = set(loop.attrs[Attr.OWN])
        loop.attrs[Attr.OWN] = tuple(
            sorted(
                {name for name in own if name not in places}
                | {memory for memory, names in together.items() if names <= own}
            )
        )
    if Attr.ANEW in loop.attrs:
        anew = loop.attrs[Attr.ANEW]
        loop.attrs[Attr.ANEW] = tuple(sorted({places[name].memory if name in places else name for name in anew}))
    if promises := loop.attrs.get(Attr.IVDEP):
        kept = [(name, safelen) for name, safelen in promises if name not in places]
        for memory, names in together.items():
            given = {name: safelen for name, safelen in promises if name in names}
            if given.keys() == names:  # a distance of 0 is unlimited; else the least holds for all
                kept.append((memory, min((safelen for safelen in given.values() if safelen), default=0)))
        loop.attrs[Attr.IVDEP] = tuple(kept)


def _address(op: Op, b: Builder, places: dict[str, _Place]) -> list[Value] | None:
    if op.opcode != "addr" or op.attrs[Attr.MEM] not in places:
        return None
    place, offset = places[op.attrs[Attr.MEM]], op.operands[0]
    if place.scale > 1:
        offset = b.value("mul", offset, b.const(place.scale, offset.type))
    if place.base:
        offset = b.value("add", offset, b.const(place.base, offset.type))
    return [b.value("addr", offset, attrs={Attr.MEM: place.memory})]
