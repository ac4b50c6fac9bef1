"""The space of designs: knobs of the program, values and constraints of a file of the user, and its points in order."""

import ast
import itertools
import math
import operator
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .knobs import Knob, Values
from .study import StudyError

__all__ = ["Constraint", "SpaceFile", "legal", "limited", "points", "read_space", "single_changes", "size_of"]

_OPERATORS: dict[type, Callable[..., object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


#: how the names of knobs begin that multiply hardware; as written they count as 1 in constraints
_FACTORS = ("unroll ", "simd ", "units ")


@dataclass(frozen=True)
class Constraint:
    """A condition on the values of knobs, as ``TILE % k == 0``: a macro by its name, a loop or kernel by the word
    behind the kind (``unroll k@11`` is ``k``)."""

    text: str

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it holds; also where it names a knob that the point leaves as written. Raises StudyError."""
        try:
            return bool(_value(ast.parse(self.text, mode="eval").body, values))
        except KeyError:
            return True
        except (SyntaxError, TypeError, ValueError, ZeroDivisionError) as error:
            raise StudyError(
                f"constraint {self.text!r}: {error}; write a comparison of knobs and whole numbers"
            ) from None


def _value(node: ast.expr, values: Mapping[str, int]) -> object:
    """The value of an expression of names, numbers, + - * // % and comparisons."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.BoolOp):
        all_of = isinstance(node.op, ast.And)
        found = [bool(_value(one, values)) for one in node.values]
        return all(found) if all_of else any(found)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.Compare):
        ends = [_value(one, values) for one in (node.left, *node.comparators)]
        kinds = [type(one) for one in node.ops]
        if set(kinds) <= _OPERATORS.keys():
            return all(_OPERATORS[kind](a, b) for kind, a, b in zip(kinds, ends, ends[1:]))
    raise ValueError("unknown form")


@dataclass(frozen=True)
class SpaceFile:
    """A file of the user: ``values`` of knobs by name, ``constraints``, and names of knobs to leave as written."""

    values: Mapping[str, tuple[int | str, ...]]
    constraints: tuple[Constraint, ...]
    fixed: tuple[str, ...]


def read_space(path: Path) -> SpaceFile:
    """Read ``[values]`` (``"unroll k@11" = [1, 2, 4]``), ``constraints`` and ``fixed``. Raises StudyError."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    unknown = set(found) - {"values", "constraints", "fixed"}
    if unknown:
        raise StudyError(f"{path}: unknown key {min(unknown)!r}; known are values, constraints, fixed")
    values = found.get("values", {})
    if not isinstance(values, dict) or not all(isinstance(one, list) and one for one in values.values()):
        raise StudyError(f"{path}: [values] gives a list of values for each knob")
    texts, fixed = found.get("constraints", []), found.get("fixed", [])
    for name, given in (("constraints", texts), ("fixed", fixed)):
        if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
            raise StudyError(f"{path}: {name} must be a list of texts")
    return SpaceFile({name: tuple(one) for name, one in values.items()}, tuple(map(Constraint, texts)), tuple(fixed))


def limited(knobs: Sequence[Knob], file: SpaceFile | None) -> tuple[Knob, ...]:
    """The knobs with the values of the file. Raises StudyError for a name that no knob has."""
    if file is None:
        return tuple(knobs)
    known = {knob.name for knob in knobs}
    for name in (*file.values, *file.fixed):
        if name not in known:
            raise StudyError(f"no knob is called {name!r}; the program has {', '.join(sorted(known)) or 'none'}")
    kept = [
        replace(knob, values=tuple(file.values.get(knob.name, knob.values)))
        for knob in knobs
        if knob.name not in file.fixed
    ]
    return tuple(kept)


def size_of(knobs: Sequence[Knob]) -> int:
    """How many points the knobs span, constraints aside."""
    return math.prod(len(knob.values) for knob in knobs)


def points(knobs: Sequence[Knob], constraints: Sequence[Constraint] = ()) -> Iterator[Values]:
    """All points that meet the constraints, the program as written first, fewer changes before more."""
    every = itertools.product(*(enumerate(knob.values) for knob in knobs))
    ordered = sorted(every, key=lambda one: (sum(k != 0 for k, _ in one), [k for k, _ in one]))
    for chosen in ordered:
        values = {knob.name: value for knob, (_, value) in zip(knobs, chosen)}
        if legal(values, constraints):
            yield values


def single_changes(knobs: Sequence[Knob]) -> Iterator[Values]:
    """The program as written, and each point that differs from it in one knob."""
    base = {knob.name: knob.values[0] for knob in knobs}
    yield base
    for knob in knobs:
        for value in knob.values[1:]:
            yield base | {knob.name: value}


def legal(values: Values, constraints: Sequence[Constraint]) -> bool:
    """Whether a point meets all constraints."""
    if not constraints:
        return True
    counted = {name: value for name, value in values.items() if name.startswith((*_FACTORS, "-D "))}
    numbers = {_short(name): int(value) for name, value in counted.items() if value is not None and _whole(value)}
    for name, value in values.items():
        if value is None and name.startswith(_FACTORS):
            numbers[_short(name)] = 1
    return all(one.holds(numbers) for one in constraints)


def _short(name: str) -> str:
    """The word by which constraints name a knob."""
    return name.split()[-1].partition("@")[0]


def _whole(value: int | str | None) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and value.lstrip("-").isdecimal())
