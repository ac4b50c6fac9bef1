"""Single passes on IR text: the implementation of ``sluice opt``."""

import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable
from enum import Enum
from types import UnionType
from typing import Any, get_args

from .diag import Code, CompileError, Diagnostic, Span
from .ir import Function, Module, TokenType, print_module, walk
from .ir.parser import ParseError, parse_module
from .ir.verifier import VerifyError, verify_module
from .narrow import present
from .options import Options
from .passes.all_stages import all_stages
from .passes.for_each_function import ForEachFunction
from .passes.inspection import Inspection
from .passes.link.place_buffers import as_used
from .passes.manager import Form, ModulePass, Pass, PassManager, PipelineError, Repeat, Stage, each_kernel
from .planning import Compilation
from .recursion import deep_recursion
from .target.board import Board

__all__ = ["check_names", "describe", "known_passes", "read_module", "run_passes"]

_PASS = re.compile(r"\s*([\w-]+)\s*(?:\{([^}]*)\})?\s*(?:,|$)")


def known_passes(board: Board, warn: Callable[[Diagnostic], None] | None = None) -> dict[str, Pass]:
    """Every pass of the pipeline by its name, in its last configuration for the board; ``warn`` receives their warnings
    and notes."""
    passes = dataclasses.replace(Compilation(board, Options(fp_relaxed=True)).passes(), warn=warn)
    found: dict[str, Pass] = {}
    for stage in all_stages(passes, board):
        for each in stage.passes:
            for one in each.passes if isinstance(each, Repeat) else (each,):
                if not (isinstance(one, ForEachFunction) and one.name in found):  # the pass itself says what it needs
                    found[one.name] = one
    return found


def describe(one: Pass) -> str:
    """The pass as written for ``--passes``, with the values of its options."""
    options = ", ".join(f"{name}={value}" for name, value in _settable(one).items())
    return f"{one.name}{{{options}}}" if options else one.name


def check_names(names: Iterable[str], board: Board, option: str) -> None:
    """Raises CompileError naming those that are no passes; ``option`` is the command line option that named them."""
    known = known_passes(board)
    errors = [
        Diagnostic(f"{option}: there is no pass {name!r}", hint=_similar(name, known), code=Code.PASS_NAMES)
        for name in names
        if name not in known
    ]
    if errors:
        raise CompileError(*errors)


def _similar(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), 3, 0.4)
    return (f"did you mean {' or '.join(near)}? " if near else "") + "`sluice opt --list-passes` shows all"


def read_module(text: str, file: str) -> Module:
    """The module that the text holds. Raises CompileError with the line for text that is not IR, or is malformed."""
    try:
        module = parse_module(text)
        verify_module(module)
    except ParseError as error:
        line, message = present(re.fullmatch(r"(?:line (\d+): )?(.*)", str(error), re.DOTALL)).groups()
        raise CompileError.at(
            Span(file, int(line or text.count("\n") or 1)),
            f"not IR: {message}",
            "--dump-ir writes IR that can be read; hls/ir/printer.py describes its form",
            code=Code.IR_FILE,
        ) from error
    except VerifyError as error:
        raise CompileError(
            Diagnostic(
                f"{file}: malformed IR: {error}",
                hint="correct the named operation; hls/ir/optable.py says what each takes",
                code=Code.IR_FILE,
            )
        ) from error
    return module


def run_passes(
    module: Module,
    passes: str,
    board: Board,
    inspection: Inspection | None = None,
    warn: Callable[[Diagnostic], None] | None = None,
) -> Module:
    """The module after ``passes``: names separated by commas, each optionally with options, ``a,b{x=1}``. ``warn``
    receives the warnings and notes of the passes. Raises CompileError for unknown names and options, and for IR that a
    pass does not accept."""
    todo = _parsed(passes, as_used(module, board), warn)
    try:
        with deep_recursion():
            for each in todo:
                module = _ran(each, module, inspection)
    except PipelineError as error:
        raise CompileError(
            Diagnostic(
                str(error),
                hint="run the passes that bring it to that form first, in the order of `sluice opt --list-passes`",
                code=Code.IR_FILE,
            )
        ) from error
    except VerifyError as error:
        raise CompileError(
            Diagnostic(
                f"malformed IR: {error}",
                hint="the pass that ran last made it so: this is a fault of that pass",
                code=Code.IR_FILE,
            )
        ) from error
    return module


def _ran(each: Pass, module: Module, inspection: Inspection | None) -> Module:
    if isinstance(each, ModulePass):
        return _manager(module.functions.values(), inspection).run((Stage("opt", (each,)),), module)
    functions = each_kernel(
        module.functions.values(), lambda f: _manager((f,), inspection).run_function((Stage("opt", (each,)),), f)
    )
    return Module({f.name: f for f in functions}, module.sources, module.channels)


def _manager(functions: Iterable[Function], inspection: Inspection | None) -> PassManager:
    """A manager for IR in an unknown form. Forms are established in the order in which they are listed, so forms that
    cannot be recognized from the operations are assumed up to the first form that certainly does not hold."""
    functions, assumed = list(functions), set()
    for form in Form:
        if not all(form.holds(function) for function in functions):
            break
        assumed.add(form)
    ordered = any(
        isinstance(value.type, TokenType)
        for function in functions
        for op in walk(function.body)
        for value in op.results
    )
    return PassManager(inspection, True, {Form.ORDERED} if ordered else (), assumed)


def _parsed(text: str, board: Board, warn: Callable[[Diagnostic], None] | None) -> list[Pass]:
    known, place, found = known_passes(board, warn), 0, []
    while place < len(text):
        match = _PASS.match(text, place)
        if match is None:
            raise CompileError(
                Diagnostic(
                    f"--passes: cannot read {text[place:]!r}",
                    hint="write names with commas between, as in fold,unroll{max_ops=100}",
                    code=Code.PASS_NAMES,
                )
            )
        name, options = match.groups()
        check_names([name], board, "--passes")
        found.append(_with_options(known[name], options or ""))
        place = match.end()
    return found


def _with_options(one: Pass, text: str) -> Pass:
    values, settable = {}, _settable(one)
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in settable:
            raise CompileError(
                Diagnostic(
                    f"--passes: {one.name} has no option {name!r}",
                    hint=f"it has {', '.join(settable) or 'none'}",
                    code=Code.PASS_NAMES,
                )
            )
        values[name] = _value(one, name, value)
    return dataclasses.replace(one, **values) if dataclasses.is_dataclass(one) else one


def _settable(one: Pass) -> dict[str, Any]:
    """The options of a pass that text can set, and their values."""
    return {f.name: getattr(one, f.name) for f in _fields(one) if _kind(f.type) is not None}


def _fields(one: Pass) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(one) if dataclasses.is_dataclass(one) else ()


def _kind(annotation: Any) -> type | None:
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    choices = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    known: tuple[type, ...] = (bool, int, float, *choices, str)
    return next((kind for kind in known if kind in kinds), None)


def _value(one: Pass, name: str, text: str) -> Any:
    kind = present(_kind(next(f.type for f in _fields(one) if f.name == name)))
    try:
        return {"true": True, "1": True, "false": False, "0": False}[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError) as error:
        raise CompileError(
            Diagnostic(
                f"--passes: {one.name}: {name} takes {_takes(kind)}, not {text!r}",
                hint=f"as in {one.name}{{{name}={getattr(one, name)}}}",
                code=Code.PASS_NAMES,
            )
        ) from error


def _takes(kind: type | None) -> str:
    if kind is not None and issubclass(kind, Enum):
        return f"one of {', '.join(each.value for each in kind)}"
    return "true or false" if kind is bool else "a number" if kind in (int, float) else "text"


def printed(module: Module) -> str:
    """The module as text that ``sluice opt`` reads again."""
    return print_module(module)
