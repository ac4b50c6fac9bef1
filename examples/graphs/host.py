"""Work-items with data-dependent addresses: nearest centres, breadth-first search in a graph, chains of pointers."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Board, Launch, check, options


def nearest(features, centres):
    """For every point the centre with the least sum of squares; features are added one by one, as in the kernel."""
    distances = np.zeros((len(centres), features.shape[1]), np.float32)
    for d, values in enumerate(features):
        off = values[None, :] - centres[:, d, None]
        distances += off * off
    return distances.argmin(axis=0).astype(np.int32)


def kmeans(board, points, rng, clusters=5, dimensions=8):
    features = rng.random((dimensions, points), dtype=np.float32)
    centres = rng.random((clusters, dimensions), dtype=np.float32)
    expected = nearest(features, centres)
    devices = [board.buffer(values) for values in (features, centres, np.zeros_like(expected))]
    event = board.run("kmeans", (points,), None, *devices, np.int32(points), np.int32(clusters), np.int32(dimensions))
    check("kmeans", board.fetch(devices[2], expected), expected)
    return Launch("kmeans", event, trips=points * clusters * dimensions, bytes=features.nbytes + expected.nbytes)


def depths(begins, counts, edges, source):
    """The distance of every node from the source in edges, -1 if unreachable; and the edges visited in each step."""
    found, border, looked = np.full(len(begins), -1, np.int32), [source], []
    found[source] = 0
    while border:
        around = np.concatenate([edges[begins[n] : begins[n] + counts[n]] for n in border])
        looked.append(len(around))
        new = np.unique(around[found[around] < 0])
        found[new] = found[border[0]] + 1
        border = list(new)
    return found, looked


def bfs(board, nodes, rng):
    counts = rng.integers(2, 8, nodes, dtype=np.int32)
    begins = (counts.cumsum() - counts).astype(np.int32)
    edges = rng.integers(0, nodes, counts.sum(), dtype=np.int32)
    expected, looked = depths(begins, counts, edges, source=0)
    cost = np.full(nodes, -1, np.int32)
    visited = np.zeros(nodes, np.int8)
    cost[0], visited[0] = 0, 1
    graph = [board.buffer(np.stack([begins, counts], axis=1)), board.buffer(edges)]
    border, found, visited_dev, cost_dev = (board.buffer(v) for v in (visited, np.zeros_like(visited), visited, cost))
    again, events = np.ones(1, np.int32), []
    again_dev = board.buffer(again)
    while again[0]:
        again[0] = 0
        cl.enqueue_copy(board.queue, again_dev, again).wait()
        visit = board.run("bfs_visit", (nodes,), None, *graph, border, found, visited_dev, cost_dev)
        advance = board.run("bfs_advance", (nodes,), None, border, found, visited_dev, again_dev)
        again = board.fetch(again_dev, again)
        events.append((visit, advance))
    check("bfs", board.fetch(cost_dev, cost), expected)
    most = int(np.argmax(looked))  # the step in which most is done
    check("bfs, all that were reached are visited", board.fetch(visited_dev, visited), (expected >= 0).astype(np.int8))
    visit, advance = events[most]
    return [
        Launch("bfs_visit", visit, trips=max(nodes, looked[most]), bytes=nodes + 5 * looked[most]),
        Launch("bfs_advance", advance, trips=nodes, bytes=nodes),
    ]


def chase(board, chains, steps, places, rng):
    order = rng.permutation(places).astype(np.int32)
    following = np.empty(places, np.int32)
    following[order] = np.roll(order, 1)  # one circle through all places
    expected = np.arange(chains, dtype=np.int32)
    for _ in range(steps):
        expected = following[expected]
    devices = board.buffer(following), board.buffer(np.zeros_like(expected))
    event = board.run("chase", (chains,), None, *devices, np.int32(steps))
    check("chase", board.fetch(devices[1], expected), expected)
    return Launch("chase", event, trips=chains * steps, bytes=4 * chains * steps, random=chains * steps)


def main(argv=None):
    # places so many that hardly two chains are in one row of the memory at a time
    args = options(__doc__, argv, points=2048, nodes=4096, chains=512, steps=64, places=1 << 22)
    board, rng = Board(cl, HERE / "kernel.cl"), np.random.default_rng(512)
    return [
        kmeans(board, args.points, rng),
        *bfs(board, args.nodes, rng),
        chase(board, args.chains, args.steps, args.places, rng),
    ]


if __name__ == "__main__":
    main()
