"""The pass manager: runs stages of passes, checks the form of the IR between them, and shows what each pass did.

A pass transforms one function (:class:`FunctionPass`) or a whole module (:class:`ModulePass`) and never changes its
input. It declares which :class:`Form` of the IR it requires, which it rejects and which it provides; the manager checks
these against the forms established so far. Only :mod:`hls.passes.pipeline` lists the passes and their order.
"""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from ..ir import Function, Module, PointerType, walk
from ..ir.same import Likeness, likeness
from ..ir.verifier import verify, verify_module
from ..narrow import instance
from .inspection import Inspection

__all__ = [
    "Form",
    "FunctionPass",
    "ModulePass",
    "Pass",
    "PassManager",
    "PipelineError",
    "Repeat",
    "Stage",
    "Stopped",
    "each_kernel",
]

T = TypeVar("T")


class Form(Enum):
    """A property of the IR of a kernel that passes establish and rely on."""

    LINKED = "linked"  #: pipes are channels, autorun kernels are replicated
    INLINED = "inlined"  #: no calls of helper functions
    #: every access names its memory; the only pointers left are the address operands of accesses
    POINTERS_LOWERED = "pointers-lowered"
    ARRAYS_LOWERED = "arrays-lowered"  #: arrays are values or memories in block RAM
    ACCESSES_LEGAL = "accesses-legal"  #: accesses are naturally aligned and no wider than a word of their memory
    FLAT = "flat"  #: no `if`: loops are the only control flow
    DISPATCHED = "dispatched"  #: work-items are iterations of a loop; a kernel is run once for a launch
    NARROW = "narrow"  #: integers have the widths that their ranges and uses need
    ORDERED = "ordered"  #: tokens keep accesses and calls in order

    def holds(self, function: Function) -> bool:
        """Whether the function has this form, as far as its operations can show."""
        check = _CHECKS.get(self)
        return check is None or check(function)


def _without(*opcodes: str) -> Callable[[Function], bool]:
    return lambda function: all(op.opcode not in opcodes for op in walk(function.body))


def _pointers_lowered(function: Function) -> bool:
    return all(
        op.opcode == "addr" or not any(isinstance(value.type, PointerType) for value in op.results)
        for op in walk(function.body)
    )


_CHECKS: dict[Form, Callable[[Function], bool]] = {
    Form.INLINED: _without("call"),
    Form.POINTERS_LOWERED: _pointers_lowered,
    Form.FLAT: _without("if"),
}


class Pass:
    """What function and module passes have in common. ``name`` identifies the pass in dumps and on the command line."""

    @property
    def name(self) -> str:
        """The name; an attribute of the class in most passes."""
        raise NotImplementedError

    @property
    def requires(self) -> frozenset[Form]:
        """The forms that the pass relies on."""
        return frozenset()

    @property
    def forbids(self) -> frozenset[Form]:
        """The forms of IR that the pass does not accept."""
        return frozenset()

    @property
    def provides(self) -> frozenset[Form]:
        """The forms that the pass establishes."""
        return frozenset()


class FunctionPass(Pass):
    """A transformation of one function; the input is not modified."""

    def run(self, function: Function) -> Function:
        """The transformed function, or the same function if nothing changes."""
        raise NotImplementedError


class ModulePass(Pass):
    """A transformation of a whole program; the input is not modified."""

    def run(self, module: Module) -> Module:
        """The transformed module. Raises CompileError for a program that cannot be built."""
        raise NotImplementedError


@dataclass(frozen=True)
class Repeat:
    """Runs function passes in sequence until none changes anything, at most ``max_rounds`` times."""

    passes: tuple[FunctionPass, ...]
    max_rounds: int = 8

    @property
    def name(self) -> str:
        """The names of the passes, after ``repeat-``."""
        return "repeat-" + "-".join(each.name for each in self.passes)

    def run(self, function: Function) -> Function:
        """The function after the last round. Runs stand-alone, on IR that satisfies what the passes require."""
        forms = frozenset[Form]().union(*(each.requires for each in self.passes))
        return PassManager(forms=forms).run_function((Stage("repeat", (self,)),), function)


@dataclass(frozen=True)
class Stage:
    """A named part of the pipeline."""

    name: str
    passes: tuple[Pass | Repeat, ...]


class PipelineError(Exception):
    """A pass runs on IR of a form that it does not accept, or fails to establish a form that it provides: a bug in the
    pipeline."""


class Stopped(Exception):
    """Compilation ends because ``stop_after`` names this pass, which has run on every kernel; ``functions`` are the
    kernels after it."""

    def __init__(self, name: str, functions: Iterable[Function]) -> None:
        super().__init__(name)
        self.functions = tuple(functions)


def each_kernel(kernels: Iterable[Function], run: Callable[[Function], T]) -> list[T]:
    """``run`` on every kernel. If the inspection stops the compilation, every kernel reaches that point before Stopped
    is raised."""
    done: list[T] = []
    stopped: list[Stopped] = []
    for kernel in kernels:
        try:
            done.append(run(kernel))
        except Stopped as one:
            stopped.append(one)
    if stopped:
        raise Stopped(str(stopped[0]), [function for one in stopped for function in one.functions])
    return done


@dataclass
class _Settled:
    """Remembers passes that changed nothing when they last saw this version of the function, so that they need not run
    again. Most runs find nothing to do; skipping them saves most of the work of passes that are repeated."""

    version: int = 0
    _last: dict[int, int] = field(default_factory=dict)  #: by id() of a pass; the pipeline keeps the pass alive

    def knows(self, one: FunctionPass) -> bool:
        """Whether the pass is known to leave this version of the function unchanged."""
        return self._last.get(id(one)) == self.version

    def note(self, one: FunctionPass, changed: bool) -> None:
        """Record whether the pass that just ran changed the function."""
        if changed:
            self.version += 1
        else:
            self._last[id(one)] = self.version


class PassManager:
    """Runs stages over a module or a function, in order.

    ``forms`` are the forms that the input has; ``assumed`` those that it may or may not have, for which no pass is
    refused. ``verify_each`` runs the verifier, and the checks of forms, after every pass that changed something.
    ``inspection`` is notified of every pass (see :mod:`hls.passes.inspection`). Raises PipelineError for a pass in the
    wrong position, VerifyError for malformed IR, and whatever the passes raise.
    """

    def __init__(
        self,
        inspection: Inspection | None = None,
        verify_each: bool = False,
        forms: Iterable[Form] = (),
        assumed: Iterable[Form] = (),
    ) -> None:
        self.assumed = frozenset(assumed)
        self.inspection, self.verify_each = (
            inspection or Inspection(),
            verify_each or bool(inspection and inspection.verify_each),
        )
        self.forms = set(forms)

    def run(self, stages: Collection[Stage], module: Module) -> Module:
        """The module after all stages. Module passes get the whole module, function passes each kernel.

        Consecutive function passes run on one kernel after the other, so that messages come in the order of the
        kernels.
        """
        for function in module.functions.values():
            self.inspection.before(function)
        for stage in stages:
            for each in stage.passes:
                if not isinstance(each, ModulePass):
                    raise PipelineError(f"{each.name} transforms functions, and stage {stage.name} whole programs")
                self._check(each)
                module = self._timed(each, module)
                if self.verify_each:
                    verify_module(module)
                self._establish(each, each.provides, module.functions.values())
                for function in module.functions.values():
                    self.inspection.before(function)  # replicated kernels have new names
                    self.inspection.after(stage.name, each.name, function, None)
                self._stop(each, module.functions.values())
        return module

    def run_function(self, stages: Collection[Stage], function: Function) -> Function:
        """The function after all stages of function passes."""
        settled = _Settled()
        self.inspection.before(function)
        for stage in stages:
            for each in stage.passes:
                step = each if isinstance(each, Repeat) else instance(each, FunctionPass)
                function = self._step(stage.name, step, function, settled)
        function.spares.clear()
        return function

    def _step(self, stage: str, each: FunctionPass | Repeat, function: Function, settled: _Settled) -> Function:
        if not isinstance(each, Repeat):
            return self._one(stage, each, function, settled)
        before, established = set(self.forms), set[Form]()
        for _ in range(each.max_rounds):
            version = settled.version
            for one in each.passes:
                function = self._one(stage, one, function, settled)
                established |= one.provides
                self.forms = set(before)  # a pass later in the round may undo a form
            if settled.version == version:
                break
        self._establish(each, established, (function,))
        return function

    def _one(self, stage: str, each: FunctionPass, function: Function, settled: _Settled) -> Function:
        self._check(each)
        if settled.knows(each):
            after, changed = function, False
        else:
            after = self._timed(each, function)
            found = likeness(function, after)
            changed = found is Likeness.DIFFERENT
            settled.note(each, changed)
            if found is Likeness.COPY:
                # for the next pass: most of them change nothing, and making copies takes a fifth of the time
                function.spares[:] = [after]
                after = function
        if self.verify_each and after is not function:
            verify(after)
        self._establish(each, each.provides, (after,))
        self.inspection.after(stage, each.name, after, changed)
        self._stop(each, (after,))
        return after

    def _timed(self, each: "FunctionPass | ModulePass", what: Any) -> Any:
        if not self.inspection.time_passes:
            return each.run(what)
        begin = time.perf_counter()
        result = each.run(what)
        self.inspection.spent(each.name, time.perf_counter() - begin)
        return result

    def _check(self, each: Pass) -> None:
        missing, broken = each.requires - self.forms - self.assumed, each.forbids & self.forms
        if missing:
            raise PipelineError(
                f"{each.name} needs IR that is {_words(missing)}; so far it is "
                f"{_words(self.forms) or 'as the frontend made it'}"
            )
        if broken:
            raise PipelineError(f"{each.name} must run before IR is {_words(broken)}")

    def _establish(self, each: Pass | Repeat, provided: Collection[Form], functions: Iterable[Function]) -> None:
        self.forms.update(provided)
        if self.verify_each:
            for function in functions:
                for form in self.forms:
                    if not form.holds(function):
                        raise PipelineError(f"after {each.name}, {function.name} is not {form.value} any more")

    def _stop(self, each: Pass, functions: Iterable[Function]) -> None:
        if each.name == self.inspection.stop_after:
            raise Stopped(each.name, functions)


def _words(forms: Iterable[Form]) -> str:
    return ", ".join(sorted(form.value for form in forms))
