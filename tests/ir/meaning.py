"""Whether two modules compute the same: both are run by the interpreter, on random buffers and arguments.

A line ``; run: n=0..9, p=0..63, length(a)=16, global=8, local=4, floats=exact`` of a golden file specifies them: a
range for a scalar or for the elements of a buffer or channel, the number of elements of a buffer (default 64), sizes of
the launch; with ``floats=exact`` floats are small whole numbers, whose sums are the same in any order. All else is
random: integers are small half of the time, floats may be NaN, infinite or subnormal.
"""

import random
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from hls.ir import Function, MemoryObject, Module, walk
from hls.ir.concurrent import Channel, channel_room
from hls.ir.interpreter import ExecutionError, Launch, run_launches
from hls.ir.types import ArrayType, FloatType, Type

__all__ = ["Plan", "difference", "watched_runs"]

W = TypeVar("W")
SEEDS = 8
#: runs of the input that must go well: others access places outside of their buffers, or do not end
LEAST = 4
ELEMENTS = 64
MAX_ITERATIONS = 20_000
SPECIAL = [float("inf"), float("-inf"), float("nan"), -0.0, 0.0, 1e-41, 3e38]


@dataclass
class Plan:
    """What a ``run:`` line says."""

    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    exact: bool = False

    @classmethod
    def of(cls, text: str) -> "Plan":
        """The plan that a text describes. Raises ValueError for one that cannot be read."""
        plan = cls()
        for part in filter(None, (part.strip() for part in text.split(","))):
            key, _, value = part.partition("=")
            if match := re.fullmatch(r"length\((\w+)\)", key):
                plan.lengths[match[1]] = int(value)
            elif key in ("global", "local", "offset"):
                plan.sizes[key] = tuple(int(n) for n in value.split("x"))
            elif part == "floats=exact":
                plan.exact = True
            elif match := re.fullmatch(r"(-?\d+)(?:\.\.(-?\d+))?", value):
                plan.ranges[key] = (int(match[1]), int(match[2] or match[1]))
            else:
                raise ValueError(f"run: cannot read {part!r}")
        return plan


def difference(before: Module, after: Module, text: str) -> str | None:
    """How a run of ``after`` differs from the same run of ``before``; None where all runs are equal."""
    plan, good = Plan.of(text), 0
    for seed in range(SEEDS):
        expected = _outcome(before, plan, seed)
        if isinstance(expected, str):
            failure = expected
            continue
        good += 1
        found = _outcome(after, plan, seed)
        if isinstance(found, str) or _without_new_channels(found, expected) != expected:
            return f"run {seed} gives {_apart(expected, found)}"
    if good < LEAST:
        return f"only {good} of {SEEDS} runs of the input go well ({failure}): say with '; run:' what it needs"
    return None


def watched_runs(module: Module, text: str, watcher: Callable[[], W]) -> Iterator[tuple[W, str]]:
    """(watcher, what was printed) of several runs of the kernels, each up to where it goes wrong."""
    plan = Plan.of(text)
    for seed in range(SEEDS):
        watch, printed = watcher(), []
        channels = _channels(module, plan, seed)
        launches = [_launch(function, channels, plan, seed) for function in module.kernels if not _is_part(function)]
        with suppress(ExecutionError):
            run_launches(module, launches, MAX_ITERATIONS, channels, printed.append, watch)
        yield watch, "".join(printed)


def _without_new_channels(found: dict, expected: dict) -> dict:
    """What was found, without the empty channels that a pass added."""
    return {name: value for name, value in found.items() if name in expected or value != repr([])}


def _apart(expected: dict, found: dict | str) -> str:
    if isinstance(found, str):
        return found
    expected = dict.fromkeys(_without_new_channels(found, expected), "nothing") | expected
    name = next(name for name in expected if found.get(name) != expected[name])
    return f"{name} = {found.get(name)!r} instead of {expected[name]!r}"


def _outcome(module: Module, plan: Plan, seed: int) -> dict | str:
    """What the kernels leave in buffers and channels, and print; a text where a run goes wrong."""
    printed: list[str] = []
    channels = _channels(module, plan, seed)
    alone = [each for each in module.kernels if not _is_autorun(each) and not _is_part(each)]
    launches = [_launch(function, channels, plan, seed) for function in alone]
    try:
        for together in [launches] if channels else [[one] for one in launches]:
            run_launches(module, together, MAX_ITERATIONS, channels, printed.append)
    except ExecutionError as error:
        return str(error)
    found = {f"{one.kernel} {name}": bytes(data) for one in launches for name, data in _buffers(one)}
    held = {each.name: repr(list(each.values)) for several in channels.values() for each in several}
    return found | held | {"printed": "".join(printed)}


def _buffers(launch: Launch):
    return ((name, data) for name, data in launch.buffers.items() if isinstance(data, bytearray))


def _is_autorun(function: Function) -> bool:
    return bool(function.attrs.get("autorun"))


def _is_part(function: Function) -> bool:
    """Whether the launch of another kernel starts it."""
    return "part_of" in function.attrs


def _launch(function: Function, channels: dict[str, list[Channel]], plan: Plan, seed: int) -> Launch:
    buffers: dict[str, object] = {}
    for memory in function.memories.values():
        if memory.space == "global":
            buffers[memory.name] = _data(memory, plan, f"{seed} {function.name} {memory.name}")
        elif memory.space == "local" and memory.length is None:
            buffers[memory.name] = plan.lengths.get(memory.name, ELEMENTS) * memory.element.bytes
        elif memory.space == "pipe":
            buffers[memory.name] = channels[memory.name][0]
    scalars = {}
    parameters = [one for one in function.params if one.kind == "scalar"]
    for one, arg in zip(parameters, function.args):
        rng = random.Random(f"{seed} {function.name} {one.name}")
        scalars[one.name] = _argument(arg.type, rng, plan.ranges.get(one.name, (0, 12)), plan.exact)
    sizes = plan.sizes
    return Launch(function.name, buffers, scalars, sizes.get("global", (1,)), sizes.get("local"), sizes.get("offset"))


def _argument(type: Type, rng: random.Random, bounds: tuple[int, int], exact: bool) -> object:
    if isinstance(type, ArrayType):
        return b"".join(_bytes(type.element, rng, bounds, exact) for _ in range(type.length))
    return _value(type, rng, bounds, exact)


def _data(memory: MemoryObject, plan: Plan, seed: str) -> bytearray:
    rng, count = random.Random(seed), plan.lengths.get(memory.name, ELEMENTS)
    bounds = plan.ranges.get(memory.name)
    return bytearray(b"".join(_bytes(memory.element, rng, bounds, plan.exact) for _ in range(count)))


def _bytes(type: Type, rng: random.Random, bounds: tuple[int, int] | None, exact: bool) -> bytes:
    if isinstance(type, ArrayType):
        return b"".join(_bytes(type.element, rng, bounds, exact) for _ in range(type.length))
    value = _value(type, rng, bounds, exact)
    if isinstance(type, FloatType):
        return struct.pack({16: "<e", 32: "<f", 64: "<d"}[type.bits], value)
    return value.to_bytes(type.bytes, "little")


def _value(type: Type, rng: random.Random, bounds: tuple[int, int] | None, exact: bool) -> object:
    if isinstance(type, ArrayType):
        return tuple(_value(type.element, rng, bounds, exact) for _ in range(type.length))
    if isinstance(type, FloatType):
        if exact or bounds:
            return float(rng.randint(*(bounds or (-8, 8))))
        special = rng.choice(SPECIAL) if type.bits > 16 else rng.choice(SPECIAL[:5])
        return rng.choice(
            [special, float(rng.randint(-9, 9)), struct.unpack("<f", struct.pack("<f", rng.gauss(0, 9)))[0]]
        )
    number = rng.randint(*bounds) if bounds else rng.choice([rng.randint(-3, 12), rng.getrandbits(type.bits)])
    return number & (1 << type.bits) - 1


def _channels(module: Module, plan: Plan, seed: int) -> dict[str, list[Channel]]:
    """All channels and pipes by name; those that no kernel writes hold values."""
    pipes = {m.name: m for f in module.functions.values() for m in f.memories.values() if m.space == "pipe"}
    written = {
        op.attrs["channel"]
        for function in module.functions.values()
        for op in walk(function.body)
        if op.opcode == "channel_write"
    }
    found = {}
    for name, memory in {**pipes, **module.channels}.items():
        found[name] = Channel.all_of(memory)
        rng = random.Random(f"{seed} {name}")
        for each in found[name]:
            each.room = None if _one_end(module, name) else channel_room(memory)
            if name not in written:
                each.values.extend(
                    _value(memory.element, rng, plan.ranges.get(name), plan.exact) for _ in range(ELEMENTS)
                )
    return found


def _one_end(module: Module, name: str) -> bool:
    """Whether only one side of a channel lies in the module: then it holds any number of values."""
    opcodes = {
        op.opcode
        for function in module.functions.values()
        for op in walk(function.body)
        if op.opcode in ("channel_read", "channel_write") and op.attrs["channel"] == name
    }
    return len(opcodes) < 2
