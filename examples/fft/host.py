"""Fourier transforms of 1024 points, streamed through three kernels."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

POINTS = 1024


def golden(signal):
    """The transforms of the rows, in the kernel's order of operations: radix 4 over halves and quarters of shorter
    and shorter blocks."""
    real, imag = (np.ascontiguousarray(part) for part in (signal.real, signal.imag))
    cosine = np.cos(2 * np.pi * np.arange(POINTS // 4 + 1) / POINTS).astype(np.float32)
    cosine[-1] = 0
    wave = np.concatenate([cosine, -cosine[-2::-1]])
    wave = np.concatenate([wave, wave[-2:0:-1]])
    n = POINTS
    while n > 1:
        real, imag = (part.reshape(-1, 4, n // 4) for part in (real, imag))
        parts = []
        (a, b, c, d), (ai, bi, ci, di) = (np.moveaxis(part, 1, 0) for part in (real, imag))
        (s, si), (t, ti) = (a + c, ai + ci), (b + d, bi + di)
        (u, ui), (v, vi) = (a + -c, ai + -ci), (bi + -di, -(b + -d))
        parts = [(s + t, si + ti), (s + -t, si + -ti), (u + v, ui + vi), (u + -v, ui + -vi)]
        if n > 4:
            k = np.arange(n // 4) * (POINTS // n)
            parts = [_turned(*part, e % POINTS, wave) for part, e in zip(parts, (0 * k, 2 * k, k, 3 * k), strict=True)]
        real, imag = (np.stack(part, axis=1) for part in zip(*parts, strict=True))
        n //= 4
    order = [int(f"{at:010b}"[::-1], 2) for at in range(POINTS)]
    result = np.empty(signal.shape, np.complex64)
    result.real, result.imag = real.reshape(signal.shape)[:, order], imag.reshape(signal.shape)[:, order]
    return result


def _turned(x, y, e, wave):
    cosine, sine = wave[e], wave[(e + POINTS // 4) % POINTS]
    return x * cosine - y * sine, x * sine + y * cosine


def main(argv=None):
    args = options(__doc__, argv, transforms=64)
    rng = np.random.default_rng(17)
    signal = np.empty((args.transforms, POINTS), np.complex64)
    signal.real, signal.imag = rng.standard_normal((2, *signal.shape), dtype=np.float32)

    ctx = cl.create_some_context()
    queues = [cl.CommandQueue(ctx) for _ in range(3)]
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    mf = cl.mem_flags
    signal_dev = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=signal)
    result_dev = cl.Buffer(ctx, mf.WRITE_ONLY, signal.nbytes)

    count = np.int32(args.transforms)
    program.fetch_samples(queues[0], (1,), None, signal_dev, count)
    program.transform(queues[1], (1,), None, count)
    event = program.store_spectrum(queues[2], (1,), None, result_dev, count)
    event.wait()
    for queue in queues:
        queue.finish()
    result = np.empty_like(signal)
    cl.enqueue_copy(queues[2], result, result_dev).wait()
    check("fft", result.view(np.float32), golden(signal).view(np.float32))
    exact = np.fft.fft(signal.astype(np.complex128))
    if np.abs(result - exact).max() > 1e-5 * np.abs(exact).max():
        sys.exit("fft: FAILED: not the Fourier transform")
    return [Launch("store_spectrum", event, trips=signal.size, bytes=signal.nbytes, others=signal.nbytes)]


if __name__ == "__main__":
    main()
