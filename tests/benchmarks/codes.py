"""Checksums, hashes, a cipher and an interpreter (kernels/codes.cl)."""

import zlib

import numpy as np

from .case import Case

__all__ = ["CASES"]

INT, UINT = np.int32, np.uint32
MASK = 0xFFFFFFFF


def _crc32(data, out, n):
    out[0] = zlib.crc32(data.tobytes())


def _turned(x: int, n: int) -> int:
    return (x >> n | x << (32 - n)) & MASK


def _sha256(words, k, state, blocks):
    for block in range(blocks):
        w = [int(word) for word in words[block * 16 : block * 16 + 16]]
        for t in range(16, 64):
            s0 = _turned(w[t - 15], 7) ^ _turned(w[t - 15], 18) ^ w[t - 15] >> 3
            s1 = _turned(w[t - 2], 17) ^ _turned(w[t - 2], 19) ^ w[t - 2] >> 10
            w.append(w[t - 16] + s0 + w[t - 7] + s1 & MASK)
        a, b, c, d, e, f, g, last = (int(value) for value in state)
        for t in range(64):
            mixed = _turned(e, 6) ^ _turned(e, 11) ^ _turned(e, 25)
            t1 = last + mixed + (e & f ^ ~e & g) + int(k[t]) + w[t]
            t2 = (_turned(a, 2) ^ _turned(a, 13) ^ _turned(a, 22)) + (a & b ^ a & c ^ b & c)
            a, b, c, d, e, f, g, last = t1 + t2 & MASK, a, b, c, d + t1 & MASK, e, f, g
        added = zip(state, (a, b, c, d, e, f, g, last), strict=True)
        state[:] = [int(old) + new & MASK for old, new in added]


def _twice(x: int) -> int:
    return (x << 1 ^ (0x1B if x & 0x80 else 0)) & 0xFF


def _aes(data, keys, box, out, blocks):
    for b in range(blocks):
        state = [int(x) ^ int(y) for x, y in zip(data[b * 16 : b * 16 + 16], keys, strict=False)]
        for turn in range(1, 11):
            moved = [int(box[state[(c + r & 3) * 4 + r]]) for c in range(4) for r in range(4)]
            for c in range(4):
                column = moved[c * 4 : c * 4 + 4]
                total = column[0] ^ column[1] ^ column[2] ^ column[3]
                for r in range(4):
                    mixed = total ^ _twice(column[r] ^ column[r + 1 & 3]) if turn < 10 else 0
                    state[c * 4 + r] = column[r] ^ mixed ^ int(keys[turn * 16 + c * 4 + r])
        out[b * 16 : b * 16 + 16] = state


def _word(op: int, d: int = 0, s: int = 0, t: int = 0, immediate: int = 0) -> int:
    return op << 28 | d << 24 | s << 20 | t << 16 | immediate & 0xFFFF


#: Sums, over i below 40, of (i * i) ^ (sum so far), each stored behind the others; r2 is i, r3 40, r4 the product.
PROGRAM = np.array(
    [
        _word(5, 1, 0, 0, 0),
        _word(5, 2, 0, 0, 0),
        _word(5, 3, 0, 0, 40),
        _word(4, 4, 2, 2),
        _word(3, 4, 4, 1),
        _word(0, 1, 1, 4),
        _word(8, 1, 2, 0, 0),
        _word(7, 5, 2, 0, 0),
        _word(2, 6, 5, 4),
        _word(5, 2, 2, 0, 1),
        _word(9, 2, 3, 0, -8),
        _word(15),
    ],
    UINT,
)


#: What an operation gives for its two registers, its immediate and the memory.
RESULTS = {
    0: lambda a, b, immediate, memory: a + b,
    1: lambda a, b, immediate, memory: a - b,
    2: lambda a, b, immediate, memory: a & b,
    3: lambda a, b, immediate, memory: a ^ b,
    4: lambda a, b, immediate, memory: a * b,
    5: lambda a, b, immediate, memory: a + immediate,
    6: lambda a, b, immediate, memory: int(a < b),
    7: lambda a, b, immediate, memory: int(memory[a + immediate]),
}


def _interpreter(program, memory, out, most):
    r, pc, steps = [0] * 16, 0, 0

    def signed(value: int) -> int:
        return (value + (1 << 31) & MASK) - (1 << 31)

    while steps < most:
        word = int(program[pc])
        d, s, t, immediate = word >> 24 & 15, word >> 20 & 15, word >> 16 & 15, (word & 0xFFFF ^ 0x8000) - 0x8000
        op, pc, steps = word >> 28, pc + 1, steps + 1
        if op == 15:
            break
        if op in (9, 10):
            pc += immediate if (r[d] != r[s]) == (op == 9) else 0
        elif op == 8:
            memory[r[s] + immediate] = r[d]
        else:
            r[d] = signed(RESULTS[op](r[s], r[t], immediate, memory))
    out[:] = steps, r[1]


CASES = (
    Case(
        "codes.cl",
        "crc32",
        lambda rng: [rng.integers(0, 256, 600).astype(np.uint8), np.zeros(1, UINT), INT(600)],
        _crc32,
        lambda arguments, _: 600,  # the eight steps of a byte are one exclusive or of few terms
    ),
    Case(
        "codes.cl",
        "sha256",
        lambda rng: [
            rng.integers(0, 1 << 32, 64).astype(UINT),
            rng.integers(0, 1 << 32, 64).astype(UINT),
            rng.integers(0, 1 << 32, 8).astype(UINT),
            INT(4),
        ],
        _sha256,
        lambda arguments, _: 4 * 64,  # a round a cycle; the schedule of the next block is made meanwhile
    ),
    Case(
        "codes.cl",
        "aes",
        lambda rng: [
            rng.integers(0, 256, 16 * 12).astype(np.uint8),
            rng.integers(0, 256, 176).astype(np.uint8),
            rng.permutation(256).astype(np.uint8),
            np.zeros(16 * 12, np.uint8),
            INT(12),
        ],
        _aes,
        lambda arguments, _: 12 * 10,  # rounds of different blocks are interleaved
    ),
    Case(
        "codes.cl",
        "interpreter",
        lambda rng: [PROGRAM, np.zeros(64, INT), np.zeros(2, INT), INT(1000)],
        _interpreter,
        # the word at pc, registers read, a sum or a comparison, the next pc: no cycle less at these clocks
        lambda arguments, _: 4 * (3 + 40 * 8 + 1),
    ),
)
