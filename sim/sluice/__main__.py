"""``python -m sluice`` is the command ``sluice``."""

import atexit
import gc
import sys
import warnings

from hls.signals import exit_on_signals

__all__ = ["main"]


def main() -> None:
    """The command line, imported after the signal handlers are set: that import takes a while."""
    exit_on_signals()
    if sys.argv[1:2] in (["compile"], ["check"]):
        # what one compilation imports and makes is needed until the process ends: searching it for garbage is in vain
        gc.disable()
        # the interpreter searches once more when it ends: a tenth of a short compilation, and a sixth of a long one
        atexit.register(gc.freeze)
    warnings.filterwarnings("ignore", ".*created but never used")  # parts of designs that were given up
    from hls.cli import main
    from hls.cli_messages import reported_output_errors

    with reported_output_errors():
        main(prog_name="sluice")


if __name__ == "__main__":
    main()
