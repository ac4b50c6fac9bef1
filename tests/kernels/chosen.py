"""Which kernels of a source the selected tests run: the others are not built, which is most of the time of such tests.

A test names kernels in its parameters, or as constants in its text or in what it calls. One in which no name is found
gets all kernels.
"""

import types
from collections.abc import Callable, Iterator

import pytest

__all__ = ["chosen", "named"]


def chosen(request: pytest.FixtureRequest) -> Callable[[frozenset[str]], frozenset[str]]:
    """For a fixture that builds kernels: what it has to build of all kernels, for the tests of this session that use
    it, with the same parameter."""
    place = getattr(request, "param_index", 0)
    tests = [
        item
        for item in request.session.items
        if getattr(item, "module", None) is request.module
        and request.fixturename in item.fixturenames
        and _place(item, request.fixturename) == place
    ]

    def choose(kernels: frozenset[str]) -> frozenset[str]:
        return frozenset().union(*(named(item, kernels) for item in tests)) or kernels

    return choose


def named(item: pytest.Function, kernels: frozenset[str]) -> frozenset[str]:
    """The kernels that a test names, or all of them."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    function = item.function
    near = {*_strings(list(parameters.values())), *_strings(function.__code__)} & kernels
    return frozenset(near or set(_called(function, set())) & kernels or kernels)


def _place(item: pytest.Function, fixture: str) -> int:
    return item.callspec.indices.get(fixture, 0) if hasattr(item, "callspec") else 0


def _strings(value: object) -> Iterator[str]:
    """All strings in constants: also in containers, and in functions within functions."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, types.CodeType):
        for constant in value.co_consts:
            yield from _strings(constant)
    elif isinstance(value, dict):
        yield from _strings([*value, *value.values()])
    elif isinstance(value, (list, tuple, set, frozenset)):
        for part in value:
            yield from _strings(part)


def _called(function: types.FunctionType, seen: set[str]) -> Iterator[str]:
    """All strings in what a function names in its module, and so on."""
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        if name in seen or value is None:
            continue
        seen.add(name)
        if isinstance(value, types.FunctionType):
            yield from _strings(value.__code__)
            if value.__globals__ is function.__globals__:
                yield from _called(value, seen)
        else:
            yield from _strings(value)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
