"""The stages that all attempts at planning a kernel have in common, run once.

A kernel is planned in several ways, of which the best is taken (see :mod:`hls.planning.iterate`). Each attempt is a run
of the passes with other options, which matter to the later stages only. As no pass changes its input, an attempt can
begin with the kernel that the early stages left in a former one. With equal options it can begin where kernels are
divided into parts, as a kernel that is planned whole is then split or copied.

The copies of a replicated autorun kernel are one kernel to the passes, but for the channels that they call (see
:mod:`hls.ir.channel_renaming`). So stages run on the first of several equal copies, and the others get what they left
there with their own channels.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from ..diag import Diagnostic, Span
from ..ir import Function, Module
from ..ir.channel_renaming import ChannelRenaming, channel_renaming, renamed, shape
from ..ir.same import same_function
from .loops.fuse_loops import FuseLoops
from .manager import Form, PassManager, Stage
from .memory.copy_buffers import CopyBuffers
from .pipeline import kernel_stages, stages_around_split
from .pipeline_options import PipelineOptions

__all__ = ["EARLY", "EarlyStages", "early_stages"]

#: the stages, from the first on, that are run once
EARLY = ("lower", "simplify")
#: up to here stages run on each copy of a kernel
_FOLDED = "folded"


@dataclass(frozen=True)
class _Run:
    """A run of some stages: the functions of the program that the kernel ``before`` was inlined from, which stages with
    what they use of the options (``key``), the kernel ``after`` the stages, its forms, and what was reported: of each
    report whether it is a warning, and the report itself."""

    origin: tuple[Function, ...]
    key: tuple[object, ...]
    before: Function
    after: Function
    forms: frozenset[Form]
    reports: tuple[tuple[bool, Any], ...]


@dataclass
class EarlyStages:
    """The runs of the stages in one compilation: by kernel, and of copies of a kernel by its place in the source."""

    _runs: dict[str, list[_Run]] = field(default_factory=dict)
    _of_copies: dict[Span | None, dict[tuple[object, ...], list[_Run]]] = field(default_factory=dict)

    def note_copies(self, module: Module) -> None:
        """Note which kernels of a whole program are one kernel of the source: of them, stages run on one of several
        equal ones, also where each is planned alone later."""
        places = Counter(one.span for one in module.kernels)
        for place, count in places.items():
            if count > 1:
                self._of_copies.setdefault(place, {})

    def run(
        self, module: Module, function: Function, forms: Collection[Form], options: PipelineOptions
    ) -> tuple[Function, frozenset[Form]]:
        """The function, which has these forms and is a kernel of the module with its calls inlined, after the early
        stages, and its forms. Reports what the stages report. Raises CompileError where they do."""
        stages = early_stages
        if function.span in self._of_copies:
            # copies are equal once their compute ids are folded
            key = (_FOLDED, *_relevant(options))
            function, forms = self._once(module, function, forms, options, key, _stages_until_nests_change)
            stages = _early_stages_behind
        return self._once(module, function, forms, options, ("early", *_relevant(options)), stages)

    def flat(
        self, module: Module, function: Function, forms: Collection[Form], options: PipelineOptions
    ) -> tuple[Function, frozenset[Form]]:
        """As :meth:`run`, but after all stages before kernels are divided into parts: the form in which a kernel is
        planned whole, split and copied."""
        function, forms = self.run(module, function, forms, options)
        return self._once(module, function, forms, options, ("flat", *_all(options)), _stages_behind_early)

    def uncopied(
        self, module: Module, function: Function, forms: Collection[Form], options: PipelineOptions
    ) -> Function:
        """As :meth:`run`, but after all passes before buffers are copied."""
        function, forms = self.run(module, function, forms, options)
        return self._once(module, function, forms, options, ("uncopied", *_relevant(options)), _stages_before_copies)[0]

    def whole(
        self, module: Module, function: Function, forms: Collection[Form], options: PipelineOptions
    ) -> tuple[Function, frozenset[Form]]:
        """As :meth:`run`, but after all stages of a kernel that is not divided."""
        function, forms = self.flat(module, function, forms, options)
        if function.span in self._of_copies:
            return self._once(module, function, forms, options, ("whole", *_all(options)), _stages_behind_flat)
        manager = PassManager(None, options.check, forms)
        return manager.run_function(_stages_behind_flat(options), function), frozenset(manager.forms)

    def _once(
        self,
        module: Module,
        function: Function,
        forms: Collection[Form],
        options: PipelineOptions,
        key: tuple[object, ...],
        stages: Callable[[PipelineOptions], tuple[Stage, ...]],
    ) -> tuple[Function, frozenset[Form]]:
        """The function after the stages, and its forms: of a former run of the same, which ``key`` tells, or of one
        now."""
        origin = _origin(module, function.name)
        for one in self._runs.get(function.name, ()):
            same = len(one.origin) == len(origin) and all(a is b for a, b in zip(one.origin, origin, strict=True))
            if same and one.key == key and same_function(one.before, function):
                _report(one.reports, options)
                return one.after, one.forms
        runs, alike = self._runs.setdefault(function.name, []), self._alike(function, key)
        for one in alike:
            if one.key == key and (copy := _copied(one, origin, function)):
                runs.append(copy)
                _report(copy.reports, options)
                return copy.after, copy.forms
        reports: list[tuple[bool, Any]] = []
        own = replace(options, warn=_recorder(reports, True), record=_recorder(reports, False))
        manager = PassManager(None, options.check, forms)
        try:
            after = manager.run_function(stages(own), function)
        finally:
            _report(reports, options)
        run = _Run(origin, key, function, after, frozenset(manager.forms), tuple(reports))
        runs.append(run)
        alike.append(run)
        return after, run.forms

    def _alike(self, function: Function, key: tuple[object, ...]) -> list[_Run]:
        """Runs of the stages that ``key`` tells, on copies that may equal the function; a new one can be added."""
        copies = self._of_copies.get(function.span)
        if copies is None or key[0] == _FOLDED:  # before that, their compute ids differ
            return []
        return copies.setdefault((shape(function), key[0]), [])


def early_stages(options: PipelineOptions) -> tuple[Stage, ...]:
    """The early stages of the pipeline."""
    return tuple(stage for stage in kernel_stages(options) if stage.name in EARLY)


def _stages_until_nests_change(options: PipelineOptions) -> tuple[Stage, ...]:
    """The passes of the early stages before the first one that changes loops."""
    first, place = _where_nests_change(options)
    return (Stage(first.name, first.passes[:place]),)


def _early_stages_behind(options: PipelineOptions) -> tuple[Stage, ...]:
    """The early stages without :func:`_stages_until_nests_change`."""
    first, place = _where_nests_change(options)
    return (Stage(first.name, first.passes[place:]), *early_stages(options)[1:])


def _where_nests_change(options: PipelineOptions) -> tuple[Stage, int]:
    """The first stage, and the place in it of the first pass that changes loops."""
    first = early_stages(options)[0]
    return first, next(place for place, one in enumerate(first.passes) if isinstance(one, FuseLoops))


def _stages_behind_early(options: PipelineOptions) -> tuple[Stage, ...]:
    """The stages behind the early ones, and before kernels are divided into parts."""
    return tuple(stage for stage in stages_around_split(options)[0] if stage.name not in EARLY)


def _stages_before_copies(options: PipelineOptions) -> tuple[Stage, ...]:
    """The passes behind the early stages, and before buffers are copied."""
    stages = _stages_behind_early(replace(options, copied=None))
    for number, stage in enumerate(stages):
        for place, one in enumerate(stage.passes):
            if isinstance(one, CopyBuffers):
                return (*stages[:number], Stage(stage.name, stage.passes[:place]))
    raise AssertionError("no stage copies buffers")


def _stages_behind_flat(options: PipelineOptions) -> tuple[Stage, ...]:
    """The stages behind those before kernels are divided into parts."""
    return stages_around_split(options)[1]


def _copied(run: _Run, origin: tuple[Function, ...], function: Function) -> _Run | None:
    """The run that the same stages would be on another copy of its kernel, ``function``; None if the copies are not
    equal but for the channels that they call, or a report names what differs."""
    found = channel_renaming(run.before, function)
    after = renamed(run.after, found, function.name) if found is not None else None
    if found is None or after is None:
        return None
    reports = [(warning, _told(one, run.before.name, function.name, found)) for warning, one in run.reports]
    if any(one is None for _, one in reports):
        return None
    return replace(run, origin=origin, before=function, after=after, reports=tuple(reports))


def _told(report: Any, name: str, other: str, renaming: ChannelRenaming) -> Any:
    """What is reported of the copy ``other`` of the kernel ``name``; None where the text would be another one."""
    if isinstance(report, Diagnostic):
        differs = {name, *renaming.changed_names}
        if renaming.changed_indices:
            differs |= set(renaming.names)
        return None if any(one in text for one in differs for text in _texts(report)) else report
    return replace(report, kernel=other)


def _texts(report: Diagnostic) -> list[str]:
    return [report.message, report.hint or "", *(text for one in report.notes for text in _texts(one))]


def _origin(module: Module, name: str) -> tuple[Function, ...]:
    """What a kernel is inlined from: it, and all helpers."""
    return (module.functions[name], *(one for one in module.functions.values() if one.kind != "kernel"))


def _relevant(options: PipelineOptions) -> tuple[object, ...]:
    """The options without those that only later stages use, and without whom reports go to."""
    without_copies = replace(options, copied=frozenset(), copy_bytes=0, side_by_side=(1, 1), otherwise=None)
    return _all(replace(without_copies, compared=frozenset()))


def _all(options: PipelineOptions) -> tuple[object, ...]:
    """The options without whom reports go to. Of the timing its inputs count, as each attempt has a model of its
    own."""
    timing = options.timing
    given = None if timing is None else (timing.model, timing.address_bits, timing.wait, timing.ram_latency)
    return given, replace(options, timing=None, cells=None, warn=None, record=None, inspection=None)


def _recorder(reports: list[tuple[bool, Any]], warning: bool) -> Callable[[Any], None]:
    return lambda one: reports.append((warning, one))


def _report(reports: Collection[tuple[bool, Any]], options: PipelineOptions) -> None:
    for warning, one in reports:
        tell = options.warn if warning else options.record
        if tell is not None:
            tell(one)
