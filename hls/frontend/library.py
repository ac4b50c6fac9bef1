"""Adds the bodies of library functions that a module calls: they become helpers like those of the program."""

from functools import cache
from importlib import resources

from .. import mathlib
from ..ir import Attr, Function, Module, walk
from ..ir.clone import clone_function
from .check import check
from .lower import lower
from .parse import parse
from .preprocess import preprocess

__all__ = ["link"]


def link(module: Module) -> Module:
    """The module with every library function that it calls, callees before their callers."""
    found: dict[str, Function] = {}
    for function in module.functions.values():
        _add_callees(function, {}, found)
    return Module({**found, **module.functions}, module.sources, module.channels) if found else module


def _add_callees(function: Function, beside: dict[str, Function], found: dict[str, Function]) -> None:
    """Add the callees of ``function``; ``beside`` are the functions of its own file if it is a library function."""
    for op in walk(function.body):
        if op.opcode != "call":
            continue
        name = op.attrs[Attr.CALLEE]
        home = _compiled(mathlib.FUNCTIONS[name].file) if name in mathlib.FUNCTIONS else beside
        if name in home and name not in found:
            _add_callees(home[name], home, found)
            found[name] = clone_function(home[name])


@cache
def _compiled(file: str) -> dict[str, Function]:
    """The functions of one library file, by their names in the IR."""
    folder = str(resources.files(mathlib.__name__))
    name = f"{mathlib.FOLDER}/{file}"
    syntax = parse(preprocess(mathlib.source(file), name, {}, [folder], {folder: mathlib.FOLDER}), name)
    program = check(syntax, doubles=file.startswith("double_"))
    if program.diagnostics:
        raise AssertionError(f"the library does not compile: {program.diagnostics[0]}")
    functions = lower(program.functions, program.constants, {}).functions
    names = {name: mathlib.prefix(file) + name for name in functions}
    for function in functions.values():
        function.name = names[function.name]
        function.attrs[Attr.LIBRARY] = True  # its source locations are not shown to users
        for op in walk(function.body):
            if op.opcode == "call":
                op.attrs[Attr.CALLEE] = names.get(op.attrs[Attr.CALLEE], op.attrs[Attr.CALLEE])
    return {function.name: function for function in functions.values()}
