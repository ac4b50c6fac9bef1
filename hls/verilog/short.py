"""Modules of generated Verilog rewritten as a person would write them, in fewer lines: registers with their conditions
in clocked blocks, values without a name of their own where they are used, and one name for each signal."""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace

from .blocks import as_assignments, merge_registers, one_block_for_each_clock, reset_in_assignments, simplify_conditions
from .expression import Expression, names_in, substituted, width_of, written
from .module import LINE, Assign, Block, Module, Other, read_module, text_of
from .ports import leave_out_equal_outputs, leave_out_unread_inputs
from .walk import NAMES, conditions, local, mapped, mapped_item, names_of, read_by, sets, uses, widths, with_names

__all__ = ["shortened"]

#: a name that says nothing: ``$12`` and ``$signal`` of Amaranth, also of a module that was taken away around another
_NAMELESS = re.compile(r"(?:\w+_)?n(?:\d+|signal(?:\$\d+)?|like(?:\$\d+)?)_*")
#: of an expression that stands where a signal was
_LONGEST = 64
#: of an expression that a signal is assigned
_LONGEST_OF_A_LINE = 96
#: of a concatenation, which takes several lines
_LONGEST_LIST = 800
#: operators whose lower bits only depend on the lower bits of the operands
_NARROWED = frozenset(("+", "-", "*", "&", "|", "^"))
_FIRST_WORD = re.compile(r"^    ([\w$]+)\[(\d+)\] = (\d+'\w+);$")
#: ports of a module that is left as it is
_UNUSUAL = re.compile(r"^  (?:inout|(?:input|output) signed) ", re.MULTILINE)
#: a space that ended an escaped name
_ENDED = re.compile(r"(?<=[\w$]) (?=[),;\]])")
_CONNECTED = re.compile(r"^(    \.[\w$]+)\(([\w$]+) ?\)(,?)$")


def shortened(texts: Iterable[str], public: Container[str]) -> list[str]:
    """The texts of the modules of a file, whose registers and outputs have the same values. Other files may hold
    instances of the ``public`` ones, which keep their ports."""
    given = list(texts)
    unusual = {k for k, text in enumerate(given) if _UNUSUAL.search(text)}
    shown = {name for k in unusual for name in NAMES.findall(given[k])}
    modules = [read_module(text) for k, text in enumerate(given) if k not in unusual]
    public = {module.name for module in modules if module.name in public or module.name in shown}
    for module in modules:
        _shorten(module)
    while changed := leave_out_equal_outputs(modules, public):
        for module in changed:
            _unite_names(module)
    leave_out_unread_inputs(modules, public)
    for module in modules:
        _finish(module)
    shorter = iter(modules)
    return [text if k in unusual else text_of(next(shorter)) for k, text in enumerate(given)]


def _shorten(module: Module) -> None:
    merge_registers(module)
    simplify_conditions(module)
    as_assignments(module)
    _narrow(module)
    _unite_names(module)
    _without_unread_parts(module)
    _join_parts(module)
    _inline(module)
    if _unite_values(module):
        _inline(module)
    _without_spaces(module)


def _finish(module: Module) -> None:
    _leave_open(module)
    reset_in_assignments(module)
    one_block_for_each_clock(module)
    _fill_in_loops(module)
    _declare_with_values(module)
    if module.starter and not _starts(module, module.starter):
        del module.declared[module.starter]
        module.starter = None


def _starts(module: Module, starter: str) -> bool:
    """Whether there is a block that ``starter`` lets simulators execute once."""
    return any(item.trigger == "@*" if isinstance(item, Block) else starter in names_of(item) for item in module.items)


def _without_spaces(module: Module) -> None:
    """Leave out the spaces that ended escaped names."""
    for item in module.items:
        if isinstance(item, Other):
            item.text = _ENDED.sub("", item.text)


def _unite_names(module: Module) -> None:
    """Give signals that are always equal one name: that of a port, or the one that says something."""
    renamed: dict[str, str] = {}

    def of(name: str) -> str:
        while name in renamed:
            name = renamed[name]
        return name

    def united(item: Assign | Block | Other) -> bool:
        if not isinstance(item, Assign) or item.target.kind != "name" or item.value.kind != "name":
            return False
        return _unite(module, of(item.target.text), of(item.value.text), renamed)

    module.items = [item for item in module.items if not united(item)]
    if renamed:
        module.items = [with_names(item, of) for item in module.items]


def _unite(module: Module, target: str, value: str, renamed: dict[str, str]) -> bool:
    """Give ``target``, which is assigned ``value``, and that one name, if that is possible."""
    one, other = module.declared.get(target), module.declared.get(value)
    if one is None or other is None or one.bits != other.bits or one.words or other.words or target == value:
        return False
    says_more = not _NAMELESS.fullmatch(value) or bool(_NAMELESS.fullmatch(target))
    if not one.direction and (other.direction or says_more):
        renamed[target] = value
        del module.declared[target]
        return True
    if other.direction:
        return False
    renamed[value] = target
    module.declared[target] = replace(one, kind=other.kind, init=other.init, attributes=other.attributes)
    del module.declared[value]
    return True


def _selections(e: Expression) -> Iterator[Expression]:
    if e.kind == "select":
        yield e
    for part in e.parts:
        yield from _selections(part)


def _narrow(module: Module) -> None:
    """Give a signal of which only the lower bits are ever read no others: a sum without its carry."""
    used, selected = uses(module), Counter[str]()
    kinds: dict[str, set[str]] = {}
    for item in module.items:
        for e in read_by(item):
            for one in _selections(e):
                selected[one.text] += 1
                kinds.setdefault(one.text, set()).add(written(one))
    narrow = set()
    for item in module.items:
        if not isinstance(item, Assign) or item.target.kind != "name" or item.value.kind != "binary":
            continue
        name = item.target.text
        own, kind = local(module, name), kinds.get(name, set())
        found = re.fullmatch(r"\[(?:(\d+):)?0\]", min(kind).removeprefix(name)) if len(kind) == 1 else None
        bits = int(found[1] or 0) + 1 if found else 0
        if own and 0 < bits < own.bits and item.value.text in _NARROWED and used[name] == selected[name] + 1:
            module.declared[name] = replace(own, bits=bits, range=f"[{bits - 1}:0] " if bits > 1 else "")
            narrow.add(name)

    def whole(e: Expression) -> Expression:
        if e.kind == "select" and e.text in narrow:
            return Expression("name", e.text)
        return Expression(e.kind, e.text, tuple(whole(part) for part in e.parts))

    if narrow:
        module.items = [mapped_item(item, whole) for item in module.items]


def _inline(module: Module) -> None:
    """Put the value of a signal whose name says nothing, and that is read once, in its place."""
    used, (signals, words) = uses(module), widths(module)
    values: dict[str, Expression] = {}
    lengths: dict[str, int] = {}
    assigned = {
        item.target.text: item.value
        for item in module.items
        if isinstance(item, Assign)
        and item.target.kind == "name"
        and _NAMELESS.fullmatch(item.target.text)
        and local(module, item.target.text)
        and (used[item.target.text] == 2 or _is_short(item.value))
    }

    def of(e: Expression, target: int | None) -> Expression:
        """With as many values in their places as there is room for."""
        for most in (_LONGEST, _LONGEST // 2, _LONGEST // 4):
            short = {name: values[name] for name in names_in(e) if name in values and lengths[name] <= most}
            try:
                found = substituted(e, short, signals, words, target) if short else e
            except ValueError:
                break
            if len(written(found)) <= (_LONGEST_LIST if e.kind == "concat" else _LONGEST_OF_A_LINE):
                return found
        return e

    for name in _operands_first(assigned):
        value = of(assigned[name], signals.get(name))
        try:
            width_of(value, signals, words)
        except ValueError:
            continue
        lengths[name] = len(written(value))
        if lengths[name] <= _LONGEST:
            values[name] = value
    module.items = [_with_values(item, of, signals, words) for item in module.items]
    read = Counter(name for item in module.items for name in _read(item))
    gone = {name for name in values if not read[name]}
    module.items = [item for item in module.items if not (isinstance(item, Assign) and written(item.target) in gone)]
    for name in gone:
        del module.declared[name]


def _is_short(e: Expression) -> bool:
    """Whether a value is as good as a name wherever it is read: a number, or the opposite of a signal."""
    return e.kind == "number" or (e.kind == "unary" and e.text in "~!" and e.parts[0].kind == "name")


def _operands_first(assigned: Mapping[str, Expression]) -> list[str]:
    """The names, each behind those that its value reads."""
    order: dict[str, None] = {}
    for name in assigned:
        waiting = [name]
        seen = set()
        while waiting:
            last = waiting[-1]
            missing = [n for n in names_in(assigned[last]) if n in assigned and n not in order and n not in seen]
            if last in seen or not missing:
                order.setdefault(waiting.pop())
                continue
            seen.add(last)
            waiting += missing
    return list(order)


def _with_values(
    item: Assign | Block | Other,
    of: Callable[[Expression, int | None], Expression],
    signals: Mapping[str, int],
    words: Mapping[str, int],
) -> Assign | Block | Other:
    def width(target: Expression) -> int:
        return width_of(target, signals, words)

    try:
        match item:
            case Assign():
                return Assign(item.target, of(item.value, width(item.target)))
            case Block():
                statements = mapped(
                    item.statements, lambda e: e, lambda one: of(one.value, width(one.target)), lambda e: of(e, None)
                )
                return Block(item.trigger, statements)
    except ValueError:  # of a target whose width is not known
        pass
    return item


def _read(item: Assign | Block | Other) -> Iterator[str]:
    """The names that an item reads."""
    match item:
        case Assign():
            yield from names_in(item.value)
            yield from _indices(item.target)
        case Block():
            yield from NAMES.findall(item.trigger)[1:]
            for e in conditions(item.statements):
                yield from names_in(e)
            for one in sets(item.statements):
                yield from names_in(one.value)
                yield from _indices(one.target)
        case _:
            yield from NAMES.findall(item.text)


def _without_unread_parts(module: Module) -> None:
    """Leave out signals that are assigned in parts and never read, and values that have a signal already."""
    while True:
        read = Counter(name for item in module.items for name in _read(item))
        gone = {name for name in module.declared if not read[name] and local(module, name) and name != module.starter}
        kept = [item for item in module.items if not _assigned(item) or not _assigned(item) <= gone]
        if len(kept) == len(module.items):
            break
        module.items = kept
    used = uses(module)
    for name in gone:
        if not used[name]:
            del module.declared[name]


def _assigned(item: Assign | Block | Other) -> set[str]:
    """All that an item assigns; nothing of lines that are not looked into."""
    match item:
        case Assign():
            return set(_targets(item.target))
        case Block():
            return {name for one in sets(item.statements) for name in _targets(one.target)}
        case _:
            return set()


def _join_parts(module: Module) -> None:
    """Assign a signal whose parts are assigned one by one at once."""
    parts: dict[str, list[tuple[int, Assign]]] = {}
    for item in module.items:
        if not isinstance(item, Assign) or item.target.kind != "select":
            continue
        first = item.target.parts[0].text
        if first.isdigit() and item.target.parts[-1].text.isdigit():
            parts.setdefault(item.target.text, []).append((int(first), item))
    signals, words = widths(module)
    joined: dict[int, Assign | None] = {}
    for name, found in parts.items():
        found.sort(key=lambda each: -each[0])
        value = Expression("concat", "{}", tuple(one.value for _, one in found))
        following = signals.get(name, 0)
        for high, one in found:
            following -= width_of(one.target, signals, words) if high == following - 1 else following + 1
        try:
            same = all(width_of(o.value, signals, words) == width_of(o.target, signals, words) for _, o in found)
        except ValueError:
            continue
        if not following and same and len(written(value)) <= _LONGEST_OF_A_LINE:
            joined[id(found[0][1])] = Assign(Expression("name", name), value)
            joined |= {id(one): None for _, one in found[1:]}
    items = [joined.get(id(item), item) for item in module.items]
    module.items = [item for item in items if item is not None]


def _targets(e: Expression) -> Iterator[str]:
    """The signals that an assignment assigns."""
    if e.kind == "concat":
        for part in e.parts:
            yield from _targets(part)
    else:
        yield e.text


def _unite_values(module: Module) -> bool:
    """Give values without a name that are the same one signal; returns whether there were any."""
    first: dict[tuple[int, str], str] = {}
    renamed: dict[str, str] = {}
    kept: list[Assign | Block | Other] = []
    for item in module.items:
        if isinstance(item, Assign) and item.target.kind == "name" and _NAMELESS.fullmatch(item.target.text):
            own = local(module, item.target.text)
            home = first.setdefault((own.bits, written(item.value)), own.name) if own and own.bits else ""
            if own and home and home != own.name:
                renamed[own.name] = home
                del module.declared[own.name]
                continue
        kept.append(item)
    if renamed:
        module.items = [with_names(item, lambda name: renamed.get(name, name)) for item in kept]
    return bool(renamed)


def _declare_with_values(module: Module) -> None:
    """Declare a signal with the value that it is assigned, behind those that the value reads."""
    assigned = {
        item.target.text: item.value
        for item in module.items
        if isinstance(item, Assign) and item.target.kind == "name" and local(module, item.target.text)
    }
    done: set[str] = set()
    for name in _operands_first(assigned):
        own, value = module.declared[name], assigned[name]
        known = all(one in module.declared and (one not in assigned or one in done) for one in names_in(value))
        line = f"  wire {own.range}{name} = {written(value)};"
        if known and own.kind == "wire" and not own.attributes and len(line) <= LINE:
            done.add(name)
            del module.declared[name]
            module.declared[name] = replace(own, value=value)
    module.items = [item for item in module.items if not (isinstance(item, Assign) and written(item.target) in done)]


def _indices(target: Expression) -> Iterator[str]:
    """The names that say which part of a target is assigned."""
    for part in target.parts:
        yield from _indices(part) if target.kind == "concat" else names_in(part)


def _leave_open(module: Module) -> None:
    """Connect nothing to outputs of instances that nobody reads."""
    used = uses(module)
    for k, item in enumerate(module.items):
        found = _CONNECTED.match(item.text) if isinstance(item, Other) else None
        if found and used[found[2]] == 1 and local(module, found[2]) and not module.declared[found[2]].init:
            module.items[k] = Other(f"{found[1]}(){found[3]}")
            del module.declared[found[2]]


def _fill_in_loops(module: Module) -> None:
    """Write the same first words of a memory in a loop."""
    items: list[Assign | Block | Other] = []
    at, counter, initial = 0, _fresh("place", module), False
    while at < len(module.items):
        line = item.text if isinstance(item := module.items[at], Other) else ""
        initial = line == "  initial begin" or (initial and line != "  end")
        run = _run(module.items, at) if initial else []
        if len(run) < 3:
            items.append(module.items[at])
            at += 1
            continue
        memory, first, value = run[0]
        loop = f"    for ({counter} = {first}; {counter} <= {run[-1][1]}; {counter} = {counter} + 1)\n"
        items.append(Other(f"{loop}      {memory}[{counter}] = {value};"))
        at += len(run)
    if len(items) < len(module.items):
        items.insert(0, Other(f"  integer {counter};"))
    module.items = items


def _run(items: list[Assign | Block | Other], at: int) -> list[tuple[str, int, str]]:
    """The lines from ``at`` on that write the same value into the words of a memory one after the other, as the
    memory, the word's number and the value."""
    found: list[tuple[str, int, str]] = []
    for k in range(at, len(items)):
        item = items[k]
        match = _FIRST_WORD.match(item.text) if isinstance(item, Other) else None
        if not match or (found and (match[1], int(match[2]), match[3]) != (found[0][0], found[-1][1] + 1, found[0][2])):
            break
        found.append((match[1], int(match[2]), match[3]))
    return found


def _fresh(name: str, module: Module) -> str:
    taken = set(module.declared) | set(uses(module))
    while name in taken:
        name += "_"
    return name
