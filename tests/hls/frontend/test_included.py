"""Files that #include reads, files that it refuses, and that no content of a refused file is shown."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hls.diag import CompileError, render
from hls.frontend import parse_source

ROOT = Path(__file__).parents[3]
KERNEL = "__kernel void k(__global int *a) { a[0] = N; }\n"
SECRET = "the_secret"


@pytest.fixture
def project(tmp_path):
    """A folder with a program, beside one that it is not to read."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "fine.h").write_text("#define N 3\n")
    (outside / "secret.h").write_text(f"{SECRET} root:x:0\n")
    (inside / "link.h").symlink_to(outside / "secret.h")
    (inside / "folder").symlink_to(outside)
    return inside


def told(text: str, folder: Path, roots=(), dirs=()) -> str:
    """The messages of a program that is refused."""
    with pytest.raises(CompileError) as caught:
        parse_source(text, str(folder / "k.cl"), {}, [str(folder), *map(str, dirs)], include_roots=roots)
    return "\n".join(render(d, caught.value.sources) for d in caught.value.diagnostics)


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.h",
        "link.h",
        "folder/secret.h",
        "folder/../outside/secret.h",
        "/etc/passwd",
        "/proc/self/environ",
        "../outside/none.h",
        "../outside",
    ],
)
def test_nothing_outside_the_roots_is_read_or_told(path, project):
    text = told(f'#include "{path}"\n{KERNEL}', project, [project])
    assert f"k.cl:1:2: error[E0106]: file '{path}' not found in the folders that --include-root allows" in text
    assert SECRET not in text and "root:" not in text


def test_without_roots_all_files_are_read(project):
    assert SECRET in told(f'#include "link.h"\n{KERNEL}', project)


def test_a_folder_that_is_searched_is_not_allowed_by_that(project):
    assert "not found in the folders" in told(
        f"#include <secret.h>\n{KERNEL}", project, [project], [project.parent / "outside"]
    )


def test_what_lies_in_a_root_is_read(project):
    outside = project.parent / "outside"
    (outside / "more.h").write_text('#include "last.h"\n#define N M\n')
    (outside / "last.h").write_text("#define M 4\n")
    for path, roots in (
        ("fine.h", [project]),
        ("../inside/fine.h", [project]),
        ("folder/more.h", [project, outside]),
        ("more.h", [project.parent]),
    ):
        parse_source(
            f'#include "{path}"\n#include <stdint.h>\n{KERNEL}',
            str(project / "k.cl"),
            {},
            [str(project), str(outside)],
            include_roots=roots,
        )


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.h")
    for path in ("/dev/zero", "/dev/urandom", "/proc/self/environ", "pipe.h"):
        assert "is no regular file" in told(f'#include "{path}"\n{KERNEL}', tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf#define N 3\n",
        b"// caf\xe9\n#define N 3\n",
        "\ufeff#define N 3\n".encode("utf-16-le"),
        "\ufeff#define N 3\n".encode("utf-16-be"),
    ],
)
def test_byte_order_marks_and_comments_in_other_encodings(data, tmp_path):
    (tmp_path / "n.h").write_bytes(data)
    parse_source(f'#include "n.h"\n{KERNEL}', str(tmp_path / "k.cl"), {}, [str(tmp_path)])


def command(folder: Path, *arguments) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "hls.cli", "compile", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def test_the_command_follows_no_link_out_of_the_roots(project):
    (project / "k.cl").symlink_to(project.parent / "outside/secret.h")
    done = command(project, "k.cl", "--include-root", ".")
    assert (done.returncode, SECRET in done.stderr, "k.cl is a link" in done.stderr) == (1, False, True), done.stderr
    assert SECRET in command(project, "k.cl").stderr


def test_the_command_hands_roots_on(project):
    (project / "k.cl").write_bytes(b'\xef\xbb\xbf// caf\xe9\n#include "link.h"\n' + KERNEL.encode())
    done = command(project, "k.cl", "--include-root", ".")
    assert (
        done.returncode == 1
        and "k.cl:2:2: error[E0106]: file 'link.h' not found in the folders that --include-root allows" in done.stderr
    ), done.stderr


def test_a_line_directive_shows_no_line_of_the_file_that_it_names(project):
    """What is read is known by its path, whatever a program calls itself."""
    text = told(f'#line 1 "{project.parent / "outside/secret.h"}"\nzz 3;\n{KERNEL}', project, [project])
    assert SECRET not in text and "zz 3;" in text


def test_the_program_cannot_ask_whether_a_file_is_there(project):
    """The messages of a file that is there and of one that is not are the same."""
    here, there = (
        told(f'#if __has_include("{name}")\n#endif\n#include "{name}"\n{KERNEL}', project, [project]).replace(name, "?")
        for name in ("../outside/secret.h", "../outside/none.h")
    )
    assert here.split("\n")[0] == there.split("\n")[0]


def test_a_byte_order_mark_in_a_text_that_a_host_program_read():
    parsed = parse_source("\ufeff__kernel void k(__global int *o) { o[0] = 1; }")
    assert [*parsed.module.functions] == ["k"]
    with pytest.raises(CompileError) as refused:
        parse_source("\ufeff__kernel void k(__global int *o) { o[0] = x; }")
    assert refused.value.diagnostics[0].span.column == 43
