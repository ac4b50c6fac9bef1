"""sluice under a name of its own: ``import sluice.cl as cl`` is ``import sim.cl as cl`` for programs next to which
there is a folder ``sim``.

A hardware project has folders ``sim``, ``hls`` or ``boards`` of its own, and Python finds them before the installed
packages of these names. This package makes each of ours importable whatever folders are next to the program: it is put
first in the package's search path, so that modules of both are found (docs/rationale/names.md).
"""

from .early_signals import end_on_signals

end_on_signals()  # before the imports below, which take milliseconds  # isort: split

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

__all__ = ["PACKAGES", "share"]

#: the packages of this project, next to each other in one folder
PACKAGES = ("boards", "hls", "rtl_lib", "sim")


def _root() -> Path:
    """The folder of the packages: this one is ``sluice`` in an installation, and ``sim/sluice`` in the sources."""
    here = Path(__file__).resolve().parent
    return here.parent.parent if here.parent.name == "sim" and (here.parent / "cl").is_dir() else here.parent


def share(name: str) -> ModuleType:
    """The package ``name`` with our folder first in its search path, followed by those of the same name that programs
    bring along."""
    ours = str(_root() / name)
    module = sys.modules.get(name) or _imported(name, ours)
    others = [str(Path(entry or ".").resolve() / name) for entry in sys.path]
    found = dict.fromkeys([ours, *module.__path__, *(folder for folder in others if Path(folder).is_dir())])
    module.__path__ = list(found)
    return module


def _imported(name: str, ours: str) -> ModuleType:
    """Our package, imported from its own folder only."""
    spec = importlib.util.spec_from_file_location(name, f"{ours}/__init__.py", submodule_search_locations=[ours])
    assert isinstance(spec, ModuleSpec) and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


for _name in PACKAGES:
    share(_name)
