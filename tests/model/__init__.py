"""A cycle-level model of the hardware of pipelined loops.

It is written from the rules, not from the generator: its results are compared with a sequential
reference on random nests, and its cycles with the hardware.

- :mod:`spec`: the machine as plain data: clusters, FIFOs, latencies, recurrences, slots
- :mod:`meaning`: the values that tokens compute, and the sequential reference
- :mod:`fifo`, :mod:`operation`, :mod:`header`, :mod:`level`, :mod:`loop`: the parts, a file each
- :mod:`simulate`: the clock, deadlock detection, and the figures of a run
- :mod:`nests`: random nests
- :mod:`recording`, :mod:`from_plan`: the machine of a compiled kernel, and the events of its run
- :mod:`burst`, :mod:`load_unit`, :mod:`store_unit`, :mod:`memory`, :mod:`dram`: its path to global memory and back
- :mod:`compare`: its cycles compared with the hardware's
"""
