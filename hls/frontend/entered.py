"""Gotos to labels in other blocks: control is guided to the label from the begin of the statement that contains it.

``goto in; ... if (c) { a; in: b; }`` becomes
``{ entry = 1; goto into; } ... into: if (entry == 1 || c) { if (!entry) a; entry = 0; b; }``, see
:mod:`hls.frontend.entries`: the goto now leads to a label of an enclosing block.
"""

from collections.abc import Iterator
from dataclasses import replace

from . import tree as tt
from . import types as ct
from .entered_switches import without_entered_switches
from .entries import Guided
from .flow import stray_gotos
from .jumps import all_of, loops_of_gotos, rebuilt

__all__ = ["structured"]


def structured(body: tt.Stmt) -> tt.Stmt:
    """The statement with all gotos forward, to labels of enclosing blocks; those into ``({ ... })`` are left.

    A goto back into a block makes a loop, and a loop that gotos make may be entered elsewhere than at its begin, so
    both are repeated: each round leaves fewer gotos into loops, and there are as many as labels.
    """
    body = without_entered_switches(body)
    rounds = len(all_of(body, tt.Label))
    body = loops_of_gotos(body)
    for _ in range(rounds):
        if not any(stray_gotos(body)):
            break
        body = loops_of_gotos(_gotos_into_blocks(body))
    return body


def _gotos_into_blocks(s: tt.Stmt) -> tt.Stmt:
    """The statement, in which no goto leads into an inner block, a branch or a loop."""
    s = rebuilt(s, _gotos_into_blocks)
    if isinstance(s, tt.Block):
        for k in range(len(s.statements)):
            if names := _entered(s, s.statements[k]):
                return _gotos_into_blocks(_guided(s, k, names))
    return s


def _entered(block: tt.Block, s: tt.Stmt) -> list[str]:
    """The labels inside ``s``, a statement of the block, to which gotos from elsewhere in the block lead."""
    found = []
    gotos = [goto.name for goto in all_of(block, tt.Goto)]
    for child in (s,) if isinstance(s, tt.Block) else _parts(s):
        inside = [goto.name for goto in all_of(child, tt.Goto)]
        found += [name for name in _labels(child) if gotos.count(name) > inside.count(name)]
    return found


def _parts(s: tt.Stmt) -> Iterator[tt.Stmt]:
    """The statements inside a branch or a loop, each by itself."""
    if isinstance(s, tt.If | tt.Loop):
        yield from (child for child in tt.children(s) if isinstance(child, tt.Stmt))


def _labels(s: tt.Stmt) -> Iterator[str]:
    """The labels inside a statement to which control can be guided."""
    if isinstance(s, tt.Label):
        yield s.name
    elif isinstance(s, tt.Block):
        for each in s.statements:
            yield from _labels(each)
    else:
        for child in _parts(s):
            yield from _labels(child)


def _guided(block: tt.Block, k: int, names: list[str]) -> tt.Block:
    """The block with its statement ``k`` entered at its begin also by the gotos to these labels inside."""
    s = block.statements[k]
    guided, numbers = Guided(s.span), {name: n for n, name in enumerate(names, 1)}
    known = {label.name for label in all_of(block, tt.Label)}
    before = f"into {names[0]}"
    while before in known:
        before = f"into {before}"
    statements = [_led(each, numbers, guided, before) for each in block.statements]
    # a goto between the parts of a statement leads to the begin, too, as the label may be in the other branch
    inner = guided.passed(_marked(_between_parts(s, numbers, guided, before), numbers))
    statements[k : k + 1] = [tt.Label(s.span, before), inner]
    return replace(block, statements=(guided.declared(tt.Const(ct.INT, s.span, 0)), *statements))


def _between_parts(s: tt.Stmt, numbers: dict[str, int], guided: Guided, before: str) -> tt.Stmt:
    """The statement with the gotos led that are in other parts of it than their labels."""
    if isinstance(s, tt.Block):
        return s

    def of_part(part: tt.Stmt) -> tt.Stmt:
        own = {*_labels(part)}
        return _led(part, {name: n for name, n in numbers.items() if name not in own}, guided, before)

    return rebuilt(s, of_part)


def _led(s: tt.Stmt, numbers: dict[str, int], guided: Guided, before: str) -> tt.Stmt:
    """The statement with its gotos to these labels replaced by a number and a goto to the begin."""
    if isinstance(s, tt.Goto):
        if s.name not in numbers:
            return s
        return tt.Block(s.span, (guided.chosen(numbers[s.name], s.span), replace(s, name=before)))
    return rebuilt(s, lambda inner: _led(inner, numbers, guided, before))


def _marked(s: tt.Stmt, numbers: dict[str, int]) -> tt.Stmt:
    """The statement with an entry before each of the labels."""
    if isinstance(s, tt.Label) and s.name in numbers:
        return tt.Block(s.span, (s, tt.Entry(s.span, numbers[s.name])))
    if isinstance(s, tt.Block):
        statements: list[tt.Stmt] = []
        for each in s.statements:
            if isinstance(each, tt.Label) and each.name in numbers:
                statements += [each, tt.Entry(each.span, numbers[each.name])]
            else:
                statements.append(_marked(each, numbers))
        return replace(s, statements=tuple(statements))
    return rebuilt(s, lambda inner: _marked(inner, numbers)) if isinstance(s, tt.If | tt.Loop) else s
