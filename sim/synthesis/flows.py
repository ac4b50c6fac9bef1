"""The open flows: what a family's synthesis is called, which cells it makes, and who places them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .cells import Used
from .tools import NEXTPNR_ECP5, NEXTPNR_GOWIN, Tool

__all__ = ["ECP5", "GOWIN", "NEXUS", "Flow"]


@dataclass(frozen=True)
class Flow:
    """``synthesis`` is the command of yosys, ``cells`` what its cells take, ``place`` the place and route, with further
    ``options``, None where none works. ``constraints`` makes the files that these options name, from clocks (MHz by
    port) and pins by port."""

    synthesis: str
    place: Tool | None
    cells: Mapping[str, Used]
    constraints: Callable[[Mapping[str, float], Mapping[str, str]], dict[str, str]]
    options: tuple[str, ...]


def _ecp5_constraints(clocks: Mapping[str, float], pins: Mapping[str, str]) -> dict[str, str]:
    """Ports without a pin are allowed here."""
    lines = [f'FREQUENCY PORT "{port}" {mhz} MHZ;\n' for port, mhz in clocks.items()]
    return {"design.lpf": "".join([*lines, *(f'LOCATE COMP "{port}" SITE "{pin}";\n' for port, pin in pins.items())])}


def _gowin_constraints(clocks: Mapping[str, float], pins: Mapping[str, str]) -> dict[str, str]:
    """Every port needs a pin here."""
    asked = [f"create_clock -name {port} -period {1000 / mhz:.4f} [get_ports {port}]\n" for port, mhz in clocks.items()]
    located = [f'IO_LOC "{port}" {pin};\n' for port, pin in pins.items()]
    return {"design.cst": "".join(located), "design.sdc": "".join(asked)}


ECP5 = Flow(
    synthesis="synth_ecp5",
    place=NEXTPNR_ECP5,
    cells={
        "LUT4": Used(luts=1, places=1),
        "CCU2C": Used(carries=1, places=2),
        "TRELLIS_DPR16X4": Used(lut_rams=1, places=6),
        "TRELLIS_FF": Used(registers=1),
        "DP16KD": Used(rams=1),
        "PDPW16KD": Used(rams=1),
        "MULT18X18D": Used(dsps=1),
    },
    constraints=_ecp5_constraints,
    options=("--lpf", "design.lpf", "--lpf-allow-unconstrained"),
)
GOWIN = Flow(
    synthesis="synth_gowin",
    place=NEXTPNR_GOWIN,
    cells={
        **{f"LUT{inputs}": Used(luts=1, places=1) for inputs in (1, 2, 3, 4)},
        "ALU": Used(carries=1, places=1),
        **{f"RAM16SDP{bits}": Used(lut_rams=1, places=6) for bits in (1, 2, 4)},
        **{
            f"DFF{edge}{kind}": Used(registers=1)
            for edge in ("", "N")
            for kind in ("", "E", "S", "SE", "R", "RE", "P", "PE", "C", "CE")
        },
        **{kind: Used(rams=1) for kind in ("SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B", "pROM", "pROMX9")},
        **{kind: Used(dsps=1) for kind in ("MULT9X9", "MULT18X18", "MULTALU18X18", "MULTADDALU18X18")},
        "MULT36X36": Used(dsps=4),
    },
    constraints=_gowin_constraints,
    options=("--vopt", "cst=design.cst", "--sdc", "design.sdc"),
)


def _no_constraints(clocks: Mapping[str, float], pins: Mapping[str, str]) -> dict[str, str]:
    return {}


#: multipliers of 18 x 18 bits in a cell
_NEXUS_DSPS = {
    **{f"MULT{size}": count for size, count in (("9X9", 1), ("18X18", 1), ("18X36", 2), ("36X36", 4))},
    **{f"MULTADDSUB{size}": count for size, count in (("18X18", 1), ("18X36", 2), ("36X36", 4))},
    **{f"MULTADDSUB{size}WIDE": 2 for size in ("9X9", "18X18")},
    **{f"MULTPREADD{size}": 1 for size in ("9X9", "18X18")},
}
NEXUS = Flow(
    synthesis="synth_nexus",
    place=None,  # nextpnr-nexus 0.11.1 does not route a clock from a pin (docs/synthesis.md)
    cells={
        "LUT4": Used(luts=1, places=1),
        "INV": Used(luts=1, places=1),
        "WIDEFN9": Used(luts=2, places=2),
        "CCU2": Used(carries=1, places=2),
        "DPR16X4": Used(lut_rams=1, places=6),
        **{f"FD1P3{kind}X": Used(registers=1) for kind in "BDIJ"},
        **{kind: Used(rams=1) for kind in ("DP16K", "PDP16K", "PDPSC16K", "SP16K")},
        **{kind: Used(dsps=count) for kind, count in _NEXUS_DSPS.items()},
    },
    constraints=_no_constraints,
    options=(),
)
