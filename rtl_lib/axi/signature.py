"""The signals of AXI4 and AXI4-Lite, and their conventional flat names."""

from typing import Any

from amaranth import *
from amaranth.hdl import ShapeLike, ValueCastable
from amaranth.hdl._ir import PortDirection  # exported by no public module of Amaranth 0.5
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Member, Out

__all__ = [
    "Axi4ReadSignature",
    "Axi4Signature",
    "Axi4WriteSignature",
    "AxiLiteSignature",
    "Burst",
    "Response",
    "flat_ports",
]


class Burst(enum.Enum, shape=2):
    """AxBURST; the masters here send INCR only."""

    FIXED = 0
    INCR = 1
    WRAP = 2


class Response(enum.Enum, shape=2):
    """RRESP and BRESP."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


def _channel(**fields: ShapeLike) -> wiring.Signature:
    """A channel from the view of its source."""
    return wiring.Signature({"valid": Out(1), "ready": In(1), **{name: Out(shape) for name, shape in fields.items()}})


def _address(addr_bits: int, id_bits: int) -> wiring.Signature:
    return _channel(id=id_bits, addr=addr_bits, len=8, size=3, burst=Burst, lock=1, cache=4, prot=3, qos=4)


def _read(addr_bits: int, data_bits: int, id_bits: int) -> dict[str, Member]:
    return {
        "ar": Out(_address(addr_bits, id_bits)),
        "r": In(_channel(id=id_bits, data=data_bits, resp=Response, last=1)),
    }


def _write(addr_bits: int, data_bits: int, id_bits: int) -> dict[str, Member]:
    return {
        "aw": Out(_address(addr_bits, id_bits)),
        "w": Out(_channel(data=data_bits, strb=data_bits // 8, last=1)),
        "b": In(_channel(id=id_bits, resp=Response)),
    }


class Axi4ReadSignature(wiring.Signature):
    """Channels AR and R, as the master sees them."""

    def __init__(self, addr_bits: int = 64, data_bits: int = 512, id_bits: int = 1) -> None:
        super().__init__(_read(addr_bits, data_bits, id_bits))


class Axi4WriteSignature(wiring.Signature):
    """Channels AW, W and B, as the master sees them."""

    def __init__(self, addr_bits: int = 64, data_bits: int = 512, id_bits: int = 1) -> None:
        super().__init__(_write(addr_bits, data_bits, id_bits))


class Axi4Signature(wiring.Signature):
    """All five channels, as the master sees them."""

    def __init__(self, addr_bits: int = 64, data_bits: int = 512, id_bits: int = 1) -> None:
        super().__init__(_read(addr_bits, data_bits, id_bits) | _write(addr_bits, data_bits, id_bits))


class AxiLiteSignature(wiring.Signature):
    """AXI4-Lite, as the master sees it."""

    def __init__(self, addr_bits: int, data_bits: int = 32) -> None:
        super().__init__(
            {
                "aw": Out(_channel(addr=addr_bits, prot=3)),
                "w": Out(_channel(data=data_bits, strb=data_bits // 8)),
                "b": In(_channel(resp=Response)),
                "ar": Out(_channel(addr=addr_bits, prot=3)),
                "r": In(_channel(data=data_bits, resp=Response)),
            }
        )


def flat_ports(interface: Any, prefix: str) -> dict[str, tuple[Value, PortDirection]]:
    """Ports for ``amaranth.back.verilog.convert``: conventional names such as ``m_axi0_araddr``.

    ``interface`` is a member of the top component, as the component itself sees it. Returns a dict from name to
    pair of value and direction; the dicts of several interfaces are joined with ``|``.
    """
    ports = {}
    for path, member, value in interface.signature.flatten(interface):
        direction = PortDirection.Input if member.flow == In else PortDirection.Output
        value = value.as_value() if isinstance(value, ValueCastable) else value
        ports[f"{prefix}_{''.join(path)}"] = (value, direction)
    return ports
