"""What a point gives: by plan and estimate, by its counted area, by a replay, by a run in RTL. Each answer is kept on
disk."""

import contextlib
import hashlib
import json
import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ..design import Design, Setting, write_design
from ..diag import Code, CompileError
from ..driver import parsed_module, plan_area, plan_text
from ..ir import Function, Module
from ..model.accounts import accounts
from ..model.area import Resources, capacity
from ..model.estimate import NotModelled, Planned, timed
from ..model.network import has_calls
from ..model.operations import logic_cells
from ..model.rewrite_area import added_resources
from ..model.rewrites import Rewrite, rewrites
from ..model.workload import Workload, read_workload, source_hash
from ..options import BuildOptions, Options
from ..planning import Compilation, CompiledKernel
from ..records import plain, record_of
from ..target.board import Board
from .host_run import HostFailed, run_host
from .knobs import Knob, Values, design_of, most_copies
from .launches import Launches, whole
from .partial_results import PartialResults
from .points import Area, Limit, Point, Problem, Sketch
from .sketch import described, sketch
from .study import StudyError

__all__ = ["Evaluator", "Program", "stored"]

#: kinds of knobs that promise what only the emulator can tell to hold; it runs work-groups of other sizes anyway
CHECKED = frozenset({"ivdep", "restrict"})
#: how often the allowed area a design may take by extrapolation and still be planned: the fixed part of the area of the
#: program as written, which is multiplied as well, is most of it for a small kernel
SLACK = 4


@dataclass(frozen=True)
class Program:
    """What is tuned: a source and its text, the host program that launches its kernels with its ``arguments``, and the
    options that are the same for all points. ``board_given`` is the board as a command line names it, with its file or
    its clock; empty for the name alone."""

    source: Path
    text: str
    host: Path
    arguments: tuple[str, ...]
    board: Board
    options: Options
    board_given: str = ""


class Evaluator:
    """Evaluates points of a program, with what it needs for that in ``folder``."""

    def __init__(self, program: Program, folder: Path, version: str) -> None:
        self.program, self.folder, self.version = program, folder, version
        self.main = str(program.source)
        self.module = self._parse()
        self.source_hash = source_hash(self.main, self.module.sources, {})
        self._workloads: dict[str, tuple[Workload, ...]] = {}
        self.knobs: tuple[Knob, ...] = ()
        self._share, self._most = 0.0, 1.0

    def _parse(self) -> Module:
        """The program with the options of the command, or if it is none with these alone, as the host builds it."""
        try:
            return self._parsed(self.program.options)
        except CompileError:
            with tempfile.TemporaryDirectory(dir=self.folder, prefix="collecting-") as aside:
                self._run("--workload", aside)
                found = [read_workload(one) for one in sorted(Path(aside).glob("*.json.gz"))]
            for build in dict.fromkeys(one.build for one in found):
                with contextlib.suppress(CompileError):  # another source of the host
                    module = self._parsed(build.applied(self.program.options))
                    if any(one.build == build and one.kernel in module.functions for one in found):
                        return module
            raise

    def _parsed(self, options: Options) -> Module:
        return parsed_module(self.program.text, options, self.main)

    def design(self, values: Values) -> Design:
        """The design of a point."""
        return design_of(self.knobs, values, self.source_hash, self.main)

    def workloads(self, defines: Mapping[str, str], groups: tuple[Setting, ...] = ()) -> tuple[Workload, ...]:
        """What the launches do with those defines and sizes of work-groups of the point: a run of the host program on
        the emulator, or what an earlier one left. Raises StudyError if that run fails or launches no kernel of the
        source."""
        given = (self.source_hash, self._host(), sorted(defines.items()), *groups)
        folder = self.folder / "workloads" / (_digest(*given)[:16])
        name = str(folder)
        if name not in self._workloads:
            if not folder.exists():
                self._collect(folder, defines, groups)
            found = [read_workload(one) for one in sorted(folder.glob("*.json.gz"))]
            mine = [one for one in found if one.kernel in self.module.functions]
            if not mine:
                raise StudyError(f"{self.program.host} launches no kernel of {self.program.source}")
            self._workloads[name] = tuple(mine)
        return self._workloads[name]

    def _workloads_of(self, design: Design) -> tuple[Workload, ...]:
        """Those of a design. Raises StudyError."""
        groups = tuple(one for one in design.settings if one.kind == "reqd_work_group_size")
        return self.workloads(dict(design.defines), groups)

    def _collect(self, folder: Path, defines: Mapping[str, str], groups: tuple[Setting, ...]) -> None:
        """Fill the folder: aside at first, as another worker may do the same."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="collecting-") as aside:
            design, runs = Path(aside) / "design.json", Path(aside) / "runs"
            write_design(Design(1, self.source_hash, groups, tuple(defines.items())), design)
            self._run("--workload", str(runs), "--design", str(design))
            runs.mkdir(exist_ok=True)
            with contextlib.suppress(OSError):  # the other worker was first, with the same files
                runs.rename(folder)

    def _run(self, *options: str) -> None:
        """Run the host program. Raises StudyError with the end of its output if it fails."""
        given = self.program.board_given or self.program.board.name
        run_host(self.program.host, self.program.arguments, given, *options)

    def estimate(self, values: Values) -> Point:
        """The point with its predicted cycles, or with its problem; one is a promise that does not hold."""
        found = self.unchecked(values)
        broken = self.broken(values) if found.problem is None else None
        return replace(found, problem=broken) if broken is not None else found

    def unchecked(self, values: Values) -> Point:
        """The point as by :meth:`estimate`, if all that it promises holds."""
        point = Point.of(values)
        copies = most_copies(self.module, self.knobs, values)
        if copies * self._share > self._most:
            why = f"{copies:,} copies of a body, in a program that takes {self._share:.0%} of the device as written"
            return replace(point, problem=Problem("W0803", why))
        try:
            return stored(self.folder, self._key("estimate", values), lambda: self._estimate(point, values))
        except HostFailed as error:
            return replace(point, problem=_why_failed(error, "on the emulator"))

    def broken(self, values: Values) -> Problem | None:
        """Why a promise of the point does not hold for the launches, by the checks of the emulator. Each is tried when
        it is asked for first, alone, with the defines of the point."""
        for knob in self.knobs:
            kinds = {knob.kind, *(kind for _, kind, _ in knob.also)}
            if not CHECKED.isdisjoint(kinds) and values.get(knob.name) is not None:
                alone = {one.name: values.get(one.name) for one in self.knobs if one is knob or one.kind == "define"}
                if (problem := self.check(alone).problem) is not None:
                    return problem
        return None

    def check(self, values: Values) -> Point:
        """The point, with a problem if the host program fails on the emulator with its design: a promise of loops or
        buffers does not hold."""
        point = Point.of(values)

        def run() -> Point:
            with tempfile.TemporaryDirectory(dir=self.folder, prefix="checking-") as aside:
                design = Path(aside) / "design.json"
                write_design(self.design(values), design)
                try:
                    self._run("--device", "emulator", "--design", str(design))
                except HostFailed as error:
                    return replace(point, problem=_why_failed(error, "on the emulator"))
            return point

        return stored(self.folder, self._key("checked", values), run)

    def bound_area(self, base: Point, fit: float) -> None:
        """From now on, do not plan points that would be far too large by the area of the program as written."""
        copies = most_copies(self.module, self.knobs, dict(base.knobs))  # of a space without the values of the source
        self._share, self._most = base.area.share / copies if base.area is not None else 0.0, SLACK * fit

    def _estimate(self, point: Point, values: Values) -> Point:
        try:
            builds = list(self._launches(self.design(values)))
        except CompileError as error:
            first = error.diagnostics[0]
            return replace(point, problem=Problem(first.code.number if first.code else "", first.message))
        board = self.program.board
        cells = max(self._logic_cells(one.kernels) for one in builds)
        point = replace(point, least=cells / board.device.logic_cells)
        try:
            found = [one.cycles_and_seconds(board) for one in builds]
        except NotModelled as error:
            return self._replayed_instead(point, values, f"the estimate does not cover {error}")
        return replace(point, cycles=sum(cycles for cycles, _ in found), seconds=sum(seconds for _, seconds in found))

    def _replayed_instead(self, point: Point, values: Values, why: str) -> Point:
        """The point with the cycles of a replay for those that no estimate gives, ``why``."""
        replayed = self.replay(point)
        if replayed.replayed is None:
            also = f", and {replayed.problem.text}" if replayed.problem else ", nor does the replay"
            return replace(point, problem=Problem("", why + also))
        seconds = replayed.replayed * self.program.board.clock.period_ns * 1e-9
        return replace(point, cycles=replayed.replayed, seconds=seconds)

    def _launches(self, design: Design) -> Iterator[Launches]:
        """For each build of the host program the kernels with the design, and the plan and workload of each launch.
        Raises CompileError."""
        program, runs = self.program, self._workloads_of(design)
        for build, options in self._builds(design):
            plan = plan_text(program.text, program.board, options, self.main)
            plans = {
                one.function.name: Planned(one.function, one.memory, one.plan, one.unrolled, one.merged, self.main)
                for one in plan.kernels
            }
            launched = [(plans[one.kernel], one) for one in runs if one.build == build]
            compilation = Compilation(program.board, options)
            yield Launches(plan.module, compilation, plan.kernels, plan.channels, launched)

    @cached_property
    def _linked(self) -> frozenset[tuple[str, str]]:
        """The kernels that run at the same time, in pairs: those of the program as written."""
        written = {knob.name: knob.values[0] for knob in self.knobs}
        return frozenset[tuple[str, str]]().union(*(one.linked for one in self._launches(self.design(written))))

    def limits(self, point: Point) -> tuple[Limit, ...]:
        """What the cycles of a point that was estimated are spent with, the largest share first."""
        spent = Counter[tuple[str, str, int | None]]()
        for one in self._launches(self.design(dict(point.knobs))):
            for planned, workload in one.launched:
                for account in accounts(planned, workload, self.program.board):
                    spent[workload.kernel, account.cause, account.line] += account.cycles
        whole = max(1, sum(spent.values()))
        return tuple(Limit(*place, cycles / whole) for place, cycles in spent.most_common())

    def sketches(self, point: Point) -> tuple[Sketch, ...]:
        """The rewrites that only the programmer can make of the design of a point that was estimated, the largest gain
        first, also those that gain nothing. What kernels on channels gain depends on others: they have none."""
        found: dict[Rewrite, float] = {}
        added = dict[Rewrite, Resources]()
        functions, now = dict[str, Function](), 0.0
        for build in self._launches(self.design(dict(point.knobs))):
            partials = PartialResults(build.module, build.compilation, self.main)
            kernels = {one.function.name: one for one in build.kernels}
            for planned, workload in build.launched:
                if has_calls(planned):
                    continue
                cycles = timed(planned, workload, self.program.board).cycles
                now, functions[workload.kernel] = now + cycles, planned.function
                more = partials.rewrites(kernels[workload.kernel], planned, workload)
                logic = math.ceil(self._logic_cells([kernels[workload.kernel]]))
                for rewrite, after in (rewrites(planned, workload, self.program.board) | more).items():
                    found[rewrite] = found.get(rewrite, 0.0) + cycles - after
                    added[rewrite] = added_resources(rewrite, planned, logic, self.program.board.device)
        lines = {"" if file == self.main else file: text.splitlines() for file, text in self.module.sources.items()}
        return tuple(
            Sketch(
                one.kernel,
                described(one),
                one.place.line if one.place is not None else None,
                sketch(one, functions[one.kernel], lines),
                now - saved,
                saved / now if now else 0.0,
                self._area(added[one]),
            )
            for one, saved in sorted(found.items(), key=lambda pair: -pair[1])
        )

    def _builds(self, design: Design) -> list[tuple[BuildOptions, Options]]:
        """The builds of the host program whose kernels it launches, each with the options of its plans: where the
        command differs from the default, it wins."""
        builds = dict.fromkeys(one.build for one in self._workloads_of(design))
        return [(one, one.applied(self.program.options).with_design(design)) for one in builds]

    def parse_as_built(self, workloads: Sequence[Workload]) -> None:
        """Take the program as the host built it for the first of some launches for the one whose knobs are found."""
        self.module = self._parsed(workloads[0].build.applied(self.program.options))

    def _logic_cells(self, kernels: Sequence[CompiledKernel]) -> float:
        board = self.program.board
        usual = Compilation(board, self.program.options)
        return sum(logic_cells(one.function, usual.of(one.function).timing, board.device) for one in kernels)

    def count(self, point: Point) -> Point:
        """The point with the area of its design, counted before it would be converted to Verilog."""
        values = dict(point.knobs)
        return stored(self.folder, self._key("area", values), lambda: self._count(point, values))

    def _count(self, point: Point, values: Values) -> Point:
        program = self.program
        try:
            plans = [
                plan_text(program.text, program.board, options, self.main)
                for _, options in self._builds(self.design(values))
            ]
        except CompileError as error:
            first = error.diagnostics[0]
            return replace(point, problem=Problem(first.code.number if first.code else "", first.message))
        areas = [self._area(plan_area(one).total) for one in plans]
        return replace(point, area=max(areas, key=lambda one: one.share))

    def _area(self, used: Resources) -> Area:
        there = capacity(self.program.board.device)
        share = max(
            getattr(used, name) / getattr(there, name)
            for name in ("logic", "registers", "rams", "dsps")
            if getattr(there, name)
        )
        return Area(used.logic, used.registers, used.rams, used.dsps, share)

    def replay(self, point: Point, written: bool = False) -> Point:
        """The point with the cycles of a run of the host program on the model; without them where the replay does not
        cover the design, and with a problem where the host program fails. Raises StudyError if that is the program as
        ``written``."""
        values = dict(point.knobs)
        found = stored(self.folder, self._key("replayed", values), lambda: self._replay(point, values))
        if written and found.problem is not None:
            raise StudyError(found.problem.text)
        return replace(point, replayed=found.replayed, problem=found.problem)

    def _replay(self, point: Point, values: Values) -> Point:
        try:
            return replace(point, replayed=self._cycles_on("model", "replayed", values))
        except HostFailed as error:
            if any(one.code == Code.NOT_MODELLED.number for one in error.refused):
                return point
            return replace(point, problem=_why_failed(error, "on the model"))

    def measure(self, point: Point) -> Point:
        """The point with the cycles of a run in RTL. Raises StudyError if the host program fails."""
        values = dict(point.knobs)

        def run() -> Point:
            return replace(point, measured=self._cycles_on("board", "measured", values))

        return stored(self.folder, self._key("measured", values), run)

    def _cycles_on(self, device: str, what: str, values: Values) -> int:
        """Cycles of the program's launches on a device, of a run of the host program with the design of a point. Raises
        StudyError if it fails."""
        folder = self.folder / "runs" / self._key(what, values)[:16]
        folder.mkdir(parents=True, exist_ok=True)
        design, stats = folder / "design.json", folder / "stats.json"
        write_design(self.design(values), design)
        self._run("--device", device, "--design", str(design), "--stats-file", str(stats))
        found = json.loads(stats.read_text(encoding="utf-8"))
        launches = found if isinstance(found, list) else found["launches"]
        mine = [one for one in launches if one["kernel"] in self.module.functions]
        cycles = [one["cycles"] for one in mine]
        return int(whole([one["kernel"] for one in mine], cycles, self._linked)) if mine else 0

    def _host(self) -> str:
        """A hash of what the launches depend on beside the kernels: the host program and its arguments."""
        return _digest(self.program.host.read_bytes(), self.program.arguments)

    def _key(self, what: str, values: Values) -> str:
        """A hash of all that an answer depends on."""
        program = self.program
        given = sorted((name, value) for name, value in values.items() if value is not None)
        design = repr(self.design(values))
        options = replace(program.options, design=None)
        runs: Sequence[str] = ()
        if what in ("estimate", "area"):
            found = self._workloads_of(self.design(values))
            runs = [repr(one.build) for one in found]
            runs += [one.inputs_hash for one in found] if what == "estimate" else []
        host = self._host() if what not in ("estimate", "area") else ""
        return _digest(
            what, self.version, self.source_hash, repr(program.board), repr(options), given, design, list(runs), host
        )


def _why_failed(error: HostFailed, where: str) -> Problem:
    """What a run of the host program ended with, in one line: the message of a device, or the last line of its
    output."""
    first, *rest = str(error).splitlines()
    code = error.refused[0].code if error.refused else ""
    if found := next((match for line in rest if (match := re.search(r"error\[(E\d+)\]: (.*)", line))), None):
        return Problem(found[1], f"{where}, {found[2]}")
    return Problem(code, f"{where}, {first} {rest[-1].strip() if rest else ''}".strip())


def stored(folder: Path, key: str, compute: Callable[[], Point]) -> Point:
    """The point of that key from the folder; computed and kept there if it has none."""
    path = folder / "points" / f"{key}.json"
    try:
        return record_of(Point, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        pass  # not there yet, or cut off by a full disk: it is computed again
    point = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(f".{os.getpid()}")
    try:
        aside.write_text(json.dumps(plain(point)), encoding="utf-8")
        aside.rename(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise StudyError(f"{path}: {error.strerror}; what was found so far is kept") from None
    return point


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()
