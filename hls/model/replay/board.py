"""A board's memory as numbers (``Board`` in ``sim/model/engine/memory.h``)."""

from dataclasses import fields

from ...target.board import Board, DramTiming, PortTiming

__all__ = ["board_numbers"]


def board_numbers(board: Board) -> list[float]:
    """The clock's period in ns, the geometry of the default memory in bytes, and its timing."""
    memory, timing = board.memory, board.memory.timing
    banks = 0 if memory.kind == "onchip" else len(memory.banks)
    head = [board.clock.period_ns, banks, memory.word_bytes, memory.interleave_bytes, memory.base]
    names = [one.name for one in fields(DramTiming) if one.name != "controller_latency_ns"]
    if isinstance(timing, DramTiming):
        dram = [getattr(timing, name) for name in names]
        return [*head, 1, 0.0, timing.controller_latency_ns, 1, *dram]
    port = timing or PortTiming(word_ns=0.0, latency_ns=0.0)
    return [*head, 0, port.word_ns, port.latency_ns, port.ports, *[0.0] * len(names)]
