"""A cycle-level model of the hardware that pipelined loops become.

It is written from the rules, not from the generator: what it computes is compared with a sequential
reference on random nests, and its cycles with the hardware.

- :mod:`spec`: the machine as plain data: clusters, FIFOs, latencies, recurrences, slots
- :mod:`meaning`: what the tokens compute, and the sequential reference
- :mod:`fifo`, :mod:`operation`, :mod:`header`, :mod:`level`, :mod:`loop`: the parts, a file each
- :mod:`simulate`: the clock, deadlock detection, and the figures of a run
- :mod:`nests`: random nests
"""
