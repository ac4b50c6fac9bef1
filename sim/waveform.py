"""Waveforms of a run: what their signals mean, for ``sluice stalls``, and saved views of them for viewers."""

import json
import shlex
import sys
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path

from hls.narrow import present
from hls.profile.saved_views import gtkw_text, sucl_text, view_file, view_of
from hls.profile.stalls import SIGNAL, Meaning, UnitMeaning, WaveformError, map_file, read_stalls, signals_of
from hls.profile.stalls_text import Row, rows_of
from hls.rtl.interface import SystemInterface

from .errors import SimulationError
from .probe_enums import account_signal, state_signal
from .session import Session

__all__ = ["begin_waveform", "finish_waveforms"]

#: what Verilator calls the scope around the top module
ROOT = "system"
#: stalls that are printed
WORST = 3


@dataclass(frozen=True)
class _Waveform:
    path: Path
    session: "weakref.ref[Session]"
    has_map: bool


_begun: list[_Waveform] = []
_lock = threading.Lock()


def begin_waveform(path: Path, session: Session, interface: SystemInterface, source: str) -> Path:
    """Note that a simulator is about to write a waveform, and write FILE.fst.json. Returns its file: ``path`` for the
    first one of the process; those of further programs have a number before the suffix."""
    with _lock:
        same = sum(one.path.parent == path.parent for one in _begun)
        if same:
            path = path.with_name(f"{path.stem}.{same + 1}{path.suffix}")
        _begun.append(_Waveform(path, weakref.ref(session), interface.probe is not None))
    if interface.probe is not None:
        map_file(path).write_text(json.dumps(_meaning(interface, source), indent=1) + "\n")
    return path


def finish_waveforms() -> None:
    """At the end of the process: end the waveforms, write saved views beside them, and print the worst stalls and how
    to open the views."""
    with _lock:
        waveforms, _begun[:] = list(_begun), []
    for one in waveforms:
        session = one.session()
        try:
            if session is not None and not session.closed:
                session.end_trace()
            if one.has_map and one.path.is_file():
                print(_save_views(one.path), end="", file=sys.stderr, flush=True)
        except (OSError, SimulationError, WaveformError) as error:
            print(f"sluice: no saved views of {one.path}: {error}", file=sys.stderr)


def _save_views(waveform: Path) -> str:
    """Write FILE.gtkw and FILE.sucl; returns the text that is printed."""
    meaning, units = read_stalls(waveform)
    rows = rows_of(meaning, units)
    view = view_of(meaning, signals_of(waveform), rows)
    gtkw, sucl = view_file(waveform, ".gtkw"), view_file(waveform, ".sucl")
    gtkw.write_text(gtkw_text(view, waveform))
    sucl.write_text(sucl_text(view))
    lines = [f"sluice: {waveform}", *_worst(rows)]
    lines.append(f"  open it with `{shlex.join(['gtkwave', str(waveform), str(gtkw)])}`")
    lines.append(f"  or with `{shlex.join(['surfer', '--command-file', str(sucl), str(waveform)])}`")
    return "".join(f"{line}\n" for line in lines)


def _worst(rows: list[Row]) -> list[str]:
    """The stalls that took most cycles, a line each."""
    waits = [row for row in rows if row["kind"] == "account"][:WORST]
    if not waits:
        return ["  nothing stalled"]
    return [
        f"  {row['kernel']}{_at(row['line'])}: {row['what']}: {row['cycles']:,} of {row['of']:,} cycles, "
        f"at most {row['longest']:,} in a row, from cycle {row['at']:,} on"
        for row in waits
    ]


def _at(line: int | None) -> str:
    return f", line {line}" if line else ""


def _meaning(interface: SystemInterface, source: str) -> Meaning:
    """The clock, the source text, and for each compute unit its signals and what their bits mean."""
    units = [_unit(interface, number) for number in range(len(present(interface.probe).units))]
    return {"clock_mhz": interface.clock_mhz, "source": source, "units": units}


def _unit(interface: SystemInterface, number: int) -> UnitMeaning:
    probe = present(interface.probe)
    unit, top = probe.units[number], f"{ROOT}.{interface.top}"
    layout = interface.layouts[unit.kernel]
    return {
        "kernel": unit.kernel,
        "autorun": unit.autorun,
        "number": number - probe.of_kernel(unit.kernel)[0],
        "path": f"{ROOT}.{unit.path}",
        "signal": f"{ROOT}.{unit.path}.{SIGNAL}",
        "account_signal": f"{top}.{account_signal(interface, number)}",
        "loops": [{"key": loop.key, "name": loop.name, "line": loop.line} for loop in layout.loops],
        "events": len(unit.events),
        "causes": unit.causes,
        "accounts": [
            {"cause": a.cause, "line": a.line, "category": a.category} for a in layout.accounts[: unit.causes]
        ],
        "holds": [
            {
                "key": hold.key,
                "what": hold.what,
                "line": hold.line,
                "loop": hold.loop,
                "state_signal": f"{top}.{state_signal(interface, number, hold)}",
            }
            for hold in unit.holds
        ],
        "hold_bits": [unit.hold_bit(hold) for hold in unit.holds],
    }
