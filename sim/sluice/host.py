"""``python -P -m sluice.host FILE ARGUMENTS``: run a host program with our packages, whatever folders lie beside it."""

import sys

from sim.host import main

if __name__ == "__main__":
    main(sys.argv[1:])
