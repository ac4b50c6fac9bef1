"""Each rule of hls/profile/rules.toml is the verdict of a kernel that was made for it, and of no other kernel."""

import json

import jsonschema
import pytest

from hls.profile.verdict import load_rules
from tests.cli.golden_profiles import check_sums
from tests.cli.test_profile import ROOT, sluice

pytestmark = pytest.mark.verilator
HOST = f"""
import numpy as np, sim.cl as cl
ctx = cl.create_some_context()
queue = cl.CommandQueue(ctx)
program = cl.Program(ctx, open({str(ROOT / "tests/kernels/rules.cl")!r}).read()).build("-copy-bytes=0")
rng, words = np.random.default_rng(5), 1 << 18

def buffer(values):
    return cl.Buffer(ctx, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)

def run(name, *args, size=(1,), group=None):
    getattr(program, name)(queue, size, group, *args).wait()

numbers = rng.integers(0, 1 << 20, words).astype(np.int32)
ints, out, large = buffer(numbers), buffer(np.zeros(words, np.int32)), buffer(numbers)
floats = buffer(rng.random(8192).astype(np.float32))
n = 2000
run("recurrence", floats, out, np.int32(n))
run("full", ints, out, np.int32(4 * n))
run("nothing", ints, out, np.int32(500))
run("brief", ints, out, np.int32(20))
for _ in range(3):
    run("host", ints, out, np.int32(4 * n))
    cl.enqueue_copy(queue, np.zeros(words, np.int32), large)
run("memory_order", out, buffer(rng.integers(0, 4, n).astype(np.int32)), np.int32(n))
run("one_bank", ints, large, out, np.int32(n))
run("pattern", ints, large, out, np.int32(n))
run("bandwidth", ints, large, out, np.int32(words))
run("rows", ints, large, out, np.int32(n))
run("latency", buffer(np.arange(1, n + 2, dtype=np.int32)), out, np.int32(n))
following = np.zeros((words // 16, 16), np.int32)
following[:, 0] = np.arange(words // 16) + 16
run("memory", buffer(following.ravel()), out, np.int32(500))
run("local_memory", ints, out, size=(2048,), group=(64,))
run("barriers", ints, out, np.int32(30), size=(64,), group=(64,))
run("groups", ints, out, size=(1024,), group=(16,))
run("inner_loop", out, np.int32(200))
"""
#: kernels whose names are not those of their rules
RULES = {"brief": "short", "barriers": "barrier"}
#: of channels: test_profile, test_profile_depths
OF_CHANNELS = {"channel", "channel depth"}


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    (folder / "host.py").write_text(HOST)
    done = sluice(folder, "profile", "-o", "out", "host.py")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "out" / "profile.json").read_text())


def test_each_rule_is_the_verdict_of_its_kernel_and_of_no_other(profile):
    found = {kernel["name"]: kernel["verdict"]["rule"] for kernel in profile["kernels"]}
    assert found == {name: RULES.get(name, name.replace("_", " ")) for name in found}
    assert set(found.values()) == {rule.name for rule in load_rules()} - OF_CHANNELS


def test_the_figures_of_verdicts_are_those_of_the_kernel(profile):
    for kernel in profile["kernels"]:
        shares: dict[str, float] = {}
        for account in kernel["accounts"]:
            name = account["category"].replace(" ", "_")
            shares[name] = shares.get(name, 0) + account["cycles"] / kernel["cycles"]
        for figure in kernel["verdict"]["figures"]:
            if figure["name"] in shares:
                assert figure["value"] == pytest.approx(shares[figure["name"]], abs=1e-6), kernel["name"]


def test_its_form_is_that_of_the_schema_and_its_figures_sum(profile):
    jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "profile.schema.json").read_text())).validate(profile)
    check_sums(profile)
