"""Work-items as loop iterations: every id in every shape of launch."""

import numpy as np
import pytest

from hls.ir import I32, I64, Builder, Function, IntType, MemoryObject, Module, Parameter, walk
from hls.ir.interpreter import run_kernel
from hls.ir.launch import units_of
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize

QUERIES = [
    (fn, d)
    for fn in ("global_id", "local_id", "group_id", "global_size", "local_size", "num_groups", "global_offset")
    for d in range(3)
] + [("work_dim", 0)]


def recorder(queries, size=None) -> Module:
    """A kernel that appends a record of the queries to ``out``; out[0] counts the bytes."""
    f = Function("k", "kernel", attrs={"ndrange": True} | ({"work_group_size": size} if size else {}))
    f.memories["out"] = MemoryObject("out", "global", I64)
    f.params.append(Parameter("out", "buffer", "long *", 8))
    b = Builder(f.body)
    count = b.value("load", b.addr("out"), b.true(), result=I64)
    for k, (fn, d) in enumerate(queries):
        value = b.value("work_item", result=I64, attrs={"fn": fn, "dim": d})
        b.op("store", b.addr("out", b.value("add", count, b.const(8 + 8 * k, I64))), value, b.true())
    b.op("store", b.addr("out"), b.value("add", count, b.const(8 * len(queries), I64)), b.true())
    b.op("return")
    return Module({"k": f})


def records(module, width, *space):
    out = np.zeros(4096, np.int64)
    run_kernel(module, "k", {"out": out}, {}, *space)
    return sorted(map(tuple, out[1 : 1 + out[0] // 8].reshape(-1, width).tolist()))


@pytest.mark.parametrize(
    "space", [((1,),), ((5,), (1,), (3,)), ((4, 3), (2, 1)), ((4, 2, 6), (2, 1, 3), (1, 0, 7)), ((2, 3, 4),)]
)
@pytest.mark.parametrize(
    "queries",
    [
        QUERIES,
        [("global_id", 0)],
        [("global_id", 1)],
        [("global_id", 0), ("global_id", 2)],
        [("local_id", 0)],
        [("group_id", 1)],
        [("global_id", 0), ("local_id", 2)],
        [("global_size", 0)],
        [("global_id", d) for d in range(3)],
    ],
)
def test_the_loop_visits_the_same_work_items(queries, space):
    module = recorder(queries)
    optimized = optimize(module, PipelineOptions(check=True))
    assert not any(op.opcode == "work_item" for op in walk(optimized.functions["k"].body))
    assert records(optimized, len(queries), *space) == records(module, len(queries), *space)


def test_global_ids_count_over_the_range_with_x_fastest():
    module = optimize(recorder([("global_id", 0), ("global_id", 1)]))
    out = np.zeros(64, np.int64)
    run_kernel(module, "k", {"out": out}, {}, (3, 2))
    assert out[1:13].reshape(-1, 2).tolist() == [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]


def test_only_what_is_needed_is_carried_and_asked_for():
    f = optimize(recorder([("global_id", 0)])).functions["k"]
    assert set(f.attrs["launch_args"]) == {"global_offset_0", "global_size_0", "global_count_12"}
    loop = next(op for op in f.body.ops if op.opcode == "loop")
    names = [v.name for v in loop.regions[0].args]
    assert names == ["global_id_0", "global_id_0_left", "global_id_0_last", "repeat_left", "repeat_last"]


def test_a_required_group_size_is_a_constant():
    module = recorder([("local_id", 0), ("group_id", 0)], (4, 1, 1))
    f = optimize(module).functions["k"]
    assert "local_size_0" not in f.attrs["launch_args"]
    assert records(Module({"k": f}), 2, (8,)) == records(module, 2, (8,))


def test_a_task_is_a_single_work_item():
    module = recorder(QUERIES)
    module.functions["k"].attrs["ndrange"] = False
    f = optimize(module).functions["k"]
    assert "launch_args" not in f.attrs
    assert records(Module({"k": f}), len(QUERIES), (1,)) == records(module, len(QUERIES), (1,))


@pytest.mark.parametrize("size", [None, (2, 1, 1)])
@pytest.mark.parametrize("space", [((4,), (2,), (3,)), ((4, 3), (2, 1)), ((4, 2, 6), (2, 1, 1), (1, 0, 7))])
@pytest.mark.parametrize(
    "queries",
    [QUERIES, [("global_id", 0)], [("group_id", 1)], [("global_size", 0)], [("local_id", 2), ("global_id", 1)]],
)
def test_compute_units_visit_the_same_work_items(queries, space, size):
    """With several units the kernel is run once for every group, by what comes with the group."""
    module = recorder(queries, size)
    module.functions["k"].attrs["num_compute_units"] = (2, 3)
    optimized = optimize(module, PipelineOptions(check=True))
    assert units_of(optimized.functions["k"]) == 6
    assert records(optimized, len(queries), *space) == records(module, len(queries), *space)


def test_units_are_only_for_what_has_groups():
    module = recorder([("global_id", 0)])
    module.functions["k"].attrs |= {"num_compute_units": 4, "ndrange": False}
    assert units_of(optimize(module).functions["k"]) == 1


def test_counters_have_the_width_of_launch_arguments():
    f = optimize(recorder([("global_id", 0)])).functions["k"]
    assert all(v.type in (I32, IntType(32)) for v in f.args)
