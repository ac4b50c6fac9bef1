"""What can be exported: for each tool the files that are made, and from which templates."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["FORMATS", "Format"]


@dataclass(frozen=True)
class Format:
    """An export. ``files`` are the names of its files, in which TOP stands for the top module, by template; with
    ``rtl`` the Verilog is copied beside them. ``registers``: it describes nothing but control registers."""

    title: str
    files: Mapping[str, str]
    rtl: bool = True
    registers: bool = False


#: by the name on the command line; a template NAME is ``templates/NAME.j2``
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "vivado": Format(
            "a script that packages an IP for Vivado, and its constraints",
            {"package_ip.tcl": "package_ip.tcl", "clocks.xdc": "TOP.xdc"},
        ),
        "quartus": Format(
            "a component for Platform Designer, constraints and an index of files for Quartus",
            {"hw.tcl": "TOP_hw.tcl", "clocks.sdc": "TOP.sdc", "quartus.qip": "TOP.qip"},
        ),
        "litex": Format("a module for LiteX", {"litex.py": "TOP.py"}),
        "fusesoc": Format(
            "a core for FuseSoC with targets lint, sim and ecp5",
            {"fusesoc.core": "TOP.core", "testbench.v": "TOP_tb.v"},
        ),
        "ipxact": Format("a component in IP-XACT (IEEE 1685-2014)", {"component.xml": "TOP.xml"}),
        "systemrdl": Format("the registers in SystemRDL 2.0", {"registers.rdl": "TOP.rdl"}, rtl=False, registers=True),
        "c": Format(
            "a header of the registers and a driver in C",
            {"registers.h": "TOP_registers.h", "driver.h": "TOP.h", "driver.c": "TOP.c"},
            rtl=False,
            registers=True,
        ),
    }
)
