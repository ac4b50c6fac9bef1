"""The stalls in a waveform: reads FILE.fst, in which the signals of the probe are recorded, and FILE.fst.json, which
says what their bits mean. Its sums are those of the run's counters.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from .probe import WORD, words

if TYPE_CHECKING:
    from pylibfst import ffi

__all__ = ["SIGNAL", "Meaning", "Stall", "UnitStalls", "WaveformError", "map_file", "read_stalls", "signals_of"]

#: the name of the recorded signal of each unit, in the module of its counters
SIGNAL = "counters.observed"


class WaveformError(ValueError):
    """A file that is no waveform of ours."""


class AccountMeaning(TypedDict):
    """An account: what it is attributed to, the source line, and its category."""

    cause: str
    line: int | None
    category: str


class HoldMeaning(TypedDict):
    """A place where requests are held up; ``state_signal`` has its state in words, ``loop`` is the key of the innermost
    loop around it."""

    key: str
    what: str
    line: int | None
    loop: str | None
    state_signal: str


class LoopMeaning(TypedDict):
    """A loop in hardware, and its name in reports."""

    key: str
    name: str
    line: int | None


class UnitMeaning(TypedDict):
    """A compute unit: whether its kernel is an ``autorun`` one, its scope, its recorded signal, how many events and
    causes that has, what each cause is, and which bit of the signal says that requests are held up at each place.
    ``account_signal`` has the account in words."""

    kernel: str
    autorun: bool
    number: int
    path: str
    signal: str
    account_signal: str
    loops: list[LoopMeaning]
    events: int
    causes: int
    accounts: list[AccountMeaning]
    holds: list[HoldMeaning]
    hold_bits: list[int]


class Meaning(TypedDict):
    """The map file of a waveform."""

    clock_mhz: float
    source: str
    units: list[UnitMeaning]


#: takes a value (its bits as text), and the cycle from which on it is there
Sink = Callable[[bytes, int], None]

#: what a cycle is spent on: the number of its account, and the complements of those of the places held up meanwhile;
#: nothing if the unit does not run
_Spent = tuple[int, ...]

#: values of a unit whose meaning is remembered
MOST_MEANINGS = 1 << 14


@dataclass
class Stall:
    """Cycles in which one thing held: ``stretches`` of them, the ``longest`` of which began at cycle ``at`` of the
    waveform. ``others`` counts, for a place that was held up, the accounts of these cycles; for an account, the places
    held up meanwhile, each by its number."""

    cycles: int = 0
    stretches: int = 0
    longest: int = 0
    at: int = 0
    others: dict[int, int] = field(default_factory=dict)

    def add(self, begin: int, end: int) -> None:
        """Count a stretch of the cycles [begin, end)."""
        self.stretches += 1
        self.cycles += end - begin
        if end - begin > self.longest:
            self.longest, self.at = end - begin, begin


class UnitStalls:
    """The stalls of one compute unit; ``unit`` is its entry in the map file. ``accounts`` and ``places`` are by number;
    the account after the last cause is the cycles without one. ``busy`` counts the cycles in which it ran."""

    def __init__(self, unit: UnitMeaning) -> None:
        self.unit, self.busy, self.autorun = unit, 0, unit["autorun"]
        self.accounts: dict[int, Stall] = {}
        self.places: dict[int, Stall] = {}
        events, causes = words(unit["events"]), words(unit["causes"])
        self._causes = WORD * causes  # so many characters of the text of a value, whose last character is bit 0
        bits = WORD * (1 + events + causes)
        self._holds = [bits - 1 - bit for bit in unit["hold_bits"]]
        # A value also has the bits of events, which change more often than what a cycle is spent on.
        self._meanings: dict[bytes, _Spent] = {}
        self._spent: _Spent = ()  # in the cycles before ``_since``
        self._now: _Spent = ()  # from then on
        self._since = 0
        self._cycles: dict[_Spent, int] = {}
        self._open: dict[int, int] = {}
        self._turns: dict[tuple[_Spent, _Spent], tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def change(self, value: bytes, cycle: int) -> None:
        """From ``cycle`` on, the value (its bits as text) is there; :meth:`end` is called after the last one."""
        cycles = cycle - self._since
        if cycles:
            now = self._now
            if now != self._spent:
                self._turn(now, self._since)
            self._cycles[now] = self._cycles.get(now, 0) + cycles
            self._since = cycle
        try:
            self._now = self._meanings[value]
        except KeyError:
            self._now = self._remember(value)

    def _remember(self, value: bytes) -> _Spent:
        """What a value means; of values that differ much, as many are remembered as fit into a few megabytes."""
        if len(self._meanings) == MOST_MEANINGS:
            self._meanings.clear()
        self._meanings[value] = spent = self._meaning(value.decode())
        return spent

    def _meaning(self, value: str) -> _Spent:
        if value[-1] != "1":
            return ()
        last = value[: self._causes].rfind("1")
        account = self._causes - 1 - last if last >= 0 else self.unit["causes"]
        return account, *(~place for place, at in enumerate(self._holds) if value[at] == "1")

    def _turn(self, spent: _Spent, cycle: int) -> None:
        """From ``cycle`` on the cycles are spent on something else: end and begin stretches."""
        turn = self._spent, spent
        if turn not in self._turns:
            before, after = turn
            self._turns[turn] = tuple(set(before) - set(after)), tuple(set(after) - set(before))
        ended, begun = self._turns[turn]
        for one in ended:
            self._stall(one).add(self._open[one], cycle)
        for one in begun:
            self._open[one] = cycle
        self._spent = spent

    def _stall(self, one: int) -> Stall:
        """That of an account, or of the place whose complement it is."""
        stalls, number = (self.accounts, one) if one >= 0 else (self.places, ~one)
        return stalls.setdefault(number, Stall())

    def end(self, cycle: int) -> None:
        """End all stretches at ``cycle``, and sum up what was held up meanwhile."""
        self.change(b"0", cycle)
        self._turn((), cycle)
        for spent, cycles in self._cycles.items():
            if not spent:
                continue
            self.busy += cycles
            account, *places = spent
            source = self._stall(account)
            for place in (~one for one in places):
                held = self.places[place]
                held.others[account] = held.others.get(account, 0) + cycles
                source.others[place] = source.others.get(place, 0) + cycles


def map_file(waveform: Path) -> Path:
    """Where the meaning of a waveform's bits is."""
    return waveform.with_name(f"{waveform.name}.json")


def read_stalls(
    waveform: Path, kernel: str | None = None, first: int = 0, end: int | None = None
) -> tuple[Meaning, list[UnitStalls]]:
    """The map of a waveform, and the stalls of each compute unit (of one ``kernel``) in its cycles [first, end).

    Raises WaveformError for files that are not there or not ours. Reads block by block: memory does not grow with the
    length of the waveform.
    """
    with _opened(waveform) as file:
        meaning = _meaning(map_file(waveform))
        units = [UnitStalls(unit) for unit in meaning["units"] if kernel in (None, unit["kernel"])]
        if not units:
            known = ", ".join(dict.fromkeys(unit["kernel"] for unit in meaning["units"]))
            raise WaveformError(f"{waveform} has no kernel {kernel!r}; it has {known}")
        signals = _signals(file)
        missing = [one.unit["signal"] for one in units if one.unit["signal"] not in signals]
        if missing:
            text = f"{waveform} has no signal {missing[0]}: it is of another build than {map_file(waveform)}"
            raise WaveformError(f"{text}; make both again with `sluice run --trace`")
        sinks = {signals[one.unit["signal"]]: one.change for one in units}
        last = _read(file, sinks, 1e6 / meaning["clock_mhz"], first, end)
    for one in units:
        one.end(last)
    return meaning, units


def signals_of(waveform: Path) -> dict[str, str]:
    """The names of all signals of a waveform, each with its range of bits ("[7:0]"; empty for a single bit). Raises
    WaveformError."""
    import pylibfst

    with _opened(waveform) as file:
        _, signals = pylibfst.get_scopes_signals2(file)
    parts = (name.partition(" [") for name in signals.by_name)
    return {name: f"[{range}" if range else "" for name, _, range in parts}


def _meaning(path: Path) -> Meaning:
    """The contents of a map file."""
    try:
        found: Meaning = json.loads(path.read_text())
        for unit in found["units"]:
            UnitStalls(unit)
    except OSError as error:
        text = f"cannot read {path}, which `sluice run --trace` writes beside the waveform: {error.strerror}"
        raise WaveformError(text) from None
    except (ValueError, KeyError, TypeError):
        text = f"{path} is not what `sluice run --trace` writes beside the waveform: make both again"
        raise WaveformError(text) from None
    return found


@contextmanager
def _opened(waveform: Path) -> Iterator["ffi.CData"]:
    """The waveform, as the library's reader."""
    import pylibfst  # only `sluice stalls` needs it

    file = pylibfst.lib.fstReaderOpen(str(waveform).encode())
    if file == pylibfst.ffi.NULL:
        text = "it is no FST file, or the run that writes it has not ended"
        raise WaveformError(f"cannot read {waveform}: {text}; `sluice run --trace FILE.fst` makes one")
    try:
        yield file
    finally:
        pylibfst.lib.fstReaderClose(file)


def _signals(file: "ffi.CData") -> dict[str, int]:
    """The handles of the recorded signals by their names."""
    import pylibfst

    _, signals = pylibfst.get_scopes_signals2(file)
    return {name.partition(" [")[0]: one.handle for name, one in signals.by_name.items()}


def _read(file: "ffi.CData", sinks: Mapping[int, Sink], period_ps: float, first: int, end: int | None) -> int:
    """Call the sink of each signal, by its handle, with its values in the cycles [first, end) and the cycle, from
    ``first`` on, from which on each is there. Returns the cycle after the last one."""
    import pylibfst

    text, most = pylibfst.ffi.string, float("inf") if end is None else max(first, end)
    pylibfst.lib.fstReaderClrFacProcessMaskAll(file)
    for handle in sinks:
        pylibfst.lib.fstReaderSetFacProcessMask(file, handle)

    def within(time: float) -> int:
        return int(min(max(round(time), first), most))

    def changed(_data: object, time: int, handle: int, value: "ffi.CData", _size: int | None = None) -> None:
        sinks[handle](text(value), within(time / period_ps))

    def changed_anywhere(_data: object, time: int, handle: int, value: "ffi.CData", _size: int | None = None) -> None:
        sinks[handle](text(value), round(time / period_ps))

    each = changed_anywhere if not first and end is None else changed
    pylibfst.fstReaderIterBlocks2(file, each, each)
    # the last sample is half a cycle after the last change
    return within(pylibfst.lib.fstReaderGetEndTime(file) / period_ps + 0.5)
