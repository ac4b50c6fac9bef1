"""The order of a kernel's passes: none is repeated where it would change nothing, and properties hold from the pass
on that provides them."""

from dataclasses import dataclass, field

from hls.analysis.affine.affine import AffineForms
from hls.analysis.bits.ranges import Range
from hls.frontend import parse_source
from hls.ir import I32, Builder, Function, walk
from hls.ir.clone import clone_function
from hls.passes.manager import FunctionPass, PassManager, Repeat, Stage
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize


@dataclass(frozen=True)
class Shorter(FunctionPass):
    """Takes ``many`` operations away, as long as there are some; notes how many there were."""

    many: int
    runs: list = field(default_factory=list)
    name = "shorter"

    def run(self, function: Function) -> Function:
        self.runs.append(len(function.body.ops) - 1)
        result = clone_function(function)
        del result.body.ops[: min(self.many, len(result.body.ops) - 1)]
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
    left = PassManager().run_function((Stage("all", (Repeat((idle, shorter, late)),)),), constants(2))
    assert len(left.body.ops) == 1
    assert shorter.runs == [2, 1, 0]
    assert idle.runs == [2, 1, 0]
    assert late.runs == [1, 0]  # in the last round nothing had changed since


def test_a_pass_that_finds_nothing_is_run_once():
    idle = Shorter(0)
    PassManager().run_function((Stage("all", (Repeat((idle,)),)),), constants(3))
    assert idle.runs == [3]


def test_a_kernel_stays_flat_where_a_loop_turns_out_to_run_once():
    """That the loaded value keeps none of its bits is only seen when conditions are predicates already: the loop was an
    `if` then, in which nothing got narrower."""
    source = """__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {
        int sum = n, k = 0, few = -4;
        if (n != 7) {
            do {
                sum += a[k & 63];
            } while (++k < ((a[1] << (few & 31)) & 15));
        }
        out[3] = sum;
    }"""
    (kernel,) = optimize(parse_source(source, "k.cl", {}, []).module, PipelineOptions(check=True)).kernels
    assert not [op for op in walk(kernel.body) if op.opcode in ("if", "loop")]


def test_of_values_that_a_pass_has_made_meanwhile_nothing_is_known():
    function = constants(3)
    forms = AffineForms(function, 32)
    (known, *_), made = forms.ranges.values(), Builder(function.body).const(5, I32)
    assert known.smax == 0
    assert forms.ranges[made] == Range.full(32)
