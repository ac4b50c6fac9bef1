"""Channels and pipes: their declarations, and the functions that read and write them."""

import re
from collections.abc import Sequence
from math import prod

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from ..ir import Attr
from . import tree as tt
from . import types as ct
from .check_units import UnitCallChecker
from .layout import has_pointer
from .parse import Syntax

__all__ = ["CHANNEL_CALLS", "ChannelCallChecker"]

_FUNCTION = re.compile(r"(read|write)_channel(_nb)?_(altera|intel)$")
_PIPE = re.compile(r"(read|write)_pipe(_block)?$")
#: the functions of this module by their usual names
CHANNEL_CALLS = (
    *(f"{way}_channel{kind}_intel" for way in ("read", "write") for kind in ("", "_nb")),
    *("read_pipe", "write_pipe"),
)
_QUERIES = frozenset({"get_pipe_num_packets", "get_pipe_max_packets"})


class ChannelCallChecker(UnitCallChecker):
    """Adds channels. ``channels`` collects those of the file."""

    def __init__(self, syntax: Syntax) -> None:
        super().__init__(syntax)
        self.channels: list[tt.Channel] = []

    def channel(self, node: c_ast.Node, attrs: dict, span: Span) -> tt.Channel:
        """The channel, pipe, or array of them, that a file-scope declaration declares."""
        t, lengths = self.declared(node.type, span).type, []
        while isinstance(t, ct.Array):
            lengths.append(t.length)
            t = t.element
        if 0 in lengths:
            raise CompileError.at(
                span,
                "this array of channels has no length",
                "write it between the brackets",
                code=Code.CHANNEL_DECLARATION,
            )
        if node.init is not None:
            raise CompileError.at(
                span, "a channel has no initial value", "write into it from a kernel", code=Code.CHANNEL_DECLARATION
            )
        self.check_payload(t, span)
        return tt.Channel(str(node.name), t, span, tuple(lengths), pipe="pipe" in node.quals, attrs=attrs)

    def check_payload(self, t: ct.CType, span: Span) -> None:
        """Raise CompileError if ``t`` cannot pass through a channel: incomplete, void, or with pointers."""
        self.complete(t, span, "what a channel passes")
        if isinstance(t, ct.Void):
            raise CompileError.at(span, f"a channel cannot pass '{t}'", "pass a value", code=Code.CHANNEL_DECLARATION)
        if has_pointer(t):
            raise CompileError.at(
                span,
                f"a channel cannot pass '{t}'" + ("" if isinstance(t, ct.Pointer) else ", which holds a pointer"),
                "pass an index, and the buffer to the kernel that reads the channel",
                code=Code.CHANNEL_DECLARATION,
            )
        self.check_no_event(t, "what a channel passes", span)

    def channel_call(self, name: str, nodes: Sequence[c_ast.Node], span: Span) -> tt.Expr | None:
        """The call of a function on a channel or pipe; None if ``name`` is not such a function."""
        match = _FUNCTION.match(name)
        if match:
            return self._channel_call(name, match.group(1) == "write", match.group(2) is None, nodes, span)
        match = _PIPE.match(name)
        if match:
            return self._pipe_call(name, match.group(1) == "write", match.group(2) is not None, nodes, span)
        return self._pipe_query(name, nodes, span) if name in _QUERIES else None

    def _pipe_query(self, name: str, nodes, span: Span) -> tt.Expr:
        """How many values a pipe may hold, as declared (OpenCL C 2.0, 6.13.16.4)."""
        self.count(name, nodes, 1, span)
        channel, _ = self._named_pipe(nodes[0], name, span)
        if name == "get_pipe_num_packets":
            raise CompileError.at(
                span,
                f"how many values '{channel.name}' holds is not visible to a kernel",
                "read_pipe and write_pipe give 0 only if there was a value, or room for one",
                code=Code.CHANNEL_CALL,
            )
        if channel.parameter:  # of a helper function, which is checked again for each call
            return tt.Const(ct.UINT, span, 1)
        if Attr.CHANNEL_DEPTH not in channel.attrs:
            raise CompileError.at(
                span,
                f"'{channel.name}' is declared without the number of values that it may hold",
                "add __attribute__((depth(N))) to its declaration",
                code=Code.CHANNEL_CALL,
            )
        return tt.Const(ct.UINT, span, channel.attrs[Attr.CHANNEL_DEPTH])

    def _channel_call(self, name, write: bool, blocking: bool, nodes, span):
        self.count(name, nodes, 1 + (write or not blocking), span)
        channel, index = self._place(nodes[0], f"the first argument of {name}")
        if write:
            value = self.assignable(self.rvalue(nodes[1]), channel.type, f"the value written to '{channel.name}'")
            return tt.ChannelWrite(ct.VOID if blocking else ct.BOOL_T, span, channel, index, value, blocking)
        if blocking:
            return tt.ChannelRead(channel.type, span, channel, index)
        answer = self.rvalue(nodes[1])
        if not isinstance(answer.type, ct.Pointer) or answer.type.pointee not in (ct.BOOL_T, ct.UCHAR, ct.CHAR, ct.INT):
            raise CompileError.at(
                answer.span,
                f"the second argument of {name} must point to a bool, not '{answer.type}'",
                "declare bool valid; and pass &valid",
                code=Code.CHANNEL_CALL,
            )
        return tt.ChannelRead(channel.type, span, channel, index, answer, blocking=False)

    def _pipe_call(self, name, write: bool, waits: bool, nodes, span):
        self.count(name, nodes, 2, span)
        channel, index = self._named_pipe(nodes[0], name, span)
        pointer = self.rvalue(nodes[1])
        wanted = ct.Pointer(channel.type, pointer.type.space if isinstance(pointer.type, ct.Pointer) else "private")
        if not isinstance(pointer.type, ct.Pointer) or pointer.type.pointee != channel.type:
            raise CompileError.at(
                pointer.span,
                f"the second argument of {name} is '{pointer.type}', not '{wanted}'",
                "pass the address of a variable of the pipe's type",
                code=Code.CHANNEL_CALL,
            )
        blocking = waits or Attr.PIPE_BLOCKING in channel.attrs
        if write:
            value = self.dereference(pointer, span)
            return tt.ChannelWrite(ct.INT, span, channel, index, value, blocking, pipe=True)
        return tt.ChannelRead(ct.INT, span, channel, index, None, pointer, blocking)

    def _named_pipe(self, node, name: str, span: Span) -> tuple[tt.Channel, tt.Expr]:
        """The pipe that is the first argument of a function, and its number in the array of pipes."""
        channel, index = self._place(node, f"the first argument of {name}")
        if not channel.pipe:
            first = name.split("_")[0]
            raise CompileError.at(
                span,
                f"'{channel.name}' is a channel, not a pipe",
                f"use {first}_channel_intel" if first != "get" else "declare it as a pipe",
                code=Code.CHANNEL_CALL,
            )
        return channel, index

    def channel_argument(self, node: c_ast.Node, parameter: tt.Channel) -> tuple[tt.Channel, tt.Expr]:
        """The channel that a call passes for ``parameter``, and its number (for an array, that of the first) within its
        array."""
        what = "pipe" if parameter.pipe else "channel"
        channel, index = self._place(node, f"the argument for '{parameter.name}'", parameter.lengths)
        span = self.span(node)
        if channel.pipe != parameter.pipe:
            raise CompileError.at(
                span,
                f"the argument for '{parameter.name}' must be a {what}",
                f"declare '{channel.name}' as one",
                code=Code.CHANNEL_CALL,
            )
        if channel.type != parameter.type:
            raise CompileError.at(
                span,
                f"the argument for '{parameter.name}' is a {what} of '{channel.type}', not of '{parameter.type}'",
                "make both the same",
                code=Code.CHANNEL_CALL,
            )
        return channel, index

    def _place(self, node, what: str, wanted: tuple[int, ...] = ()) -> tuple[tt.Channel, tt.Expr]:
        """The channel that an expression denotes, and its number in the array of channels; for an array of ``wanted``
        lengths, that of the first."""
        indices = []
        while isinstance(node, c_ast.ArrayRef):
            indices.insert(0, node.subscript)
            node = node.name
        channel = self.find(str(node.name), self.span(node)) if isinstance(node, c_ast.ID) else None
        span = self.span(node)
        if not isinstance(channel, tt.Channel):
            raise CompileError.at(
                span, f"{what} must be a channel", "declare it at file scope: channel int c;", code=Code.CHANNEL_CALL
            )
        if len(indices) != len(channel.lengths) - len(wanted):
            raise CompileError.at(
                span,
                f"'{channel.name}' has {len(channel.lengths)} dimensions, not {len(indices) + len(wanted)}",
                "give one index for each",
                code=Code.CHANNEL_CALL,
            )
        if channel.lengths[len(indices) :] != wanted:
            raise CompileError.at(
                span, f"{what} has other lengths than '{channel.name}'", "make both the same", code=Code.CHANNEL_CALL
            )
        index = tt.Const(ct.LONG, span, 0)
        for n, length in zip(indices, channel.lengths):
            one = self.number(n, "the index of a channel")
            if not ct.integer(one.type):
                raise CompileError.at(
                    one.span, f"an index must be an integer, not '{one.type}'", code=Code.CHANNEL_CALL
                )
            if isinstance(one, tt.Const) and not 0 <= one.value < length:
                raise CompileError.at(
                    one.span,
                    f"index {one.value} is outside '{channel.name}', which has {length} channels",
                    code=Code.CHANNEL_INDEX,
                )
            one = self.convert(one, ct.LONG)
            if not isinstance(one, tt.Const) and (len(channel.lengths) > 1 or channel.whole is not None):
                # an index too large for its dimension must not select an element of the next row
                one = tt.ChannelSubscript(ct.LONG, one.span, one, length)
            index = self._sum(self._product(index, length), one)
        index = self._product(index, prod(wanted))
        if channel.whole is None:
            return channel, index
        return channel.whole, self._sum(tt.VariableRef(ct.LONG, span, channel.first), index)

    def _product(self, index: tt.Expr, length: int) -> tt.Expr:
        return self.folded(tt.Binary(ct.LONG, index.span, "*", index, tt.Const(ct.LONG, index.span, length)))

    def _sum(self, left: tt.Expr, right: tt.Expr) -> tt.Expr:
        return self.folded(tt.Binary(ct.LONG, right.span, "+", left, right))
