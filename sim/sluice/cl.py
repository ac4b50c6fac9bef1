"""``sluice.cl`` is ``sim.cl``, the same module under a second name."""

import importlib
import sys

sys.modules[__name__] = importlib.import_module("sim.cl")
