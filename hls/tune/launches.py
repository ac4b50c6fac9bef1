"""The launches of a host program in one build: what each takes, and all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..ir import Module
from ..ir.launch import is_part
from ..model.estimate import Planned, estimate
from ..model.network import Member, estimate_together, has_calls, links, run_together
from ..model.prediction import Prediction
from ..model.workload import Workload
from ..planning import Compilation, CompiledKernel
from ..planning.memory import ChannelPlan
from ..target.board import Board

__all__ = ["Launches", "whole"]


def whole(launched: Sequence[str], figures: Sequence[float], linked: Iterable[tuple[str, str]]) -> float:
    """The cycles or seconds of all launches, from those of each: the longest of kernels that run at the same time as
    channels connect them, ``linked`` by name, and the sum of what runs one after the other."""
    return sum(max(figures[number] for number in together) for together in run_together(launched, linked))


@dataclass(frozen=True)
class Launches:
    """A build of the program: its linked ``module``, ``kernels`` and ``channels``, how they are compiled, and the plan
    and workload of each launch."""

    module: Module
    compilation: Compilation
    kernels: Sequence[CompiledKernel]
    channels: Sequence[ChannelPlan]
    launched: Sequence[tuple[Planned, Workload]]

    @property
    def linked(self) -> frozenset[tuple[str, str]]:
        """The kernels that run at the same time, in pairs."""
        return links(self.channels)

    def predictions(self, board: Board) -> list[Prediction]:
        """What each launch takes, in their order: kernels with calls on channels together, the others alone. Raises
        NotModelled."""
        joined = [k for k, (one, _) in enumerate(self.launched) if has_calls(one) and not is_part(one.function)]
        members = [Member(*self.launched[k]) for k in joined]
        found = dict(zip(joined, estimate_together(members, self.channels, board), strict=True))
        return [
            found[k] if k in found else estimate(planned, workload, board)
            for k, (planned, workload) in enumerate(self.launched)
        ]

    def cycles_and_seconds(self, board: Board) -> tuple[float, float]:
        """Of all launches, most likely. Raises NotModelled."""
        found = self.predictions(board)
        names = [one.kernel for one in found]
        return (
            whole(names, [one.cycles.likely for one in found], self.linked),
            whole(names, [one.seconds for one in found], self.linked),
        )
