"""The Verilog of a design without what nothing uses, for people who read it.

Amaranth's translation declares each port twice, gives each field of a structure a wire whether it is read or not, puts
the words of enumerations into attributes of each signal, and each part of the library into a module of its own around
it. That is half of a design's lines. Simulators of this compiler build the text as it was: waveforms show the fields.
"""

import re
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass

from .short import shortened

__all__ = ["Tidy", "tidied"]

_NAME = r"[A-Za-z_][\w$]*"
#: names of signals and modules: not those of the ports of an instance
_NAMES = re.compile(rf"(?<![.'\w$]){_NAME}")
_MODULES = re.compile(r"^module .*?^endmodule\n?", re.MULTILINE | re.DOTALL)
#: the words of an enumeration, in a line of its own above a signal
_ENUM = re.compile(r"^ *\(\* enum_(?:base_type|value_[01]+) = .*\*\)\n", re.MULTILINE)
_BITS = r"(?:signed )?(?:\[-?\d+:\d+\] )?"
_CONSTANT = re.compile(r"\d+'[bdh][0-9a-fxz]+")
#: a port, and its second declaration, which may say that it is a register
_PORT = re.compile(
    rf"^  (input|output) ({_BITS}{_NAME}) ?;\n((?:  \(\*.*\*\)\n)*)  (wire|reg) \2( += .*?)? ?;\n", re.MULTILINE
)
_WIRE = re.compile(rf"^  wire {_BITS}({_NAME}) ?;\n$")
#: a whole wire that is given a value in one line
_ASSIGN = re.compile(rf"^  assign ({_NAME}) +?= [^\n]*;\n$")
_DIRECTIONS = re.compile(rf"^  (input|output) (?:wire |reg )?{_BITS}({_NAME}) ?;\n", re.MULTILINE)
_CONNECTIONS = re.compile(r"^    \.([\w$]+) ?\((.*?) ?\),?\n", re.MULTILINE)
#: an instance without parameters: its module, its name, and its connections
_INSTANCE = re.compile(rf"^  ({_NAME}) +({_NAME}) +\(\n((?:    \.[\w$]+ ?\(.*\),?\n)*)  \);\n", re.MULTILINE)
#: what a wrapper holds: ports, wires, and one instance
_WRAPPER = re.compile(
    rf"module (?P<name>{_NAME}) ?\([^;]*\);\n(?P<signals>(?:  (?:input |output |wire )[^\n]*;\n)*)"
    rf"(?P<instance>  {_NAME} +{_NAME} +\(\n(?:    \.[\w$]+ ?\(.*\),?\n)*  \);\n)endmodule\n?"
)
_DECLARED = re.compile(rf"^  (?:(?:input|output|wire|reg) )+{_BITS}({_NAME})", re.MULTILINE)
_LOCAL = re.compile(rf"^  wire ({_BITS})({_NAME}) ?;\n", re.MULTILINE)


@dataclass(frozen=True)
class Tidy:
    """The texts by file name. ``unwrapped`` has the name of the module that was taken away around an instance, by the
    module that holds the instance and the name of that."""

    verilog: dict[str, str]
    unwrapped: dict[tuple[str, str], str]


@dataclass(frozen=True)
class _Wrapper:
    """A module around one instance of ``module``: what each port of that is connected to, and wires (with their bits)
    that nothing else is connected to."""

    module: str
    connections: tuple[tuple[str, str], ...]
    wires: dict[str, str]


def tidied(verilog: Mapping[str, str], foreign: Container[str] = ()) -> Tidy:
    """The texts, in which names need no escape: each port is declared once, without the words of enumerations, without
    wires that are given a value and not read, and without modules that only hold an instance of another. What they
    compute is the same. Files whose names are in ``foreign`` stay as they are."""
    others = {file: text for file, text in verilog.items() if file in foreign}
    texts = {
        file: _MODULES.sub(lambda found: _tidy_module(found[0]), text)
        for file, text in verilog.items()
        if file not in others
    }
    wrappers = _wrappers(texts)
    signals = {
        _name(module): set(_DECLARED.findall(module)) for text in texts.values() for module in _MODULES.findall(text)
    }
    unwrapped: dict[tuple[str, str], str] = {}
    gone: set[str] = set()
    for file, text in texts.items():
        texts[file] = _MODULES.sub(lambda found: _unwrapped(found[0], wrappers, signals, unwrapped, gone), text)
    held = {file: {name for name, _, _ in _INSTANCE.findall(text)} for file, text in texts.items()}
    held |= {file: set(_NAMES.findall(text)) for file, text in others.items()}
    used = {name for names in held.values() for name in names}
    for file, text in texts.items():
        whole = _MODULES.sub(lambda found: "" if _name(found[0]) in gone - used else found[0], text)
        elsewhere = {file.rpartition(".")[0]}.union(*(names for other, names in held.items() if other != file))
        short = _with_modules(whole, shortened(_MODULES.findall(whole), elsewhere))
        texts[file] = re.sub(r"\n{3,}", "\n\n", short).strip("\n") + "\n"
    return Tidy({file: text for file, text in texts.items() if text.strip()} | others, unwrapped)


def _with_modules(text: str, modules: list[str]) -> str:
    """The text of a file with other texts of its modules."""
    following = iter(modules)
    return _MODULES.sub(lambda _: next(following), text)


def _name(module: str) -> str:
    return _NAMES.findall(module.partition("(")[0])[1]


def _tidy_module(module: str) -> str:
    return _without_unread(_PORT.sub(r"\3  \1 \4 \2\5;\n", _ENUM.sub("", module)))


def _without_unread(module: str) -> str:
    lines = module.splitlines(keepends=True)
    uses = Counter(name for line in lines for name in _NAMES.findall(line))
    declared = {found[1]: k for k, line in enumerate(lines) if (found := _WIRE.match(line))}
    assigned = {found[1]: k for k, line in enumerate(lines) if (found := _ASSIGN.match(line)) and found[1] in declared}
    for name, line in declared.items():
        if uses[name] == 1:  # no bits: nothing is said of it but its declaration
            _remove(lines, line)
    unread = [name for name in assigned if uses[name] == 2]  # its declaration, and its value
    for name in unread:  # grows
        for used in _NAMES.findall(lines[assigned[name]]):
            uses[used] -= 1
            if used != name and used in assigned and uses[used] == 2:
                unread.append(used)
        lines[assigned[name]] = ""
        _remove(lines, declared[name])
    return "".join(lines)


def _remove(lines: list[str], declaration: int) -> None:
    """Empty the line of a declaration, and those of its attributes above it."""
    lines[declaration] = ""
    while lines[declaration - 1].startswith("  (* "):
        declaration -= 1
        lines[declaration] = ""


def _wrappers(texts: Mapping[str, str]) -> dict[str, _Wrapper]:
    """The modules that only hold an instance of another one, by name. A module that none of them holds, such as the top
    module, may be among them."""
    found = {}
    for text in texts.values():
        for module in _MODULES.findall(text):
            match = _WRAPPER.fullmatch(module)
            wrapper = match and _wrapper(match)
            if match and wrapper:
                found[match["name"]] = wrapper
    return found


def _wrapper(match: re.Match[str]) -> _Wrapper | None:
    """None if a port is connected in part, or not at all."""
    directions = {name: direction for direction, name in _DIRECTIONS.findall(match["signals"])}
    wires = {name: bits for bits, name in _LOCAL.findall(match["signals"])}
    instance = _INSTANCE.fullmatch(match["instance"])
    assert instance is not None
    connections = tuple(_CONNECTIONS.findall(instance[3]))
    uses = Counter(value for _, value in connections)
    known = all(
        value in directions or value in wires and uses[value] == 1 or _CONSTANT.fullmatch(value) for value in uses
    )
    outputs = [name for name, direction in directions.items() if direction == "output"]
    if not known or any(uses[name] != 1 for name in outputs) or set(wires) - set(uses):
        return None
    return _Wrapper(instance[1], connections, wires)


def _unwrapped(
    module: str,
    wrappers: Mapping[str, _Wrapper],
    signals: Mapping[str, set[str]],
    unwrapped: dict[tuple[str, str], str],
    gone: set[str],
) -> str:
    """The module with instances of wrappers replaced by what these hold. Every port of an instance is connected. One
    that would have the name of a signal inside it stays, as linters take the signal for one that hides it."""
    taken, wires, holder = set(_NAMES.findall(module)), [], _name(module)

    def replaced(match: re.Match[str]) -> str:
        kind, name = match[1], match[2]
        given = dict(_CONNECTIONS.findall(match[3]))
        while (wrapper := wrappers.get(kind)) is not None and name not in signals.get(wrapper.module, ()):
            for wire, bits in wrapper.wires.items():
                fresh = _fresh(f"{name}_{wire}", taken)
                wires.append(f"  wire {bits}{fresh};\n")
                given[wire] = fresh
            unwrapped.setdefault((holder, name), kind)
            gone.add(kind)
            kind, given = wrapper.module, {port: given.get(value, value) for port, value in wrapper.connections}
        return f"  {kind} {name} (\n" + ",\n".join(f"    .{p}({v})" for p, v in given.items()) + "\n  );\n"

    whole = _INSTANCE.sub(lambda match: replaced(match) if match[1] in wrappers else match[0], module)
    body = whole.index(";\n") + 2
    return whole[:body] + "".join(wires) + whole[body:]


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
