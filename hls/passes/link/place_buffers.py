"""In which of the board's memories each buffer lies."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...diag import Code, CompileError, Diagnostic
from ...ir import Attr, Function, MemoryObject, Module
from ...ir.clone import clone_function
from ...target.board import Board
from ..manager import Form, ModulePass

__all__ = ["PlaceBuffers", "as_used"]


def as_used(module: Module, board: Board) -> Board:
    """The board as far as the program uses it. Raises CompileError naming the buffers that are to lie in a memory that
    it does not have."""
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
    """Before: buffers name any memory of the board. After: only those of the default memory name none; others know the
    width of its words."""

    board: Board

    name = "place-buffers"
    requires = frozenset({Form.LINKED})

    def run(self, module: Module) -> Module:
        """The module with its buffers in the board's memories."""
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
            attrs |= {Attr.BUFFER_LOCATION: home.name, Attr.WORD_BYTES: home.word_bytes}
        result.memories[memory.name] = replace(memory, attrs=tuple(attrs.items()))
    return result
