"""Resolution of ``ivdep array(p)`` where p is a pointer: the memory objects that it may point into."""

from ...ir import Attr, Function, Op, PointerType, Value, memory_name, walk

__all__ = ["follow_pointers", "objects"]


def objects(pointer: Value) -> tuple[str, ...]:
    """The memories that a pointer is derived from: objects, or variables or arguments that hold pointers."""
    found, work, seen = {}, [pointer], set()
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        if value.op is None:
            found[value.name] = True
        elif value.op.opcode == "addr":
            found[value.op.attrs[Attr.MEM]] = True
        elif value.op.opcode == "load":
            work.append(value.op.operands[0])
        else:
            work += [operand for operand in value.op.operands if isinstance(operand.type, PointerType)]
    return tuple(found)


def follow_pointers(function: Function) -> None:
    """Replace variables that hold pointers, in the ``ivdep`` of loops, by the memories that the pointers point into."""
    loops = [op for op in walk(function.body) if op.attrs.get(Attr.IVDEP)]
    if not loops:
        return
    stores: dict[str, list[Op]] = {}
    for op in walk(function.body):
        if op.opcode == "store" and op.operands[0].op is not None and op.operands[0].op.opcode == "addr":
            stores.setdefault(memory_name(op), []).append(op)
    for loop in loops:
        loop.attrs[Attr.IVDEP] = tuple(
            dict.fromkeys(
                (held, safelen) for name, safelen in loop.attrs[Attr.IVDEP] for held in _held(function, name, stores)
            )
        )


def _held(function: Function, name: str, stores: dict[str, list[Op]]) -> list[str]:
    """The memory of that name, or those that the pointers stored to it point into."""
    found, work, seen = [], [name], set()
    while work:
        one = work.pop()
        memory = function.memories.get(one)
        if memory is None or not isinstance(memory.element, PointerType):
            found.append(one)
        elif one not in seen:
            seen.add(one)
            work += [inner for store in stores.get(one, ()) for inner in objects(store.operands[1])]
    return found
