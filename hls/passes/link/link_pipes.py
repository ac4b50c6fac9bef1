"""Pipe linking: pipes of the same name in several kernels are one channel of the program."""

from dataclasses import dataclass, replace

from ...diag import Code, CompileError
from ...ir import Attr, Function, MemoryObject, Module
from ...ir.clone import clone_module
from ..manager import Form, ModulePass

__all__ = ["LinkPipes"]


@dataclass(frozen=True)
class LinkPipes(ModulePass):
    """Pipe linking. Before: the IR as the frontend made it; a pipe is an argument of a kernel. After: pipe arguments of
    the same name are one channel of that name.

    Raises CompileError for pipes that pass different values, or have the name of a channel.
    """

    name = "link-pipes"
    forbids = frozenset({Form.INLINED})

    def run(self, module: Module) -> Module:
        """The linked program."""
        result = clone_module(module)
        for function in result.kernels:
            _link_pipes(function, result.channels)
        return result


def _link_pipes(function: Function, channels: dict[str, MemoryObject]) -> None:
    """Replace the pipes of a kernel by channels of the program."""
    for pipe in [m for m in function.memories.values() if m.space == Attr.HOST_PIPE]:
        known = channels.get(pipe.name)
        if known is not None and (Attr.HOST_PIPE, True) not in known.attrs:
            raise CompileError.at(
                pipe.span,
                f"the pipe '{pipe.name}' has the name of a channel{_at(known)}",
                "rename one of them",
                code=Code.PIPES,
            )
        if known is not None and known.element != pipe.element:
            raise CompileError.at(
                pipe.span,
                f"the pipe '{pipe.name}' passes other values here than{_at(known)}",
                "declare it with the same type in both kernels: pipes are joined by their names",
                code=Code.PIPES,
            )
        channels[pipe.name] = _joined(pipe, known)
        del function.memories[pipe.name]


def _joined(pipe: MemoryObject, known: MemoryObject | None) -> MemoryObject:
    """The channel of a pipe: its depth is the largest that any kernel requests."""
    depths = [
        dict(m.attrs)[Attr.CHANNEL_DEPTH]
        for m in (pipe, known)
        if m is not None and Attr.CHANNEL_DEPTH in dict(m.attrs)
    ]
    attrs = ((Attr.HOST_PIPE, True), *(((Attr.CHANNEL_DEPTH, max(depths)),) if depths else ()))
    return replace(known or pipe, space="channel", length=1, attrs=attrs)


def _at(memory: MemoryObject) -> str:
    return f" in line {memory.span.line}" if memory.span else ""
