"""Buffer placement: the memory of the board in which each buffer lies."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...diag import Code, CompileError, Diagnostic
from ...ir import Attr, Function, MemoryObject, Module
from ...ir.clone import clone_function
from ...narrow import present
from ...target.board import Board
from ..manager import Form, ModulePass

__all__ = ["PlaceBuffers", "as_used"]


def as_used(module: Module, board: Board) -> Board:
    """The part of the board that the program uses. Raises CompileError naming the buffers placed in a memory that the
    board does not have."""
    errors = [error for function in module.functions.values() for error in _misplaced(function, board)]
    if errors:
        raise CompileError(*dict.fromkeys(errors))
    return board.using({name for function in module.functions.values() for _, name in _asked(function)})


def _misplaced(function: Function, board: Board) -> list[Diagnostic]:
    known = ", ".join(memory.name for memory in board.memories)
    return [
        Diagnostic(
            f"'{memory.name}' is to lie in memory {name!r}, which board {board.name} does not have",
            memory.asked_at(Attr.BUFFER_LOCATION),
            f"it has {known}; leave buffer_location out, or choose another board",
            code=Code.BUFFER_LOCATION,
        )
        for memory, name in _asked(function)
        if board.memory_named(name) is None
    ]


@dataclass(frozen=True)
class PlaceBuffers(ModulePass):
    """Buffer placement. Before: buffers name any memory of the board. After: buffers in the default memory name none;
    others have the word width of their memory.
    """

    board: Board

    name = "place-buffers"
    requires = frozenset({Form.LINKED})

    def run(self, module: Module) -> Module:
        """The module with its buffers bound to memories of the board."""
        return Module(
            {name: _placed(function, self.board) for name, function in module.functions.items()},
            module.sources,
            module.channels,
        )


def _asked(function: Function) -> Iterable[tuple[MemoryObject, str]]:
    return (
        (memory, dict(memory.attrs)[Attr.BUFFER_LOCATION])
        for memory in function.memories.values()
        if Attr.BUFFER_LOCATION in dict(memory.attrs)
    )


def _placed(function: Function, board: Board) -> Function:
    asked = list(_asked(function))
    if not asked:
        return function
    result = clone_function(function)
    for memory, name in asked:
        attrs, home = dict(memory.attrs), board.memory_named(name)
        if home is board.memory:
            del attrs[Attr.BUFFER_LOCATION]
        else:
            attrs |= {Attr.BUFFER_LOCATION: present(home).name, Attr.WORD_BYTES: present(home).word_bytes}
        result.memories[memory.name] = replace(memory, attrs=tuple(attrs.items()))
    return result
