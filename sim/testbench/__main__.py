"""``python -m sim.testbench FOLDER``: write the testbench of the system that was compiled into FOLDER."""

import sys
from pathlib import Path

from .generate import TestbenchError, write_testbench


def main() -> int:
    """Write the testbench of a compiled folder, the only argument; returns the exit code."""
    if len(sys.argv) != 2:
        print("usage: python -m sim.testbench FOLDER", file=sys.stderr)
        return 2
    try:
        written = write_testbench(Path(sys.argv[1]))
    except TestbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(written))
    return 0


if __name__ == "__main__":
    sys.exit(main())
