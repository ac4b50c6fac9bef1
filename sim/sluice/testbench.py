"""``python -P -m sluice.testbench FOLDER``: write the testbench of the system that was compiled into FOLDER."""

import sys

from sim.testbench.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
