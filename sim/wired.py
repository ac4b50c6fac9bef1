"""Runs kernels that are started by wires instead of registers (``SystemInterface.control`` is "wires")."""

from collections.abc import Mapping

from hls.rtl.interface import KernelInterface

from .errors import SimulationError
from .session import Session

__all__ = ["run_by_wires"]


def run_by_wires(session: Session, kernel: KernelInterface, values: Mapping[str, int], limit: int) -> int:
    """Run ``kernel`` with these argument values by name; returns its cycles, from the one after start to that of done.

    Raises SimulationError when it takes more than ``limit`` cycles.
    """
    wires = {f"{kernel.name}_arg_{name}": value & (1 << 64) - 1 for name, value in values.items()}
    session.set_wires(wires | {f"{kernel.name}_start": 1})
    _, begin = session.run(1, 0)
    session.set_wires({f"{kernel.name}_start": 0})
    done, end = session.run_until(f"{kernel.name}_done", limit)
    if not done:
        raise SimulationError(f"kernel {kernel.name} has not finished after {limit:,} cycles")
    session.run(1, 0)  # the cycle in which done is high
    return end + 1 - begin
