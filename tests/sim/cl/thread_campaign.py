"""Launches from many threads: python -m tests.sim.cl.thread_campaign --threads 8 --launches 10000 --device emulator.

Each thread takes its own random path through the API, on queues of its own and on a shared one, with shared programs
and programs of its own, and compares every byte that comes back with numpy. An unexpected result in a thread
ends the campaign; so does a process, a file of shared memory or a thread that is left behind.
"""

import argparse
import gc
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np

from sim import cl

__all__ = ["Campaign"]

mf = cl.mem_flags
SOURCE = """
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int c __attribute__((depth(8)));
__kernel void scale(__global const int *restrict a, __global int *restrict o, int factor, int n) { for (int i = 0; i < n; i++) o[i] = factor * a[i]; }
__kernel void add(__global int *restrict o, int x, int n) { for (int i = 0; i < n; i++) o[i] += x; }
__kernel void twist(__global const int *restrict a, __global int *restrict o) { int i = get_global_id(0); o[i] = a[i] ^ i; }
__kernel void produce(__global const int *restrict a, int n) { for (int i = 0; i < n; i++) write_channel_intel(c, a[i]); }
__kernel void consume(__global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = 3 * read_channel_intel(c); }
"""
MOST = 64  #: values of a buffer


class Campaign:
    """``launches`` in all, by ``threads`` threads. Call :meth:`run`; :attr:`failures` has what went wrong."""

    def __init__(self, device: str, threads: int, launches: int, seed: int = 0, programs: int = 2):
        self.context = cl.create_some_context(board="de5net", device=device)
        self.shared_queue, self.shared_program = cl.CommandQueue(self.context), self._program()
        self.failures: list[BaseException] = []
        self.launched = 0
        self._left = iter(range(launches))
        self._count = threading.Lock()
        self._meeting = threading.Lock()  # one pair of kernels at a time on the channel of a program
        self._programs = [(self.shared_program, threading.Lock())]
        self._workers = [
            threading.Thread(target=self._work, args=(seed * 1000 + k, k < programs), name=f"host {k}")
            for k in range(threads)
        ]

    def run(self) -> None:
        """Returns when all threads have ended."""
        for worker in self._workers:
            worker.start()
        for worker in self._workers:
            worker.join()

    def _program(self) -> cl.Program:
        program = cl.Program(self.context, SOURCE).build()
        if not program._emulated:
            program._system.hasty = True
        return program

    def _take(self, launches: int) -> bool:
        """Whether so many more are wanted."""
        with self._count:
            if self.failures or next(self._left, None) is None:
                return False
            for _ in range(launches - 1):
                next(self._left, None)
            self.launched += launches
            return True

    def _work(self, seed: int, builds: bool) -> None:
        try:
            rng = np.random.default_rng(seed)
            if builds:
                with self._count:
                    pass
                self._programs.append((self._program(), threading.Lock()))
            own = [cl.CommandQueue(self.context) for _ in range(2)]
            steps = [(self._chain, 3), (self._side_by_side, 2), (self._pair, 2), (self._fault, 1)]
            while True:
                step, launches = steps[rng.integers(len(steps))]
                if not self._take(launches):
                    return
                queues = [own[0], self.shared_queue if rng.integers(2) else own[1]]
                step(rng, queues, *self._programs[rng.integers(len(self._programs))])
        except BaseException as error:
            self.failures.append(error)
            raise

    def _data(self, rng):
        n = int(rng.integers(1, MOST // 16 + 1)) * 16
        a = rng.integers(-999, 999, n).astype(np.int32)
        return (
            n,
            a,
            cl.Buffer(self.context, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=a),
            cl.Buffer(self.context, mf.READ_WRITE, 4 * n),
        )

    def _compare(self, queue, buffer, wanted, wait_for=None):
        found = np.empty_like(wanted)
        cl.enqueue_copy(queue, found, buffer, wait_for=wait_for)
        assert np.array_equal(found, wanted), (found, wanted)

    def _chain(self, rng, queues, program, lock):
        """Three launches, each on what the one before it wrote; in one queue, or by events."""
        n, a, source, target = self._data(rng)
        factor, more = (np.int32(x) for x in rng.integers(-99, 99, 2))
        first = program.scale(queues[0], (1,), None, source, target, factor, np.int32(n))
        second = program.add(queues[1], (1,), None, target, more, np.int32(n), wait_for=[first])
        third = cl.Kernel(program, "add")(
            queues[rng.integers(2)], (1,), None, target, more, np.int32(n), wait_for=[second]
        )
        if rng.integers(2):
            source.release()
        self._compare(queues[rng.integers(2)], target, a * factor + 2 * more, [third])
        assert first.profile.end <= second.profile.start and third.stats.to_dict()["kernel"] == "add"

    def _side_by_side(self, rng, queues, program, lock):
        """Two launches that have nothing to do with each other, on parts of one buffer."""
        n, a, source, _ = self._data(rng)
        both = cl.Buffer(self.context, mf.READ_WRITE, 8 * n)
        cl.enqueue_fill_buffer(queues[0], both, np.int32(7), 0, 8 * n)
        events = [
            program.twist(queue, (n,), None, source, both[4 * n * k : 4 * n * (k + 1)])
            for k, queue in enumerate(queues)
        ]
        array, _ = cl.enqueue_map_buffer(queues[1], both, cl.map_flags.READ, 0, (2, n), np.int32, wait_for=events)
        assert np.array_equal(array, np.array([a ^ np.arange(n, dtype=np.int32)] * 2)), array

    def _pair(self, rng, queues, program, lock):
        """Two kernels that meet at a channel, which one thread uses at a time."""
        n, a, source, target = self._data(rng)
        own = [cl.CommandQueue(self.context) for _ in range(2)]
        with lock:
            if rng.integers(2):
                program.consume(own[1], (1,), None, target, np.int32(n))
                program.produce(own[0], (1,), None, source, np.int32(n))
            else:
                program.produce(own[0], (1,), None, source, np.int32(n))
                program.consume(own[1], (1,), None, target, np.int32(n))
            self._compare(own[1], target, 3 * a)
            own[0].finish()

    def _fault(self, rng, queues, program, lock):
        """A launch that leaves its buffer, on a queue of its own: it is told, and harms nobody else. The channels of
        its program are emptied where that is emulated, so nobody uses them meanwhile."""
        n, _, source, target = self._data(rng)
        with lock:
            try:
                program.scale(
                    cl.CommandQueue(self.context), (1,), None, source, target, np.int32(1), np.int32(n + 64)
                ).wait()
            except cl.RuntimeError as error:
                assert "leaves its buffer" in str(error) or "the memory refused it" in str(error), error
            else:
                raise AssertionError("a launch that leaves its buffer was not told")


def left_behind() -> list[str]:
    """Children of this process, and files of shared memory that it still holds."""
    gc.collect()
    me, found = str(os.getpid()), []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue  # it has ended
        if rest.split()[1] == me:
            found.append(f"process {name})")
    found += [
        os.readlink(fd)
        for fd in Path("/proc/self/fd").iterdir()
        if fd.is_symlink() and "memfd:sluice" in os.readlink(fd)
    ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--launches", type=int, default=10_000)
    parser.add_argument("--device", default="emulator", choices=("emulator", "board"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.perf_counter()
    campaign = Campaign(options.device, options.threads, options.launches, options.seed)
    campaign.run()
    failures, launched = campaign.failures, campaign.launched
    del campaign
    left = left_behind()
    print(
        f"{launched:,} launches from {options.threads} threads on the {options.device} in "
        f"{time.perf_counter() - began:.0f} s: "
        f"{len(failures)} failures, {len(left)} left behind {left}"
    )
    return bool(failures or left)


if __name__ == "__main__":
    sys.exit(main())
