"""``python -m sim.icd [--install]``: build the driver, and print the shell's setting that lets a loader find it."""

import shlex
import sys
from pathlib import Path

from sim.errors import BuildError, ToolMissing

from .build import build_driver, install
from .kit import vendor_kit

__all__ = ["main", "setting"]


def setting(vendor: Path) -> str:
    """Two variables, as loaders differ: Debian's and that of pyopencl's wheels read the file, which keeps other drivers
    out; that of Khronos reads a list of libraries. And those by which Makefiles of vendors' examples look for their
    kits."""
    library = vendor.with_name("libsluice.so")
    kit = vendor_kit()
    found = {
        "OCL_ICD_VENDORS": vendor,
        "OCL_ICD_FILENAMES": library,
        "INTELFPGAOCLSDKROOT": kit,
        "ALTERAOCLSDKROOT": kit,
        "XILINX_XRT": kit,
    }
    return " ".join(f"{name}={shlex.quote(str(value))}" for name, value in found.items())


def main(arguments: list[str]) -> int:
    """Print the setting, or with ``--install`` write the system's file; returns the exit code."""
    try:
        if arguments == ["--install"]:
            print(install())
        else:
            print(f"export {setting(build_driver())}")
    except (BuildError, ToolMissing) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
