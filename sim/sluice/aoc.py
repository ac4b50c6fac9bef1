"""The command ``aoc``, by the vendor's name."""

import sys
import warnings

from hls.signals import exit_on_signals

__all__ = ["main"]


def main() -> None:
    """Run it with the arguments of the process."""
    exit_on_signals()
    warnings.filterwarnings("ignore", ".*created but never used")
    from sim.icd.aoc import main

    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    main()
