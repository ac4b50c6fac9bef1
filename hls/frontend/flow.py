"""Which jumps may leave a statement, and whether it can complete at all. Decides where flags are needed."""

from . import tree as tt

__all__ = ["Flow", "completes", "exits"]

Flow = frozenset[str]
_NONE: Flow = frozenset()
_JUMPS = {tt.Break: "break", tt.Continue: "continue", tt.Return: "return"}


def exits(s: tt.Stmt | None) -> Flow:
    """The jumps out of ``s``: of "break", "continue" and "return" those that may be taken and leave it."""
    if type(s) in _JUMPS:
        return frozenset({_JUMPS[type(s)]})
    if isinstance(s, tt.Block):
        return _NONE.union(*map(exits, s.statements))
    if isinstance(s, tt.If):
        return exits(s.then) | exits(s.otherwise)
    if isinstance(s, tt.Loop):
        return exits(s.body) - {"break", "continue"}
    if isinstance(s, tt.Switch):
        return _NONE.union(*(exits(section.body) for section in s.sections)) - {"break"}
    return _NONE


def completes(s: tt.Stmt | None) -> bool:
    """Whether control may reach the end of ``s``; True where that is not plain to see."""
    if type(s) in _JUMPS:
        return False
    if isinstance(s, tt.Block):
        return all(map(completes, s.statements))
    if isinstance(s, tt.If):
        return completes(s.then) or completes(s.otherwise)
    return True
