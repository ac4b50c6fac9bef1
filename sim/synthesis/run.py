"""Synthesizes, places and routes a compiled design, and says what became of it in the words of its source."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hls.export.description import Description
from hls.model.area import Resources
from hls.narrow import present
from hls.report.facts.synthesis import Synthesis

from ..cache import cached, content_key
from .advice import advice_for
from .cells import Used, count_cells, total
from .device import OpenPart
from .flows import Flow
from .places import Places
from .result import placed, resources
from .sources import source_names
from .timing import Timing, read_timing
from .tools import MOST, YOSYS, SynthesisError
from .wrapper import TOP, pads, ports_of, wrapper

__all__ = ["Asked", "check_fit", "first_lines", "map_verilog", "refused", "synthesize"]

NETLIST, REPORT = "netlist.json", "report.json"
#: in what nextpnr says: a resource of which the device has too few
_TOO_FEW = re.compile(
    r"ERROR: .*(?:Unable to place|unable to find|failed to place|too many|no Bels? remaining).*", re.IGNORECASE
)


@dataclass(frozen=True)
class Asked:
    """For which ``device`` (``part`` of ``board``, with that ``capacity`` if it is known), at which kernel clock, with
    which seed of the placement."""

    board: str
    part: str
    device: OpenPart
    mhz: float
    seed: int
    capacity: Resources | None = None


def synthesize(
    described: Description, folder: Path, report: Mapping[str, Any], asked: Asked, tell: Callable[[str], None]
) -> Synthesis:
    """The figures of the design in ``folder``, of which these are the description and the report; ``tell`` is called
    with a line for each stage.

    What was made once is not made again. Raises SynthesisError for a design that does not fit or that a tool refuses,
    ToolMissing, BuildError if the cache cannot be written, and OSError if a file of the design cannot be read.
    """
    flow = asked.device.flow
    versions = (YOSYS.version(), *((flow.place.version(),) if flow.place else ()))
    clocks = tuple(clock.port for clock in described.clocks)
    texts = {name: (folder / "rtl" / name).read_text(encoding="utf-8") for name in described.files}
    top = next(text for text in texts.values() if re.search(rf"^module {described.top} ?\(", text, re.MULTILINE))
    texts[f"{TOP}.v"] = wrapper(described.top, ports_of(top, described.top), clocks)
    key = content_key((versions[0], flow.synthesis, described.digest, texts[f"{TOP}.v"]))
    tell("yosys: synthesis")
    netlist = cached("synth", key, NETLIST, lambda made: _map(flow, texts, made))
    cells = json.loads(netlist.read_text())["modules"][TOP]["cells"]
    places = Places(described, first_lines(report), names=source_names(cells, texts))
    counted = count_cells(cells, places, flow.cells)
    check_fit(total(counted), asked)
    placing = (key, *versions[1:], *asked.device.options, f"{asked.mhz!r}", str(asked.seed))
    timing = _timing(described, netlist, content_key(placing), places, asked, tell) if flow.place else None
    used = resources(counted, report)
    return Synthesis(
        digest=described.digest,
        board=asked.board,
        part=asked.part,
        tools=tuple(_short(version) for version in versions),
        design=used.design,
        kernels=used.kernels,
        parts=used.parts,
        lines=used.lines,
        placed=placed(timing, asked.mhz, asked.seed, advice_for(timing, described.clock_mhz, asked.mhz))
        if timing
        else None,
    )


def _timing(
    described: Description, netlist: Path, key: str, places: Places, asked: Asked, tell: Callable[[str], None]
) -> Timing:
    """The clock that place and route reach; what they made is kept by the ``key``."""
    clocks = {clock.port: clock.ratio * asked.mhz for clock in described.clocks}
    tell(f"nextpnr: place and route for {asked.mhz:g} MHz")
    said = cached("pnr", key, REPORT, lambda made: _place(netlist, asked, clocks, made))
    double = next((clock.port for clock in described.clocks if clock.ratio == 2), None)
    return read_timing(json.loads(said.read_text()), places, double)


def check_fit(used: Used, asked: Asked) -> None:
    """SynthesisError for a design that takes more than the device has: placement would need minutes to say so."""
    has = asked.capacity
    if has is None:
        return
    kinds = {
        "LUT places": (used.places, has.logic),
        "registers": (used.registers, has.registers),
        "block RAMs": (used.rams, has.rams),
        "DSP blocks": (used.dsps, has.dsps),
    }
    over = [f"{takes:,} {kind} of {there:,}" for kind, (takes, there) in kinds.items() if takes > there]
    if over:
        raise SynthesisError(f"the design does not fit {asked.part}: it takes {', '.join(over)}", _SMALLER)


#: what to do about a design that does not fit
_SMALLER = "report.txt lists what takes most; unroll less, or choose a larger device with --board"


def _short(version: str) -> str:
    """Name and number of what a tool calls itself."""
    found = re.search(r"(yosys|nextpnr)\S* .*?(\d+\.\d+[\w.+-]*)", version, re.IGNORECASE)
    return f"{found[1].lower()} {found[2]}" if found else version.splitlines()[0]


def first_lines(report: Mapping[str, Any]) -> dict[str, int]:
    """The line at which each kernel begins, by its name."""
    return {
        name: kernel["span"]["line"]
        for kernel in report["kernels"]
        if kernel["span"]
        for name in (kernel["copies"]["names"] if kernel["copies"] else (kernel["name"],))
    }


def _map(flow: Flow, texts: Mapping[str, str], folder: Path) -> None:
    """Synthesize the texts into ``folder``/NETLIST."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    map_verilog(
        ["-q", "-p", f"read_verilog -sv {' '.join(texts)}; {flow.synthesis} -top {TOP} -json {NETLIST}"], folder
    )


def map_verilog(arguments: Sequence[str], folder: Path) -> None:
    """Run yosys in ``folder`` with arguments that make NETLIST. Raises SynthesisError and ToolMissing."""
    done = YOSYS.run(arguments, folder)
    if done.returncode or not (folder / NETLIST).exists():
        raise SynthesisError(
            f"yosys ended with {done.returncode}",
            "if the design is large, a native yosys on the PATH has more memory and stack than the WebAssembly one",
            (done.stderr + done.stdout)[-MOST:],
        )


def _place(netlist: Path, asked: Asked, clocks: Mapping[str, float], folder: Path) -> None:
    """Place and route into ``folder``/REPORT."""
    flow = asked.device.flow
    shutil.copyfile(netlist, folder / NETLIST)
    pins = dict(zip(pads(tuple(clocks)), asked.device.pins, strict=False))
    for name, text in flow.constraints(clocks, pins).items():
        (folder / name).write_text(text)
    options = ["--json", NETLIST, *flow.options, "--report", REPORT]
    options += ["--seed", str(asked.seed), "--freq", f"{asked.mhz:g}", "--timing-allow-fail", "-q"]
    done = present(flow.place).run([*asked.device.options, *options], folder)
    (folder / NETLIST).unlink()
    if done.returncode or not (folder / REPORT).exists():
        raise refused(done, asked.part)


def refused(done: subprocess.CompletedProcess[str], part: str) -> SynthesisError:
    """What a place and route that failed means."""
    said = (done.stderr + done.stdout)[-MOST:]
    if few := _TOO_FEW.search(said):
        return SynthesisError(f"the design does not fit {part}: {few[0].removeprefix('ERROR: ')}", _SMALLER)
    return SynthesisError(f"nextpnr ended with {done.returncode}", "compile the design again", said)
