"""What the model says of a launch, in both variants."""

from ...target.board import Board
from ..estimate import Planned
from ..prediction import OtherPrediction, Potential
from ..workload import Workload
from .cycles import Cycles
from .from_plan import launch_of, platform_of
from .parameters import Resources
from .potentials import balance, computation, inter_thread, memory
from .variant import Variant

__all__ = ["predict"]


def predict(planned: Planned, workload: Workload, board: Board, used: Resources) -> tuple[OtherPrediction, ...]:
    """The printed and the corrected model's prediction; ``used`` is what the program takes of the device."""
    launch, platform = launch_of(planned, workload), platform_of(board)
    return tuple(_of(Cycles(launch, platform, variant), used) for variant in Variant)


def _of(model: Cycles, used: Resources) -> OtherPrediction:
    blocks, variant = list(model.of_blocks.values()), model.variant
    shares = {
        "B_mem": memory(model),
        "B_comp": computation(used, model.platform.initial, variant),
        "B_balance": balance(blocks, variant),
        "B_itpp": inter_thread(blocks, variant),
    }
    potentials = tuple(Potential(name, share) for name, share in shares.items())
    return OtherPrediction("hpca16", variant.value, model.cycles, model.seconds, potentials)
