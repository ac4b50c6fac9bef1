"""The models of RTL functions, which RTL operations hold as text."""

import functools

from .attributes import Attr
from .build import walk
from .nodes import Function, Module, Op
from .parser import parse_function

__all__ = ["RTL", "callee_of", "model_of", "models_of", "with_models"]

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


def with_models(module: Module) -> Module:
    """The module with the models of its RTL operations; the same one where there is none."""
    models = models_of(module)
    return Module({**models, **module.functions}, module.sources, module.channels) if models else module


def callee_of(op: Op) -> str | None:
    """The function that computes an operation: that which it calls, or the model of an RTL operation."""
    if op.opcode in RTL:
        return model_of(op).name
    return str(op.attrs[Attr.CALLEE]) if op.opcode == "call" else None
