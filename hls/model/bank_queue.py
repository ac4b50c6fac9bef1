"""What requests lose as those of a unit go to the banks of a memory in their order (docs/rationale/model.md): one whose
bank has a full queue holds up those behind it, also the ones to other banks."""

__all__ = ["QUEUE", "cycles_held_up", "uneven_banks"]

#: requests of one direction that a bank holds before its memory takes them: in the interconnect's queue, on offer, and
#: in the port (rtl_lib/interconnect, sim/runtime/axi_memory.cpp)
QUEUE = 3 + 1 + 4


def uneven_banks(banks: int) -> float:
    """The time of words at random places as a multiple of that of words spread evenly over so many banks, where nothing
    else limits them: some bank is idle while another one's queue is full.

    Of two banks, what one queue holds more than the other walks at random between -(QUEUE + 1) and QUEUE + 1, and a
    bank is idle at an end: 1 / (2 QUEUE + 3) of the steps. More banks fill the first queue sooner: with the harmonic
    number H of the banks, it is (QUEUE + H) / (QUEUE + 1), within 2 % of a machine of up to eight banks.
    """
    return (QUEUE + sum(1 / k for k in range(1, banks + 1))) / (QUEUE + 1)


def cycles_held_up(words: float, bursts: float, word_cycles: float, single: float, full: bool) -> float:
    """Cycles for which requests of single words, so many of which (``single``) come to each bank in a cycle, are held
    up by so many ``words`` of other accesses in ``bursts``: a bank takes a word in ``word_cycles``, and its queue fills
    meanwhile. It is ``full`` before, or empty."""
    filled = 0.0 if full else QUEUE / single
    return max(0.0, words * word_cycles - bursts * filled)
