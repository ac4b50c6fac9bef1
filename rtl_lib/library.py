"""Parts that become a separate Verilog module each, converted once however often they are used.

The conversion to Verilog visits every bit of every instance, which takes seconds for parts with wide words. A class
marked :func:`shared` is converted separately, once for each set of constructor arguments, and cached on disk; a
design that is converted by :func:`convert` contains instances of it. In a Python simulation such parts are ordinary
components. A part with a method ``own_verilog``, which returns the text of its module for a name, is not converted at
all.
"""

import contextlib
import functools
import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from amaranth import ClockDomain, ClockSignal, Elaboratable, Instance, Module, ResetSignal, Shape, Value
from amaranth._toolchain.yosys import YosysError
from amaranth.back import rtlil, verilog
from amaranth.hdl import Fragment, ValueCastable
from amaranth.hdl._ir import PortDirection  # exported by no public module of Amaranth 0.5, as the next one
from amaranth.hdl._xfrm import DomainCollector
from amaranth.lib import wiring

from . import netlists
from .dedup import Alike, alike, outline
from .user_cache import user_cache

__all__ = ["DOUBLE", "PartLibrary", "convert", "convert_part", "shared"]

netlists.install()

#: the clock domain of twice the frequency, in phase with ``sync``; it has no reset
DOUBLE = "sync2x"
#: clock and reset ports of a module, and the signals they are connected to
CLOCKS = {
    "clk": lambda: ClockSignal(),
    "rst": lambda: ResetSignal(allow_reset_less=True),
    f"{DOUBLE}_clk": lambda: ClockSignal(DOUBLE),
    f"{DOUBLE}_rst": lambda: ResetSignal(DOUBLE, allow_reset_less=True),
}


_Class = TypeVar("_Class", bound=type)


def shared(cls: _Class) -> _Class:
    """Class decorator: instances of this component share one Verilog module per set of constructor arguments."""
    part: Any = cls  # its constructor and its method are replaced
    make, elaborate = part.__init__, part.elaborate

    @functools.wraps(make)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if not hasattr(self, "_library_key"):  # the outermost constructor identifies the part
            self._library_key = (
                type(self).__module__,
                type(self).__qualname__,
                repr(args),
                repr(sorted(kwargs.items())),
            )
        make(self, *args, **kwargs)

    @functools.wraps(elaborate)
    def elaborated(self: Any, platform: object) -> Any:
        if (
            isinstance(platform, PartLibrary)
            and platform.converting is not self
            and _convertible(_ports(self).values())
        ):
            return platform.instance(self)
        return elaborate(self, platform)

    part.__init__, part.elaborate = __init__, elaborated
    return cls


#: Amaranth numbers the bits of a module's inputs, and those of an instance's outputs, with 16 bits, of which clocks and
#: reset need a few
MOST_BITS = (1 << 16) - 16


def _convertible(ports: Iterable[tuple[Value, PortDirection]]) -> bool:
    """Whether a module with these ports can be converted separately; a wider one stays inside the module around
    it."""
    bits = {direction: 0 for direction in PortDirection}
    for value, direction in ports:
        bits[direction] += len(Value.cast(value))
    return max(bits.values()) < MOST_BITS


@dataclass
class _Converted:
    """A converted part: its module's name, the shared parts it uses, and which of clocks and reset it has.

    ``verilog`` is its text and that of the modules used only by it; empty until ``rtlil`` has been translated. A part
    that is not ``kept`` belongs to one design and is not cached.
    """

    name: str
    uses: tuple[str, ...]
    clocked: tuple[str, ...]
    rtlil: str = ""
    verilog: str = ""
    kept: bool = True


class PartLibrary:
    """Creates instances of shared parts; passed to Amaranth as the platform of a conversion."""

    def __init__(self, cache: Path | None) -> None:
        self.cache = cache
        self.converting: wiring.Component | None = None
        self.modules: dict[str, _Converted] = {}
        self._used: list[str] = []

    def instance(self, part: wiring.Component) -> Module:
        """A module that holds an instance of the part's Verilog module, connected to the part's own ports."""
        converted = self._converted(part)
        self._used.append(converted.name)
        ports = {}
        for name, (value, direction) in _ports(part).items():
            ports[f"{'i' if direction is PortDirection.Input else 'o'}_{name}"] = value
        m = Module()
        m.submodules.part = self._wired(converted, ports)
        return m

    def _converted(self, part: wiring.Component) -> _Converted:
        name = _name(part)
        if self._load(name) is None:
            if hasattr(part, "own_verilog"):
                self.modules[name] = _Converted(name, (), ("clk",), verilog=self._written(part.own_verilog(name)))
                self._save(self.modules[name])
            else:
                self.modules[name] = self._convert(part, name)
        return self.modules[name]

    def _written(self, text: str) -> str:
        """What is kept of a part that brings its Verilog."""
        return text

    def _convert(self, part: wiring.Component, name: str) -> _Converted:
        fragment, uses = self._elaborated(part)
        text = _rtlil(fragment, name, _ports(part))
        return _Converted(name, uses, _clocked(text, name), rtlil=text)

    def _elaborated(self, part: wiring.Component) -> tuple[Fragment, tuple[str, ...]]:
        """The part as a design of its own, and the names of the shared parts in it."""
        outer, outer_used = self.converting, self._used
        self.converting, self._used = part, []
        try:
            return Fragment.get(part, self), tuple(dict.fromkeys(self._used))
        finally:
            self.converting, self._used = outer, outer_used

    def write(self, fragment: Fragment, name: str, ports: dict[str, Any]) -> str:
        """RTLIL of an elaborated design; identical subtrees become instances of one module."""
        places = {
            id(child): (parent, k) for parent in _walk(fragment) for k, (child, _, _) in enumerate(parent.subfragments)
        }
        for same in alike(outline(fragment), [signal for signal, _ in ports.values()]):
            first = same.trees[0]
            if not _convertible(
                (first.signals[number], PortDirection.Output if driven else PortDirection.Input)
                for number, driven in same.ports
            ):
                continue
            parent, k = places[id(same.trees[0].fragment)]
            module, names = self._module_of(same, parent.subfragments[k][1] or "")
            for tree in same.trees:
                parent, k = places[id(tree.fragment)]
                _, cell, source = parent.subfragments[k]
                wires = {
                    f"{'o' if driven else 'i'}_{names[number]}": tree.signals[number] for number, driven in same.ports
                }
                parent.subfragments[k] = self._wired(module, wires), cell, source
        return _rtlil(fragment, name, ports)

    def _module_of(self, same: Alike, cell: str) -> tuple[_Converted, dict[int, str]]:
        """The module that replaces identical trees, named after one of them, the ``cell``, and the names of its ports
        by signal number."""
        tree = same.trees[0]
        names = _port_names({number: tree.signals[number].name for number, _ in same.ports})
        digest = hashlib.sha256(repr((tree.digest, names)).encode()).hexdigest()
        name = f"{re.sub(r'[^A-Za-z0-9]*[0-9]*$', '', cell) or 'part'}_{digest[:10]}"
        if name not in self.modules:
            ports = {
                names[number]: (tree.signals[number], PortDirection.Output if driven else PortDirection.Input)
                for number, driven in same.ports
            }
            text = self.write(tree.fragment, name, ports)
            self.modules[name] = _Converted(name, (), _clocked(text, name), rtlil=text, kept=False)
        return self.modules[name], names

    @staticmethod
    def _wired(converted: _Converted, wires: dict[str, Any]) -> Instance:
        return Instance(converted.name, **wires, **{f"i_{name}": CLOCKS[name]() for name in converted.clocked})

    def translate(self, top: str, text: str) -> str:
        """Verilog of the design ``top`` given as RTLIL; parts not yet translated are translated in the same run of the
        translator.

        (One run for all: starting it takes longer than translating a part.)
        """
        new = [converted for converted in self.modules.values() if not converted.verilog]
        whole = "\n".join([text, *(converted.rtlil for converted in new)])
        modules = _split(_translated(whole))
        for converted in new:
            converted.verilog = modules[converted.name]
            if converted.kept:
                self._save(converted)
        return modules[top]

    def _load(self, name: str) -> _Converted | None:
        """The part from the cache, with all parts inside it; None if any of them is missing."""
        if name in self.modules:
            return self.modules[name]
        try:
            head, _, text = (self.cache / f"{name}.v").read_text().partition("\n") if self.cache else ("", "", "")
        except (OSError, UnicodeDecodeError):
            return None
        fields = [tuple(part.split()) for part in head.removeprefix("//").split("|")]
        if len(fields) != 3 or fields[2] != (_digest(fields[0], fields[1], text),):  # by an older version, or damaged
            return None
        uses, clocked, _ = fields
        if not all(self._load(used) for used in uses):
            return None
        self.modules[name] = _Converted(name, uses, clocked, verilog=text)
        return self.modules[name]

    def _save(self, converted: _Converted) -> None:
        if self.cache is None:
            return
        try:
            self.cache.mkdir(parents=True, exist_ok=True)
            # Written to a temporary file and renamed. Its name is always the same, so that killed compilers leave no
            # pile of files; two processes that write at the same time make a file that its digest shows to be damaged.
            seal, beside = (
                _digest(converted.uses, converted.clocked, converted.verilog),
                self.cache / f"{converted.name}.new",
            )
            beside.unlink(missing_ok=True)
            beside.write_text(
                f"// {' '.join(converted.uses)} | {' '.join(converted.clocked)} | {seal}\n{converted.verilog}"
            )
            beside.replace(self.cache / f"{converted.name}.v")
        except OSError:  # a cache that cannot be written only costs the time of another conversion
            with contextlib.suppress(OSError):
                (self.cache / f"{converted.name}.new").unlink()
            self.cache = None


def _digest(uses: tuple[str, ...], clocked: tuple[str, ...], text: str) -> str:
    """The digest that seals a file of the cache."""
    return hashlib.sha256(repr((uses, clocked, text)).encode()).hexdigest()[:16]


def convert(design: Elaboratable, name: str, ports: dict[str, Any], cache: Path | None = None) -> dict[str, str]:
    """Verilog texts by file name: the design in ``NAME.v``, and one file for each shared part it uses."""
    library = PartLibrary(user_cache("parts") if cache is None else cache)
    text = library.translate(name, library.write(Fragment.get(design, library), name, ports))
    return {f"{name}.v": text} | {f"{part}.v": c.verilog for part, c in sorted(library.modules.items())}


def convert_part(part: wiring.Component, cache: Path | None = None) -> dict[str, str]:
    """Verilog texts by file name of one shared part and of those that it uses, for inspection; the same texts as
    :func:`convert` returns for a design."""
    library = PartLibrary(user_cache("parts") if cache is None else cache)
    Fragment.get(part, library)  # elaborates it as part of a design would be
    if any(not converted.verilog for converted in library.modules.values()):
        library.translate(_name(part), "")
    return {f"{name}.v": c.verilog for name, c in sorted(library.modules.items())}


#: one run of the translator at a time, as some of its settings are environment variables
_translator = threading.Lock()
#: the translator's message when the user's cache folder, in which it caches its machine code, cannot be created
_NO_CACHE = re.compile(r"failed to create cache|cache directory|cache config", re.IGNORECASE)


def _translated(text: str) -> str:
    """Verilog of a text of RTLIL. Raises MemoryError if the translator runs out of memory."""
    with _translator:
        try:
            with _environment(PYTHONSAFEPATH="1"):  # never import modules from the working directory
                return verilog._convert_rtlil_text(text, strip_internal_attrs=True)
        except YosysError as error:
            if "memory" in str(error) and "Error" in str(error):
                last = str(error).partition("Caused by:")[0].strip().splitlines()[-1].rpartition("Error: ")[2]
                raise MemoryError(
                    f"the translator to Verilog, which reserves 4 GiB of addresses, cannot run ({last})"
                ) from error
            if not _NO_CACHE.search(str(error)):
                raise
        with (
            tempfile.TemporaryDirectory(prefix="sluice-") as folder,
            _environment(PYTHONSAFEPATH="1", XDG_CACHE_HOME=folder),
        ):
            return verilog._convert_rtlil_text(text, strip_internal_attrs=True)


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _walk(fragment: Fragment) -> Iterator[Fragment]:
    yield fragment
    for child, _, _ in fragment.subfragments:
        yield from _walk(child)


def _rtlil(fragment: Fragment, name: str, ports: dict[str, Any]) -> str:
    """RTLIL of an elaborated module."""
    return rtlil.convert(fragment, name=name, ports=_with_clocks(fragment, ports), emit_src=False)


def _with_clocks(fragment: Fragment, ports: dict[str, Any]) -> dict[str, Any]:
    """The ports of an elaborated module. The clock domains that it uses and does not define become the last ones,
    sorted by name: Amaranth would add them in the order of a set, which differs from run to run."""
    collector = DomainCollector()
    collector(fragment)
    clocks: dict[str, tuple[Value, PortDirection]] = {}
    for missing in sorted(collector.used_domains - collector.defined_domains - {"comb"}):
        domain = ClockDomain(missing)
        fragment.add_domains(domain)
        clocks |= {signal.name: (signal, PortDirection.Input) for signal in (domain.clk, domain.rst)}
    return {**ports, **clocks}


def _clocked(text: str, name: str) -> tuple[str, ...]:
    """Which of clocks and reset the module of this name has, in a text of RTLIL."""
    own = text[text.index(f"module \\{name}\n") :]
    own = own[: own.index("\nend\n")]
    return tuple(port for port in CLOCKS if re.search(rf"wire width 1 input \d+ +\\{port}\n", own))


def _port_names(wanted: dict[int, str]) -> dict[int, str]:
    """Unique names of ports by number: the wanted name, with the number appended if the name is taken."""
    names: dict[int, str] = {}
    taken = set(CLOCKS)
    for number, name in wanted.items():
        while name in taken:
            name += f"_{number}"
        names[number] = name
        taken.add(name)
    return names


def _split(text: str) -> dict[str, str]:
    """The modules of a Verilog text by the name before the first dot: a part, and the modules inside it."""
    found: dict[str, list[str]] = {}
    text = re.sub(r"\A/\*.*?\*/\n", "", text)  # else the banner ends up in the text of an arbitrary part
    # the number that the translator assigns to its dummy registers depends on what else it translates
    text = re.sub(r"\$auto\$verilog_backend\.cc:\d+:dump_module\$\d+", "$dummy", text)
    for module in re.split(r"(?<=^endmodule\n)", text, flags=re.MULTILINE):
        head = re.search(r"^module \\?([^\s(.]+)", module, flags=re.MULTILINE)
        if head:
            found.setdefault(head[1], []).append(_renumbered(module).strip("\n") + "\n")
    return {name: "\n".join(modules) for name, modules in found.items()}


_OWN = re.compile(r"(\$auto\$[\w.]+:\d+:\w+)\$(\d+)")


def _renumbered(module: str) -> str:
    """The module with the translator's own names numbered, and their lines sorted, by their meaning.

    The translator numbers everything in one run consecutively, and its order depends on that: a design would have a
    different text, and be built again, when its parts are found in the cache.
    """
    lines = module.splitlines(keepends=True)
    meanings = {
        own[0]: _OWN.sub(r"\1", line)
        for line in lines
        if line.startswith("  assign ") and (own := _OWN.search(line.partition("=")[0]))
    }
    names = dict.fromkeys(found[0] for found in _OWN.finditer(module))
    numbers = {name: k for k, name in enumerate(sorted(names, key=lambda name: meanings.get(name, "")), 1)}
    lines = [_OWN.sub(lambda found: f"{found[1]}${numbers[found[0]]}", line) for line in lines]
    ordered: list[str] = []
    for kind, run in groupby(lines, _declared_or_assigned):
        ordered += sorted(run, key=_own_number if kind else _no_number)
    return "".join(ordered)


def _no_number(line: str) -> int:
    return 0


def _own_number(line: str) -> int:
    """The number in the first name of the module's own in a line, 0 if it has none."""
    found = _OWN.search(line)
    return int(found[2]) if found else 0


def _declared_or_assigned(line: str) -> str | None:
    """Which of two kinds of line uses a name that the translator generated; None for any other line."""
    words = line.partition("=")[0]
    return next((word for word in ("wire", "assign") if words.startswith(f"  {word} ") and _OWN.search(words)), None)


def _ports(part: wiring.Component) -> dict[str, Any]:
    """Name, value and direction of each port that has any bits, as the part itself sees them."""
    ports = {}
    for path, member, value in part.signature.flatten(part):
        value = value.as_value() if isinstance(value, ValueCastable) else value
        if Shape.cast(value.shape()).width:
            direction = PortDirection.Input if member.flow == wiring.In else PortDirection.Output
            ports["__".join(map(str, path))] = (value, direction)
    return ports


def _name(part: wiring.Component) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(part).__name__).lower()
    digest = hashlib.sha256(repr((part._library_key, _sources())).encode()).hexdigest()
    return f"{words}_{digest[:10]}"


@functools.cache
def _sources() -> str:
    """A digest of everything a part's Verilog depends on other than its arguments."""
    digest = hashlib.sha256(metadata.version("amaranth").encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
