"""The part of Amaranth that this project uses, as a type checker sees it.

Amaranth has no type information, and a component gets its ports while it runs, from its signature: no checker finds
them in its source. These files say what its manual says. Attributes of values, components and interfaces are open, as
layouts and signatures name them; functions, their arguments and operators are checked.
"""

from .hdl import *
