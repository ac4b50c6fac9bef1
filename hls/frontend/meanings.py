"""The names of a program with their meanings, in words for its reader."""

from . import tree as tt
from .scope import EnumConstant, Occurrence, Scopes, StructTag, TypeName
from .types import Struct

__all__ = ["occurrences_of", "say_meaning"]

_KINDS = {
    "local": "variable",
    "shared": "variable in local memory",
    "buffer": "parameter",
    "constant": "constant",
    "program": "variable in global memory",
}


def say_meaning(meaning: object) -> str:
    """The kind of what was declared, then its type or value, as in "variable, float"; "" for what has no words."""
    if isinstance(meaning, tt.FunctionTree):
        kind = "kernel" if meaning.kernel else "function"
        return f"{kind}, {meaning.result} {meaning.name}({', '.join(meaning.written_types)})"
    if isinstance(meaning, tt.Channel):
        kind = "pipe" if meaning.pipe else "channels" if meaning.lengths else "channel"
        return f"{kind}, {meaning.type}{''.join(f'[{length}]' for length in meaning.lengths)}"
    if isinstance(meaning, tt.Variable):
        const = "const " if meaning.const and meaning.kind != "constant" else ""
        return f"{_KINDS.get(meaning.kind, meaning.kind)}, {const}{meaning.type}"
    if isinstance(meaning, TypeName):
        type = meaning.meaning.type
        return _say_struct("type", type) if isinstance(type, Struct) else f"type, {type}"
    if isinstance(meaning, EnumConstant):
        return f"enumeration constant, {meaning.value}"
    if isinstance(meaning, StructTag):
        return _say_struct("union" if meaning.type.union else "structure", meaning.type)
    return ""


def _say_struct(kind: str, type: Struct) -> str:
    members = " ".join(f"{f'{one.type} {one.name}'.rstrip()};" for one in type.members or ())
    return f"{kind} of {type.size} bytes, {type} {{ {members} }}"


def occurrences_of(scopes: Scopes) -> tuple[Occurrence, ...]:
    """Each name in the text that was declared in it, in the order in which they were looked at."""
    said = {meaning: say_meaning(meaning) for meaning in scopes.declared_at}
    return tuple(
        Occurrence(name, span, scopes.declared_at[meaning], said[meaning]) for name, span, meaning in scopes.name_uses
    )
