"""Runs WebAssembly programs within the process of the tests, so that each is loaded once.

To start Python and to load a program takes longer than most of what tests ask Yosys for.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """A program that is loaded: the engine and the module of wasmtime, and its name in the command line."""

    engine: Any
    module: Any
    name: str

    def run(
        self, arguments: list[str], text: str = "", folders: Mapping[str, str] | None = None
    ) -> tuple[int, str, str]:
        """The exit code and what a new instance writes to its standard output and as errors, given ``text`` as the
        standard input. ``folders`` are those it sees: their paths by the names it has for them."""
        import wasmtime

        with tempfile.TemporaryDirectory(prefix="wasm-") as own:
            given, out, errors = (Path(own) / name for name in ("in", "out", "errors"))
            given.write_text(text, encoding="utf-8")
            wasi = wasmtime.WasiConfig()
            wasi.argv = (self.name, *arguments)
            for name, path in ({"/tmp": own, ".": "."} | dict(folders or {})).items():
                wasi.preopen_dir(path, name)
            wasi.stdin_file, wasi.stdout_file, wasi.stderr_file = map(str, (given, out, errors))
            linker, store = wasmtime.Linker(self.engine), wasmtime.Store(self.engine)
            linker.define_wasi()
            store.set_wasi(wasi)
            code, trapped = 0, ""
            try:
                linker.instantiate(store, self.module).exports(store)["_start"](store)
            except wasmtime.ExitTrap as ended:
                code = ended.code
            except (wasmtime.Trap, wasmtime.WasmtimeError) as ended:
                code, trapped = 1, str(ended)
            return code, out.read_text(encoding="utf-8"), errors.read_text(encoding="utf-8") + trapped
