"""Proofs that parts neither lose, duplicate nor reorder what passes through them.

A bench surrounds a small instance of a part with inputs that may be anything its neighbours' rules allow; one payload,
any of them, is followed from where it enters to where it leaves. Yosys makes and-gates of the two, and a SAT solver
looks for inputs that break a claim.

- :mod:`bench`: free inputs, claims, and how a payload is followed
- :mod:`memory`: the memory's side of load and store units
- :mod:`streams`, :mod:`units`, :mod:`interconnect`: the benches
- :mod:`circuit`, :mod:`solve`: the solver, cycle by cycle from reset, or from any state
- :mod:`proofs`: the list, and how far each goes; :mod:`broken`: parts broken on purpose, which they must notice

``python -m tests.formal`` tries all of them and prints the table; ``--broken`` the broken parts.
"""
