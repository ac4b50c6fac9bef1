"""Builds programs of an outside checkout of OpenCL-CTS, and runs their sub-tests one by one."""

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PROGRAMS", "Result", "build", "run", "sub_tests"]

#: folder of each program -> its target, in the order in which they are run
PROGRAMS = {
    "computeinfo": "test_computeinfo",
    "api": "test_api",
    "events": "test_events",
    "profiling": "test_profiling",
    "atomics": "test_atomics",
    "buffers": "test_buffers",
    "compiler": "test_compiler",
    "basic": "test_basic",
    "mem_host_flags": "test_mem_host_flags",
    "multiple_device_context": "test_multiples",
    "printf": "test_printf",
    "thread_dimensions": "test_thread_dimensions",
    "vectors": "test_vectors",
    "relationals": "test_relationals",
    "select": "test_select",
    "SVM": "test_svm",
    "c11_atomics": "test_c11_atomics",
    "commonfns": "test_commonfns",
    "half": "test_half",
    "geometrics": "test_geometrics",
    "integer_ops": "test_integer_ops",
    "contractions": "test_contractions",
    "allocations": "test_allocations",
    "conversions": "test_conversions",
    "device_partition": "test_device_partition",
    "device_timer": "test_device_timer",
    "non_uniform_work_group": "test_non_uniform_work_group",
    "workgroups": "test_workgroups",
    "math_brute_force": "test_bruteforce",
}
#: programs that have not been run to their end, of which nothing is recorded: what is known of each
UNFINISHED = {
    "half": "of 13 sub-tests 4 passed, vstore_half_rte in 473 s on two cores with much other work; 5 were late at 330 s to 500 s; 4 had "
    "failed before vstore_half took doubles, and have not been run since",
    "integer_ops": "30 of 99 sub-tests were run again: 9 passed, 4 were skipped, 17 were late at 60 s on two cores with much other work; "
    "of 23 that were run before, 16 passed, 4 were skipped, 3 were late",
    "conversions": "not recorded",
    "non_uniform_work_group": "11 of 12 sub-tests were run, each late at 60 s on two cores with much other work",
}
#: folders whose files are large and often not there: of images, other interfaces, and SPIR-V
LEFT_OUT = ("images", "spirv_new", "spir")
_LISTED = re.compile(r"^\t(\w+)$", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """What came of a sub-test: ``passed``, ``skipped``, ``failed`` or ``late``, the seconds it took, and what it said."""

    program: str
    name: str
    outcome: str
    seconds: float
    said: str


def build(checkout: Path, headers: Path | None, spirv: Path, folder: Path, programs: list[str]) -> None:
    """Build the programs of a checkout. Raises subprocess.CalledProcessError if CMake or the compiler fails.

    ``headers`` is a folder with ``CL/cl.h`` of the checkout's date, ``spirv`` one with ``include/spirv``.
    """
    tree = folder / "tree"  # the lists of folders are edited, and a checkout stays as it is
    tree.mkdir(parents=True, exist_ok=True)
    for name in ("CMakeLists.txt", "test_common", "test_conformance"):
        subprocess.run(["cp", "-rfu", str(checkout / name), str(tree)], check=True)
    lists = tree / "test_conformance/CMakeLists.txt"
    kept = [line for line in lists.read_text().splitlines() if not _names(line, LEFT_OUT)]
    lists.write_text("\n".join(kept) + "\n")
    script = tree / "test_conformance/spirv_new/spirv_asm/assemble_spirv.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text("")  # programs in SPIR-V, which the driver does not take, need no assembler
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_FLAGS_RELEASE": "-O0 -w",
        "CMAKE_CXX_FLAGS_RELEASE": "-O0 -w",
        "CL_INCLUDE_DIR": str(headers or "/usr/include"),
        "CL_LIB_DIR": "/usr/lib",
        "OPENCL_LIBRARIES": "OpenCL",
        "SPIRV_INCLUDE_DIR": str(spirv),
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    subprocess.run(["cmake", "-S", str(tree), "-B", str(folder / "build"), *options], check=True)
    targets = [PROGRAMS[name] for name in programs]
    subprocess.run(["cmake", "--build", str(folder / "build"), "--target", *targets], check=True)


def _names(line: str, folders: tuple[str, ...]) -> bool:
    return any(re.fullmatch(rf"\s*add_subdirectory\(\s*{name}\s*\)\s*", line) for name in folders)


def _program(folder: Path, program: str) -> Path:
    return folder / "build/test_conformance" / program / PROGRAMS[program]


def sub_tests(folder: Path, program: str) -> list[str]:
    """The sub-tests of a program that :func:`build` made."""
    file = _program(folder, program)
    done = subprocess.run([file, "--list"], cwd=file.parent, capture_output=True, text=True, check=False)
    return _LISTED.findall(done.stdout)


def run(folder: Path, program: str, names: list[str], environment: Mapping[str, str], limit: float) -> Iterator[Result]:
    """Run sub-tests, each in a process of its own that ends after ``limit`` seconds."""
    file = _program(folder, program)
    for name in names:
        start = time.monotonic()
        command = [str(file), name, "--wimpy", "--num-threadpool-threads", "1"]
        try:
            done = subprocess.run(
                command,
                cwd=file.parent,
                env=dict(os.environ) | dict(environment),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit,
                check=False,
            )
            said = done.stdout + done.stderr
            outcome = _outcome(name, done.returncode, said)
        except subprocess.TimeoutExpired as late:
            said = (late.stdout or b"").decode(errors="replace") + (late.stderr or b"").decode(errors="replace")
            outcome = "late"
        yield Result(program, name, outcome, time.monotonic() - start, said)


def _outcome(name: str, code: int, said: str) -> str:
    if "Test skipped while initialization" in said:  # a program for what the device does not have
        return "skipped"
    if code != 0:
        return "failed"
    if f"{name} passed" in said:
        return "passed"
    return "skipped" if f"{name} skipped" in said or f"{name} test not supported" in said else "failed"
