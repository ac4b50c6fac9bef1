"""``python -m sim.icd [--install]``: build the driver, and print the shell's setting that lets a loader find it."""

import shlex
import sys

from sim.errors import BuildError, ToolMissing

from .build import build_driver, install

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Print the setting, or with ``--install`` write the system's file; returns the exit code."""
    try:
        if arguments == ["--install"]:
            print(install())
        else:
            print(f"export OCL_ICD_VENDORS={shlex.quote(str(build_driver().parent))}")
    except (BuildError, ToolMissing) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
