"""The simulation of a whole system behind a pseudo terminal, and behind a socket if it has Ethernet: hardware for
hosts, without a board."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..build import PREFIX, QUICK, SLOW, STARTUP, VERILATE, VERILATED
from ..cache import cached, content_key
from ..errors import BuildError
from ..toolchain import Tools, find_tools
from .make import PROGRAM
from .steps import TOP, VERILOG

__all__ = ["Ends", "build_simulator", "simulated"]

HERE = Path(__file__).parent
MAIN, NETWORK = HERE / "serial_main.cpp", HERE / "network.hpp"
#: of the kernel clock, for a bit: long enough that the memory has always answered before the next byte is there, which
#: DDR3 does later than SDR SDRAM
CYCLES_OF_A_BIT, CYCLES_WITH_DDR3 = 8, 16
FLAGS = ("-std=c++17", "-pthread", "-DVL_TIME_CONTEXT", "-DVM_TRACE=0", "-DVM_COVERAGE=0", "-DVM_SC=0")


def build_simulator(system: Path, mhz: float, bit: int = CYCLES_OF_A_BIT) -> Path:
    """The simulator of the system in that folder, as ``sluice build`` writes it (soc.py and what it imports), at that
    kernel clock, with so many cycles for a ``bit`` of the serial line. Raises BuildError and ToolMissing."""
    tools = find_tools()
    program = (system / PROGRAM).read_text(encoding="utf-8")
    rtl = sorted((system / "rtl").glob("*.v"))
    texts = [path.read_text(encoding="utf-8") for path in rtl]
    own = [MAIN.read_text(), NETWORK.read_text(), str(bit)]
    key = content_key([tools.identity, program, f"{mhz!r}", *own, *FLAGS, *QUICK, *VERILATE, *texts])
    return cached("soc-simulator", key, "simulator", lambda made: _build(tools, system, mhz, bit, rtl, made))


def _build(tools: Tools, system: Path, mhz: float, bit: int, rtl: list[Path], made: Path) -> None:
    baud = round(mhz * 1e6 / bit)
    asked = ["--simulation", "--clock", repr(mhz), "--baud", str(baud)]
    _run([sys.executable, str(system / PROGRAM), str(made), *asked], made, "LiteX refused the system")
    environment = {"VERILATOR_ROOT": str(tools.verilator_root)}
    generated = made / "generated"
    options = ["--top-module", TOP, "-Mdir", str(generated)]
    verilate = [*VERILATE, *options, str(made / VERILOG), *map(str, rtl)]
    _run([str(tools.verilator), *verilate], made, "Verilator refused the system", environment)
    ports = (generated / f"{PREFIX}.h").read_text()
    has = [flag for port, flag in (("sync2x_clk", "-DSYNC2X"), ("eth_sink_valid", "-DWITH_ETHERNET")) if port in ports]
    include = [*has, f"-I{HERE}", f"-I{generated}", f"-I{tools.include}", f"-I{tools.include / 'vltstd'}"]
    objects = []
    for name, sources, optimized in _units(tools, generated):
        unit, target = made / f"{name}.cc", made / f"{name}.o"
        unit.write_text("".join(f'#include "{source}"\n' for source in sources))
        command = [tools.cxx, *FLAGS, *optimized, *include, "-c", "-o", str(target), str(unit)]
        _run(command, made, "the simulation of the system does not compile")
        objects.append(str(target))
    _run([tools.cxx, "-pthread", "-o", str(made / "simulator"), *objects], made, "the simulation does not link")


def _units(tools: Tools, generated: Path) -> Iterator[tuple[str, list[Path], list[str]]]:
    """What is compiled together, and how: what runs once, the rest of the model, and our own with the library."""
    slow = sorted(generated.glob(f"*{SLOW}*.cpp"))
    yield "slow", slow, STARTUP
    yield "model", sorted({*generated.glob("*.cpp")} - {*slow}), QUICK
    yield "main", [MAIN, *(tools.include / name for name in VERILATED)], QUICK


def _run(command: list[str], folder: Path, message: str, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, cwd=folder, env=os.environ | (environment or {}), capture_output=True, text=True, check=False
    )
    if done.returncode:
        log = (done.stdout + done.stderr).strip()
        raise BuildError(f"{message}: {log[-300:]}", log)


class Ends(NamedTuple):
    """Where a running system is: ``serial`` for SLUICE_DEVICE=uart:PORT, ``network`` for eth:HOST ("" if none)."""

    serial: str
    network: str


@contextmanager
def simulated(simulator: Path, ethernet: bool = False, bit: int = CYCLES_OF_A_BIT, lose: int = 0) -> Iterator[Ends]:
    """A running system, which has Ethernet or not, and was built for ``bit``. Every ``lose``-th datagram is lost, 0 for
    none."""
    process = subprocess.Popen(
        [str(simulator), str(bit), str(lose)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        serial = process.stdout.readline().strip()
        yield Ends(serial, process.stdout.readline().strip() if ethernet else "")
    finally:
        process.stdin.close()
        process.wait(timeout=20)
        process.stdout.close()
