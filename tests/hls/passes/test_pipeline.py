"""Passes that are run again and again: not where they would change nothing."""

from dataclasses import dataclass, field

from hls.ir import I32, Builder, Function
from hls.ir.clone import clone_function
from hls.passes.pipeline import Repeat


@dataclass(frozen=True)
class Shorter:
    """Takes ``many`` operations away, as long as there are some; notes how many there were."""

    many: int
    runs: list = field(default_factory=list)
    name = "shorter"

    def run(self, function: Function) -> Function:
        self.runs.append(len(function.body.ops) - 1)
        result = clone_function(function)
        del result.body.ops[:min(self.many, len(result.body.ops) - 1)]
        return result


def constants(count: int) -> Function:
    function = Function("k", "kernel")
    b = Builder(function.body)
    for k in range(count):
        b.const(k, I32)
    b.op("return")
    return function


def test_what_changes_nothing_is_not_run_again_until_something_else_does():
    idle, shorter, late = Shorter(0), Shorter(1), Shorter(0)
    left = Repeat((idle, shorter, late)).run(constants(2))
    assert len(left.body.ops) == 1
    assert shorter.runs == [2, 1, 0]
    assert idle.runs == [2, 1, 0]
    assert late.runs == [1, 0]  # in the last round nothing had changed since


def test_a_pass_that_finds_nothing_is_run_once():
    idle = Shorter(0)
    Repeat((idle,)).run(constants(3))
    assert idle.runs == [3]
