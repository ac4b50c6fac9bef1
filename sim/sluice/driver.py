"""``python -P -m sluice.driver FD``: serve the host program at the other end of a socket, for ``libsluice.so``."""

import sys

from sim.icd.server import serve

if __name__ == "__main__":
    serve(int(sys.argv[1]))
