"""Writes beside a waveform what its signals mean, for ``sluice stalls``."""

import json
from pathlib import Path

from hls.profile.stalls import SIGNAL, map_file
from hls.rtl.interface import SystemInterface

__all__ = ["write_map"]


def write_map(waveform: Path, interface: SystemInterface, source: str) -> None:
    """Write FILE.fst.json: the clock, the source text, and for each compute unit its signal and what its bits mean."""
    if interface.probe is None:
        return
    layouts = {kernel.name: kernel.layout for kernel in interface.kernels}
    units = []
    for number, unit in enumerate(interface.probe.units):
        first = interface.probe.of_kernel(unit.kernel)[0]
        accounts = layouts[unit.kernel].accounts[: unit.causes]
        units.append(
            {
                "kernel": unit.kernel,
                "number": number - first,
                "signal": f"system.{unit.path}.{SIGNAL}",
                "events": len(unit.events),
                "causes": unit.causes,
                "accounts": [{"cause": a.cause, "line": a.line, "category": a.category} for a in accounts],
                "holds": [{"key": hold.key, "what": hold.what, "line": hold.line} for hold in unit.holds],
                "hold_bits": [unit.hold_bit(hold) for hold in unit.holds],
            }
        )
    text = json.dumps({"clock_mhz": interface.clock_mhz, "source": source, "units": units}, indent=1)
    map_file(waveform).write_text(text + "\n")
