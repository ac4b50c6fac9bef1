"""Proofs that parts neither lose, duplicate nor reorder the payloads that pass through them.

A bench surrounds a small instance of a part with inputs that may be anything its neighbours' rules allow; an arbitrary
payload is followed from its input to its output. Yosys converts both to and-gates, and a SAT solver searches for inputs
that violate a claim.

- :mod:`bench`: free inputs, claims, and how a payload is followed
- :mod:`memory`: the memory's side of load-store units
- :mod:`streams`, :mod:`units`, :mod:`interconnect`: the benches
- :mod:`circuit`, :mod:`solve`: the solver, cycle by cycle from reset, or from any state
- :mod:`proofs`: the list, and the depth of each; :mod:`broken`: parts broken on purpose, which the proofs must detect

``python -m tests.formal`` runs all of them and prints the table; ``--broken`` the broken parts.
"""
