"""Switches with a label inside to which a goto from outside of its section leads: their sections become the statements
of a block, each behind a label of its own, and the selection becomes gotos.

``switch (v) { case 1: a; in: b; break; default: c; } ... goto in;`` becomes
``{ if (v == 1) goto case1; goto other; case1: a; in: b; goto end; other: c; end: }``, a block that
:mod:`hls.frontend.entered` can enter.
"""

from collections import Counter
from itertools import count

from . import tree as tt
from . import types as ct
from .jumps import all_of, rebuilt

__all__ = ["without_entered_switches"]


def without_entered_switches(body: tt.Stmt) -> tt.Stmt:
    """The body of a function, in which no goto leads into a section of a switch."""
    gotos = Counter(goto.name for goto in all_of(body, tt.Goto))
    numbers = count(1)

    def changed(s: tt.Stmt) -> tt.Stmt:
        s = rebuilt(s, changed)
        return _block(s, next(numbers)) if isinstance(s, tt.Switch) and _entered(s, gotos) else s

    return changed(body)


def _entered(switch: tt.Switch, gotos: Counter[str]) -> bool:
    """Whether a section has a label to which a goto outside of the section leads."""
    for section in switch.sections:
        inside = Counter(goto.name for goto in all_of(section.body, tt.Goto))
        if any(gotos[label.name] > inside[label.name] for label in all_of(section.body, tt.Label)):
            return True
    return False


def _block(switch: tt.Switch, number: int) -> tt.Block:
    """The switch as a block; its number makes the names of the labels unique, which a program's cannot be like."""
    span, end = switch.span, f"end of switch {number}"
    names = [f"section {k} of switch {number}" for k in range(1, len(switch.sections) + 1)]
    value = tt.Variable("the value of the switch", switch.value.type, "local", span)
    default = next((name for name, one in zip(names, switch.sections, strict=True) if one.default), end)
    selected = [
        tt.If(section.span, _holds(value, labels), tt.Goto(section.span, name), None)
        for name, section in zip(names, switch.sections, strict=True)
        for labels in section.labels
    ]
    statements: list[tt.Stmt] = [tt.Declare(span, value, ((0, switch.value),)), *selected, tt.Goto(span, default)]
    for name, section in zip(names, switch.sections, strict=True):
        statements += [tt.Label(section.span, name), *(_without_breaks(s, end) for s in section.body.statements)]
    return tt.Block(span, (*statements, tt.Label(span, end)))


def _holds(value: tt.Variable, labels: tuple[tt.Const, tt.Const]) -> tt.Expr:
    """Whether the value is in the range of a label."""
    first, last = labels
    read = tt.VariableRef(value.type, first.span, value)
    if first.value == last.value:
        return tt.Compare(ct.INT, first.span, "==", read, first)
    lower, upper = (tt.Compare(ct.INT, first.span, *each) for each in ((">=", read, first), ("<=", read, last)))
    return tt.Logical(ct.INT, first.span, "&&", lower, upper)


def _without_breaks(s: tt.Stmt, end: str) -> tt.Stmt:
    """The statement with a goto in place of each break of the switch around it."""
    if isinstance(s, tt.Break):
        return tt.Goto(s.span, end)
    if isinstance(s, tt.Loop | tt.Switch):
        return s
    return rebuilt(s, lambda inner: _without_breaks(inner, end))
