"""The Verilog of a design as text: names that every tool takes, and fewer lines for people who read it.

``text`` handles names and files, ``tidy`` leaves out what nothing uses, and ``short`` rewrites modules, which
``expression`` and ``module`` read and write; ``walk``, ``blocks`` and ``ports`` are the steps of that.
"""

from .text import commented, in_order, module_names_in, one_line, plain_names, renamed
from .tidy import Tidy, tidied

__all__ = ["Tidy", "commented", "in_order", "module_names_in", "one_line", "plain_names", "renamed", "tidied"]
