"""Packets through the board's network port: parsed at one word a cycle, some sent back, all of them logged."""

import sys
from pathlib import Path

import numpy as np
import sim.cl as cl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import Launch, check, options

FIRST, LAST = 1, 2
WORD = np.dtype([("data", "u4"), ("flags", "u4")])
SUMMARY = np.dtype([("ports", "u4"), ("words", "u2"), ("check", "u2")])


def random_packets(count):
    """Packets of 1 to 40 words, half of them to low ports."""
    rng, found = np.random.default_rng(13), []
    for k in range(count):
        packet = np.zeros(rng.integers(1, 41), WORD)
        packet["data"] = rng.integers(0, 1 << 32, packet.size, dtype=np.uint32)
        packet["data"][0] = rng.integers(1024, 65536) << 16 | rng.integers(0, 1024 if k % 2 else 65536)
        packet["flags"][0] |= FIRST
        packet["flags"][-1] |= LAST
        found.append(packet)
    return found


def golden(packets):
    """(words sent back, records logged)."""
    back, log = [], np.zeros(len(packets), SUMMARY)
    for entry, packet in zip(log, packets, strict=True):
        total = int(
            (packet["data"][1:] & 0xFFFF).sum(dtype=np.uint64) + (packet["data"][1:] >> 16).sum(dtype=np.uint64)
        )
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        entry["ports"], entry["words"], entry["check"] = packet["data"][0], packet.size, total
        if packet["data"][0] & 0xFFFF < 1024:
            answer = packet.copy()
            answer["data"][0] = (int(packet["data"][0]) << 16 | int(packet["data"][0]) >> 16) & 0xFFFFFFFF
            back.append(answer)
    return np.concatenate([np.zeros(0, WORD), *back]), log


def main(argv=None):
    count = options(__doc__, argv, packets=2000).packets
    packets = random_packets(count)
    words = np.concatenate(packets)
    back, log = golden(packets)

    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, (HERE / "kernel.cl").read_text()).build()
    log_dev = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, log.nbytes)

    program.stream("eth_in").feed(words)
    event = program.log_packets(queue, (1,), None, log_dev, np.int32(count))
    event.wait()
    result = np.empty_like(log)
    cl.enqueue_copy(queue, result, log_dev).wait()
    check("packets", result.view(np.uint16), log.view(np.uint16))
    if program.stream("eth_out").take().tobytes() != back.tobytes():
        sys.exit("packets: FAILED: other words were sent back than should have been")
    return [Launch("log_packets", event, trips=count, bytes=log.nbytes, cycles=words.size)]


if __name__ == "__main__":
    main()
