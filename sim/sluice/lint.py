"""``python -P -m sluice.lint FOLDER``: let every reader of Verilog that is installed read a compiled design."""

import sys

from hls.signals import exit_on_signals, follow_supervisor
from sim.lint.__main__ import main

if __name__ == "__main__":
    exit_on_signals()
    follow_supervisor()
    sys.exit(main())
