"""Five hundred random programs, of which `make test` runs half, against PoCL, an independent OpenCL implementation.
``campaign`` runs any number."""

import os
import random
import re

import pytest

from hls.ir import walk
from tests import pocl
from tests.repetitions import sampled

from .campaign import check, optimized, same_fault, shrink
from .devices import emulate, inputs, module_of, source_of
from .generate import random_program
from .groups import group_source, on_emulator, on_pocl
from .tree import Node, Type, sequence, smaller

BATCH = 25
PROGRAMS = int(os.environ.get("SLUICE_RANDOM_PROGRAMS") or 500)


@pytest.fixture(scope="module")
def context():
    pocl.need()
    return pocl.context()


@pytest.mark.parametrize("seed", sampled(range(1000, 1008)))
def test_same_bytes_after_all_passes(context, seed):
    findings = check(context, [random_program(seed)], optimized)
    assert not findings, "\n\n".join(map(str, findings))


@pytest.mark.parametrize("batch", sampled(range(PROGRAMS // BATCH)))
def test_same_bytes_as_pocl(context, batch):
    programs = [random_program(seed, f"p{seed}") for seed in range(BATCH * batch, BATCH * (batch + 1))]
    findings = check(context, programs)
    assert not findings, "\n\n".join(map(str, findings))


@pytest.mark.parametrize("first", range(0, 24, 12))
def test_work_groups(context, first):
    seeds = range(first, first + 12)
    source = group_source(seeds)
    for seed, expected, got in zip(seeds, on_pocl(context, source, seeds), on_emulator(source, seeds), strict=True):
        assert got == expected, group_source([seed])


def test_a_difference_is_found_and_made_small(context):
    """A compiler that adds where it should subtract is found out, and the program that shows it becomes short."""

    def wrong(source):
        module = module_of(source)
        for function in module.functions.values():
            for op in walk(function.body):
                if op.opcode == "sub":
                    op.opcode = "add"
        return module

    findings = check(context, [random_program(seed, f"p{seed}") for seed in range(2)], wrong)
    assert findings
    small = shrink(findings[0].program, same_fault(context, findings[0], wrong), 30)
    assert len(str(small)) < len(str(findings[0].program)) * 0.85
    assert re.search(r"[-]|sub_sat|abs", str(small))


def test_a_nan_that_loses_its_payload_is_found(context):
    """Compilers that make the one quiet NaN of what is only moved, at stores and at loads."""
    programs = [random_program(seed, f"p{seed}") for seed in (45, 48)]
    assert not check(context, programs)
    for form, wrong in ((r"(m[fd]\[\d+\] = )([^;]+);", r"\1\2 * 1.0f;"), (r"(raw_\w+\[[^]]*\])", r"(1.0f * \1)")):
        findings = check(
            context, programs, lambda source, form=form, wrong=wrong: module_of(re.sub(form, wrong, source))
        )
        assert len(findings) == 2, form
        assert all(found.kind == "different bytes" for found in findings)


def test_generation_repeats():
    assert random_program(11) == random_program(11)
    assert random_program(11) != random_program(12)


def test_programs_have_what_they_are_there_for():
    text = "\n".join(str(random_program(seed)) for seed in range(400))
    for part in (
        "struct",
        "switch",
        "while",
        "for (",
        "break;",
        "*p = ",
        "convert_",
        "_sat_rtp",
        "shuffle2",
        ".hi",
        "vload3",
        "mad_hi",
        "popcount",
        "s.list[",
        "? a0 +",
        "as_",
        "mf[",
        "md[",
        "raw_float[",
        "raw_double[",
        ", raw_",
        "bitselect(",
    ):
        assert part in text, part
    for element in ("char", "ushort", "int", "ulong", "float"):
        for lanes in ("", "2", "3", "4", "8", "16"):
            assert f"{element}{lanes} v" in text, f"{element}{lanes}"


def test_what_a_program_computes_is_defined_and_depends_on_its_input():
    """The programs write their results, and most of them different ones for different work-items."""
    programs = [random_program(seed, f"p{seed}") for seed in range(20)]
    results = emulate(module_of(source_of(programs)), len(programs), inputs(1))
    differ = [(results.integers[k][0] != results.integers[k][1]).any() for k in range(len(programs))]
    assert sum(differ) > 10


def test_smaller_trees_keep_types():
    leaf = Node("x", (), Type("int"))
    tree = sequence(
        Node(
            "{0} = {1};",
            (
                leaf,
                Node("({0} + {1})", (leaf, Node("(int){0}", (Node("y", (), Type("uint")),), Type("int"))), Type("int")),
            ),
        )
    )
    texts = {str(each) for each in smaller(tree)}
    assert {"", "x = x;", "x = ((int)(1));", "x = (int)y;", "x = (x + ((int)(1)));"} <= texts


def test_no_placeholder_is_left_in_a_text():
    rng = random.Random(2)
    for _ in range(50):
        assert not re.search(r"\{\d+\}", str(random_program(rng.getrandbits(30))))
