"""Finds variables whose address escapes beyond indexing: they need one contiguous memory; all others may be split."""

from . import tree as tt
from . import types as ct

__all__ = ["escaping"]


def escaping(body: tt.Stmt) -> set[tt.Variable]:
    """The variables with a use that is neither by name, nor of a member, nor of an element by indexing."""
    found: set[tt.Variable] = set()
    work: list = [body]
    while work:
        node = work.pop()
        if isinstance(node, tt.AddressOf):
            root = tt.root_of(node.target)
            if isinstance(root, tt.VariableRef):
                found.add(root.variable)
            else:
                work.append(root.pointer)  # the address of an element is that of its array, moved
        elif isinstance(node, tt.Dereference):
            work += _indices(node)
        else:
            work += tt.children(node)
    return found


def _indices(e: tt.Dereference) -> list[tt.Expr]:
    """The expressions still to be examined in the access of an element: its indices, and the pointer if it is one."""
    out, pointer, moved = [], e.pointer, False
    while isinstance(pointer, tt.PointerAdd):
        out.append(pointer.index)
        pointer, moved = pointer.pointer, True
    if not isinstance(pointer, tt.AddressOf) or (moved and not isinstance(pointer.target.type, ct.Array)):
        return [*out, pointer]
    root = tt.root_of(pointer.target)
    return out if isinstance(root, tt.VariableRef) else [*out, root]
