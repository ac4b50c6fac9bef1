"""``python -P -m sluice.build OUT``: make a bitstream of a compiled design."""

import sys

from hls.signals import exit_on_signals, follow_supervisor
from sim.soc.__main__ import main

if __name__ == "__main__":
    exit_on_signals()
    follow_supervisor()
    sys.exit(main())
