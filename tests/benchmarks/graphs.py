"""Graphs (kernels/graphs.cl)."""

import numpy as np

from .case import Case

__all__ = ["CASES"]

INT, FLOAT = np.int32, np.float32
NODES = 96


def rows(rng, nodes: int, least: int = 1, most: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Where each node's edges begin, and the edges' ends."""
    row = np.concatenate([[0], np.cumsum(rng.integers(least, most, nodes))]).astype(INT)
    return row, rng.integers(0, nodes, int(row[-1])).astype(INT)


def _bfs_queue(row, edge, level, queue, source, nodes):
    level[:], level[source], order = -1, 0, [int(source)]
    for v in order:
        for w in edge[row[v] : row[v + 1]]:
            if level[w] < 0:
                level[w] = level[v] + 1
                order.append(int(w))
    queue[: len(order)] = order


def _reached_edges(arguments, _) -> int:
    row, edge, level, queue, source, nodes = (np.copy(argument) for argument in arguments)
    _bfs_queue(row, edge, level, queue, source, nodes)
    return int(nodes + sum(row[v + 1] - row[v] for v in np.flatnonzero(level >= 0)))


def _bellman_ford(start, end, length, distance, edges, rounds):
    for _ in range(rounds):
        for e in range(edges):
            distance[end[e]] = min(distance[end[e]], distance[start[e]] + length[e])


def _page_rank(row, edge, degree, rank, following, nodes):
    for v in range(nodes):
        total = FLOAT(0)
        for w in edge[row[v] : row[v + 1]]:
            total += rank[w] / FLOAT(degree[w])
        following[v] = FLOAT(0.15) / FLOAT(nodes) + FLOAT(0.85) * total


def _matching(start, end, mate, pairs, edges):
    for u, v in zip(start, end, strict=True):
        if mate[u] < 0 and mate[v] < 0:
            mate[u], mate[v] = v, u
            pairs[0] += 1


def _components(row, edge, label, nodes, rounds):
    for _ in range(rounds):
        for v in range(nodes):
            label[v] = min([label[v], *label[edge[row[v] : row[v + 1]]]])


def _distances(rng):
    distance = np.full(64, 1 << 20, INT)
    distance[0] = 0
    return distance


CASES = (
    Case(
        "graphs.cl",
        "bfs_queue",
        lambda rng: [*rows(rng, NODES), np.zeros(NODES, INT), np.zeros(NODES, INT), INT(0), INT(NODES)],
        _bfs_queue,
        _reached_edges,
    ),
    Case(
        "graphs.cl",
        "bellman_ford",
        lambda rng: [
            rng.integers(0, 64, 300).astype(INT),
            rng.integers(0, 64, 300).astype(INT),
            rng.integers(1, 99, 300).astype(INT),
            _distances(rng),
            INT(300),
            INT(4),
        ],
        _bellman_ford,
        lambda arguments, _: 4 * 300,
    ),
    Case(
        "graphs.cl",
        "page_rank",
        lambda rng: [
            *rows(rng, NODES),
            rng.integers(1, 8, NODES).astype(INT),
            rng.uniform(0, 1, NODES).astype(FLOAT),
            np.zeros(NODES, FLOAT),
            INT(NODES),
        ],
        _page_rank,
        lambda arguments, _: len(arguments[1]),
    ),
    Case(
        "graphs.cl",
        "matching",
        lambda rng: [
            rng.integers(0, 200, 800).astype(INT),
            rng.integers(200, 400, 800).astype(INT),
            np.full(400, -1, INT),
            np.zeros(1, INT),
            INT(800),
        ],
        _matching,
        lambda arguments, _: 800,
    ),
    Case(
        "graphs.cl",
        "components",
        lambda rng: [*rows(rng, NODES), np.arange(NODES)[::-1].astype(INT), INT(NODES), INT(3)],
        _components,
        lambda arguments, _: 3 * len(arguments[1]),
    ),
)
