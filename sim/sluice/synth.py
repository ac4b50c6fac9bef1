"""``python -P -m sluice.synth OUT``: synthesize, place and route a compiled design."""

import sys

from hls.signals import exit_on_signals, follow_supervisor
from sim.synthesis.__main__ import main

if __name__ == "__main__":
    exit_on_signals()
    follow_supervisor()
    sys.exit(main())
