"""Every pass of the pipeline, for showing passes and for running single ones."""

from dataclasses import replace

from ..target.board import Board
from .manager import Stage
from .pipeline import (
    copy_stages,
    decouple_stage,
    inline_stage,
    legalize_stage,
    link_stage,
    stages_around_split,
    target_stage,
    units_stage,
)
from .pipeline_options import PipelineOptions

__all__ = ["all_stages"]

#: largest buffer that is copied where passes are shown or run alone
SHOWN_BYTES = 1024


def all_stages(options: PipelineOptions, board: Board) -> tuple[Stage, ...]:
    """Every stage with every pass that any option enables; ``options`` must describe the target completely."""
    options = replace(options, fp_relaxed=True, hazards=True, copied=None, copy_bytes=SHOWN_BYTES)
    before, after = stages_around_split(options)
    return (
        link_stage(True, options.warn, True, prints=True),
        legalize_stage(board, options.warn),
        inline_stage(options),
        *before,
        decouple_stage(options),
        *copy_stages(options),
        *after,
        target_stage(options),
        units_stage(None),
    )
