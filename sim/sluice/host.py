"""``python -P -m sluice.host FILE ARGUMENTS``: run a program with our packages, whatever folders it is next to."""

import sys

from sim.host import main

if __name__ == "__main__":
    main(sys.argv[1:])
