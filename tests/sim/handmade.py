"""Hand-written systems, in the form of the compiler's output, so that the board is tested without the compiler."""

from dataclasses import dataclass, field
from pathlib import Path

from hls.ir import Module
from hls.profile.layout import Layout
from hls.rtl.interface import ArgumentInterface, KernelInterface, MemoryInterface, PortInterface, SystemInterface

DESIGNS = Path(__file__).parent / "designs"
OFFSETS = {"data": 0x100, "words": 0x108, "amount": 0x110}


def kernel(ndrange: bool = False) -> KernelInterface:
    """The interface of ``increment(global int *data, int words, int amount)``."""
    arguments = (
        ArgumentInterface("data", "buffer", "__global int *", 8, OFFSETS["data"], "inout"),
        ArgumentInterface("words", "scalar", "int", 4, OFFSETS["words"], "in"),
        ArgumentInterface("amount", "scalar", "int", 4, OFFSETS["amount"], "in"),
    )
    return KernelInterface("increment", 0, 0, arguments, ndrange, {}, (), Layout("increment", 240.0, (), (), ()))


def system(ndrange: bool = False) -> SystemInterface:
    memory = MemoryInterface("DDR", 0, 2 << 30, 1024, 1, 64)
    return SystemInterface(
        "sluice_system",
        (kernel(ndrange),),
        (512,),
        (),
        64,
        1024,
        240.0,
        False,
        memories=(memory,),
        ports=(PortInterface("m_axi0_araddr", "out", 64),),
    )


@dataclass(frozen=True)
class Handmade:
    """Stands for the compiler's result."""

    verilog: dict[str, str]
    interface: SystemInterface = field(default_factory=system)
    module: Module = field(default_factory=Module)
    warnings: tuple = ()

    def decode(self, kernel_name: str, values: dict[str, int]) -> dict:
        return {"kernel": kernel_name, "cycles": values["cycles"]}


def design(name: str) -> dict[str, str]:
    """The Verilog of one of the designs beside this file."""
    return {f"{name}.v": (DESIGNS / f"{name}.v").read_text()}
