"""The models of RTL functions, which RTL operations hold as text."""

import functools

from .accesses import fixed_operands
from .attributes import Attr
from .build import Builder, walk
from .clone import clone_function
from .nodes import Function, Module, Op, Value
from .parser import parse_function
from .rewrite import rewrite

__all__ = ["RTL", "model_of", "models_of", "with_model_calls"]

#: the operations that a module of the user computes
RTL = frozenset({"rtl", "rtl_wait"})


@functools.lru_cache(maxsize=256)
def _function_of(lines: tuple[str, ...]) -> Function:
    return parse_function("\n".join(lines))


def model_of(op: Op) -> Function:
    """The model of an RTL operation; the same object for the same text, which nobody changes."""
    return _function_of(tuple(op.attrs[Attr.RTL_MODEL]))


def models_of(module: Module) -> dict[str, Function]:
    """The models of all RTL operations, by name, those that only other models use included."""
    found: dict[str, Function] = {}
    left = list(module.functions.values())
    while left:
        models = [model_of(op) for op in walk(left.pop().body) if op.opcode in RTL]
        left += [model for model in models if model.name not in found]
        found |= {model.name: model for model in models}
    return found


def with_model_calls(module: Module) -> Module:
    """The module with a call of its model in place of each RTL operation; the same one where there is none."""
    models = models_of(module)
    if not models:
        return module
    functions = {name: _with_calls(function) for name, function in {**models, **module.functions}.items()}
    return Module(functions, module.sources, module.channels)


def _with_calls(function: Function) -> Function:
    result = clone_function(function)

    def visit(op: Op, b: Builder) -> list[Value] | None:
        if op.opcode not in RTL:
            return None
        operands = op.operands[: fixed_operands(op)]
        return [b.value("call", *operands, result=op.result.type, attrs={Attr.CALLEE: model_of(op).name})]

    rewrite(result.body, visit)
    return result
