"""A board's memory as numbers (``Board`` in ``sim/model/engine/memory.h``)."""

from dataclasses import fields

from ...target.board import Board, DramTiming, SramTiming

__all__ = ["board_numbers"]


def board_numbers(board: Board) -> list[float]:
    """The clock's period in ns, the geometry of the default memory in bytes, and its timing."""
    memory, timing = board.memory, board.memory.timing
    banks = 0 if memory.kind == "onchip" else len(memory.banks)
    head = [board.clock.period_ns, banks, memory.word_bytes, memory.interleave_bytes, memory.base]
    if isinstance(timing, SramTiming):
        return [*head, 0, timing.word_ns, timing.latency_ns, *[0.0] * len(fields(DramTiming))]
    if timing is None:
        return [*head, 0, 0.0, 0.0, *[0.0] * len(fields(DramTiming))]
    values = [getattr(timing, one.name) for one in fields(timing) if one.name != "controller_latency_ns"]
    return [*head, 1, 0.0, timing.controller_latency_ns, *values]
