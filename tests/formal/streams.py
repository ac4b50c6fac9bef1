"""Benches of queues, and of parts that join, split and merge streams."""

import inspect

from amaranth import *
from amaranth.hdl import Fragment
from amaranth.sim import Simulator
from amaranth.utils import ceil_log2

from rtl_lib.channel import ChannelBuffer
from rtl_lib.interconnect.arbiter import RoundRobin as Arbiter
from rtl_lib.interconnect.funnel import Funnel
from rtl_lib.interconnect.request_slots import RequestSlots
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.steps import ring_after
from rtl_lib.stream import Fork, Join, RoundRobin, SkidBuffer
from tests.formal.bench import Bench, Follow

__all__ = ["arbiter", "channel", "fifo", "fork", "inner", "join", "merge", "request_slots", "skid"]

WIDTH = 2  #: bits of a payload: enough to tell any two apart


def opened(part):
    """The module that a part elaborates to, which it will use: so that a bench can look at memories inside."""
    module = inspect.unwrap(type(part).elaborate)(part, None)
    part.elaborate = lambda platform: module
    return module


def inner(part, *names, module=None):
    """Registers inside a part, by name; those made in a list of several have only that of the function that made
    them. ``module`` is what the part was ``opened`` to, if it was."""
    fragment = Fragment.get(module or opened(part), None)
    part.elaborate = lambda platform: fragment
    registers = {
        signal.name: signal for statement in fragment.statements["sync"] for signal in statement._lhs_signals()
    }
    return [registers[name] for name in names]


def _follow_queue(bench, part, most, latency=1):
    """Claims of every queue: what enters leaves, in order, unchanged, and ``latency`` after it entered at the
    latest."""
    enters, leaves = bench.drive(part.i, "i"), bench.take(part.o, "o")
    follow = Follow(bench, "queue", enters, part.i.payload, leaves, most, through=latency == 0)
    bench.check(~follow.out | (part.o.payload == follow.value), "the followed payload leaves at its turn")
    bench.soon((follow.inside != 0) & ~part.o.valid, latency - 1 if latency else 0, "what is inside is offered in time")
    return follow


def fifo(depth, block=False):
    """StreamFifo with its storage in registers, or in a block RAM as the deep ones have it."""
    bench, part = Bench(), StreamFifo(WIDTH, depth, counted=True)
    if block:  # only the depth decides it, and the deep ones are too large to prove
        part.in_block_ram = True
    module, offset = opened(part), 0
    storage = module.submodules.storage
    if block:
        storage, offset = opened(storage).submodules.words, part.o.valid
    place = storage.read_port(domain="comb")
    (waits,) = inner(part, "waits", module=module)
    bench.part("fifo", part)
    follow = _follow_queue(bench, part, depth, latency=2 if block else 1)
    bench.check(part.level == follow.inside, "level counts what is inside")
    bench.check(part.empty == (follow.inside == 0), "it is empty when nothing is inside")
    bench.check(waits == (part.level > offset), "what is not on offer waits")
    bench.check(part.i.ready == (follow.inside < depth), "it is ready when and only when there is room")
    places = 1 << ceil_log2(depth) if block else depth
    _where_it_lies(bench, follow, storage, place, _order(places), part.level, offset)
    if block:
        here = follow.under_way & part.o.valid & (follow.ahead == 0)
        bench.check(~here | (part.o.payload == follow.value), "on offer it is the followed one")
        bench.check(part.o.valid | (part.level < 2), "more than one is inside only while one is on offer")
    if block and places > depth:
        (stored,) = inner(part, "stored", module=module)
        bench.check(stored + part.o.valid == part.level, "what is not on offer is counted")
    return bench


def _order(places):
    """The places of a queue in the order of their use."""
    if places & (places - 1) or places == 1:
        return list(range(places))
    found = [0]
    while (following := _known(ring_after(C(found[-1], ceil_log2(places))))) != 0:
        found.append(following)
    return found


def _known(value):
    """The number that a combinational value of constants is."""
    seen, target = [], Signal.like(value)
    m = Module()
    m.d.comb += target.eq(value)

    async def look(ctx):
        seen.append(ctx.get(target))

    simulator = Simulator(m)
    simulator.add_testbench(look)
    simulator.run()
    return seen[0]


def _where_it_lies(bench, follow, storage, place, order, level, offset):
    """What makes the claims inductive: the ring's places, and the one where the followed payload lies."""
    (write,), read = storage.write_ports, next(port for port in storage.read_ports if port is not place)
    turn, many = Array(order.index(k) for k in range(len(order))), len(order)
    bench.m.d.comb += place.addr.eq(Array(order)[(turn[read.addr] + follow.ahead - offset + many) % many])
    bench.check((read.addr < many) & (write.addr < many), "places are those of the ring")
    bench.check(
        (turn[read.addr] + level - offset + many) % many == turn[write.addr],
        "what is stored lies between the places of reading and writing",
    )
    bench.check(level >= offset, "what is on offer counts")
    bench.check(
        ~(follow.under_way & (follow.ahead >= offset)) | (place.data == follow.value),
        "the followed one lies in its place",
    )


def skid():
    """SkidBuffer."""
    bench = Bench()
    part = bench.part("skid", SkidBuffer(WIDTH))
    (spare,) = inner(part, "$like")
    follow = _follow_queue(bench, part, 2)
    bench.check(follow.inside == part.o.valid + ~part.i.ready, "both places count")
    bench.check(part.o.valid | part.i.ready, "the spare place is used only behind the other")
    for k, (place, here) in enumerate(((part.o.payload, part.o.valid), (spare, ~part.i.ready))):
        bench.check(
            ~(follow.under_way & here & (follow.ahead == k)) | (place == follow.value),
            f"the followed one lies in place {k}",
        )
    return bench


def request_slots():
    """RequestSlots: a part of the payload is shown, the rest comes a cycle after it was taken."""
    bench, part = Bench(), RequestSlots(1, WIDTH)
    module = opened(part)
    rest = [module.submodules.rest.read_port(domain="comb") for _ in range(2)]
    *slots, head, before = inner(part, "slot0", "slot1", "head", "before", module=module)
    bench.part("slots", part)
    enters, leaves = bench.drive(part.i, "i"), bench.take(part.o, "o")
    follow = Follow(bench, "queue", enters, part.i.payload.as_value(), leaves, 2)
    shown, late = follow.value[:1], follow.value[1:]
    bench.check(~follow.out | (part.o.payload == shown), "the followed payload leaves at its turn")
    bench.soon((follow.inside != 0) & ~part.o.valid, 0, "what is inside is offered in time")
    bench.check(follow.inside == part.o.valid + ~part.i.ready, "both slots count")
    bench.check(part.o.valid | part.i.ready, "one slot alone is on offer")
    for k, here in enumerate((part.o.valid, ~part.i.ready)):
        bench.m.d.comb += rest[k].addr.eq(head ^ k)
        place = Cat(Mux(head ^ k, slots[1], slots[0]), rest[k].data)
        bench.check(
            ~(follow.under_way & here & (follow.ahead == k)) | (place == follow.value),
            f"the followed one lies in slot {k} from the head",
        )
    was, left, took = Signal(WIDTH), Signal(), Signal()  # the followed one was taken in the cycle before, or any
    bench.m.d.sync += [left.eq(follow.out), took.eq(leaves), was.eq(late)]
    bench.check(~took | (before == ~head), "the slot before the head is that of what was taken")
    bench.check(took | ~left, "what left was taken")
    bench.check(~left | (part.late == was), "the rest of what was taken comes a cycle later")
    return bench


def channel(depth):
    """ChannelBuffer of a depth: wires, registers or memory."""
    bench = Bench()
    part = bench.part("channel", ChannelBuffer(WIDTH, depth))
    follow = _follow_queue(bench, part, max(part.storage.depth, 1), latency=min(depth, 1))
    bench.check(part.level == follow.inside, "level counts what is inside")
    if depth:
        bench.check(part.i.ready | (follow.inside == part.storage.depth), "it takes as many as it promises")
    return bench


def fork(outputs):
    """Fork: each output is followed from the first offer of a payload on."""
    bench = Bench()
    part = bench.part("fork", Fork(WIDTH, outputs))
    (done,) = inner(part, "done")
    taken, offered = bench.drive(part.i, "i"), Signal()
    bench.m.d.sync += offered.eq(part.i.valid & ~taken)
    for k, o in enumerate(part.o):
        leaves = bench.take(o, f"o{k}")
        follow = Follow(bench, f"o{k}", part.i.valid & ~offered, part.i.payload, leaves, 1, through=True)
        bench.check(~follow.out | (o.payload == follow.value), f"o{k} gives the followed payload")
        owed = follow.inside + (part.i.valid & ~offered)
        bench.check(~taken | (owed == leaves), f"a payload is taken only when o{k} has its copy")
        bench.check(~(o.ready & (owed != 0)) | leaves, f"o{k} waits for no other")
        bench.check(done[k] == (offered & (follow.inside == 0)), f"what o{k} has given is noted while it is on offer")
        bench.check((follow.inside != 0) <= offered, f"o{k} owes only what is on offer")
        bench.check(
            ~(follow.under_way & (follow.inside != 0)) | (part.i.payload == follow.value), f"o{k} owes what is on offer"
        )
    return bench


def join(inputs):
    """Join of streams: followed through each."""
    bench = Bench()
    part = bench.part("join", Join({f"i{k}": WIDTH for k in range(inputs)}))
    leaves = bench.take(part.o, "o")
    for k in range(inputs):
        stream = getattr(part.i, f"i{k}")
        follow = Follow(bench, f"i{k}", bench.drive(stream, f"i{k}"), stream.payload, leaves, 1, through=True)
        bench.check(~follow.out | (part.o.payload[f"i{k}"] == follow.value), f"the payload of i{k} leaves in its turn")
        bench.check(follow.inside == 0, f"nothing of i{k} stays inside")
    return bench


def merge(inputs):
    """RoundRobin of streams: each input is followed, and none waits for more than one payload of each other."""
    bench = Bench()
    part = bench.part("merge", RoundRobin(WIDTH, inputs))
    last, standing = inner(part, "$signal", "standing")
    leaves, source = bench.take(part.o, "o"), part.o.payload.source
    for k, i in enumerate(part.i):
        enters = bench.drive(i, f"i{k}")
        follow = Follow(bench, f"i{k}", enters, i.payload, leaves & (source == k), 1, through=True)
        bench.check(~follow.out | (part.o.payload.value == follow.value), f"the payload of i{k} leaves in its turn")
        bench.check(follow.inside == 0, f"nothing of i{k} stays inside")
        others = [leaves & (source == other) if other != k else C(0) for other in range(inputs)]
        _each_once(bench, f"i{k}", k, i.valid & ~enters, last, standing, others)
    bench.check(~Cat(i.valid for i in part.i).any() | part.o.valid, "something is offered while any input is")
    return bench


def funnel(count):
    """Funnel: the offers of each unit are followed, and none waits for more than one of each other."""
    bench = Bench()
    part = bench.part("funnel", Funnel(WIDTH, count))
    asks, leaves, source, waits = (
        bench.free(count, "asks"),
        bench.take(part.o, "o"),
        part.o.payload.source,
        Signal(count),
    )
    bench.m.d.comb += part.asks.eq(asks)
    bench.m.d.sync += waits.eq(asks & ~part.taken)
    bench.assume((waits & ~asks) == 0, "who asks does so until it is taken")
    for k in range(count):
        value, others = bench.free(WIDTH, f"value{k}"), part.taken & ~(1 << k)
        bench.m.d.sync += part.values[k].eq(value)
        follow = Follow(bench, f"unit {k}", part.taken[k], value, leaves & (source == k), 6)
        bench.check(~follow.out | (part.o.payload.value == follow.value), f"the offer of unit {k} leaves in its turn")
        bench.check(~part.taken[k] | asks[k], f"unit {k} is taken only when it asks")
        since = Signal(count, name=f"since{k}")  # who was taken while this one asked
        bench.m.d.sync += since.eq(Mux(asks[k] & ~part.taken[k], since | others, 0))
        bench.check(~(asks[k] & (since & others).any()), f"unit {k} waits for each other at most once")
        bench.reach(part.taken[k] & (since == (1 << count) - 1 - (1 << k)), f"unit {k} waits for all others")
    return bench


def _each_once(bench, name, number, waits, last, standing, served):
    """While requester ``number`` waits, none of the others is served twice.

    Inductive because those served while it waits lie between it and the one served ``last``, in the ring; ``standing``
    says that this one is still to be served.
    """
    before, count = Signal(len(served)), len(served)
    bench.m.d.sync += before.eq(Mux(waits, before | Cat(served), 0))
    steps = Signal(range(2 * count))
    bench.m.d.comb += steps.eq((last + count - number) % count)
    bench.check(~waits | ~(before & Cat(served)).any(), f"{name} waits for each other at most once")
    for other in range(count):
        between = ((other - number) % count <= steps) | (standing & (last == number))
        if other == number:
            between = C(0)
        bench.check(
            ~before[other] | (between & ~(standing & (last == other))), f"{name} waits for {other} at its turn only"
        )
    bench.check(last < count, f"the one before {name} is one of all")
    bench.reach(waits & before.any(), f"{name} waits")


def arbiter(count):
    """Arbiter of the interconnect: requests stand until they are granted."""
    bench = Bench()
    part = bench.part("arbiter", Arbiter(count))
    (behind,) = inner(part, "behind")
    m, taken, last = bench.m, Signal(count), Signal(range(count))
    m.d.comb += last.eq(sum(~behind[n] for n in range(1, count)))
    bench.check(
        ~behind[0] & ((behind[1:-1] & ~behind[2:]) == 0), "behind the one last taken are those with higher numbers"
    )
    m.d.comb += [part.requests.eq(bench.free(count, "requests")), part.take.eq(bench.free(1, "take"))]
    m.d.comb += taken.eq(Mux(part.take & part.any, 1 << part.grant, 0))
    waits = Signal(count)
    m.d.sync += waits.eq(part.requests & ~taken)
    bench.assume((waits & ~part.requests) == 0, "a request stands until it is taken")
    bench.check(part.any == part.requests.any(), "any says whether somebody asks")
    bench.check(~part.any | part.requests.bit_select(part.grant, 1), "only who asks is granted")
    bench.check(part.chosen == Mux(part.any, 1 << part.grant, 0), "the bit is that of the number")
    for k in range(count):
        others = [taken[other] if other != k else C(0) for other in range(count)]
        _each_once(bench, f"requester {k}", k, part.requests[k] & ~taken[k], last, C(0), others)
    return bench
