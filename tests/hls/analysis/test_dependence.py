"""Dependence analysis of small kernels: which accesses depend on each other, in which loop, at which distance."""

import pytest

from hls.analysis.dependence import dependence
from hls.analysis.dependence.dependence import Kind, dependences
from hls.frontend import parse_source
from hls.ir import Function, walk
from hls.passes.order.insert_memory_tokens import InsertMemoryTokens
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize

ADDRESS_BITS = PipelineOptions().address_bits


@pytest.fixture(autouse=True)
def without_order(monkeypatch, through_memory):
    """The kernels are looked at as the order pass sees them."""
    monkeypatch.setattr(InsertMemoryTokens, "run", lambda self, function: function)


def flat(text: str, address_bits: int = ADDRESS_BITS) -> Function:
    options = PipelineOptions(address_bits=address_bits)
    return optimize(parse_source(text, "k.cl", {}, []).module, options).kernels[0]


def said(text: str, address_bits: int = ADDRESS_BITS) -> set[str]:
    """Each fact as e.g. "RAW a i 8": kind, memory of the source, label of the loop or "-", distance, and notes."""
    facts = set()
    for d in dependences(flat(text, address_bits), address_bits):
        loop = d.loop.attrs["label"] if d.loop else "-"
        memories = dict.fromkeys(x.operands[0].op.attrs["mem"] for x in (d.src, d.dst))
        notes = " unknown" * (not d.known and not d.overlap) + " overlap" * d.overlap
        facts.add(f"{d.kind.name} {'>'.join(memories)} {loop} {d.distance}{notes}")
    return facts


def loop(body, args="__global int *restrict a, __global int *restrict b, int n, int m", head="int i = 0; i < n; i++"):
    return f"__kernel void k({args}) {{\n#pragma unroll 1\nfor ({head}) {{ {body} }} }}"


@pytest.mark.parametrize(
    "body, facts",
    [
        ("a[i] = b[i];", set()),
        ("a[i] += b[i];", {"WAR a - 0"}),
        ("a[i + 1] = a[i];", {"RAW a i 1"}),
        ("a[i] = a[i + 1];", {"WAR a i 1"}),
        ("a[i + 8] = a[i];", {"RAW a i 8"}),
        ("a[2 * i] = a[2 * i + 1];", set()),
        ("a[2 * i] = a[i + 3];", {"RAW a i 1", "WAR a i 1", "WAR a - 0"}),
        ("a[0] = i;", {"WAW a i 1"}),
        ("a[i] = 1; b[i] = a[i];", {"RAW a - 0"}),
        ("if (i > m) a[m] = a[i];", {"WAW a i 1"}),
        ("if (i < 4) a[i + 4] = a[i];", set()),
        ("a[n - 1 - i] = b[a[i] & 3];", {"WAR a - 0", "WAR a i 1", "RAW a i 1"}),
        ("a[b[i]] += 1;", {"WAR a - 0", "WAR a i 1 unknown", "RAW a i 1 unknown", "WAW a i 1 unknown"}),
        # sums of atomic operations are the same in any order, but not what each of them gives, nor other operations in
        # between
        ("atomic_inc(&a[0]); atomic_sub(&a[0], i);", set()),
        ("atomic_max(&a[0], i); atomic_max(&a[0], m);", set()),
        ("atomic_inc(&a[0]); atomic_max(&a[0], i);", {"WAW a - 0", "WAW a i 1"}),
        ("b[i] = atomic_inc(&a[0]);", {"WAW a i 1"}),
        ("atomic_xchg(&a[0], i);", {"WAW a i 1"}),
        ("atomic_inc(&a[0]); a[0] = 3;", {"WAW a - 0", "WAW a i 1"}),
    ],
)
def test_one_loop(body, facts):
    assert said(loop(body)) == facts


@pytest.mark.parametrize(
    "stored, facts",
    [
        ("4 * x + y", {"RAW a i 16", "WAR a - 0", "WAR a i 16", "WAW a i 16"}),  # the same place after a round
        ("4 * x + 3 - y", {"RAW a i 1", "WAR a i 1", "WAW a i 16"}),  # rows are stored backwards
        ("y", {"RAW a i 4", "WAR a - 0", "WAR a i 4", "WAW a i 4"}),
    ],
)
def test_counters_that_begin_anew(stored, facts):
    text = loop(
        f"b[i] = a[4 * x + y]; a[{stored}] = i; if (++y == 4) {{ y = 0; if (++x == 4) x = 0; }}",
        "__global int *restrict a, __global int *restrict b, int n, int x, int y",
    )
    assert said(text.replace("{", "{ x = y = 0;", 1)) == facts


@pytest.mark.parametrize(
    "there, meets",
    [("~m & 1", False), ("(m ^ 1) & 1", False), ("(m ^ 2) & 1", True), ("m + 1 & 1", False), ("m + 2 & 1", True)],
)
def test_two_halves_that_change_places(there, meets):
    """What is read from one half of an array never meets what is stored to the other."""
    facts = said(loop(f"a[({there}) * 4096 + (i & 4095)] = a[(m & 1) * 4096 + (i + 1 & 4095)];"))
    assert any(fact.startswith(("RAW", "WAR")) for fact in facts) is meets


def test_unsigned_counters_are_exact():
    assert said(loop("a[i + 8] = a[i];", head="uint i = 0; i < (uint)n; i++")) >= {"RAW a i 8"}
    assert said(loop("a[i] += 1;", head="uint i = m; i < (uint)n; i++")) == {"WAR a - 0"}


@pytest.mark.parametrize(
    "end, meets",
    [
        ("n / 2", set()),
        ("n >> 1", set()),
        ("(uint)n / 2", set()),
        ("n / 4", set()),
        ("(n - 1) / 2", set()),
        ("(n + 1) / 2", {"WAW a - 0"}),
        ("n - n / 2", {"WAW a - 0"}),
    ],
)
def test_the_halves_of_a_buffer_are_apart(end, meets):
    body = "int t = a[i]; a[i] = a[n - 1 - i]; a[n - 1 - i] = t;"
    kind = "uint" if "uint" in end else "int"
    assert said(loop(body, head=f"{kind} i = 0; i < {end}; i++")) == {"WAR a - 0"} | meets


@pytest.mark.parametrize(
    "body, begin, behind",
    [
        ("if (b[i] & 1) a[w++] = a[i];", "0", True),
        ("if (b[i] & 1) a[w++] = a[i];", "m", True),
        ("a[w] = a[i]; w += i & 1;", "m", True),
        ("a[w] = a[2 * i]; w += b[i] & 1 ? 2 : 1;", "0", True),
        ("a[w] = a[2 * i]; w += b[i] & 3;", "0", False),
        ("if (b[i] & 1) a[w++] = a[i - 1];", "0", False),
    ],
)
def test_a_counter_that_is_never_ahead_of_another(body, begin, behind):
    """What stays is put closer together: no load reads what an earlier iteration has stored."""
    assert (
        any(fact.startswith("RAW") for fact in said(loop(body, head=f"int i = {begin}, w = {begin}; i < n; i++")))
        is not behind
    )


def test_a_narrow_counter_that_does_not_wrap_is_exact():
    """The end of the loop says how many bits the counter has."""
    assert said(loop("a[i + 8] = a[i];", head="int i = 0; i < n / 4; i++")) == {"RAW a i 8"}


def test_a_narrow_index_that_wraps_is_seen():
    """(uchar)(i + 250) comes back to 0: iteration 6 writes what iteration 0 read."""
    assert "WAR a i 6" in said(loop("a[(uchar)(i + 250)] = a[i];", head="int i = 0; i < 100; i++"))


def test_the_first_iteration_of_do_while_needs_no_condition():
    """The condition for going on says nothing of iteration 0, in which i may be as large as it likes."""
    text = "__kernel void k(__global int *restrict a, int n) { int i = n; do { a[i] = a[4]; i++; } while (i < 4); }"
    assert said(text) == {"WAR a - 0"}


def test_a_condition_on_what_changes_is_no_bound():
    """i < x held for the x of the iteration before: the new one may be less than i."""
    text = (
        "__kernel void k(__global int *restrict a, __global int *restrict b) "
        "{ int i = 0, x; do { x = b[i]; a[i] = a[x]; i++; } while (i < x); }"
    )
    assert any(fact.startswith("RAW a") for fact in said(text))


def test_nests():
    def nest(body):
        inner = f"\n#pragma unroll 1\nfor (int j = 0; j < 16; j++) {{ {body} }}"
        return said(loop(inner))

    assert nest("a[i * 16 + j] = a[i * 16 + j + 1];") == {"WAR a j 1", "WAR a i 1"}
    assert nest("a[i * 16 + j] += a[(i - 1) * 16 + j];") >= {"RAW a i 1"}
    assert nest("a[i] += b[j];") == {"WAR a - 0", "WAR a j 1", "RAW a j 1", "WAW a j 1"}
    assert not any(" j " in fact for fact in nest("a[j] += b[i];"))


def test_the_side_of_a_diagonal():
    """Counters that end at another counter, of which only the bits that may be set are compared."""

    def nest(body, columns="int j = 0; j < i; j++"):
        return said(loop(f"\n#pragma unroll 1\nfor ({columns}) {{ {body} }}"))

    assert nest("b[j] = a[j];") == nest("b[j] = a[i];") == {"WAW b i 1"}
    assert nest("a[i] = a[j];") == {"WAW a j 1", "RAW a i 1"}
    assert nest("a[j] += a[i];") == {"WAR a - 0", "WAR a i 1", "RAW a i 1", "WAW a i 1"}
    assert nest("a[i] = b[j];") == {"WAW a j 1"}


@pytest.mark.parametrize(
    "body, apart",
    [
        ("if (b[i] > m) a[w++] = i; if (b[i] < m) a[w++] = 1;", True),
        ("if (b[i] > m) { a[w] = i; a[w + 1] = m; w += 2; }", True),
        ("for (int j = 0; j < b[i]; j++) a[w++] = j; a[w++] = -1;", True),
        ("for (int j = 0; j < b[i]; j++) if (b[j]) a[w++] = j; for (int j = 0; j < m; j++) a[w++] = 1;", True),
        ("for (int j = 0; j < b[i]; j++) w += b[j] & 7; a[w++] = i;", True),
        ("a[w++] = a[m]; w = b[i] > 5 ? w + 3 : w;", None),  # the element that is read may be any of those
        ("a[w] = i; if (b[i]) w++;", False),
        ("a[w] = i; a[w + 2] = m; w += 2;", False),
        ("if (b[i] > m) a[w++] = i; else w--;", False),
        ("a[w++] = i; w += b[i];", False),
        ("w = i; for (int j = 0; j < b[i]; j++) a[w++] = j;", False),
        ("for (int j = 0; j < b[i]; j++) a[w + j] = j; w++;", False),
        ("((__global int *)((__global char *)a + w))[0] = i; w++;", False),
        ("uchar v = w; a[v] = i; w++;", False),
    ],
)
@pytest.mark.parametrize("address_bits", [ADDRESS_BITS, 18])
def test_a_counter_that_only_grows(body, apart, address_bits):
    """What is behind it is not stored to again, however often it grows; also where an address has fewer bits than the
    counter."""
    # not a sum of iteration counters in any case
    body = body.replace("for (", "\n#pragma unroll 1\nfor (")
    text = (
        f"__kernel void k(__global int *restrict a, __global const int *restrict b, "
        f"__global int *restrict end, int n, int m) {{ int w = "
        f"0;\n#pragma unroll 1\nfor (int i = 0; i < n; i++) {{ {body} w += b[i + m] & 1; }} end[0] = w; }}"
    )
    facts = said(text, address_bits)
    if apart is None:
        assert facts and not any(fact.startswith("WAW") for fact in facts)
    else:
        assert (not facts) == apart, facts


def test_rows_of_a_length_that_is_an_argument():
    def nest(body, columns="int j = 0; j < m; j++"):
        return said(loop(f"\n#pragma unroll 1\nfor ({columns}) {{ {body} }}"))

    assert nest("a[i * m + j] += 1;") == {"WAR a - 0"}
    assert nest("a[(i + 1) * m + j] = a[i * m + j];") == {"RAW a i 1"}
    assert nest("a[i * m + j] += a[(i - 1) * m + j];") == {"WAR a - 0", "RAW a i 1"}
    for facts in (
        nest("a[i * m + j] += 1;", "int j = 0; j <= m; j++"),  # the first of the next row
        nest("a[i * m + j] += 1;", "int j = -1; j < m; j++"),
        nest("a[i * m + j] += a[j];"),
    ):  # row 0
        assert any(fact.startswith("RAW a i 1") for fact in facts)
    assert nest("a[(i + 1) * m + j] += a[j];") == {"WAR a - 0"}
    assert nest("a[i * m + j] += 1;", "int j = m - 1; j >= 0; j--") == {"WAR a - 0"}
    assert any(fact.startswith("RAW a i 1") for fact in nest("a[i * m + j] += 1;", "int j = m; j >= 0; j--"))


def test_the_last_row_of_a_square():
    def column(text):
        return said(
            f"__kernel void k(__global float *restrict a, __global float *restrict b, int n) {{\n#pragma unroll "
            f"1\nfor (int i = 1; i < n - 1; i++) {{ {text} }} }}"
        )

    assert column("a[i] = 1; a[(n - 1) * n + i] = 2;") == set()
    assert column("a[i] = 1; a[(n - 3) * n + i] = 2;") != set()  # row 0, where n is 3


@pytest.mark.parametrize("columns, meets", [("int j = 0; j < m; j++", False), ("int j = 0; j <= m; j++", True)])
def test_lanes_that_are_off_touch_nothing(columns, meets):
    """A wide access ends in its row where its copies do."""
    facts = said(loop(f"\n#pragma unroll 4\nfor ({columns}) a[i * m + j] += 1;"))
    assert facts >= {"WAR a - 0"} and any(fact.startswith("RAW a i") for fact in facts) == meets


def test_rows_of_a_matrix_that_is_solved_in_place():
    body = (
        "for (int i = k + 1; i < n; i++) { a[i * n + k] /= a[k * n + k];"
        "\n#pragma unroll 1\nfor (int j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j]; }"
    )
    facts = said(
        f"__kernel void k(__global int *restrict a, int n) {{\n#pragma unroll 1\nfor (int k = 0; k < n; k++) {body} }}"
    )
    assert not any(" i " in fact for fact in facts) and any(fact.startswith("RAW a k 1") for fact in facts)


def test_different_buffers_matter_unless_restricted():
    body = "b[i] = a[i];"
    assert said(loop(body)) == set()
    assert said(loop(body, "__global int *restrict a, __global int *b, int n")) == set()
    assert said(loop(body, "__global const int *a, __global int *b, int n")) == {
        "WAR a>b - 0 overlap",
        "WAR a>b i 1 overlap",
        "RAW b>a i 1 overlap",
    }


def test_work_items_have_no_order():
    text = "__kernel void k(__global int *a, __global int *b) { int i = get_global_id(0); a[i & 3] = b[i]; b[i] = i; }"
    assert said(text) == {"WAR b - 0", "WAR b>a - 0 overlap", "WAW a>b - 0 overlap"}


def test_facts_name_operations_of_the_function():
    function = flat(loop("a[i + 1] = a[i];"))
    (fact,) = dependences(function, ADDRESS_BITS)
    assert fact.kind is Kind.RAW and fact.src.opcode == "store" and fact.dst.opcode == "load"
    assert {fact.src, fact.dst, fact.loop} <= set(walk(function.body))


def test_loops_that_look_alike_are_asked_about_once(monkeypatch):
    """Twice as many loops have four times as many pairs of accesses, but of questions each loop only adds its own."""
    asked, question = [], dependence.DistanceQuery
    monkeypatch.setattr(dependence, "DistanceQuery", lambda *args: asked.append(args) or question(*args))
    counts = []
    for copies in (4, 8):
        function = flat(
            loop(
                "\n#pragma unroll 1\nfor (int i = 0; i < 64; i++) a[i] += b[t];\n" * copies,
                head="int t = 0; t < n; t++",
            )
        )
        asked.clear()
        assert len(dependences(function, ADDRESS_BITS)) >= copies * copies
        counts.append(len(asked))
    assert 0 < counts[1] < 2 * counts[0]


def test_the_solver_is_not_asked_about_conflicts_that_one_point_shows(monkeypatch):
    """Each pair of stores is a question of its own here, and every one is answered without isl: what is asked grows
    with the accesses, not with their pairs."""
    asked, answered = [], dependence._answered
    monkeypatch.setattr(dependence, "_answered", lambda text: asked.append(text) or answered(text))
    for stores in (8, 16):
        body = "".join(f"t[(n * {k + 3}) & 63] = {k};" for k in range(stores))
        text = f"__kernel void k(__global int *a, int n) {{ __local int t[64]; {body} a[0] = t[n & 63]; }}"
        function = optimize(parse_source(text, "k.cl", {}, []).module, PipelineOptions()).kernels[0]
        asked.clear()
        assert len(dependences(function, ADDRESS_BITS, only={"t"})) >= stores * (stores - 1) // 2
        assert len(asked) <= 2 * stores
