"""`sluice diff`: designs side by side, by folder, file and git revision."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hls.cli import main

SUM = """\
__kernel void total(__global const float *restrict a, __global float *restrict out, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    out[0] = s;
}
"""
SHIFTED = """\

__kernel void total(__global const float *restrict a, __global float *restrict out, int n)
{
    float part[8] = {0}, s = 0;
    for (int i = 0; i < n; i++) {
        float next = part[7] + a[i];
        #pragma unroll
        for (int k = 7; k > 0; k--)
            part[k] = part[k - 1];
        part[0] = next;
    }
    #pragma unroll
    for (int k = 0; k < 8; k++)
        s += part[k];
    out[0] = s;
}
__kernel void more(__global int *restrict out) { out[0] = 1; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two designs, and a repository whose two commits have their programs."""
    made = tmp_path_factory.mktemp("diff")
    for name, text in (("old", SUM), ("new", SHIFTED)):
        (made / f"{name}.cl").write_text(text)
        assert sluice(made, "compile", f"{name}.cl", "-o", name, "--no-html").exit_code == 0
    return made


def sluice(folder: Path, *arguments: str) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(main, list(arguments))


def test_text(folder):
    told = sluice(folder, "diff", "old", "new/report.json")
    assert told.exit_code == 0
    assert "  loop i (line 4 -> 5): II 6 -> 1 (-83.3%)" in told.output
    assert "kernel more (line 17): added" in told.output
    assert "gone: warning W0706 (line 4): loop i starts an iteration every 6 cycles" in told.output
    back = sluice(folder, "diff", "new", "old", "--fail-on-worse")
    assert back.exit_code == 3
    assert "  loop i (line 5 -> 4): ! II 1 -> 6 (+500.0%)" in back.output
    assert "! new warning W0706" in back.output


def test_clocks_of_kernels_and_units(folder, tmp_path):
    """Of a report that has none, as of an earlier version, nothing is told."""
    report = json.loads((folder / "old/report.json").read_text())
    (kernel,) = report["kernels"]
    told = []
    for clocks in ((300.0, 310.5), (200.0, 210.5), None):
        for one, mhz in zip((kernel, kernel["accesses"][0]), clocks or (None, None)):
            del one["fmax_mhz"]
            if mhz:
                one["fmax_mhz"] = mhz
        (tmp_path / f"{len(told)}.json").write_text(json.dumps(report))
        told.append(sluice(tmp_path, "diff", "0.json", f"{len(told)}.json").output)
    assert "fmax in MHz 300 -> 200" in told[1] and "fmax in MHz 310.5 -> 210.5" in told[1]
    assert "fmax" not in told[0] + told[2]


def test_the_same(folder):
    told = sluice(folder, "diff", "old", "old", "--fail-on-worse")
    assert told.exit_code == 0 and "no difference" in told.output


def test_json_and_markdown_have_the_same_figures(folder):
    data = json.loads(sluice(folder, "diff", "new", "old", "--json").output)
    (loop,) = [one for one in data["changes"] if one["kind"] == "loop" and one["name"] == "i"]
    ii = next(one for one in loop["figures"] if one["name"] == "II")
    assert (ii["before"], ii["after"], ii["worse"]) == (1, 6, True) and data["worse"] and loop["worse"]
    assert [one["code"] for one in data["warnings"]] == ["W0706"] and data["gone"] == []
    table = sluice(folder, "diff", "new", "old", "--markdown").output
    assert "| total | loop i (line 5 -> 4) | II | 1 | 6 | +500.0% ⚠ |" in table
    assert table.startswith("**Worse**")


def test_a_moved_line_and_another_number_are_no_new_warning(folder):
    (folder / "moved.cl").write_text(
        "\n\n" + SUM.replace("float s", "double s").replace("float *restrict out", "double *restrict out")
    )
    assert sluice(folder, "compile", "moved.cl", "-o", "moved", "--no-html").exit_code == 0
    data = json.loads(sluice(folder, "diff", "old", "moved", "--json").output)
    assert data["warnings"] == data["gone"] == []


def test_git_revisions(folder, tmp_path):
    def git(*words: str) -> None:
        author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", str(tmp_path), *author, *words], check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "part.h").write_text("#define START 0\n")
    for text in (SUM, SHIFTED):
        (tmp_path / "k.cl").write_text('#include "part.h"\n' + text.replace("s = 0", "s = START"))
        git("add", ".")
        git("commit", "-qm", "a design")
    told = sluice(tmp_path, "diff", "HEAD~", "HEAD", "--kernel", "k.cl")
    assert "loop i (line 5 -> 6): II 6 -> 1" in told.output, told.output
    assert not (tmp_path / ".git/worktrees").exists() or not list((tmp_path / ".git/worktrees").iterdir())
    with_folder = sluice(tmp_path, "diff", str(folder / "old"), "HEAD", "--kernel", "k.cl", "--fail-on-worse")
    assert with_folder.exit_code in (0, 3) and "II 6 -> 1" in with_folder.output
    reports = sluice(tmp_path, "diff", str(folder / "old"), str(folder / "old"), "--kernel", "k.cl")
    assert reports.exit_code == 2 and "it is for git revisions: leave it out" in reports.output
    unknown = sluice(tmp_path, "diff", "HEAD~9", "HEAD", "--kernel", "k.cl")
    assert unknown.exit_code == 1 and "HEAD~9" in unknown.output


def test_revisions_of_a_project(folder, tmp_path):
    """Its program, its macros, and each revision's own board."""

    def git(*words: str) -> None:
        author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", str(tmp_path), *author, *words], check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "k.cl").write_text(SUM.replace("s = 0", "s = START"))
    for clock in (240, 100):
        project = f'kernels = ["k.cl"]\nclock = {clock}\n[defines]\nSTART = 0\n'
        (tmp_path / "sluice.toml").write_text(project)
        git("add", ".")
        git("commit", "-qm", "a design")
    told = sluice(tmp_path, "diff", "HEAD~", "HEAD")
    assert told.exit_code == 0 and "II 6 -> " in told.output, told.output


def test_what_is_no_report_is_refused(folder, tmp_path):
    (tmp_path / "report.json").write_text("{}")
    for place, told in (
        (str(tmp_path), "is not a report of schema 2"),
        ("nowhere", "name a folder that `sluice compile -o` wrote"),
        (str(folder / "old.cl"), "is no report: name a folder"),
    ):
        result = sluice(folder, "diff", place, "new")
        assert result.exit_code == 1 and told in result.output and "Traceback" not in result.output


def test_a_place_that_is_neither_a_folder_nor_a_revision(tmp_path):
    (tmp_path / "k.cl").write_text("__kernel void k(__global int *a) { a[0] = 1; }")
    result = sluice(tmp_path, "diff", "old", "new", "--kernel", "k.cl")
    assert result.exit_code == 1
    assert "there is no report at old, and no git revision of that name" in result.output
    assert "`sluice compile -o old`" in result.output


def test_a_loop_that_is_no_longer_unrolled_has_no_larger_ii(tmp_path):
    loop = (
        "__kernel void k(__global int *restrict a) {{ int s = 0; {} for (int i = 0; i < 4; i++) s += a[i]; a[9] = s; }}"
    )
    for name, pragma in (("all", "#pragma unroll"), ("none", "#pragma unroll 1")):
        (tmp_path / f"{name}.cl").write_text(loop.replace("{}", f"\n{pragma}\n").replace("{{", "{").replace("}}", "}"))
        assert sluice(tmp_path, "compile", f"{name}.cl", "-o", name, "--no-html").exit_code == 0
    changes = json.loads(sluice(tmp_path, "diff", "all", "none", "--json").output)["changes"]
    (figures,) = [one["figures"] for one in changes if one["kind"] == "loop"]
    assert "verdict" in {one["name"] for one in figures} and "II" not in {one["name"] for one in figures}
