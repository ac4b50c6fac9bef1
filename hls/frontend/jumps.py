"""Backward gotos, to a label of an enclosing block: the statements from the label to the last goto become a loop.

``again: a; if (c) goto again;`` is ``do a; while (c)``. In general the result is a loop without a condition whose body
ends in a ``break``, and each goto becomes a forward goto to a label after that ``break``. A ``break`` or ``continue``
of an enclosing loop sets a variable, leaves the new loop, and is executed after it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..diag import Code, CompileError, Diagnostic, Span
from . import tree as tt
from . import types as ct

__all__ = ["all_of", "labels", "labels_in_expressions", "loops_of_gotos", "rebuilt"]


def loops_of_gotos(s: tt.Stmt) -> tt.Stmt:
    """The statement with a loop for each label that a later goto leads back to."""
    if isinstance(s, tt.Block):
        return replace(s, statements=_sequence([loops_of_gotos(each) for each in s.statements]))
    return rebuilt(s, loops_of_gotos)


def labels(body: tt.Stmt) -> dict[str, Span]:
    """The location of each label. Raises CompileError for a duplicate."""
    found: dict[str, Span] = {}
    for label in all_of(body, tt.Label):
        if label.name in found:
            note = Diagnostic("the first one is here", found[label.name], severity="note")
            raise CompileError(
                Diagnostic(
                    f"duplicate label '{label.name}'", label.span, "rename one of them", notes=(note,), code=Code.JUMP
                )
            )
        found[label.name] = label.span
    return found


def labels_in_expressions(node: tt.Stmt | tt.Expr) -> dict[str, Span]:
    """The location of each label inside a ``({ ... })`` with a value."""
    found: dict[str, Span] = {}
    for child in tt.children(node):
        found |= labels_in_expressions(child)
        if isinstance(child, tt.StatementExpr):
            found |= {label.name: label.span for label in all_of(child.block, tt.Label)}
    return found


def _sequence(statements: list[tt.Stmt]) -> tuple[tt.Stmt, ...]:
    out: list[tt.Stmt] = []
    k = 0
    while k < len(statements):
        s, end = statements[k], _end(statements, k)
        out.append(s)
        k += 1
        if end >= k:
            out += _loop(s, statements[k : end + 1])
            k = end + 1
    return tuple(out)


def _end(statements: Sequence[tt.Stmt], k: int) -> int:
    """The index of the last statement of the loop that a label begins; -1 if no goto leads back to it."""
    end = _last(statements, k)
    inner = k + 1
    while inner <= end:  # a loop that begins inside ends inside
        end = max(end, _last(statements, inner))
        inner += 1
    return end


def _last(statements: Sequence[tt.Stmt], k: int) -> int:
    """The last statement with a goto back to the label ``k``."""
    label = statements[k]
    if not isinstance(label, tt.Label):
        return -1
    return max(
        (n for n in range(k + 1, len(statements)) if any(g.name == label.name for g in all_of(statements[n], tt.Goto))),
        default=-1,
    )


def _loop(label: tt.Label, statements: list[tt.Stmt]) -> list[tt.Stmt]:
    """The loop, and the statements to be executed after it."""
    span, again = label.span, f"{label.name} again"
    leave = tt.Variable(f"{label.name} left", ct.INT, "local", span)
    kinds = {type(jump) for s in statements for jump in _outward(s)}
    numbers = {kind: k for k, kind in enumerate((kind for kind in (tt.Break, tt.Continue) if kind in kinds), 1)}
    body = [_leaving(_renamed(s, label.name, again), leave, numbers) for s in statements]
    *before, last = body
    condition = _tested(last, again)
    if condition is not None and not any(g.name == again for s in before for g in all_of(s, tt.Goto)):
        loop = tt.Loop(span, "do", label.name, (), condition, None, tt.Block(span, _sequence(before)))
    else:
        ended = () if isinstance(last, tt.Goto) else (tt.Break(last.span),)
        inner = tt.Block(span, _sequence([*before, *([last] if ended else [])]))
        loop = tt.Loop(span, "for", label.name, (), None, None, tt.Block(span, (inner, *ended, tt.Label(span, again))))
    if not numbers:
        return [loop]
    made = [
        tt.If(
            span,
            tt.Compare(ct.INT, span, "==", tt.VariableRef(ct.INT, span, leave), tt.Const(ct.INT, span, k)),
            kind(span),
            None,
        )
        for kind, k in numbers.items()
    ]
    return [tt.Declare(span, leave, ((0, tt.Const(ct.INT, span, 0)),)), loop, tt.Label(span, leave.name), *made]


def _tested(s: tt.Stmt, name: str) -> tt.Expr | None:
    """The condition of ``if (condition) goto name;``."""
    then = s.then if isinstance(s, tt.If) and s.otherwise is None else None
    if isinstance(then, tt.Block) and len(then.statements) == 1:
        then = then.statements[0]
    return s.condition if isinstance(then, tt.Goto) and then.name == name else None


def _renamed(s: tt.Stmt, old: str, new: str) -> tt.Stmt:
    if isinstance(s, tt.Goto):
        return tt.Goto(s.span, new) if s.name == old else s
    return rebuilt(s, lambda inner: _renamed(inner, old, new))


def _leaving(s: tt.Stmt, leave: tt.Variable, numbers: dict[type, int]) -> tt.Stmt:
    """The statement with its jumps out of an enclosing loop or switch replaced by a number in ``leave`` and a goto
    after the loop."""
    if type(s) in numbers:
        left = tt.Assign(
            ct.INT, s.span, tt.VariableRef(ct.INT, s.span, leave), tt.Const(ct.INT, s.span, numbers[type(s)])
        )
        return tt.Block(s.span, (tt.Evaluate(s.span, left), tt.Goto(s.span, leave.name)))
    if isinstance(s, tt.Loop) or not numbers:
        return s
    inner = {kind: n for kind, n in numbers.items() if kind is not tt.Break} if isinstance(s, tt.Switch) else numbers
    return rebuilt(s, lambda each: _leaving(each, leave, inner))


def _outward(s: tt.Stmt) -> list[tt.Stmt]:
    """The breaks and continues in the statement that refer to an enclosing loop or switch."""
    if isinstance(s, tt.Break | tt.Continue):
        return [s]
    if isinstance(s, tt.Loop):
        return []
    found = [jump for child in tt.children(s) if isinstance(child, tt.Stmt) for jump in _outward(child)]
    return [jump for jump in found if isinstance(jump, tt.Continue)] if isinstance(s, tt.Switch) else found


def all_of(s: tt.Stmt, kind: type) -> list:
    """The statements of a kind in a statement."""
    if isinstance(s, kind):
        return [s]
    return [found for child in tt.children(s) if isinstance(child, tt.Stmt) for found in all_of(child, kind)]


def rebuilt(s: tt.Stmt, change: Callable) -> tt.Stmt:
    """The statement with its direct substatements changed."""
    parts = {}
    for name, part in vars(s).items():
        if isinstance(part, tt.Stmt):
            parts[name] = change(part)
        elif isinstance(part, tuple) and any(isinstance(one, tt.Stmt) for one in part):
            parts[name] = tuple(change(one) for one in part)
    return replace(s, **parts) if parts else s
