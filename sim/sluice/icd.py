"""``python -P -m sluice.icd [--install]``: build the OpenCL driver, and say how a loader finds it."""

import sys

from sim.icd.__main__ import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
