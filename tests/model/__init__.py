"""A cycle-level model of the hardware that pipelined loops become.

It is written from the rules, not from the generator: what it computes is compared with a sequential
reference on random nests, and its cycles with the hardware.

- :mod:`spec`: the machine as plain data: clusters, FIFOs, latencies, recurrences, slots
- :mod:`meaning`: what the tokens compute, and the sequential reference
- :mod:`fifo`, :mod:`operation`, :mod:`header`, :mod:`level`, :mod:`loop`: the parts, a file each
- :mod:`simulate`: the clock, deadlock detection, and the figures of a run
- :mod:`nests`: random nests
- :mod:`recording`, :mod:`from_plan`: the machine of a compiled kernel, and what its run does
- :mod:`burst`, :mod:`load_unit`, :mod:`store_unit`, :mod:`memory`, :mod:`dram`: its way to global memory and back
- :mod:`compare`: its cycles beside the hardware's
"""
