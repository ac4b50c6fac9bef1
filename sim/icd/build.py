"""Builds ``libsluice.so`` from the sources beside this file, cached by content, and the file that names it to the
loader."""

import sys
from pathlib import Path

from sim.cache import cached, content_key
from sim.errors import BuildError, ToolMissing
from sim.programs import Programs
from sim.toolchain import CxxCompiler, find_compiler

__all__ = ["DEFINES", "SOURCES", "VENDORS", "build_driver", "install"]

SOURCES = Path(__file__).parent / "library"
#: where the loader of the system looks for drivers
VENDORS = Path("/etc/OpenCL/vendors")
DEPRECATED = ("1_0", "1_1", "1_2", "2_0", "2_1", "2_2")
DEFINES = ("-DCL_TARGET_OPENCL_VERSION=300", *(f"-DCL_USE_DEPRECATED_OPENCL_{version}_APIS" for version in DEPRECATED))
FLAGS = (
    *("-std=gnu++17", "-O1", "-g0", "-w", "-shared", "-fPIC", "-pthread"),
    "-fvisibility=hidden",  # the loader has functions of the same names
    "-Wl,-z,nodelete",  # threads of the library and handlers of fork() outlive a dlclose()
    *DEFINES,
)
HEADERS = "#include <CL/cl_icd.h>\n"
NO_HEADERS = (
    "the headers of OpenCL are missing: install them (Debian: opencl-headers, and for hosts opencl-clhpp-headers and "
    "ocl-icd-opencl-dev), or set CPATH to the folder that has CL/cl_icd.h"
)


def build_driver(python: str = sys.executable) -> Path:
    """The file ``sluice.icd``, which names the library that is next to it; ``python`` runs the server.

    Raises ToolMissing without a C++ compiler or OpenCL's headers, BuildError if the compiler fails or the cache cannot
    be written.
    """
    compiler = find_compiler()
    files = sorted(SOURCES.glob("*.[ch]*"))
    key = content_key([compiler.identity, python, *FLAGS, *(file.read_text() for file in files)])

    def make(folder: Path) -> None:
        _check_headers(compiler)
        _compile(compiler, python, folder / "libsluice.so")

    library = cached("icd", key, "libsluice.so", make)
    vendor = library.with_name("sluice.icd")
    _write(vendor, f"{library}\n")
    return vendor


def _write(file: Path, text: str) -> None:
    """Write a file, unless it has this text: others may be reading it."""
    try:
        if not file.is_file() or file.read_text() != text:
            file.write_text(text)
    except OSError as error:
        raise BuildError(f"cannot write {file}: {error.strerror}") from error


def _check_headers(compiler: CxxCompiler) -> None:
    with Programs() as programs:
        command = [compiler.path, "-E", "-x", "c++", "-", "-o", "/dev/null"]
        if programs.run(command, input=HEADERS).returncode:
            raise ToolMissing(NO_HEADERS)


def _compile(compiler: CxxCompiler, python: str, target: Path) -> None:
    sources = map(str, sorted(SOURCES.glob("*.cpp")))
    command = [compiler.path, *FLAGS, f'-DSLUICE_PYTHON="{python}"', *sources, "-o", str(target)]
    with Programs() as programs:
        done = programs.run(command)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise BuildError(
            f"building the driver failed: {errors[0] if errors else done.stderr[-300:].strip()}", done.stderr
        )


def install(vendors: Path = VENDORS) -> Path:
    """Write the file by which the loader of the system finds the driver; returns its path. Raises as
    :func:`build_driver` does, and BuildError where the folder cannot be written."""
    library = build_driver().read_text()
    target = vendors / "sluice.icd"
    try:
        vendors.mkdir(parents=True, exist_ok=True)
        target.write_text(library)
    except OSError as error:
        raise BuildError(
            f"cannot write {target}: {error.strerror}; run it as root, or use the setting that `sluice icd` prints, "
            "which needs no root"
        ) from error
    return target
