"""Profiles of example programs: every figure as in a golden file, the form of the schema, and sums."""

import json
import shutil
from functools import cache

import jsonschema
import pytest

from tests.cli.golden_profiles import check_golden, check_sums
from tests.cli.test_profile import ROOT, sluice

pytestmark = pytest.mark.verilator
#: large enough that each kernel fills its pipeline; a profile of tests/kernels/waits.cl is in test_profile
SIZES = {
    "vecadd": ["--n=4096"],
    "matmul": ["--n=16"],
    "smoother": ["--n=1000"],
    "groups": ["--values=700", "--n=13"],
    "packets": ["--packets=60"],
}
#: by program, the depth of its channels in the source, another one, and what the profile says of it
DEPTHS = {
    "smoother": ("depth(8)", "depth(512)", "a greater depth does not help: the writer is slower"),
    "packets": ("depth(64)", "depth(1024)", "a greater depth does not help: the writer is slower"),
}


@pytest.fixture(scope="module")
def profile_of(tmp_path_factory):
    @cache
    def made(name: str) -> dict:
        folder = tmp_path_factory.mktemp(name)
        host = str(ROOT / "examples" / name / "host.py")
        done = sluice(folder, "profile", "-o", "out", host, *SIZES[name])
        assert done.returncode == 0, done.stderr
        return json.loads((folder / "out" / "profile.json").read_text())

    return made


@pytest.mark.parametrize("name", SIZES)
def test_every_figure_is_as_in_the_golden_profile(profile_of, name, request):
    check_golden(name, profile_of(name), request.config.getoption("--refresh"))


@pytest.mark.parametrize("name", SIZES)
def test_its_form_is_that_of_the_schema_and_its_figures_sum(profile_of, name):
    schema = json.loads((ROOT / "docs" / "profile.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(profile_of(name))
    check_sums(profile_of(name))


def test_figures_of_vecadd_that_are_known_by_hand(profile_of):
    """Consecutive elements of 4 bytes: all bytes moved are used, in bursts of up to 16 words of 64 bytes. A load does
    not wait for more words before it asks for the first one, so of its 17 bursts that one and the next are shorter."""
    launches = profile_of("vecadd")["launches"]
    assert len(launches) == 2
    for one in (access for launch in launches for access in launch["accesses"]):
        assert (one["efficiency"], one["reuse"], one["bytes_moved"]) == (1.0, 1.0, 4 * 4096)
        assert one["max_burst"] == 16
        assert one["full_bursts"] == pytest.approx(1.0 if one["kind"] == "store" else 15 / 17, abs=1e-6)
        assert one["average_burst"] == pytest.approx(16 if one["kind"] == "store" else 256 / 17, abs=1e-6)
    for loop in (loop for launch in launches for loop in launch["loops"]):
        assert (loop["iterations"], loop["static_ii"]) == (4096, 1)


@pytest.mark.parametrize("name", DEPTHS)
def test_what_the_profile_says_of_depths_holds_in_a_second_run(profile_of, name, tmp_path):
    before, after, said = DEPTHS[name]
    shutil.copytree(ROOT / "examples" / name, tmp_path / "examples" / name)
    shutil.copy(ROOT / "examples" / "common.py", tmp_path / "examples")
    kernel = tmp_path / "examples" / name / "kernel.cl"
    source = kernel.read_text()
    assert before in source
    kernel.write_text(source.replace(before, after))
    done = sluice(tmp_path, "profile", "-o", "out", f"examples/{name}/host.py", *SIZES[name])
    assert done.returncode == 0, done.stderr
    first, second = profile_of(name), json.loads((tmp_path / "out" / "profile.json").read_text())
    assert {one["sentence"] for one in first["depths"]} == {said}
    asked = int(after.removeprefix("depth(").removesuffix(")"))
    assert asked in {one["actual"]["depth"] for one in second["depths"]}
    cycles = [
        {one["kernel"]: one["cycles"] for one in run["launches"] if not one["capture"]} for run in (first, second)
    ]
    for one, two in zip(*(cycles[k].values() for k in (0, 1)), strict=True):
        assert two == pytest.approx(one, rel=0.005), cycles
