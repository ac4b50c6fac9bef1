"""Hardware counters: which are built, and that nothing else of a design depends on them."""

import gc
import re
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.hdl import UnusedElaboratable

from hls import Options, compile
from hls.model.netlist import read_modules
from hls.profile import decode
from hls.profile.layout import COUNTER_BITS, CYCLES, DRAIN_BITS
from sim.cl.options import parse_options

EXAMPLES = Path(__file__).parents[3] / "examples"
#: of a kernel, by what is built: which kinds of counters it has
KINDS = {
    "": set(),
    "accounts": {"account"},
    "accesses": {"issued", "invocations", "busy", "starts", "accepted", "stalled", "bursts", "words"},
}
SOURCE = """__kernel void sums(__global const int *restrict a, __global int *restrict o, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    *o = s;
}"""


def built(source: str, counters: str):
    return compile(source, "de5net", Options(counters=counters, include_dirs=(EXAMPLES,)))


def circuits(result) -> dict[str, tuple]:
    """What each instance below the kernels consists of, by its path, without counters."""
    modules = {name: one for text in result.verilog.values() for name, one in read_modules(text).items()}
    kernels = {kernel.name for kernel in result.interface.kernels}
    found, left = {}, [(name, modules[result.top].instances[name]) for name in kernels]
    while left:
        path, module = left.pop()
        one = modules[module]
        if path not in kernels:  # a kernel's own module also connects its counters
            found[path] = (one.registers, round(one.luts, 6), tuple(one.memories), tuple(one.products))
        left += [(f"{path}/{name}", inner) for name, inner in one.instances.items() if name != "counters"]
    return found


@pytest.mark.parametrize("counters", ["", "accounts", "accesses", "all"])
def test_which_counters_are_built(counters):
    (kernel,) = built(SOURCE, counters).interface.kernels
    kinds = {counter.kind for counter in kernel.layout.counters}
    assert kinds == KINDS.get(counters, KINDS["accounts"] | KINDS["accesses"])
    assert [one.name for one in kernel.counters] == [one.name for one in kernel.layout.registers]


def test_counters_are_off_unless_asked_for():
    assert Options().counters == "" and parse_options("", EXAMPLES).counters == ""
    with pytest.raises(ValueError, match="counters must be one of"):
        Options(counters="some")


@pytest.mark.parametrize("converted", [False, True])
def test_no_part_is_made_that_is_not_used(converted):
    """Amaranth warns of a part that no design contains when it is deleted; a program that uses the compiler would see
    that, also where it never reads the Verilog. The loop has a load, a store and a recurrence, so its accounts have
    parts of each kind."""
    gc.collect()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = built(SOURCE.replace("s += a[i];", "o[i + 1] = s += a[i];"), "")
        (kernel,) = result.interface.kernels
        assert not converted or result.verilog
        del result
        gc.collect()
    assert [str(one.message) for one in found if issubclass(one.category, UnusedElaboratable)] == []
    assert {account.category for account in kernel.layout.accounts} >= {"issue", "memory", "ramp-up", "drain"}


@pytest.mark.parametrize("name", ["fir", "histogram"])
def test_no_circuit_but_the_counters_depends_on_them(name):
    """So no cycle can differ."""
    source = next((EXAMPLES / name).glob("*.cl")).read_text()
    without, counted = built(source, ""), built(source, "all")
    assert circuits(without) == circuits(counted)
    assert all(kernel.layout.counters for kernel in counted.interface.kernels)


def test_a_run_without_some_of_the_counters():
    (kernel,) = built(SOURCE, "all").interface.kernels
    accounts = replace(kernel.layout, counted="accounts")
    values = {counter.name: 0 for counter in accounts.counters} | {CYCLES: 10}
    first = accounts.accounts[0]
    found = decode(accounts, values | {first.counters()[0].name: 10})
    assert found["accounts"][0]["cycles"] == 10 and found["loops"] == found["memory"] == []
    accesses = replace(kernel.layout, counted="accesses")
    found = decode(accesses, {counter.name: 0 for counter in accesses.counters} | {CYCLES: 10})
    assert [account["cycles"] for account in found["accounts"]] == [10]
    assert "not counted" in found["accounts"][0]["cause"] and [loop["iterations"] for loop in found["loops"]] == [0]


def test_the_cycles_without_a_cause_are_told_apart_by_two_registers():
    """One counts all of them, the short one those after the last issue."""
    (kernel,) = built(SOURCE, "all").interface.kernels
    ((between, drain),) = kernel.layout.rests
    bits = {one.name: one.bits for one in kernel.layout.counters}
    assert bits[drain] == DRAIN_BITS < bits[between] == COUNTER_BITS
    shown = {one.name: 5 for one in kernel.layout.registers} | {between: 30, drain: 12, CYCLES: 100}
    assert kernel.layout.of_registers(shown).items() >= (shown | {between: 18}).items()
    whole = replace(kernel.layout, units=2, parts=(replace(kernel.layout, kernel="other"),))
    assert len(whole.rests) == 2
    shown = {one.name: 7 if one.name.endswith(between) else 3 for one in whole.registers} | {CYCLES: 100}
    found = whole.of_registers(shown)
    assert {name for name in found if found[name] == 4} == {f"unit0_{between}", f"unit1_{between}", f"part1_{between}"}
    accesses = replace(kernel.layout, counted="accesses")
    shown = {one.name: 3 for one in accesses.registers}
    assert accesses.rests == () and accesses.of_registers(shown).items() >= shown.items()


NEST = """__kernel void nest(__global const int *restrict a, __global int *restrict o, int n)
{
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int k = 0; k < n; k++) s += a[i * n + k];
        o[i] = s;
    }
}"""


@pytest.mark.parametrize("counters", ["accesses", "all"])
@pytest.mark.parametrize(
    ("source", "missing"),
    [(SOURCE, {"i_invocations", "i_starts", "i_issued"}), (NEST, {"k_issued"})],
    ids=["one", "nest"],
)
def test_no_register_shows_what_another_does(source, missing, counters):
    """A loop that begins once has no register that says how often it began; the issues of the only innermost loop are
    an account, where accounts are built."""
    (kernel,) = built(source, counters).interface.kernels
    layout = kernel.layout
    left = {one.name for one in layout.counters} - {one.name for one in layout.registers}
    expected = {name for name in missing if counters == "all" or not name.endswith("issued")}
    assert {re.sub(r"loop_(\w)_L\d+_", r"\1_", name) for name in left} == expected
    (inner,) = [loop for loop in layout.loops if loop.sole]
    whole = replace(layout, units=2, parts=(replace(layout, kernel="other"),))
    shown = {one.name: 7 for one in whole.registers} | {CYCLES: 100}
    found = whole.of_registers(shown)
    assert found.keys() == {CYCLES, *(one.name for one in whole.counters)}
    for before in ("unit0_", "unit1_", "part1_"):
        assert found[f"{before}{inner.key}_issued"] == 7
        assert found[f"{before}{inner.key}_starts"] == (1 if inner.once else 7)


PIPE = """#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int c __attribute__((depth(5)));
__kernel void from(__global const int *restrict a, int n) { for (int i = 0; i < n; i++) write_channel_intel(c, a[i]); }
__kernel void into(__global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = read_channel_intel(c); }"""


def test_levels_of_channels_are_as_wide_as_their_depth():
    for kernel in built(PIPE, "all").interface.kernels:
        (channel,) = kernel.layout.channels
        bits = {one.name.removeprefix(f"{channel.key}_"): one.bits for one in kernel.counters}
        assert bits["level"] == bits["max_level"] == channel.depth.bit_length() < bits["moved"] == COUNTER_BITS


def test_totals_are_only_of_registers_that_count_events():
    """The registers of values come behind those, and no total is built for them."""
    for kernel in built(PIPE, "all").interface.kernels:
        widths = [one.bits for one in sorted(kernel.counters, key=lambda one: one.offset)]
        assert widths[-3:] != [COUNTER_BITS] * 3 and set(widths[:-3]) == {COUNTER_BITS}
