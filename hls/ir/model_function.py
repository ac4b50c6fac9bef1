"""Functions of scalars that are kept as text of IR: the models of RTL functions."""

import functools
from collections.abc import Callable, Sequence
from ctypes import c_float
from typing import Any

from .as_python import define, python_name
from .attributes import Attr
from .build import Builder, walk
from .clone import clone_function
from .nodes import Function, Module, Op, Value
from .parser import parse_function
from .rewrite import rewrite
from .storage import ExecutionError
from .values import one_nan, round_float

__all__ = ["function_of", "run_model", "with_model_calls"]

#: loop iterations of one call: a model that has more does not end
MOST_ITERATIONS = 1 << 24


@functools.lru_cache(maxsize=256)
def function_of(lines: tuple[str, ...]) -> Function:
    """The function of these lines; the same object for the same lines, which nobody changes."""
    return parse_function("\n".join(lines))


@functools.lru_cache(maxsize=256)
def _compiled(lines: tuple[str, ...]) -> tuple[Callable[..., Any], list[int]]:
    function, ticks = function_of(lines), [0]
    env: dict[str, Any] = {
        "ticks": ticks,
        "c_float": c_float,
        "channels": {},
        "round_float": round_float,
        "one_nan": one_nan,
        "ExecutionError": ExecutionError,
        "write": None,
    }
    define(function, env, set(), {})
    return env[python_name(function)], ticks


def run_model(lines: tuple[str, ...], values: Sequence[Any]) -> int | float:
    """The result of the function, a helper with one result, for these arguments. Raises ExecutionError for one that
    does not end."""
    run, ticks = _compiled(lines)
    ticks[0] = MOST_ITERATIONS
    return run({}, None, *values)


def with_model_calls(module: Module) -> Module:
    """The module with a call of its model in place of each ``rtl`` operation; the same one where there is none."""
    models = {
        model.name: model
        for function in module.functions.values()
        for op in walk(function.body)
        if op.opcode == "rtl"
        for model in [function_of(op.attrs[Attr.RTL_MODEL])]
    }
    if not models:
        return module
    functions = {name: _with_calls(function) for name, function in module.functions.items()}
    return Module({**models, **functions}, module.sources, module.channels)


def _with_calls(function: Function) -> Function:
    result = clone_function(function)

    def visit(op: Op, b: Builder) -> list[Value] | None:
        if op.opcode != "rtl":
            return None
        callee = function_of(op.attrs[Attr.RTL_MODEL]).name
        return [b.value("call", *op.operands, result=op.result.type, attrs={Attr.CALLEE: callee})]

    rewrite(result.body, visit)
    return result
