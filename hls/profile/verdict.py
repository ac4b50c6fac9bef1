"""What limits a kernel, by the rules of rules.toml: the first one whose conditions hold on the kernel's figures."""

import operator
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..narrow import present
from . import model
from .text import at_line

__all__ = ["RULES", "Rule", "figures_of", "load_rules", "verdict_of"]

RULES = Path(__file__).with_name("rules.toml")
#: the figures that are the share of the accounts of one category
SHARES = ("channel", "recurrence", "memory order", "memory", "local memory", "barrier", "groups", "inner loop", "issue")
#: figures that are no shares
COUNTS = ("launches", "mean", "sharing_accesses")
COMPARE = {">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt}


@dataclass(frozen=True)
class Rule:
    """One rule: ``when`` maps the names of figures to a comparison and a bound."""

    name: str
    when: Mapping[str, tuple[str, float]]
    sentence: str
    remedies: tuple[str, ...]
    section: str

    def holds(self, figures: Mapping[str, float]) -> bool:
        """Whether all conditions hold; a figure that the kernel does not have makes its condition false."""
        return all(name in figures and COMPARE[sign](figures[name], bound) for name, (sign, bound) in self.when.items())


@cache
def load_rules(path: Path = RULES) -> tuple[Rule, ...]:
    """The rules in their order."""
    rules = []
    for one in tomllib.loads(path.read_text())["rule"]:
        when = {name: (text.split()[0], float(text.split()[1])) for name, text in one["when"].items()}
        rules.append(Rule(one["name"], when, one["sentence"], tuple(one["remedies"]), one["section"]))
    return tuple(rules)


def verdict_of(
    kernel: str,
    launches: Sequence[model.Launch],
    accounts: Sequence[model.Account],
    depths: Sequence[model.ChannelDepth] = (),
    rules: Sequence[Rule] | None = None,
) -> model.Verdict:
    """The verdict for all launches of a kernel, whose accounts are summed in ``accounts``; ``depths`` are the replays
    of the channels of its program. Raises LookupError when no rule holds."""
    figures = figures_of(launches, accounts, depths)
    words = _words(kernel, launches, accounts, figures) | _depth_words(launches, depths)
    for rule in load_rules() if rules is None else rules:
        if rule.holds(figures):
            return model.Verdict(
                rule.name,
                rule.sentence.format_map(words),
                tuple(remedy.format_map(words) for remedy in rule.remedies),
                rule.section,
                tuple(model.Figure(name, figures[name]) for name in rule.when),
            )
    raise LookupError(f"no rule holds for kernel {kernel}")


def figures_of(
    launches: Sequence[model.Launch], accounts: Sequence[model.Account], depths: Sequence[model.ChannelDepth] = ()
) -> dict[str, float]:
    """The figures of a kernel by name; those that it does not have (efficiency without accesses, bandwidth
    without accesses that share a peak) are not there."""
    cycles = sum(launch.cycles for launch in launches)
    found: dict[str, float] = {"launches": len(launches), "mean": cycles / max(1, len(launches))}
    for category in SHARES:
        found[category.replace(" ", "_")] = _share(_of(accounts, category), cycles)
    found["ramp_up_and_drain"] = _share(sum(_of(accounts, one) for one in ("ramp-up", "drain")), cycles)
    worst = _worst_pattern(launches)
    accesses = [one for launch in launches for one in launch.accesses]
    if worst is not None:
        found["efficiency"] = worst[1]
        found["wasted"] = worst[2] / sum(one.bytes_moved for one in accesses)
    sharing = {one.id for one in accesses if one.bandwidth is not None}
    found["sharing_accesses"] = len(sharing)
    if sharing:
        found["bandwidth"] = _share(sum(_used_of_peak(one) * one.cycles for one in launches), cycles)
        found["bandwidth_in_order"] = _share(sum(_used_of_order(one) * one.cycles for one in launches), cycles)
    commands = sum(bank.reads + bank.writes for launch in launches for bank in launch.banks)
    if commands:
        found["row_misses"] = sum(b.activates for launch in launches for b in launch.banks) / commands
    crowded = _most_crowded(launches)
    if crowded is not None:
        found["busiest_bank"], found["other_banks"] = crowded[1:]
    deep = _most_saving(launches, depths)
    if deep is not None:
        found["depth_saves"] = _saved(deep)
    found["idle"] = _share(sum(_idle_cycles(launches).values()), cycles)
    if len(launches) > 1 and not any(launch.capture for launch in launches):
        found["gaps"] = _gaps(launches)
    return found


def _idle_cycles(launches: Sequence[model.Launch]) -> Counter[str]:
    """The cycles of waits for channels at whose end is a kernel that did not run, by that kernel."""
    found: Counter[str] = Counter()
    for one in (blame for launch in launches for blame in launch.blame if blame.end == "idle"):
        found[one.kernels[-1]] += one.cycles
    return found


def _most_crowded(launches: Sequence[model.Launch]) -> tuple[str, float, float] | None:
    """The bank that moves data for the greatest share of the launches' time, that share, and the mean one of the other
    banks of its memory; None if no memory has several banks with timing."""
    cycles = sum(launch.cycles for launch in launches)
    moving: dict[str, dict[int, float]] = {}
    for launch in launches:
        for one in launch.banks:
            if one.busy is not None:
                banks = moving.setdefault(one.memory, {})
                banks[one.number] = banks.get(one.number, 0.0) + _share(one.busy * launch.cycles, cycles)
    found = []
    for memory, banks in moving.items():
        if len(banks) > 1:
            number = max(banks, key=banks.__getitem__)
            others = (sum(banks.values()) - banks[number]) / (len(banks) - 1)
            found.append((f"bank {number} of {memory}", banks[number], others))
    return max(found, key=lambda one: one[1], default=None)


def _most_saving(launches: Sequence[model.Launch], depths: Sequence[model.ChannelDepth]) -> model.ChannelDepth | None:
    """That of the kernel's channels for which another depth saves the greatest share; None if none saves any."""
    own = {one.name for launch in launches for one in launch.channels}
    programs = {launch.program for launch in launches}
    helped = (one for one in depths if one.least is not None and one.channel in own and one.program in programs)
    return max(helped, key=_saved, default=None)


def _saved(one: model.ChannelDepth) -> float:
    return _share(one.saved, one.actual.cycles)


def _depth_words(launches: Sequence[model.Launch], depths: Sequence[model.ChannelDepth]) -> dict[str, str]:
    """What the replay says of the channel whose depth saves most."""
    deep = _most_saving(launches, depths)
    if deep is None:
        return {}
    return {"deep_channel": deep.channel, "deep_sentence": deep.sentence, "deep_to": f"{deep.least}"}


def _used_of_peak(launch: model.Launch) -> float:
    """The share of its memories' peak bandwidth that the accesses of a launch use: the greatest over the memories."""
    by_memory: dict[str, float] = {}
    for one in launch.accesses:
        by_memory[one.memory] = by_memory.get(one.memory, 0.0) + (one.bandwidth or 0.0)
    return max(by_memory.values(), default=0.0)


def _used_of_order(launch: model.Launch) -> float:
    """The share that a launch uses of what memory can move for accesses in this order: the roof of its roofline. Of the
    peak where there is no such roof, or where it is that of one of several memories."""
    moved = [one for one in launch.accesses if one.bytes_moved]
    if not launch.roof_bytes_per_ns or len({one.memory for one in moved}) != 1:
        return _used_of_peak(launch)
    return sum(one.bytes_per_ns or 0.0 for one in moved) / launch.roof_bytes_per_ns


def _worst_pattern(launches: Sequence[model.Launch]) -> tuple[str, float, int] | None:
    """The access that wastes most bytes, its efficiency over all launches, and the bytes that it moves in vain; None if
    none moves any."""
    used: dict[tuple[str, str], list[int]] = {}
    for launch in launches:
        for one in launch.accesses:
            entry = used.setdefault((one.id, f"the {one.kind} of {one.buffer}{at_line(one.line)}"), [0, 0])
            entry[0] += one.bytes_used
            entry[1] += one.bytes_moved
    moved = {key: entry for key, entry in used.items() if entry[1]}
    if not moved:
        return None
    (_, name), (bytes_used, bytes_moved) = max(moved.items(), key=lambda item: item[1][1] - item[1][0])
    return name, min(1.0, bytes_used / bytes_moved), max(0, bytes_moved - bytes_used)


def _gaps(launches: Sequence[model.Launch]) -> float:
    """The share of the time from the first start to the last end in which no launch of the kernel ran."""
    ordered = sorted((one.start_ns, one.end_ns) for one in launches)
    first, reached = ordered[0]
    idle = 0.0
    for start, end in ordered[1:]:
        idle += max(0.0, start - reached)
        reached = max(reached, end)
    return _share(idle, reached - first)


def _words(
    kernel: str, launches: Sequence[model.Launch], accounts: Sequence[model.Account], figures: Mapping[str, float]
) -> dict[str, str]:
    """What the braces of sentences stand for: figures as text, and names."""
    words = {name: f"{value:,.0f}" if name in COUNTS else f"{100 * value:.1f} %" for name, value in figures.items()}
    words["kernel"] = kernel
    for category in SHARES:
        most = _most([one for one in accounts if one.category == category])
        name = category.replace(" ", "_")
        words |= {f"{name}_cause": most.cause if most else "-", f"{name}_line": at_line(most.line) if most else ""}
    words |= _cause_words(accounts, sum(launch.cycles for launch in launches))
    worst = _worst_pattern(launches)
    crowded = _most_crowded(launches)
    words |= {"pattern_access": worst[0] if worst else "-", "bank_name": crowded[0] if crowded else "-"}
    words["idle_kernel"] = next((name for name, _ in _idle_cycles(launches).most_common(1)), "-")
    return words | _channel_words(launches, accounts)


def _cause_words(accounts: Sequence[model.Account], cycles: int, most: int = 3) -> dict[str, str]:
    """The causes of the cycles in which nothing is issued, longest first with the share of each, and the greatest
    share."""
    others = sorted((one for one in accounts if one.category != "issue" and one.cycles), key=lambda one: -one.cycles)
    parts = [f"{one.cause}{at_line(one.line)} {100 * _share(one.cycles, cycles):.1f} %" for one in others[:most]]
    rest = sum(one.cycles for one in others[most:])
    if rest:
        parts.append(f"other causes {100 * _share(rest, cycles):.1f} %")
    largest = others[0].cycles if others else 0
    return {"causes": ", ".join(parts) or "none", "largest": f"{100 * _share(largest, cycles):.1f} %"}


def _channel_words(launches: Sequence[model.Launch], accounts: Sequence[model.Account]) -> dict[str, str]:
    """Which channel is waited for, and which kernel makes this one wait."""
    most = _most([one for one in accounts if one.category == "channel"])
    cycles = _of(accounts, "channel")
    words = {
        "channel_cycles": f"{cycles:,}",
        "channel_name": "-",
        "source": "-",
        "source_kernel": "the kernel at its other end",
    }
    if most is None:
        return words
    words["channel_name"] = f"{_waited(most.cause)}{at_line(most.line)}"
    sentence, source = blame_sentence([blame for launch in launches for blame in launch.blame])
    words["source"] = sentence or "nothing is known about the other end"
    if source is not None:
        words["source_kernel"] = source
    return words


def blame_sentence(blames: Sequence[model.Blame], most: int = 3) -> tuple[str, str | None]:
    """Who makes a kernel wait at its channels, largest first, as the end of a sentence; and the kernel to look at. What
    may lie behind an issue is said of the first only."""
    sums: dict[tuple[tuple[str, ...], str, str | None, int | None], int] = {}
    for one in blames:
        key = one.kernels[-1:] if one.end != "stream" else (), one.end, one.last_cause, one.last_line
        sums[key] = sums.get(key, 0) + one.cycles
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0][1], str(item[0])))
    issues = [key for key, _ in ordered if key[1:3] == ("account", "issued")]
    parts = [f"{cycles:,} cycles {_because(*key, key in issues[:1])}" for key, cycles in ordered[:most]]
    rest = sum(cycles for _, cycles in ordered[most:])
    if rest:
        parts.append(f"{rest:,} cycles for other causes")
    named = [key[0][0] for key, _ in ordered if key[0] and key[1] == "account" and key[2] != "issued"]
    named += [key[0][0] for key, _ in ordered if key[0]]
    return ", ".join(parts), named[0] if named else None


def _because(kernels: tuple[str, ...], end: str, cause: str | None, line: int | None, explained: bool) -> str:
    if end == "stream":
        return "while a stream of the board was not ready"
    (kernel,) = kernels
    if end == "idle":
        return f"while kernel {kernel} did not run"
    if end == "circle":
        return f"in a circle through {kernel}: kernels wait for each other"
    cause = present(cause)  # of an account
    if cause == "issued":
        why = " (latency of its pipeline, the effect of an earlier wait, or iterations that pass no value)"
        return f"while {kernel} issued{why if explained else ''}"
    if cause.startswith("waiting for "):
        return f"for {kernel}, {cause.replace('waiting', 'which waited', 1)}{at_line(line)}"
    return f"for {kernel}: {cause}{at_line(line)}"


def _waited(cause: str) -> str:
    """The channel in the cause of an account: "waiting for channel c to have room"."""
    return " ".join(cause.removeprefix("waiting for ").split()[:2])


def _most(accounts: Iterable[model.Account]) -> model.Account | None:
    return max(accounts, key=lambda one: one.cycles, default=None)


def _of(accounts: Iterable[model.Account], category: str) -> int:
    return sum(one.cycles for one in accounts if one.category == category)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
