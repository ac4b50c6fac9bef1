"""Conditional specialization, one engine with four sources of facts: what each of them decides, and what none may
change."""

import pytest

from hls.ir import Op, Value, walk
from hls.ir.parser import parse_module
from hls.ir.verifier import verify
from hls.passes.scalar.conditional_specialization import ConditionalSpecialization, FactSource

#: a loop that carries x, another number and a bit
LOOP = """kernel @k(%n.0: i8, %m.1: i8, %start.2: i1) {{
  memory a: global i8 x ?
  %3: i1 = const {{value = 1}}
  %4: i8 = const {{value = 3}}
  %5: i8 = const {{value = 4}}
  %6: i8, %7: i8, %8: i1 = loop %3, %n.0, %m.1, %start.2 {{
    (%x.9: i8, %y.10: i8, %bit.11: i1):
    %use.12: i8 = select %bit.11, %y.10, %4
    %13: i64 = zext %use.12
    %14: ptr = addr %13 {{mem = "a"}}
    store %14, %x.9, %3
{body}
  }}
{after}
  return
}}
"""


def specialized(source: FactSource, text: str):
    (function,) = parse_module(text).functions.values()
    verify(function)
    result = ConditionalSpecialization(source).run(function)
    verify(result)
    return result


def loop_of(function) -> Op:
    return next(op for op in walk(function.body) if op.opcode == "loop")


def named(function, name: str) -> Value:
    return next(v for op in walk(function.body) for v in op.results if v.name == name)


@pytest.mark.parametrize(
    ("again", "choice", "decided"),
    [
        ("%again.20: i1 = eq %x.9, %4", "eq %x.9, %5", "no"),  # the number that goes on is another one
        ("%again.20: i1 = slt %x.9, %y.10", "sle %y.10, %x.9", "no"),  # the opposite comparison
        ("%again.20: i1 = slt %x.9, %y.10", "sle %x.9, %y.10", None),  # weaker, which nobody concludes
        ("%18: i1 = ult %y.10, %x.9\\n    %again.20: i1 = and %18, %bit.11", "ult %y.10, %x.9", "yes"),
        ("%18: i1 = ult %y.10, %x.9\\n    %again.20: i1 = or %18, %bit.11", "ult %y.10, %x.9", None),
    ],
)
def test_a_next_value_is_that_of_a_loop_that_goes_on(again, choice, decided):
    body = f"""    {again}
    %21: i1 = {choice}
    %yes.22: i8 = add %x.9, %4
    %no.23: i8 = sub %x.9, %5
    %next.24: i8 = select %21, %yes.22, %no.23
    yield %again.20, %next.24, %y.10, %bit.11""".replace("\\n", "\n")
    result = specialized(FactSource.BACKEDGES, LOOP.format(body=body, after=""))
    assert loop_of(result).regions[0].terminator.operands[1].name == (decided or "next")


def test_users_of_the_result_keep_what_the_variable_is_in_the_end():
    body = """    %again.20: i1 = ult %x.9, %4
    %one.21: i8 = add %x.9, %4
    %next.22: i8 = select %again.20, %one.21, %x.9
    yield %again.20, %next.22, %y.10, %bit.11"""
    after = """  %30: i64 = zext %6
  %31: ptr = addr %30 {mem = "a"}
  store %31, %4, %3"""
    result = specialized(FactSource.BACKEDGES, LOOP.format(body=body, after=after))
    loop, end = loop_of(result), loop_of(result).regions[0].terminator
    assert [v.name for v in end.operands[1:]] == ["one", "y", "bit", "next"]
    user = next(op for op in result.body.ops if op.opcode == "zext")
    assert user.operands[0] is loop.results[3] and loop.operands[4] is loop.operands[1]


@pytest.mark.parametrize(
    ("uses", "bit", "decided"),
    [
        ("", "eq %x.9, %4", "no"),  # where the next bit is true, x is 3 and not 4
        ("", "ne %x.9, %4", None),
        ("    %15: i8 = add %y.10, %4\n", "eq %x.9, %4", None),  # a use without the bit
    ],
)
def test_a_guarded_value_is_that_of_its_guard(uses, bit, decided):
    body = f"""{uses}    %again.20: i1 = ult %x.9, %4
    %21: i1 = {bit}
    %22: i1 = eq %x.9, %5
    %yes.23: i8 = add %x.9, %4
    %no.24: i8 = sub %x.9, %5
    %next.25: i8 = select %22, %yes.23, %no.24
    yield %again.20, %x.9, %next.25, %21"""
    result = specialized(FactSource.GUARDS, LOOP.format(body=body, after=""))
    assert loop_of(result).regions[0].terminator.operands[2].name == (decided or "next")


ACCESS = """kernel @k(%n.0: i8, %m.1: i8, %p.2: i1) {{
  memory a: global i8 x ?
  %3: i8 = const {{value = 3}}
  %4: i8 = const {{value = 4}}
  %on.5: i1 = {predicate}
  %6: i1 = eq %n.0, %4
  %7: i8 = select %6, %m.1, %n.0
  %8: i8 = {operation} %7, %m.1
  %9: i64 = zext %8
  %10: ptr = addr %9 {{mem = "a"}}
  store %10, %7, %on.5
  return
}}
"""


@pytest.mark.parametrize(
    ("predicate", "operation", "value", "selects"),
    [
        ("eq %n.0, %3", "add", "n", 0),  # n is not 4 then, in the address and in the stored value
        ("eq %n.0, %4", "add", "m", 0),
        ("eq %n.0, %3", "mul", "n", 1),  # a product is not made a second time
        ("ult %n.0, %3", "add", "", 1),
    ],
)
def test_an_access_is_computed_for_the_case_that_it_takes_place(predicate, operation, value, selects):
    result = specialized(FactSource.ACCESSES, ACCESS.format(predicate=predicate, operation=operation))
    store = next(op for op in walk(result.body) if op.opcode == "store")
    address, needed, work = store.operands[0], set(), [store.operands[0]]
    while work:
        needed.add(one := work.pop())
        work += one.op.operands if one.op else []
    assert store.operands[1].name == value and address.op.opcode == "addr"
    assert sum(v.op is not None and v.op.opcode == "select" for v in needed) == selects


BRANCH = """kernel @k(%n.0: i8, %m.1: i8, %p.2: i1) {{
  %3: i8 = const {{value = 3}}
  %4: i8 = const {{value = 4}}
  %5: i1 = {first}
  %6: i8 = if %5 {{
    %inside.7: i8 = add %m.1, %4
    yield %inside.7
  }} else {{
    yield %m.1
  }}
  %8: i1 = {second}
  %9: i8 = if %8 {{
    %sum.10: i8 = add %6, %3
    yield %sum.10
  }} else {{
    yield %n.0
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("first", "second", "before"),
    [
        ("eq %n.0, %3", "eq %n.0, %4", True),  # numbers that exclude each other
        ("slt %n.0, %m.1", "sle %m.1, %n.0", True),  # comparisons that do
        ("eq %n.0, %3", "eq %n.0, %3", False),  # what a branch computes is known in it alone
        ("eq %n.0, %3", "ult %n.0, %4", False),
    ],
)
def test_a_branch_takes_what_an_excluded_one_left_alone(first, second, before):
    result = specialized(FactSource.BRANCHES, BRANCH.format(first=first, second=second))
    taken = named(result, "sum").op.operands[0]
    assert (taken.name == "m") == before and (taken.op is None) == before
