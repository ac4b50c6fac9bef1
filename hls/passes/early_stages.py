"""The stages that all attempts at planning a kernel have in common, run once.

A kernel is planned in several ways, of which the best is taken (see :mod:`hls.planning.iterate`). Each attempt is a run
of the passes with other options, which matter to the later stages only. As no pass changes its input, an attempt can
begin with the kernel that the early stages left in a former one. With equal options it can begin where kernels are
divided into parts, as a kernel that is planned whole is then split or copied.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from ..ir import Function, Module
from ..ir.same import same_function
from .manager import Form, PassManager, Stage
from .pipeline import kernel_stages, stages_around_split
from .pipeline_options import PipelineOptions

__all__ = ["EARLY", "EarlyStages", "early_stages"]

#: the stages, from the first on, that are run once
EARLY = ("lower", "simplify")


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
    """The runs of the stages before kernels are divided in one compilation, by kernel."""

    _runs: dict[str, list[_Run]] = field(default_factory=dict)

    def run(
        self, module: Module, function: Function, forms: Collection[Form], options: PipelineOptions
    ) -> tuple[Function, frozenset[Form]]:
        """The function, which has these forms and is a kernel of the module with its calls inlined, after the early
        stages, and its forms. Reports what the stages report. Raises CompileError where they do."""
        return self._once(module, function, forms, options, ("early", *_relevant(options)), early_stages)

    def flat(
        self, module: Module, function: Function, forms: Collection[Form], options: PipelineOptions
    ) -> tuple[Function, frozenset[Form]]:
        """As :meth:`run`, but after all stages before kernels are divided into parts: the form in which a kernel is
        planned whole, split and copied."""
        function, forms = self.run(module, function, forms, options)
        return self._once(module, function, forms, options, ("flat", *_all(options)), _stages_behind_early)

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
        reports: list[tuple[bool, Any]] = []
        own = replace(options, warn=_recorder(reports, True), record=_recorder(reports, False))
        manager = PassManager(None, options.check, forms)
        try:
            after = manager.run_function(stages(own), function)
        finally:
            _report(reports, options)
        run = _Run(origin, key, function, after, frozenset(manager.forms), tuple(reports))
        self._runs.setdefault(function.name, []).append(run)
        return after, run.forms


def early_stages(options: PipelineOptions) -> tuple[Stage, ...]:
    """The early stages of the pipeline."""
    return tuple(stage for stage in kernel_stages(options) if stage.name in EARLY)


def _stages_behind_early(options: PipelineOptions) -> tuple[Stage, ...]:
    """The stages behind the early ones, and before kernels are divided into parts."""
    return tuple(stage for stage in stages_around_split(options)[0] if stage.name not in EARLY)


def _origin(module: Module, name: str) -> tuple[Function, ...]:
    """What a kernel is inlined from: it, and all helpers."""
    return (module.functions[name], *(one for one in module.functions.values() if one.kind != "kernel"))


def _relevant(options: PipelineOptions) -> tuple[object, ...]:
    """The options without those that only later stages use, and without whom reports go to."""
    return _all(replace(options, compared=frozenset(), copied=frozenset(), copy_bytes=0, side_by_side=(1, 1)))


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
