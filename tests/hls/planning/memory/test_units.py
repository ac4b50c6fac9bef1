"""The unit chosen for each load of small kernels, and the reason."""

import pytest

from hls.diag import CompileError
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.passes.run_stages import optimize
from hls.planning import Compilation, plan_function
from hls.planning.memory.units import CACHE_WORDS, MOST_CACHE_WORDS, choose_units
from hls.target.board import load_board

CACHED, SINGLE, PIPELINED = "burst-coalesced cached", "burst-coalesced", "pipelined"
ARGS = (
    """__global const float *restrict a, __global const int *restrict p, __global float *restrict out, int n, int m"""
)


def loads(text, board="de5net", options=None):
    """(memory, unit, reason, words kept) of each load, through the whole of planning."""
    board = load_board(board)
    (kernel,) = optimize(parse_source(text, "k.cl", {}, []).module).kernels
    planned = plan_function(kernel, Compilation(board, options or Options()))
    return [
        (a.memory, a.lsu, a.reason, a.cache_words) for a in planned.memory.accesses.values() if a.direction == "load"
    ]


def nest(value, type="float", args=ARGS, m="m"):
    return f"""__kernel void k({args}) {{
        #pragma unroll 1
        for (int i = 0; i < n; i++) {{
            {type} s = 0;
            #pragma unroll 1
            for (int j = 0; j < {m}; j++) s += {value};
            out[i] = s;
        }} }}"""


@pytest.mark.parametrize(
    "value, type, unit, reason",
    [
        ("(int) a[i * m + j]", "int", SINGLE, "consecutive"),
        ("a[i * m + j]", "float", CACHED, "interleaved invocations"),
        ("a[j]", "float", CACHED, "loop i (line 3) reads the same words again"),
        ("(int) a[j]", "int", CACHED, "loop i (line 3) reads the same words again"),
        ("a[j * n + i]", "float", CACHED, "loop i (line 3) reads the same words again"),
        ("a[j * 100 + i * 1000]", "float", SINGLE, "reads a different word"),
        ("a[i]", "float", SINGLE, "consecutive"),
        ("a[7]", "float", PIPELINED, "one access a launch"),
        ("a[j / 3 + j % 5]", "float", CACHED, "have no constant stride"),
        ("a[j & s & 7]", "int", CACHED, "depend on data"),
    ],
)
def test_units_of_an_inner_load(value, type, unit, reason):
    (memory, found, why, words), *_ = loads(nest(value, type))
    assert (memory, found) == ("a", unit)
    assert reason in why
    assert bool(words) == (unit == CACHED)


def test_a_cache_keeps_words_of_interleaved_rows_where_a_loop_around_changes_them():
    """Loop t stores between two sweeps what both load: no word lasts that long, but a row's word while its turns go."""
    sweep = """for (int i = 0; i < n; i++) {{
                   float last = 0;
                   for (int j = 0; j < 50; j++) {{
                       last = {0}[i * 100 + j] + w * last;
                       {1}[i * 100 + j] = last;
                   }}
               }}"""
    args = "__global float *restrict a, __global float *restrict b, float w, int n, int steps"
    sweeps = sweep.format("a", "b") + sweep.format("b", "a")
    found = loads(f"__kernel void k({args}) {{ for (int t = 0; t < steps; t++) {{ {sweeps} }} }}")
    assert [(memory, unit) for memory, unit, _, _ in found] == [("a", CACHED), ("b", CACHED)]
    assert all("11 interleaved invocations" in why and words == CACHE_WORDS for _, _, why, words in found)


def gathered(
    store,
    args="__global const float *restrict a, __global float *restrict b, float w, int n, int m",
    value="a[i * m + j] + w * last",
):
    """The words that the store of a nest joins stores to at a time, and why; its rows are interleaved, as each is a
    recurrence."""
    text = f"""__kernel void k({args}) {{
        for (int i = 0; i < n; i++) {{
            float last = 0;
            for (int j = 0; j < m; j++) {{
                last = {value};
                {store} = last;
            }}
        }} }}"""
    (kernel,) = optimize(parse_source(text, "k.cl", {}, []).module).kernels
    planned = plan_function(kernel, Compilation(load_board("de5net"), Options()))
    (found,) = [a for a in planned.memory.accesses.values() if a.direction == "store"]
    options = found.hardware.options
    assert options.get("words", 1) == found.gathers and not (found.gathers > 1 and options["counted"])
    return found.gathers, found.reason


@pytest.mark.parametrize("store", ["b[i * m + j]", "b[i * m + (m - 1 - j)]"])
def test_a_store_of_interleaved_rows_joins_a_word_for_each(store):
    words, reason = gathered(store)
    assert words == 16 and "11 interleaved invocations of loop j (line 4) store to 11 words" in reason


def test_a_store_of_rows_of_quotients_joins_32_words():
    words, reason = gathered("b[i * m + j]", value="w / (last + 2.0f)")
    assert words == 32 and "of which it joins 32" in reason


@pytest.mark.parametrize("store", ["b[j * n + i]", "b[i * m + j * 16]", "b[i]"])
def test_a_store_that_leaves_its_word_joins_one(store):
    """The next element of a column, or of a row with gaps, is in another word; a single element has no row."""
    assert gathered(store)[0] == 1


@pytest.mark.parametrize(
    "index, end, comes_round",
    [
        ("i * 7 & 63", "n", True),
        ("(i * 7 + m) % 64u", "n", True),
        ("i & 1023", "n", True),
        ("(uchar)i", "n", True),
        ("i & 15", "n", False),
        ("i & 0xfffff", "n", False),
        ("i * 3", "n", False),
        ("i & 127", "64", False),
        ("4 * i", "n / 4", False),
    ],
)
def test_an_address_that_comes_round_is_cached(index, end, comes_round):
    """Where that happens in one run of the loop, and neither the word in use nor more than the largest cache has all of
    the round."""
    text = f"__kernel void k({ARGS}) {{ for (int i = 0; i < {end}; i++) out[i] = a[{index}]; }}"
    ((_, unit, reason, _),) = loads(text.replace("for", "\n#pragma unroll 1\nfor"))
    assert (unit == CACHED, "wraps around" in reason) == (comes_round, comes_round)


def test_data_dependent_addresses_are_cached():
    found = {memory: unit for memory, unit, _, _ in loads(nest("(int) a[p[i * m + j]]", "int"))}
    assert found == {"p": SINGLE, "a": CACHED}


ITEMS = (
    "__kernel void k(__global int *restrict a, __global int *restrict b, __constant int *c, int n) { int g = "
    "get_global_id(0); %s }"
)
TASK = (
    "__kernel void k(__global int *restrict a, __global int *restrict b, __constant int *c, int n) { for (int i = "
    "0; i < n; i++) { %s } }"
)


@pytest.mark.parametrize(
    "text, units",
    [
        (ITEMS % "b[g] = a[g / 2];", [CACHED, SINGLE]),
        (ITEMS % "b[g] = a[g];", ["streaming", SINGLE]),
        (TASK % "b[i] = a[i];", ["prefetching", SINGLE]),
        (TASK % "b[i] = c[i & 15];", ["constant-pipelined", SINGLE]),
        (
            TASK % "b[3 * i] = a[3 * i + 2]; b[3 * i + 1] = a[3 * i]; b[3 * i + 2] = a[3 * i + 1];",
            ["burst-coalesced non-aligned"] * 2,
        ),
        (TASK % "b[a[i]] += 3;", ["prefetching", SINGLE, "burst-coalesced write-ack"]),
        (
            ITEMS % "a[g] = n; barrier(CLK_GLOBAL_MEM_FENCE); b[g] = a[g ^ 1];",
            ["burst-coalesced write-ack", CACHED, SINGLE],
        ),
        (ITEMS % "atomic_inc(&a[g]);", ["atomic-pipelined"]),
        (ITEMS % "int s = 0; if (g == 0) s = a[3]; b[g] = s;", [PIPELINED, SINGLE]),
        (ITEMS % "int s = 0; if (g - 2 == n && n > 0) s = a[n]; b[g] = s;", [PIPELINED, SINGLE]),
        (ITEMS % "int s = 0; if (g >= n) s = a[3]; b[g] = s;", [SINGLE, SINGLE]),
        (ITEMS % "int s = 0; if (g == a[0]) s = a[3]; b[g] = s;", [SINGLE, SINGLE, SINGLE]),
    ],
)
def test_units_by_the_names_of_the_guides(text, units):
    (planned,), _ = plan_module(parse_source(text, "k.cl", {}, []).module, load_board("de5net"), Options())
    assert [a.lsu for a in planned.memory.outside.values()] == units


def test_volatile_is_never_cached():
    text = nest("a[j]", args=ARGS.replace("const float *restrict a", "const volatile float *a"))
    assert loads(text)[0][1:3] == (SINGLE, "volatile: no word may be cached, each access reads memory")


@pytest.mark.parametrize(
    "trips, words", [(100, CACHE_WORDS), (300, 2 * CACHE_WORDS), (900, MOST_CACHE_WORDS), (MOST_CACHE_WORDS, 0)]
)
def test_the_cache_holds_what_is_read_in_between_or_is_left_out(trips, words):
    """A column whose length is known: each access is in reads a different word until the next column."""
    assert loads(nest("a[j * 64 + i]", m=str(trips)))[0][3] == words


STORED = """__kernel void k(__global int *%s a, __global int *%s b, __global const int *restrict p, int n)
{ 
    #pragma unroll 1
    for (int i = 0; i < n; i++) %s
}"""


def test_no_cache_that_every_iteration_would_empty():
    ((_, unit, reason, _),) = [
        x for x in loads(STORED % ("restrict", "restrict", "{ a[p[i]] = a[p[n - i]] + 1; }")) if x[0] == "a"
    ]
    assert unit == SINGLE
    assert "stores" in reason


def test_a_cache_that_only_overlapping_buffers_empty():
    """Stores to another buffer that might be the same one, but in ordinary runs is not."""
    ((_, unit, _, _),) = [x for x in loads(STORED % ("", "", "b[i] = a[p[i]];")) if x[0] == "a"]
    assert unit == CACHED


def test_a_cache_that_lasts_for_an_inner_loop():
    text = STORED % (
        "restrict",
        "restrict",
        """{
        int s = 0;
        for (int j = 0; j < n; j++) s += a[p[j] & 255];
        a[s & 255] = s; }""",
    )
    assert [x[1] for x in loads(text) if x[0] == "a"] == [CACHED]


@pytest.mark.parametrize(
    ("step", "unit"),
    [
        ("i += a[i] > 0 ? 2 : 1;", "next-word prefetching"),
        ("i += 3 * (a[i] & 1);", "next-word prefetching"),
        ("if (a[i] < s) i++; s += i;", "next-word prefetching"),
        ("s += a[i]; i += 2;", SINGLE),  # the address does not depend on what is read
        ("i += a[i] > 0 ? 2 : -1;", CACHED),  # moves back
        ("i += a[i] > 0 ? 40 : 1;", CACHED),  # may leave out a word
        ("i = a[i];", CACHED),
    ],
)
def test_a_load_whose_next_address_depends_on_what_it_reads(step, unit):
    text = f"""__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {{
        int i = 0, s = 0;
        for (int k = 0; k < n; k++) {{ {step} }}
        out[0] = i + s; }}"""
    assert [found for memory, found, *_ in loads(text) if memory == "a"] == [unit]


def test_a_row_that_is_read_again_has_a_cache_also_where_its_addresses_depend_on_data():
    text = """__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {
        for (int r = 0; r < n; r++) {
            int i = 0;
            for (int k = 0; k < n; k++) i += a[i] > r ? 2 : 1;
            out[r] = i; } }"""
    assert [found for memory, found, *_ in loads(text) if memory == "a"] == [CACHED]


@pytest.mark.parametrize(
    "value, unit, reason, words",
    [
        ("__pipelined_load(&a[i * m + j])", PIPELINED, "requested", 0),
        ("__burst_coalesced_load(a + j)", SINGLE, "requested", 0),
        (
            "__burst_coalesced_cached_load(&a[i * m + j], 1024)",
            CACHED,
            "requested, with 1,024 bytes of cache",
            CACHE_WORDS,
        ),
        ("__burst_coalesced_cached_load(&a[i], 1 << 16)", CACHED, "requested, with 65,536 bytes of cache", 2048),
        ("__prefetching_load(&a[i * m + j])", SINGLE, "prefetching requested, but its addresses", 0),
    ],
)
def test_units_that_the_program_chooses(value, unit, reason, words):
    (memory, found, why, kept), *_ = loads(nest(value))
    assert (memory, found, kept) == ("a", unit, words)
    assert why.startswith(reason)


def test_what_cannot_be_as_asked():
    ((_, unit, why, _), *_) = loads(
        nest(
            "__burst_coalesced_cached_load(&a[j], 4096)",
            args=ARGS.replace("const float *restrict a", "const volatile float *a"),
        )
    )
    assert (unit, why) == (SINGLE, "burst-coalesced cached requested, but the memory is volatile")


def test_chosen_accesses_are_not_joined_with_others():
    text = """__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {
        for (int i = 0; i < n; i++)
            out[i] = __pipelined_load(a + 4 * i) + a[4 * i + 1] + a[4 * i + 2] + __pipelined_load(a + 4 * i); }"""
    assert [unit for _, unit, _, _ in loads(text)] == [PIPELINED, f"{SINGLE} non-aligned"]


@pytest.mark.parametrize(
    "store, unit",
    [
        ("__pipelined_store(out + i, 3);", PIPELINED),
        ("__burst_coalesced_store(&out[i], 3);", SINGLE),
        ("out[i] = 3;", SINGLE),
    ],
)
def test_stores_that_the_program_chooses(store, unit):
    board = load_board("de5net")
    (kernel,) = optimize(
        parse_source(
            f"__kernel void k(__global int *out, int n) {{ for (int i = 0; i < n; i++) {{ {store} }} }}", "k.cl", {}, []
        ).module
    ).kernels
    planned = plan_function(kernel, Compilation(board, Options()))
    assert [a.lsu for a in planned.memory.accesses.values()] == [unit]


@pytest.mark.parametrize(
    "cache_bytes, unit, words", [(None, CACHED, CACHE_WORDS), (0, SINGLE, 0), (1 << 16, CACHED, 2048)]
)
def test_the_option_for_caches(cache_bytes, unit, words):
    found = [
        x for x in loads(nest("(int) a[p[i * m + j]]", "int"), options=Options(cache_bytes=cache_bytes)) if x[0] == "a"
    ]
    assert [(x[1], x[3]) for x in found] == [(unit, words)]
    chosen = loads(nest("__burst_coalesced_cached_load(&a[j], 4096)"), options=Options(cache_bytes=cache_bytes))
    assert chosen[0][1] == CACHED  # what the program says counts


def test_memory_on_the_chip_needs_no_unit():
    assert {x[1] for x in loads(nest("a[j]"), "ecp5_onchip")} == {"RAM port"}


def test_stores_stay_as_they_were():
    board = load_board("de5net")
    (kernel,) = optimize(parse_source(nest("a[j]"), "k.cl", {}, []).module).kernels
    planned = plan_function(kernel, Compilation(board, Options()))
    again = choose_units(planned.function, planned.memory, {})
    assert [a for a in again.accesses.values() if a.direction == "store"] == [
        a for a in planned.memory.accesses.values() if a.direction == "store"
    ]


@pytest.mark.parametrize(
    "address, scattered",
    [
        ("i", False),
        ("16 * i", False),
        ("17 * i", True),
        ("p[i]", True),
        ("m * i", True),
        ("n - i", False),
        ("n - 16 * i", True),
        ("i + m", False),
    ],
)
def test_stores_whose_bursts_have_few_words_may_have_many_on_their_way(address, scattered):
    """Up by a word of 16 floats at most they share bursts; where nobody knows the step they may not, and down they do
    not."""
    text = f"__kernel void k({ARGS}) {{ for (int i = 0; i < n; i++) out[{address}] = a[i]; }}"
    board = load_board("de5net")
    (kernel,) = optimize(parse_source(text, "k.cl", {}, []).module).kernels
    planned = plan_function(kernel, Compilation(board, Options()))
    (store,) = (each for each in planned.memory.accesses.values() if each.direction == "store")
    assert store.scattered == scattered


def test_atomic_operations_are_at_most_as_wide_as_words():
    """The unit computes within a word of memory: words of 4 bytes have no place for an operand of 8."""
    text = "__kernel void k(__global {0} *restrict a, int n) {{ for (int i = 0; i < n; i++) {1}(a, ({0})i); }}"
    assert loads(text.format("int", "atomic_add"), "ulx3s") == []
    assert loads(text.format("long", "atom_add"), "de5net") == []
    with pytest.raises(CompileError, match="on 64 bits of global memory, whose words have 32 on this board"):
        loads(text.format("long", "atom_add"), "ulx3s")
