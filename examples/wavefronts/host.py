"""Dynamic programming in wavefronts: the alignment of two sequences, and a blocked LU decomposition."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Board, Job, Launch, check, options

BLOCK = 16
GAP = 10


def aligned(similar):
    """The scores of all pairs of prefixes of the two sequences, row by row."""
    scores = np.empty_like(similar)
    scores[0], scores[:, 0] = -GAP * np.arange(scores.shape[1]), -GAP * np.arange(scores.shape[0])
    for y in range(1, len(scores)):
        for x in range(1, scores.shape[1]):
            across = scores[y - 1, x - 1] + similar[y, x]
            scores[y, x] = max(across, scores[y, x - 1] - GAP, scores[y - 1, x] - GAP)
    return scores


def factors(matrix):
    """Both triangular factors in one matrix, block by block; each sum is added in the same order as in the kernels."""
    m, n = matrix.copy(), len(matrix)
    for begin in range(0, n, BLOCK):
        end = begin + BLOCK
        block, right, below = m[begin:end, begin:end], m[begin:end, end:], m[end:, begin:end]
        for i in range(BLOCK - 1):
            for j in range(i):
                block[i + 1 :, i] -= block[i + 1 :, j] * block[j, i]
            block[i + 1 :, i] /= block[i, i]
            for j in range(i + 1):
                block[i + 1, i + 1 :] -= block[i + 1, j] * block[j, i + 1 :]
        for i in range(BLOCK):
            for j in range(i):
                right[i] -= block[i, j] * right[j]
                below[:, i] -= below[:, j] * block[j, i]
            below[:, i] /= block[i, i]
        products = np.zeros((n - end, n - end), np.float32)
        for i in range(BLOCK):
            products += below[:, i, None] * right[i]
        m[end:, end:] -= products
    return m


def nw(board, blocks, rng):
    width = blocks * BLOCK + 1
    similar = rng.integers(-5, 15, (width, width), dtype=np.int32)
    expected = aligned(similar)
    scores = np.zeros_like(similar)
    scores[0], scores[:, 0] = expected[0], expected[:, 0]
    devices = board.buffer(similar), board.buffer(scores)
    events = []
    for wave in range(3 * blocks - 1):
        # blocks are skewed, so each row has one more of them, and is two waves behind the row above
        first, last = max(0, -(-(wave - blocks) // 2)), min(blocks - 1, wave // 2)
        events.append(
            board.run(
                "nw",
                ((last - first + 1) * BLOCK,),
                (BLOCK,),
                *devices,
                np.int32(width),
                np.int32(GAP),
                np.int32(first),
                np.int32(wave),
            )
        )
    check("nw", board.fetch(devices[1], scores), expected)
    # of the longest wave: the two parts at both ends of the table add up to one block
    cells = (blocks // 2) * BLOCK * BLOCK
    return Launch("nw", events[blocks // 2 * 2], trips=cells, bytes=2 * 4 * cells)


def lud(board, blocks, rng):
    n = blocks * BLOCK
    matrix = rng.random((n, n), dtype=np.float32) + np.float32(n) * np.eye(n, dtype=np.float32)
    device, steps = board.buffer(matrix), []
    for begin in range(0, n, BLOCK):
        args, left = (device, np.int32(n), np.int32(begin)), blocks - 1 - begin // BLOCK
        steps.append([diagonal(board.run("lud_diagonal", (BLOCK,), (BLOCK,), *args))])
        if left:
            steps[-1].append(perimeter(board.run("lud_perimeter", (2 * BLOCK * left,), (2 * BLOCK,), *args), left))
            steps[-1].append(
                internal(board.run("lud_internal", (BLOCK * left, BLOCK * left), (BLOCK, BLOCK), *args), left)
            )
    found, expected = board.fetch(device, matrix), factors(matrix)
    check("lud", found, expected)
    check("lud_diagonal", found[:BLOCK, :BLOCK], expected[:BLOCK, :BLOCK])
    check(
        "lud_perimeter",
        np.concatenate([found[:BLOCK, BLOCK:].T, found[BLOCK:, :BLOCK]]),
        np.concatenate([expected[:BLOCK, BLOCK:].T, expected[BLOCK:, :BLOCK]]),
    )
    check("lud_internal", found[BLOCK:, BLOCK:], expected[BLOCK:, BLOCK:])
    return [Job("lud", [launch for step in steps for launch in step]), *steps[0]]


def diagonal(event):
    """Multiplications of the diagonal block."""
    return Launch("lud_diagonal", event, trips=sum(i * i for i in range(BLOCK)), bytes=4 * BLOCK * BLOCK)


def perimeter(event, left):
    """Multiplications of one of the blocks to the right of and below the diagonal block."""
    return Launch(
        "lud_perimeter", event, trips=left * BLOCK * BLOCK * (BLOCK - 1) // 2, bytes=4 * BLOCK * BLOCK * 2 * left
    )


def internal(event, left):
    """Each work-item computes a sum of 16 terms in one iteration."""
    return Launch("lud_internal", event, trips=left * left * BLOCK**2, bytes=2 * 4 * left * left * BLOCK * BLOCK)


def main(argv=None):
    args = options(__doc__, argv, sequence=512, matrix=256)
    board, rng = Board(cl, HERE / "kernel.cl"), np.random.default_rng(160)
    blocks = max(2, -(-args.matrix // BLOCK))
    return [nw(board, -(-args.sequence // BLOCK), rng), *lud(board, blocks, rng)]


if __name__ == "__main__":
    main()
