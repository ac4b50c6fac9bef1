"""Prefixes for names of modules and files, so that two designs of this compiler can be part of one project."""

import re
from collections.abc import Mapping

__all__ = ["prefixed"]

_DEFINED = re.compile(r"^module (\\\S+|[\w$]+)", re.MULTILINE)
#: where a module is named: its definition, or an instance, which begins a line, followed by its own name and a
#: parenthesis
_NAMED = re.compile(r"^(module |  )(\\\S+|[\w$]+)(?= *\(| +(?:#\(|\\\S+ +\(|[\w$]+ +\())", re.MULTILINE)


def prefixed(verilog: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The texts by file name, with ``prefix`` prepended to the name of every file and module; an empty prefix changes
    nothing."""
    if not prefix:
        return dict(verilog)
    modules = {name for text in verilog.values() for name in _DEFINED.findall(text)}

    def renamed(match: re.Match[str]) -> str:
        before, name = match.groups()
        if name not in modules:
            return match[0]
        return f"{before}\\{prefix}{name[1:]}" if name.startswith("\\") else f"{before}{prefix}{name}"

    return {f"{prefix}{file}": _NAMED.sub(renamed, text) for file, text in verilog.items()}
