"""Cycles from simulation, cells and clock from synthesis, of one case."""

from dataclasses import dataclass

from tests.boards.onchip import Machine
from tests.boards.pnr import Device, Figures, measure

from .cases import Case, compiled

__all__ = ["Row", "measured", "simulated"]


@dataclass(frozen=True)
class Row:
    """One line of the table: a case on a device."""

    case: Case
    cycles: int
    figures: Figures

    @property
    def microseconds(self) -> float:
        return self.cycles / self.figures.fmax

    @property
    def faster(self) -> float:
        """How many times faster than the other compiler's."""
        return self.case.peer.microseconds / self.microseconds

    @property
    def larger(self) -> float:
        """How many times the LUTs of logic."""
        return self.figures.lut4 / self.case.peer.lut4


def simulated(case: Case) -> int:
    """Cycles of a run; AssertionError where a byte of its result is wrong."""
    arrays, expected = case.inputs()
    result = compiled(case)
    (kernel,) = result.interface.kernels
    with Machine(result) as machine:
        run = machine.run(kernel.name, arrays, {}, {})
    *_, got = arrays.values()
    if run.fault is not None or run.status or got.tobytes() != expected.tobytes():
        raise AssertionError(f"{case.label}: wrong result: {got} instead of {expected}, fault {run.fault}")
    return run.cycles


def measured(case: Case, cycles: int, device: Device) -> Row:
    """The row of a case of which the cycles are known."""
    arrays, _ = case.inputs()
    sizes = {name: array.nbytes for name, array in arrays.items()}
    return Row(case, cycles, measure(compiled(case), sizes, device))
