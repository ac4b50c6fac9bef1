"""Makes the bitstream of a system: elaboration, synthesis, place and route, for a slower clock if timing is not met."""

import importlib.util
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from hls.export.description import Description
from hls.export.soc import soc_text
from hls.export.write import write_export
from hls.model.area import capacity
from hls.report.facts.synthesis import Placed
from hls.target.board import Board

from ..cache import cached, content_key
from ..errors import ToolMissing
from ..synthesis.advice import say_place
from ..synthesis.cells import Used, total_of
from ..synthesis.device import OpenPart, open_part
from ..synthesis.result import placed
from ..synthesis.run import NETLIST, REPORT, Asked, check_fit, first_lines, map_verilog, refused
from ..synthesis.timing import PathStep, Timing
from ..synthesis.tools import MOST, SynthesisError
from .clocks import SystemPlaces, longest_path, reached
from .steps import BITSTREAM, CONFIG, CONSTRAINTS, DESCRIPTION, TOP, VERILOG, Steps

__all__ = ["Made", "check_packages", "make_system", "place_system"]

#: the packages that soc.py imports, and the modules by which they are found; the last one for boards with Ethernet
PACKAGES = {"litex": "litex", "litedram": "litedram", "litex-boards": "litex_boards", "migen": "migen"}
NETWORK = {"liteeth": "liteeth"}
#: so many clocks are tried; each is one that the placements before it reached
MOST_CLOCKS = 4
#: placements for a clock, if those before reached that share of it: they differ by some percent
PLACEMENTS, NEAR = 3, 0.93
T = TypeVar("T")
PROGRAM, PLACED = "soc.py", "placed.json"


@dataclass(frozen=True)
class Made:
    """A system whose timing is met at ``mhz``; ``reached_mhz`` is what its placement would allow. ``tried`` are the
    clocks at which it was not, with what was reached."""

    mhz: float
    reached_mhz: float
    tried: tuple[tuple[float, float], ...]
    used: Used


@dataclass(frozen=True)
class _Placement:
    bits: str  #: nextpnr's text of the bitstream
    share: float  #: of the clock that was asked for
    path: tuple[PathStep, ...]  #: what limits it
    used: Used
    seed: int

    def mhz(self, asked: float) -> float:
        """The clock that is reached."""
        return round(math.floor(asked * self.share * 100) / 100, 2)

    def longest(self) -> str:
        """The longest stretch of the path, in words."""
        if not self.path:
            return ""
        step, ns = max(self.path, key=lambda one: one.ns), sum(one.ns for one in self.path)
        return f"{step.ns:.1f} of {ns:.1f} ns in {say_place(step.place)}"


def packages_of(board: Board) -> dict[str, str]:
    """The packages that soc.py of this board imports, and the modules by which they are found."""
    return PACKAGES | (NETWORK if board.soc is not None and board.soc.ethernet else {})


def check_packages(board: Board) -> None:
    """Raises ToolMissing if a package that soc.py of this board imports is not installed."""
    missing = [name for name, module in packages_of(board).items() if importlib.util.find_spec(module) is None]
    if missing:
        raise ToolMissing(f"{', '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed")


def make_system(
    described: Description, folder: Path, board: Board, output: Path, seed: int, tell: Callable[[str], None]
) -> Made:
    """Build the system of the design in ``folder`` for ``board`` as folder ``output``: soc.py, what it is made of, the
    bitstream. ``tell`` is called with a line for each stage.

    Raises ExportError for a design or board of which none can be made, ToolMissing, SynthesisError if it does not fit
    or a tool refuses it, and BuildError if the cache cannot be written; the folder is as before then.
    """
    return _in_folder(described, folder, board, output, seed, tell, _System.made)


def place_system(
    described: Description, folder: Path, board: Board, seed: int, tell: Callable[[str], None]
) -> tuple[Placed, Used]:
    """The timing of one placement of the same system for the design's clock, and what it takes; no bitstream is made.
    Raises what :func:`make_system` does."""
    mhz = described.clock_mhz
    with tempfile.TemporaryDirectory(prefix="sluice-soc-") as temporary:
        output = Path(temporary) / "soc"
        found = _in_folder(described, folder, board, output, seed, tell, lambda system: system.placed_once(mhz))
    timing = Timing(found.mhz(mhz), found.path)
    return placed(timing, mhz, seed, ()), found.used


def _in_folder(
    described: Description,
    folder: Path,
    board: Board,
    output: Path,
    seed: int,
    tell: Callable[[str], None],
    make: Callable[["_System"], T],
) -> T:
    """What ``make`` returns of the system in the new folder ``output``."""
    text = soc_text(described, board)
    check_packages(board)
    device = open_part(board.device.part)
    if device is None:
        raise SynthesisError(
            f"no open flow places {board.device.part}", "choose another board; `sluice boards` lists them"
        )
    lines = first_lines(json.loads((folder / "report.json").read_text(encoding="utf-8")))
    found: list[T] = []

    def complete(new: Path) -> None:
        (new / PROGRAM).write_text(text, encoding="utf-8")
        found.append(make(_System(described, lines, board, device, new, seed, tell)))

    write_export(described, folder, "litex", output, complete)
    return found[0]


@dataclass(frozen=True)
class _System:
    """The system whose soc.py lies in ``folder``. ``lines`` are those at which the kernels begin."""

    described: Description
    lines: Mapping[str, int]
    board: Board
    device: OpenPart
    folder: Path
    seed: int
    tell: Callable[[str], None]

    def made(self) -> Made:
        """The first clock, from the design's on downwards, whose timing is met, with the bitstream for it."""
        tried: list[tuple[float, float]] = []
        mhz = self.described.clock_mhz
        for _ in range(MOST_CLOCKS):
            placement = self._best(mhz)
            if placement.share >= 1:
                self._pack(placement, mhz)
                return Made(mhz, placement.mhz(mhz), tuple(tried), placement.used)
            tried.append((mhz, placement.mhz(mhz)))
            mhz = float(max(1, math.floor(min(mhz - 1, mhz * placement.share))))
        clocks = ", ".join(f"{asked:g} MHz ({got:g} reached)" for asked, got in tried)
        raise SynthesisError(
            f"timing is not met at any clock that was tried: {clocks}",
            f"try other placements with --seed 2, 3 ..., or compile for a slower clock: --clock {mhz:g}",
        )

    def placed_once(self, mhz: float) -> _Placement:
        """The placement for this clock with the one seed."""
        key, netlist, used = self._mapped(mhz)
        self.tell(f"nextpnr: place and route for {mhz:g} MHz")
        return self._placed(key, netlist, used, self.seed)

    def _mapped(self, mhz: float) -> tuple[str, Path, Used]:
        """The netlist of the system for this clock, its key, and what it takes. Raises SynthesisError if that does not
        fit."""
        self.tell(f"LiteX: the system for {mhz:g} MHz")
        self._elaborate(mhz)
        self.tell("yosys: synthesis")
        key, netlist = self._synthesized(mhz)
        cells = json.loads(netlist.read_text())["modules"][TOP]["cells"]
        used, part = total_of(cells, self.device.flow.cells), self.board.device.part
        check_fit(used, Asked(self.board.name, part, self.device, mhz, self.seed, capacity(self.board.device)))
        return key, netlist, used

    def _best(self, mhz: float) -> _Placement:
        """The first placement that reaches this clock, of several where they come near it; else the fastest."""
        key, netlist, used = self._mapped(mhz)
        best: _Placement | None = None
        for seed in range(self.seed, self.seed + PLACEMENTS):
            self.tell(f"nextpnr: place and route for {mhz:g} MHz")
            found = self._placed(key, netlist, used, seed)
            best = found if best is None or found.share > best.share else best
            if best.share >= 1:
                return best
            self.tell(
                f"{mhz:g} MHz is not reached, but {found.mhz(mhz):g} MHz (seed {seed})"
                + (f"; the longest path has {longest}" if (longest := found.longest()) else "")
            )
            if best.share < NEAR:
                break
        assert best is not None
        return best

    def _synthesized(self, mhz: float) -> tuple[str, Path]:
        """The netlist of the system that was elaborated, and its key. What was made once is not made again."""
        steps = Steps.of(self.device, self.described.files, self.seed)
        versions = [f"{name} {version(name)}" for name in packages_of(self.board)]
        parts = [(self.folder / PROGRAM).read_text(encoding="utf-8"), self.described.digest, f"{mhz!r}", *versions]
        key = content_key([*parts, steps.synthesis.tool.version(), *steps.synthesis.arguments])
        return key, cached("soc", key, NETLIST, lambda made: self._map(steps, made))

    def _placed(self, key: str, netlist: Path, used: Used, seed: int) -> _Placement:
        """A placement of this netlist of that key, kept as that is."""
        steps = Steps.of(self.device, self.described.files, seed)
        placing = content_key([key, steps.place.tool.version(), *steps.place.arguments])
        placed = cached("soc-pnr", placing, PLACED, lambda made: self._place(steps, netlist, made))
        data = json.loads(placed.read_text())
        report, places = data["report"], SystemPlaces(self.described, self.lines, self.described.top)
        return _Placement(data["bits"], reached(report), tuple(longest_path(report, places)), used, seed)

    def _elaborate(self, mhz: float) -> None:
        """Run soc.py, and leave what later steps read."""
        made = self.folder / "litex"
        command = [sys.executable, PROGRAM, made.name, "--clock", repr(mhz)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise SynthesisError(
                f"LiteX refuses the system: {last}",
                "the extra `build` pins the versions it was made for: pip install sluice-hls[build]",
                (done.stdout + done.stderr)[-MOST:],
            )
        for name in (VERILOG, CONSTRAINTS, DESCRIPTION):
            (made / name).replace(self.folder / name)
        shutil.rmtree(made)
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)

    def _map(self, steps: Steps, made: Path) -> None:
        """Synthesize the system in another folder: tools in WebAssembly see nothing outside of theirs."""
        shutil.copytree(self.folder / "rtl", made / "rtl")
        shutil.copyfile(self.folder / VERILOG, made / VERILOG)
        map_verilog(steps.synthesis.arguments, made)
        shutil.rmtree(made / "rtl")

    def _place(self, steps: Steps, netlist: Path, made: Path) -> None:
        shutil.copyfile(netlist, made / NETLIST)
        shutil.copyfile(self.folder / CONSTRAINTS, made / CONSTRAINTS)
        done = steps.place.tool.run(steps.place.arguments, made)
        if done.returncode or not (made / REPORT).exists():
            raise refused(done, self.board.device.part)
        bits, report = (made / CONFIG).read_text(), json.loads((made / REPORT).read_text())
        (made / PLACED).write_text(json.dumps({"bits": bits, "report": report}))
        for name in (NETLIST, CONFIG, REPORT):
            (made / name).unlink()

    def _pack(self, placement: _Placement, mhz: float) -> None:
        steps = Steps.of(self.device, self.described.files, placement.seed)
        self.tell("ecppack: the bitstream")
        (self.folder / CONFIG).write_text(placement.bits)
        done = steps.pack.tool.run(steps.pack.arguments, self.folder)
        if done.returncode or not (self.folder / BITSTREAM).exists():
            raise SynthesisError(
                f"{steps.pack.tool.name} ended with {done.returncode}",
                "build the design again",
                (done.stderr + done.stdout)[-MOST:],
            )
        (self.folder / CONFIG).unlink()
        (self.folder / "build.sh").write_text(steps.script(mhz), encoding="utf-8")
