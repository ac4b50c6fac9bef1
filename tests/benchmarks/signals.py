"""Signals (kernels/signals.cl, kernels/rows.cl)."""

import numpy as np

from .case import Case

__all__ = ["CASES"]

INT, FLOAT = np.int32, np.float32
STEPS = (7, 9, 11, 13, 16, 19, 23, 28, 34, 41, 50, 60, 73, 88, 107, 130)
MOVES = (-1, -1, -1, -1, 2, 4, 6, 8)


def _fir(x, taps, y, n):
    y[15:] = sum(taps[k] * x[15 - k : n - k] for k in range(16))


def _iir(x, y, a1, a2, b0, b1, b2, n):
    x1 = x2 = y1 = y2 = FLOAT(0)
    for i in range(n):
        now = b0 * x[i] + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
        x2, x1, y2, y1 = x1, x[i], y1, now
        y[i] = now


def _smooth_rows(x, ahead, out, weight, rows, columns):
    x, ahead, out = (a.reshape(-1, 40)[:rows, :columns] for a in (x, ahead, out))
    last = np.zeros(rows, FLOAT)
    for j in range(columns):
        ahead[:, j] = last = x[:, j] + weight * last
    last = np.zeros(rows, FLOAT)
    for j in reversed(range(columns)):
        out[:, j] = last = ahead[:, j] + weight * last


def _fft(re, im, wr, wi, n):
    span, stride = n // 2, 1
    while span:
        for start in range(0, n, 2 * span):
            even, odd = slice(start, start + span), slice(start + span, start + 2 * span)
            cr, ci = wr[::stride][:span], wi[::stride][:span]
            sr, si, dr, di = re[even] + re[odd], im[even] + im[odd], re[even] - re[odd], im[even] - im[odd]
            re[even], im[even], re[odd], im[odd] = sr, si, dr * cr - di * ci, dr * ci + di * cr
        span, stride = span // 2, stride * 2


def _roots(n: int) -> list[np.ndarray]:
    angle = -2 * np.pi * np.arange(n // 2) / n
    return [np.cos(angle).astype(FLOAT), np.sin(angle).astype(FLOAT)]


def _adpcm(samples, out, n):
    predicted = index = 0
    for i, sample in enumerate(samples):
        step, difference = STEPS[index], int(sample) - predicted
        code, difference = (8, -difference) if difference < 0 else (0, difference)
        change = step >> 3
        for bit in (4, 2, 1):
            if difference >= step:
                code, difference, change = code | bit, difference - step, change + step
            step >>= 1
        predicted = min(max(predicted + (-change if code & 8 else change), -32768), 32767)
        index = min(max(index + MOVES[code & 7], 0), 15)
        out[i] = code


def _dct(pixels, basis, out, blocks):
    basis = basis.reshape(8, 8)
    for b in range(blocks):
        rows = pixels.reshape(blocks, 8, 8)[b] @ basis.T >> 8
        out.reshape(blocks, 8, 8)[b] = basis @ rows >> 8


def _histogram(data, count, n):
    count += np.bincount(data, minlength=256).astype(INT)


CASES = (
    Case(
        "rows.cl",
        "smooth_rows",
        lambda rng: [
            rng.uniform(-1, 1, 36 * 40).astype(FLOAT),
            np.zeros(36 * 40, FLOAT),
            np.zeros(36 * 40, FLOAT),
            FLOAT(0.75),
            INT(36),
            INT(38),
        ],
        _smooth_rows,
        lambda arguments, _: 2 * 36 * 38,  # the rows of each nest are interleaved
    ),
    Case(
        "signals.cl",
        "fir",
        lambda rng: [
            rng.integers(-999, 999, 1024).astype(INT),
            rng.integers(-99, 99, 16).astype(INT),
            np.zeros(1024, INT),
            INT(1024),
        ],
        _fir,
        lambda arguments, _: 1024 - 15,
    ),
    Case(
        "signals.cl",
        "iir",
        lambda rng: [
            rng.uniform(-1, 1, 400).astype(FLOAT),
            np.zeros(400, FLOAT),
            *(FLOAT(value) for value in (0.5, 0.25, 0.1, 0.2, 0.1)),
            INT(400),
        ],
        _iir,
        lambda arguments, of: 400 * (1 + of.multiply + 2 * of.add),  # a1 * y1, subtracted, then a2 * y2, subtracted
    ),
    Case(
        "signals.cl",
        "fft",
        lambda rng: [
            rng.uniform(-1, 1, 256).astype(FLOAT),
            rng.uniform(-1, 1, 256).astype(FLOAT),
            *_roots(256),
            INT(256),
        ],
        _fft,
        lambda arguments, _: 128 * 8,
    ),
    Case(
        "signals.cl",
        "adpcm",
        lambda rng: [np.cumsum(rng.integers(-60, 60, 500)).astype(np.int16), np.zeros(500, np.uint8), INT(500)],
        _adpcm,
        # the least of a chain of a table, four subtractions with their choices and two clipped sums, at these clocks
        lambda arguments, _: 500 * 4,
    ),
    Case(
        "signals.cl",
        "dct",
        lambda rng: [
            rng.integers(0, 256, 512).astype(INT),
            rng.integers(-128, 128, 64).astype(INT),
            np.zeros(512, INT),
            INT(8),
        ],
        _dct,
        lambda arguments, _: 8 * 64,  # the two passes over a block have a pipeline each, and the sums of 8 are unrolled
    ),
    Case(
        "signals.cl",
        "histogram",
        lambda rng: [rng.integers(0, 256, 2000).astype(np.uint8), np.zeros(256, INT), INT(2000)],
        _histogram,
        lambda arguments, _: 2000,
    ),
)
