"""The kernels of a program for the emulator or the model as the host sees them."""

from dataclasses import dataclass

from hls.ir import Attr, Function, Module, Parameter, reachable, walk
from hls.ir.launch import group_limit, may_be_offset, most_dims
from hls.profile.layout import Layout
from hls.rtl.interface import ArgumentInterface, KernelInterface, StreamInterface, variable_interface
from hls.target.board import Board

__all__ = ["Interface", "interface_of"]


@dataclass(frozen=True)
class Interface:
    """The kernels, and the board's streams that they use, as the host sees them."""

    kernels: tuple[KernelInterface, ...]
    streams: tuple[StreamInterface, ...] = ()


def interface_of(module: Module, board: Board) -> Interface:
    """The kernels of a linked program as the host sees them. Raises CompileError for what the board rejects."""
    kernels = tuple(_interface(module, f, k, board) for k, f in enumerate(module.kernels))
    return Interface(kernels, _streams(module, board))


def _streams(module: Module, board: Board) -> tuple[StreamInterface, ...]:
    declared = [channel for channel in module.channels.values() if Attr.IO in dict(channel.attrs)]
    if not declared:
        return ()
    from hls.planning.memory import bound_stream  # most programs do not need it

    bound = [(channel.name, bound_stream(channel, board)) for channel in declared]
    return tuple(StreamInterface(stream.name, stream.direction, stream.bits, name) for name, stream in bound)


def _interface(module: Module, function: Function, index: int, board: Board) -> KernelInterface:
    """The interface of a kernel; whatever the board rejects is rejected here."""
    arguments = tuple(
        ArgumentInterface(
            p.name,
            p.kind,
            p.c_type,
            p.bytes,
            0,
            "inout" if p.kind == "buffer" else "in",
            _limit(function, p),
            type=p.resolved or p.c_type,
            variable=variable_interface(p),
        )
        for p in function.params
    )
    layout = Layout(function.name, board.clock.kernel_mhz, (), (), (), counted="")
    ndrange = bool(function.attrs.get(Attr.NDRANGE))
    lanes = function.attrs.get(Attr.NUM_SIMD_WORK_ITEMS, 1) if ndrange else 1
    meets = any(op.opcode == "barrier" for one in reachable(module, function) for op in walk(one.body))
    return KernelInterface(
        function.name,
        index,
        0,
        arguments,
        ndrange,
        {},
        (),
        layout,
        function.attrs.get(Attr.WORK_GROUP_SIZE),
        bool(function.attrs.get(Attr.AUTORUN)),
        group_limit(function, meets),
        lanes,
        most_dims=most_dims(function),
        may_be_offset=may_be_offset(function),
    )


def _limit(function: Function, parameter: Parameter) -> int | None:
    """Bytes that hardware reserves for a local memory argument; None for other arguments."""
    if parameter.kind != "local":
        return None
    from hls.passes.memory.lower_private_memories import capacity

    memory = function.memories[parameter.name]
    return capacity(memory) * memory.element.bytes
