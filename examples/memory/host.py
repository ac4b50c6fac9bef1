"""Patterns of global memory access: streams of whole words and of floats, strides, gathers, and many loads per
iteration."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Board, Launch, check, options

LANES = 16  #: floats in a word
STEPS = (2, 3, 4, 5, 8, 16, 17, 32, 64)
#: case -> (accesses of every 256 that go to the hot set, bytes of the hot set)
HOT = {
    "anywhere": (0, 8192),
    "95 % in 8 KiB": (243, 8192),
    "99 % in 8 KiB": (253, 8192),
    "all in 8 KiB": (256, 8192),
    "all in 16 KiB": (256, 16384),
}
LOADS = {
    1: ("regular_1", "irregular_1"),
    2: ("regular_2", "irregular_2"),
    4: ("regular_4", "irregular_4"),
    8: ("regular_8", "irregular_8"),
}


def stir(x):
    x = (x ^ x >> 16) * np.uint32(0x85EBCA6B)
    x = (x ^ x >> 13) * np.uint32(0xC2B2AE35)
    return x ^ x >> 16


def numbers(n):
    return stir(np.arange(n, dtype=np.uint32))


def run(board, kernel, values, result, scalars, note="", banks=(0, 0), **least):
    """Launch on buffers of ``values`` and one of zeros like ``result``, and compare the latter with ``result``."""
    devices = [board.buffer(each, banks[0]) for each in values]
    out = board.buffer(np.zeros_like(result), banks[1])
    event = board.run(kernel, (1,), None, *devices, out, *scalars)
    check(" ".join(filter(None, (kernel, note))), board.fetch(out, result), result)
    for device in (*devices, out):
        device.release()
    return Launch(kernel, event, case=note, **least)


def sums(words):
    return np.sum(words.view(np.uint32) ^ numbers(len(words))[:, None], axis=0, dtype=np.uint32)


def streams(board, words, rng):
    """Whole words, interleaved over all banks."""
    a, b, c = rng.random((3, words, LANES), dtype=np.float32)
    n, bits = (np.int32(words),), [each.view(np.uint32) for each in (a, b, c)]
    return [
        run(board, "read_words", [a], sums(a), n, trips=words, bytes=a.nbytes),
        run(board, "copy_words", [a], a, n, trips=words, bytes=2 * a.nbytes),
        run(board, "join_two", bits[:2], bits[0] ^ bits[1], n, trips=words, bytes=3 * a.nbytes),
        run(board, "join_three", bits, bits[0] ^ bits[1] ^ bits[2], n, trips=words, bytes=4 * a.nbytes),
    ]


def placed_streams(board, words, rng):
    """Whole words, each array in a bank that the program chose."""
    a = rng.random((words, LANES), dtype=np.float32)
    n = (np.int32(words),)
    return [
        run(
            board,
            "read_words",
            [a],
            sums(a),
            n,
            "in one bank",
            (1, 1),
            placed={"a": 1, "sum": 1},
            trips=words,
            bytes=a.nbytes,
        ),
        run(
            board,
            "copy_words",
            [a],
            a,
            n,
            "from bank to bank",
            (1, 2),
            placed={"a": 1, "out": 2},
            trips=words,
            bytes=2 * a.nbytes,
        ),
    ]


def narrow(board, n, rng):
    a = rng.random(n, dtype=np.float32)
    return run(board, "copy_floats", [a], a, (np.int32(n),), trips=n, bytes=2 * a.nbytes)


def gathers(board, n, table):
    """Values from anywhere in a table, or mostly from its beginning."""
    x, mask, launches = numbers(n), table.size - 1, []
    for note, (hot, hot_bytes) in HOT.items():
        hot_mask, far = min(hot_bytes // 4, table.size) - 1, x >> 24 >= hot
        total = np.sum(table[x & np.where(far, mask, hot_mask).astype(np.uint32)] ^ x, dtype=np.uint32)
        scalars = np.uint32(mask), np.uint32(hot_mask), np.uint32(hot), np.int32(n)
        launches.append(
            run(board, "gather", [table], np.array([total]), scalars, note, trips=n, bytes=4 * n, random=int(far.sum()))
        )
    return launches


def strides(board, n, rng):
    """Loads and stores of every second, third, ... float, for each of ``STEPS``."""
    launches, values = [], rng.integers(0, 1 << 32, n * max(STEPS), dtype=np.uint32)
    for step in STEPS:
        a, scalars = values[: n * step], (np.int32(step), np.int32(n))
        total = np.sum(a[::step] ^ numbers(n), dtype=np.uint32)
        stored = np.zeros_like(a)
        stored[::step] = numbers(n)
        least = {"trips": n, "bytes": 4 * n}
        launches += [
            run(board, "load_steps", [a], np.array([total]), scalars, f"{step} floats", **least),
            run(board, "store_steps", [], stored, scalars, f"{step} floats", **least),
        ]
    return launches


def mixed(arrays):
    """The result of STIR for the number of each iteration and its values."""
    x, u = np.arange(arrays[0].size, dtype=np.uint32), np.uint32
    for k, values in enumerate(arrays):
        x = (x ^ x << u(13)) + (values ^ x >> u(7))
        x = (x ^ x >> u(17)) + (x << u(5) ^ u(k))
    return x


def many_loads(board, n, arrays, rng):
    """Several loads an iteration: from arrays in order, and all at the same random index."""
    index, launches = rng.integers(0, arrays[0].size, n, dtype=np.uint32), []
    for loads, (regular, irregular) in LOADS.items():
        used = arrays[:loads]
        in_order, chosen = [each[:n].copy() for each in used], [each[index] for each in used]
        moved, scalars = 4 * n * (loads + 1), (np.int32(n),)
        launches += [
            run(board, regular, in_order, mixed(in_order), scalars, trips=n, bytes=moved),
            run(
                board,
                irregular,
                [*used, index],
                mixed(chosen),
                scalars,
                trips=n,
                bytes=moved + index.nbytes,
                random=loads * n,
            ),
        ]
    return launches


def main(argv=None):
    # the table has 64 MiB, so much that two accesses hardly ever hit the same open DRAM row
    args = options(__doc__, argv, words=32768, n=20000, table=1 << 24)
    size = 1 << (max(args.table, 8 * args.n) - 1).bit_length()
    rng = np.random.default_rng(64)
    table = rng.integers(0, 1 << 32, size, dtype=np.uint32)
    placed = Board(cl, HERE / "kernel.cl", ["-no-interleaving=default", "-D", "ONLY_PLACED"])
    launches = placed_streams(placed, args.words, rng)
    board = Board(cl, HERE / "kernel.cl")
    return [
        *launches,
        *streams(board, args.words, rng),
        narrow(board, args.n, rng),
        *gathers(board, args.n, table),
        *strides(board, args.n, rng),
        *many_loads(board, args.n, np.split(table, 8), rng),
    ]


if __name__ == "__main__":
    main()
