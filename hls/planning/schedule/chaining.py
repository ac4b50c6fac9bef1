"""Operator chaining as difference constraints.

A chain of combinational operations from u to v that is too long for the clock may not lie in one cycle. It would do so
exactly when v starts in the cycle in which u ends. So ``start[v] >= start[u] + latency(u) + 1`` for every such pair is
all that chaining requires of a schedule (after Cong and Zhang, "An efficient and versatile scheduling algorithm based
on SDC formulation", DAC 2006). Most of these constraints are implied by others, as whatever depends on v starts no
earlier than v; those are left out.
"""

import heapq
from collections.abc import Hashable

from .problem import Problem

__all__ = ["chain_constraints", "longest_chain"]


def chain_constraints(problem: Problem) -> list[tuple[Hashable, Hashable]]:
    """Pairs (u, v) for which v must start at least one cycle after u ends.

    The work for one u is limited to the operations that fit into one cycle after it, so the total is near linear.
    """
    users = problem.chain_users
    rank = problem.chain_rank
    rest = _longest_rest(problem, users)
    pairs: list[tuple[Hashable, Hashable]] = []
    frontiers: dict[Hashable, frozenset[Hashable]] = {}
    for key in reversed(problem.chain_order):
        if not users[key] or not problem.exceeds(_head(problem, key) + max(rest[user] for user in users[key])):
            frontiers[key] = frozenset()
            continue
        implied = frozenset().union(*(frontiers[user] for user in users[key]))
        first, late = _frontier(problem, users, rank, key, implied)
        pairs.extend((key, last) for last in sorted(first, key=rank.__getitem__))
        frontiers[key] = late
    return pairs


def longest_chain(problem: Problem, first: Hashable, last: Hashable) -> tuple[tuple[Hashable, float], ...]:
    """The longest combinational chain from ``first`` to ``last``: each operation with its share in ns."""
    users = problem.chain_users
    arrival, before = {first: 0.0}, {}
    for key in problem.chain_order[problem.chain_rank[first] : problem.chain_rank[last]]:
        operation = problem.by_key[key]
        if key not in arrival or (operation.latency and key != first):
            continue
        leaves = _head(problem, key) if key == first else arrival[key] + operation.delay
        for user in users[key]:
            if leaves >= arrival.get(user, -1.0):
                arrival[user], before[user] = leaves, key
    path = [(last, problem.by_key[last].delay)]
    while path[-1][0] != first:
        key = before[path[-1][0]]
        path.append((key, _head(problem, key) if key == first else problem.by_key[key].delay))
    return tuple(reversed(path))


def _head(problem: Problem, key) -> float:
    """The time in its cycle, in ns, at which the output of ``key`` is valid if its inputs come from registers."""
    operation = problem.by_key[key]
    return operation.out_delay if operation.latency else operation.delay


def _longest_rest(problem: Problem, users: dict) -> dict:
    """For each operation, the longest chain from its inputs to the next register, in ns."""
    rest: dict[Hashable, float] = {}
    for key in reversed(problem.chain_order):
        operation = problem.by_key[key]
        behind = 0.0 if operation.latency else max((rest[user] for user in users[key]), default=0.0)
        rest[key] = operation.delay + behind
    return rest


def _frontier(problem: Problem, users: dict, rank: dict, first, implied: frozenset) -> tuple[set, frozenset]:
    """The operations that cannot start in the cycle in which ``first`` ends, as far as chains reach them.

    Returns those that need a constraint, and all of them: also those that depend on one with a constraint, or whose
    constraint is ``implied`` by that of an operation between.
    """
    queue: list[tuple[int, Hashable]] = []
    found, late, arrival = set(), set(), {first: 0.0}

    def leave(key, ns) -> None:
        for user in users[key]:
            if user not in arrival:
                heapq.heappush(queue, (rank[user], user))
            arrival[user] = max(arrival.get(user, 0.0), ns)

    leave(first, _head(problem, first))
    while queue:
        _, key = heapq.heappop(queue)
        operation = problem.by_key[key]
        into = arrival[key] + operation.delay
        if key in late or key in implied or (problem.exceeds(into) and arrival[key] > 0):
            if key not in late and key not in implied:
                found.add(key)
            late.add(key)
            late.update(() if operation.latency else users[key])
        elif not operation.latency and not problem.exceeds(into):
            leave(key, into)  # an operation that is overlong by itself has constraints of its own
    return found, frozenset(late)
