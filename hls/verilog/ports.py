"""Ports of generated modules that nobody needs: inputs that are not read, and outputs that equal another port."""

import re
from collections.abc import Container, Mapping

from .expression import parsed
from .module import Assign, Block, Module, Other
from .walk import uses, with_names

__all__ = ["leave_out_equal_outputs", "leave_out_unread_inputs"]

_INSTANCE = re.compile(r"^  ([A-Za-z_][\w$]*) +[A-Za-z_][\w$]* *\($")
_CONNECTED = re.compile(r"^    \.([\w$]+) ?\((.*)\),?$")


def leave_out_unread_inputs(modules: list[Module], public: Container[str]) -> None:
    """Take the inputs away that a module does not read, and what its instances connect to them. The ``public`` modules
    keep their ports, as other files may hold instances of them."""
    changed = [module for module in modules if module.name not in public]
    while changed:
        unread = {module.name: names for module in changed if (names := _unread(module))}
        for module in modules:
            for name in unread.get(module.name, ()):
                del module.declared[name]
        changed = [module for module in modules if unread and _disconnect(module, unread)[1]]
        changed = [module for module in changed if module.name not in public]


def _unread(module: Module) -> set[str]:
    used = uses(module)
    return {one.name for one in module.declared.values() if one.direction == "input" and not used[one.name]}


def leave_out_equal_outputs(modules: list[Module], public: Container[str]) -> list[Module]:
    """Take the outputs away that a module assigns another of its ports, and assign their signals where its instances
    are. Returns the modules that were given assignments. The ``public`` ones keep their ports."""
    equal: dict[str, dict[str, str]] = {}
    for module in modules:
        if module.name not in public and (found := _equal(module)):
            equal[module.name] = found
            _rename(module, found)
    changed = []
    for module in modules if equal else ():
        new, _ = _disconnect(module, equal)
        if new:
            module.items[-1:-1] = new  # before its end
            changed.append(module)
    return changed


def _equal(module: Module) -> dict[str, str]:
    """The outputs that are assigned another port, with that."""
    found: dict[str, str] = {}
    for item in module.items:
        if isinstance(item, Assign) and item.target.kind == item.value.kind == "name":
            target, value = (module.declared.get(e.text) for e in (item.target, item.value))
            if target and value and target.direction == "output" and value.direction and value.name not in found:
                if target.name in found.values():
                    continue  # another output stands for it
                found.setdefault(target.name, value.name)
    return found


def _rename(module: Module, equal: dict[str, str]) -> None:
    kept = [item for item in module.items if not (isinstance(item, Assign) and item.target.text in equal)]
    module.items = [with_names(item, lambda name: equal.get(name, name)) for item in kept]
    for name in equal:
        del module.declared[name]


def _disconnect(module: Module, gone: Mapping[str, Mapping[str, str] | set[str]]) -> tuple[list[Assign], bool]:
    """Take what instances connect to ports that are gone; returns what is to be assigned to those of them that equal
    another port, and whether there was any such instance."""
    kept: list[Assign | Block | Other] = []
    found: list[Assign] = []
    ports: Mapping[str, str] | set[str] = {}
    begin, changed = 0, False
    for item in module.items:
        text = item.text if isinstance(item, Other) else ""
        if instance := _INSTANCE.match(text):
            ports, begin = gone.get(instance[1], {}), len(kept)
        kept.append(item)
        if text == "  );" and ports:
            found += _without(kept, begin + 1, ports)
            ports, changed = {}, True
    module.items = kept
    return found, changed


def _without(items: list[Assign | Block | Other], begin: int, ports: Mapping[str, str] | set[str]) -> list[Assign]:
    """Remove the connections of ``ports`` from those of an instance, which begin there and end before the last item."""
    lines = [item.text for item in items[begin:-1] if isinstance(item, Other)]
    connected = {match[1]: match[2].strip() for line in lines if (match := _CONNECTED.match(line))}
    assigned = []
    for name in [name for name in connected if name in ports]:
        value = connected.pop(name)
        if value and isinstance(ports, Mapping):
            other = connected[ports[name]]
            if other:
                assigned.append(Assign(parsed(value), parsed(other)))
            else:
                connected[ports[name]] = value
    last = len(connected) - 1
    items[begin:-1] = [Other(f"    .{n}({v}){',' if k < last else ''}") for k, (n, v) in enumerate(connected.items())]
    return assigned
