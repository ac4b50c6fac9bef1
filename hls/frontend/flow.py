"""Which jumps may leave a statement, and whether it can complete at all. Decides where flags are needed."""

from collections.abc import Iterator

from . import tree as tt

__all__ = ["Flow", "completes", "exits", "goto", "stray_gotos"]

Flow = frozenset[str]
_NONE: Flow = frozenset()
_JUMPS = {tt.Break: "break", tt.Continue: "continue", tt.Return: "return"}


def goto(label: str) -> str:
    """The name of the jump to a label, used next to "break", "continue" and "return"."""
    return f"goto {label}"


def exits(s: tt.Stmt | None) -> Flow:
    """The jumps out of ``s``: the "break", "continue", "return" and gotos in it that may execute and leave it."""
    if type(s) in _JUMPS:
        return frozenset({_JUMPS[type(s)]})
    if isinstance(s, tt.Goto):
        return frozenset({goto(s.name)})
    if isinstance(s, tt.Block):
        return _NONE.union(*map(exits, s.statements)) - {goto(x.name) for x in s.statements if isinstance(x, tt.Label)}
    if isinstance(s, tt.If):
        return exits(s.then) | exits(s.otherwise)
    if isinstance(s, tt.Loop):
        return exits(s.body) - {"break", "continue"}
    if isinstance(s, tt.Switch):
        return _NONE.union(*(exits(section.body) for section in s.sections)) - {"break"}
    return _NONE


def completes(s: tt.Stmt | None) -> bool:
    """Whether control may reach the end of ``s``; True if that cannot easily be decided."""
    if type(s) in _JUMPS or isinstance(s, tt.Goto):
        return False
    if isinstance(s, tt.Block):
        labels = [k for k, x in enumerate(s.statements) if isinstance(x, tt.Label)]
        return all(map(completes, s.statements[labels[-1] if labels else 0 :]))
    if isinstance(s, tt.If):
        return completes(s.then) or completes(s.otherwise)
    if isinstance(s, tt.Switch) and any(section.default for section in s.sections):
        return completes(s.sections[-1].body) or any("break" in exits(section.body) for section in s.sections)
    return True


def stray_gotos(s: tt.Stmt | None, ahead: frozenset[str] = frozenset()) -> Iterator[tt.Goto]:
    """The gotos that do not lead forward to a label of an enclosing block; ``ahead`` are the labels that are valid
    targets for ``s``."""
    if isinstance(s, tt.Goto) and s.name not in ahead:
        yield s
    elif isinstance(s, tt.Block):
        for k, inner in enumerate(s.statements):
            yield from stray_gotos(inner, ahead | {x.name for x in s.statements[k:] if isinstance(x, tt.Label)})
    elif isinstance(s, tt.Stmt):
        for child in tt.children(s):
            if isinstance(child, tt.Stmt):
                yield from stray_gotos(child, ahead)
