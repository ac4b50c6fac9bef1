"""Whether the lookup of a cached load fits one cycle of the clock."""

from ...target.board import Board

__all__ = ["lookup_is_long"]

#: levels of logic behind the comparison of a cached load's lookup: whether it is a miss, whether the guard holds it,
#: whether there is room, whether the burst takes it, and what moves on then; counted in placed units
LEVELS_BEHIND_LOOKUP = 6


def lookup_is_long(board: Board) -> bool:
    """Whether a block RAM's output, the comparison of a word's number with it, and what depends on that are too long
    for one cycle of the kernel clock, by a delay table that is fitted to what place and route reaches.

    A table that is not fitted says too little of a path of ten levels: on these boards a lookup keeps its two cycles.
    """
    model = board.delay_model()
    word_bits = board.address_bits - (board.memory.word_bytes.bit_length() - 1)
    compared = model.overhead_ns + model.delay("ram_out", 1) + model.delay("eq", word_bits)
    return model.fitted and compared + LEVELS_BEHIND_LOOKUP * model.level > model.period_ns
