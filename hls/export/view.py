"""A description as the templates of the exports see it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..rtl.interface import FieldInterface, KernelInterface, PortInterface, RegisterInterface
from .description import Bus, Description

__all__ = ["Pin", "View", "Words"]


@dataclass(frozen=True)
class Pin:
    """A port of a bus: ``role`` is the part of its name behind the bus."""

    port: str
    role: str
    direction: str
    bits: int

    @property
    def stream_role(self) -> str:
        """The signal of a stream without the t of AXI4-Stream: "valid", "ready" or "data"."""
        return self.role.removeprefix("t")


@dataclass(frozen=True)
class Words:
    """A register as the 32-bit words of the bus see it: word ``number`` of its register, at ``offset``; the fields that
    lie in it as (name, bit in the word, bits, field)."""

    name: str
    offset: int
    register: RegisterInterface
    fields: tuple[tuple[str, int, int, FieldInterface], ...]


@dataclass(frozen=True)
class View:
    """What a template is given as ``design``."""

    described: Description
    pins: dict[str, tuple[Pin, ...]] = field(default_factory=dict)  #: by the name of the bus
    others: tuple[PortInterface, ...] = ()  #: ports of no bus, clock, reset or interrupt

    @classmethod
    def of(cls, described: Description) -> "View":
        """The view of a description."""
        named = {*(one.port for one in described.clocks), *(one.port for one in described.resets), "interrupt"}
        pins: dict[str, list[Pin]] = {bus.name: [] for bus in described.buses}
        others = []
        for port in described.ports:
            owner = max((name for name in pins if port.name.startswith(f"{name}_")), key=len, default=None)
            if owner is not None:
                pins[owner].append(Pin(port.name, port.name.removeprefix(f"{owner}_"), port.direction, port.bits))
            elif port.name not in named:
                others.append(port)
        return cls(described, {name: tuple(found) for name, found in pins.items()}, tuple(others))

    def buses(self, *protocols: str) -> list[Bus]:
        """The buses of these protocols."""
        return [bus for bus in self.described.buses if bus.protocol in protocols]

    @property
    def interrupt_bits(self) -> int:
        """Width of the port ``interrupt``; 0 if there is none."""
        return next((port.bits for port in self.described.ports if port.name == "interrupt"), 0)

    @property
    def is_xilinx(self) -> bool:
        """Whether the board's device is one that Vivado knows."""
        return self.described.target.part.lower().startswith(("xc", "xa", "xq"))

    def words(self, kernel: KernelInterface) -> Iterator[Words]:
        """The registers of a kernel in words of 32 bits, for tools that know no wider ones; words without a field are
        left out."""
        for register in kernel.registers:
            each = [(n, half) for n in range(register.count) for half in range(register.bits // 32)]
            for n, half in each:
                number = f"_{n}" if register.count > 1 else ""
                name = f"{register_name(register)}{number}{('', '_high')[half] if register.bits > 32 else ''}"
                low = 32 * half
                fields = tuple(
                    (one.name, max(one.lsb, low) - low, min(one.lsb + one.bits, low + 32) - max(one.lsb, low), one)
                    for one in register.fields
                    if one.lsb < low + 32 and one.lsb + one.bits > low
                )
                if fields:
                    yield Words(name, register.offset + register.bits // 8 * n + 4 * half, register, fields)


def register_name(register: RegisterInterface) -> str:
    """A name that is unique in the kernel's window: that of the source behind what kind of value it is."""
    prefixes = {"control": "", "argument": "arg_", "launch": "launch_", "counter": "counter_"}
    return f"{prefixes[register.kind]}{register.name}"
