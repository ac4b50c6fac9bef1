"""Finds identical hardware in an elaborated design, so that each is written to Verilog once.

Compute units of a kernel, the kernels of a systolic array and the controls of similar kernels come out of elaboration
as separate trees. :func:`outline` computes a digest of every tree in which signals are numbered in order of appearance;
trees of equal digest differ only in which signals of the design they are connected to. Names are part of the digest,
but for digits, as a waveform shows the names of the tree that is written.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# exported by no public module of Amaranth 0.5
from amaranth.hdl import Const, Fragment, Instance, Signal
from amaranth.hdl._ast import Assign, ClockSignal, Concat, Operator, Part, ResetSignal, Slice, Switch, SwitchValue
from amaranth.hdl._mem import MemoryInstance

__all__ = ["Alike", "Outline", "alike", "outline"]

#: Fewest statements for which a separate module is worth its ports.
LEAST = 100


@dataclass(eq=False)
class Outline:
    """One tree. ``signals`` lists all signals it mentions; the index of each is its number in the ``digest``.
    ``weight`` is its number of statements. ``mentioned`` and ``driven`` are the identities of the signals that the
    tree's root itself uses."""

    fragment: Fragment
    digest: str
    signals: list[Signal]
    weight: int
    mentioned: frozenset[int]
    driven: frozenset[int]
    children: list["Outline"]

    def walk(self) -> Iterator["Outline"]:
        """The tree's nodes, itself first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Alike:
    """Trees of one digest. ``ports`` maps the numbers of the signals through which any of them is connected to the
    rest of the design to whether it drives them."""

    trees: tuple[Outline, ...]
    ports: tuple[tuple[int, bool], ...]


def outline(fragment: Fragment) -> Outline:
    """The outline of an elaborated tree and of all its subtrees."""
    children = [outline(child) for child, _, _ in fragment.subfragments]
    writer = _Writer()
    writer.root(fragment)
    mentioned = frozenset(writer.numbers)
    for child, (_, name, _) in zip(children, fragment.subfragments, strict=True):
        writer.child(child, name)
    digest = hashlib.sha256("\n".join(writer.text).encode()).hexdigest()
    weight = writer.statements + sum(child.weight for child in children)
    return Outline(fragment, digest, writer.signals, weight, mentioned, frozenset(writer.driven), children)


def alike(whole: Outline, ports: Iterable[Signal]) -> list[Alike]:
    """Sets of two or more trees of equal digest, none inside another, largest first. ``ports`` are those of the whole
    design."""
    mentions, drivers = Counter(id(signal) for signal in ports), Counter[int]()
    by_digest: dict[str, list[Outline]] = {}
    for node in whole.walk():
        mentions.update(node.mentioned)
        drivers.update(node.driven)
        if node.weight >= LEAST and node is not whole:
            by_digest.setdefault(node.digest, []).append(node)
    taken: set[int] = set()
    found = []
    for trees in sorted(by_digest.values(), key=lambda trees: -trees[0].weight):
        free = [tree for tree in trees if id(tree) not in taken]
        if len(free) < 2 or any(_shares_a_driver(tree, drivers) for tree in free):
            continue
        taken.update(id(node) for tree in free for node in tree.walk())
        found.append(Alike(tuple(free), _ports(free, mentions)))
    return found


def _shares_a_driver(tree: Outline, drivers: Counter) -> bool:
    """Whether some bits of a signal that the tree drives are driven elsewhere: it could not be a port."""
    inside = Counter(one for node in tree.walk() for one in node.driven)
    return any(drivers[one] != count for one, count in inside.items())


def _ports(trees: list[Outline], mentions: Counter) -> tuple[tuple[int, bool], ...]:
    numbers: set[int] = set()
    for tree in trees:
        inside = Counter(one for node in tree.walk() for one in node.mentioned)
        numbers.update(k for k, signal in enumerate(tree.signals) if mentions[id(signal)] > inside[id(signal)])
    driven = frozenset().union(*(node.driven for node in trees[0].walk()))
    return tuple((k, id(trees[0].signals[k]) in driven) for k in sorted(numbers))


def _plain(name: str | None) -> str:
    return re.sub(r"\d+", "", name or "")


class _Writer:
    """Serializes a node as text."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.signals: list[Signal] = []
        self.numbers: dict[int, int] = {}
        self.driven: set[int] = set()
        self.statements = 0

    # --- trees

    def root(self, fragment: Fragment) -> None:
        """Everything in a tree but its children."""
        self.text.append(f"{type(fragment).__name__} {dict(fragment.attrs)!r} {fragment.domain_renames!r}")
        if type(fragment) is Instance:
            self.instance(fragment)
        elif type(fragment) is MemoryInstance:
            self.memory(fragment)
        elif type(fragment) is not Fragment or fragment.domains:  # a local clock domain is connected by its name
            self.unlike(fragment)
        for domain, statements in fragment.statements.items():
            self.text.append(f"in {domain}")
            for statement in statements:
                self.statement(statement)

    def child(self, child: Outline, name: str | None) -> None:
        places = " ".join([str(self.number(signal)) for signal in child.signals])
        self.text.append(f"child {_plain(name)} {child.digest} {places}")

    def instance(self, fragment: Instance) -> None:
        self.text.append(f"{fragment.type} {dict(fragment.parameters)!r}")
        for name, (value, kind) in fragment.ports.items():
            self.text.append(f"{kind} {name} {self.value(value)}")
            if kind == "o":
                self.drive(value)

    def memory(self, fragment: MemoryInstance) -> None:
        data = fragment._data
        self.text.append(f"{data.shape!r} {data.depth} {data.init._raw!r} {fragment._attrs!r}")
        for port in fragment._read_ports:
            parts = " ".join(map(self.value, (port._addr, port._data, port._en)))
            self.text.append(f"read {port._domain} {parts} {port._transparent_for}")
            self.drive(port._data)
        for port in fragment._write_ports:
            parts = " ".join(map(self.value, (port._addr, port._data, port._en)))
            self.text.append(f"write {port._domain} {parts}")

    def unlike(self, what) -> None:
        """Mark the node as equal to no other."""
        self.text.append(f"only {id(what)}")

    # --- statements

    def statement(self, statement) -> None:
        self.statements += 1
        if type(statement) is Assign:
            self.text.append(f"{self.value(statement.lhs)} = {self.value(statement.rhs)}")
            self.drive(statement.lhs)
        elif type(statement) is Switch:
            self.text.append(f"switch {self.value(statement.test)}")
            for patterns, inner, _ in statement.cases:
                self.text.append(f"case {patterns}")
                for one in inner:
                    self.statement(one)
            self.text.append("end")
        else:  # messages and properties
            self.unlike(statement)
            for signal in statement._rhs_signals():
                self.number(signal)

    def drive(self, value) -> None:
        self.driven.update(id(signal) for signal in value._lhs_signals())

    # --- values

    def number(self, signal: Signal) -> int:
        known = self.numbers.get(id(signal))
        if known is None:
            known = self.numbers[id(signal)] = len(self.signals)
            self.signals.append(signal)
            self.text.append(
                f"signal {_plain(signal.name)} {signal.shape()} {signal.init} {signal.reset_less} {signal.attrs!r}"
            )
        return known

    def value(self, value) -> str:
        kind = type(value)
        if kind is Signal:
            return f"%{self.number(value)}"
        if kind is Const:
            return f"{value.value}'{value.shape()}"
        if kind is Operator:
            return f"({value.operator} {' '.join(map(self.value, value.operands))})"
        if kind is Slice:
            return f"{self.value(value.value)}[{value.start}:{value.stop}]"
        if kind is Part:
            return f"{self.value(value.value)}[{self.value(value.offset)}*{value.stride}+{value.width}]"
        if kind is Concat:
            return f"{{{' '.join(map(self.value, value.parts))}}}"
        if kind is SwitchValue:
            cases = " ".join(f"{patterns}:{self.value(one)}" for patterns, one in value.cases)
            return f"(? {self.value(value.test)} {cases})"
        if kind is ClockSignal:
            return f"clock {value.domain}"
        if kind is ResetSignal:
            return f"reset {value.domain} {value.allow_reset_less}"
        self.unlike(value)
        return " ".join([f"%{self.number(signal)}" for signal in value._rhs_signals()])
