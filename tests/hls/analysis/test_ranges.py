"""Integer ranges: incremental analysis finds the same as a full one, and does not revisit operations without new
facts."""

from pathlib import Path

import pytest

from hls.analysis.bits import ranges as module
from hls.analysis.predicates import guarded_values
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.parser import parse_function
from hls.passes.run_stages import optimize

KERNELS = Path(__file__).parents[2] / "kernels"


class _Everything(module._Ranges):
    """Takes every step each time."""

    def _is_stale(self, inputs, since):
        return True


def everything(function) -> dict:
    analysis = _Everything()
    for value in function.args:
        analysis.full(value)
    analysis.region(function.body)
    return analysis.of


def nest(depth: int) -> str:
    """Loops of which each runs as far as the one around it, around a sum."""
    heads = "".join(f"for (int i{k} = 0; i{k} < {f'i{k - 1} + 1' if k else 'n'}; i{k}++) " for k in range(depth))
    total = " + ".join(f"i{k}" for k in range(depth))
    return f"__kernel void k(__global int *restrict o, int n) {{ {heads} o[({total}) & 63] += i0 > 5 ? {total} : 3; }}"


@pytest.mark.parametrize("name", ["loops", "shifts", "order"])
def test_as_walking_everything_again(name):
    for function in optimize(parse_source((KERNELS / f"{name}.cl").read_text()).module).kernels:
        assert module.ranges(function) == everything(function), function.name


@pytest.mark.parametrize("depth", [2, 4])
def test_nests(depth):
    (function,) = optimize(parse_source(nest(depth)).module).kernels
    assert module.ranges(function) == everything(function)


def test_a_counter_and_what_is_computed_from_it():
    (function,) = optimize(
        parse_source(
            "__kernel void k(__global int *restrict o) { for (int i = 0; i < 100; i++) o[i * 4 + 3] = i & 7; }"
        ).module
    ).kernels
    found = module.ranges(function)
    (loop,) = (op for op in walk(function.body) if op.opcode == "loop")
    counter = found[loop.regions[0].args[0]]
    assert (counter.umin, counter.umax) == (0, 99)
    (store,) = (op for op in walk(function.body) if op.opcode == "store")
    assert found[store.operands[1]].umax <= 7


def test_a_counter_of_which_the_low_bits_are_compared():
    """That they are all of it holds at first, and therefore always."""
    (function,) = optimize(parse_source(nest(2)).module).kernels
    _, inner = (op for op in walk(function.body) if op.opcode == "loop")
    assert any(op.opcode == "trunc" for op in walk(inner.regions[0]))
    found = module.ranges(function)
    assert any(arg in found and 0 == found[arg].smin < found[arg].smax for arg in inner.regions[0].args)


@pytest.mark.parametrize("kind, least", [("uint", 0), ("int", -100)])
def test_a_counter_that_is_compared_with_more_bits(kind, least):
    """The number that it is compared with bounds it, whatever type the comparison has."""
    function = parse_function(
        f"""kernel @k(%n.0: i32) {{
          %1: i1 = const {{value = 1}}
          %2: i32 = const {{value = 200}}
          %3: i1 = slt %n.0, %2
          %4: i32 = select %3, %n.0, %2
          %5: i9 = const {{value = {least & 511}}}
          %6: i9 = loop %1, %5 {{
            (%7: i9):
            %8: i9 = const {{value = 1}}
            %9: i9 = add %7, %8
            %10: i32 = {"zext" if kind == "uint" else "sext"} %9
            %11: i1 = slt %10, %4
            yield %11, %9
          }}
          return
        }}"""
    )
    (loop,) = (op for op in walk(function.body) if op.opcode == "loop")
    counter = module.ranges(function)[loop.regions[0].args[0]]
    assert (counter.smin, counter.smax) == (least, 199)


def test_loops_that_see_nothing_new_are_not_walked_again(monkeypatch):
    """Of loops that do not depend on each other, each is walked until it has settled, however deep it is."""
    depth = 8
    heads = "".join(f"for (int i{k} = 0; i{k} < n; i{k}++) " for k in range(depth))
    (function,) = optimize(
        parse_source(f"__kernel void k(__global float *restrict o, int n) {{ {heads} o[0] += 2.0f; }}").module
    ).kernels
    analysis, walked = module._Ranges(), []
    narrow = analysis._narrow
    monkeypatch.setattr(analysis, "_narrow", lambda op, *more: (walked.append(op), narrow(op, *more)))
    for value in function.args:
        analysis.full(value)
    analysis.region(function.body)
    assert len(walked) == len(set(walked)) == depth


def test_a_nest_takes_steps_in_proportion_to_its_loops(monkeypatch):
    """Sums of all counters are evaluated once the counters are bounded: not for each combination of guesses."""
    steps = []
    evaluate = module._Ranges._evaluate
    monkeypatch.setattr(module._Ranges, "_evaluate", lambda self, step: (steps.append(step), evaluate(self, step)))

    def evaluated(depth: int) -> int:
        """Steps for loops whose counters, and a sum of these, are in the addresses of each body."""
        heads = "".join(f"for (int i{k} = 0; i{k} < n; i{k}++) {{ o[i{k} & 63] += {k};" for k in range(depth))
        total = " + ".join(f"i{k}" for k in range(depth))
        text = f"__kernel void k(__global int *restrict o, int n) {{ {heads} o[({total}) & 63] += 3; {'}' * depth} }}"
        (function,) = optimize(parse_source(text).module).kernels
        steps.clear()
        found = module.ranges(function)
        assert found == everything(function)
        steps.clear()
        module.ranges(function)
        return len(steps)

    assert evaluated(6) < 2.5 * evaluated(3)


def test_a_mask_bounds_what_a_loop_carries():
    """The guess that holds was widened past the mask; what it leads to is what the mask lets through."""
    (function,) = optimize(
        parse_source(
            "__kernel void k(__global int *restrict o, int n) { int c = 0; for (int i = 0; i < n; i++) { o[i] = c; c "
            "= (c + o[i + 1]) & 63; } }"
        ).module
    ).kernels
    (loop,) = (op for op in walk(function.body) if op.opcode == "loop")
    found = module.ranges(function)
    assert any(found[arg].umax == 63 for arg in loop.regions[0].args if arg in found)


def test_places_in_a_group_are_bounded():
    """A remainder of a place in a group needs no regard for its sign."""
    text = """__attribute__((reqd_work_group_size(64, 1, 1))) __kernel void k(__global int *restrict o) {
      __local int t[64]; int l = get_local_id(0); t[l * 3 % 16] = l; barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = t[l]; }"""
    (function,) = optimize(parse_source(text).module).kernels
    assert not any(op.opcode in ("ashr", "slt", "srem") for op in walk(function.body))


def test_conditions_and_sums_of_a_chain_of_selects_are_looked_at_once(monkeypatch):
    """Each select has the leaves of those before it as arms, under conditions of these."""
    asked: list = []
    implied = guarded_values.implied
    monkeypatch.setattr(guarded_values, "implied", lambda *of: asked.append(of) or implied(*of))
    count = 40
    updates = "".join(f"r = v > {3 * k} ? v + {k} : r ^ {k};\n" for k in range(count))
    text = f"__kernel void k(__global int *restrict o, int v) {{ int r = o[0];\n{updates} o[1] = r; }}"
    function = optimize(parse_source(text, "k.cl", {}, []).module).kernels[0]
    selects = [op for op in walk(function.body) if op.opcode == "select"]
    asked.clear()
    module.ranges(function)
    assert len(selects) > count // 2
    assert len(asked) == len(set(asked)) <= 2 * len(selects)
