"""``python -P -m sluice.rtl_check LIBRARY OPERANDS SEED``: compare the modules of an RTL library with their models."""

import sys

from hls.signals import exit_on_signals, follow_supervisor
from sim.rtl_check import main

if __name__ == "__main__":
    exit_on_signals()
    follow_supervisor()
    sys.exit(main(sys.argv[1:]))
