"""The queues around one level: requests and live values pushed after it, and the join before it."""

from typing import TYPE_CHECKING

from amaranth import C, Cat, Mux, Signal
from amaranth import Value as HardwareValue
from amaranth.lib import data

from rtl_lib.credits import CreditCounter
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.state import SlotReady

from ..ir import Value, is_early
from .level import LevelBuilder
from .request_queue import Early, RequestQueue, early_fields

if TYPE_CHECKING:
    from .region import RegionBuilder

__all__ = ["LevelQueues"]


class LevelQueues:
    """Connects a level to the queues before and after it.

    ``behind`` are the queues of the next level (already built), None for the last. After :meth:`push` everything that
    the level needs is known; :meth:`accept` then makes its entry.
    """

    def __init__(self, region: "RegionBuilder", builder: LevelBuilder, behind: "LevelQueues | None") -> None:
        self.region, self.builder, self.behind = region, builder, behind
        self.context, self.m = region.context, region.m
        self.room: list[HardwareValue] = []  # conditions for a token to enter
        self.moves: list[HardwareValue] = []  # elastic: conditions for the registers to move
        self.carried: list[Value] = []  # what the queue before this level carries
        self.bypass: StreamFifo | None = None

    # --- after the level ---

    def push(self) -> None:
        """Push the requests of the boundary and, unless this is the last level, the values that bypass it."""
        for row in self.builder.plan.row:
            self._push_request(row)
        if self.behind is not None:
            self._push_bypass(self.behind)
        self.moves += self.builder.stepping()
        if self.builder.plan.elastic:
            self.m.d.comb += self.builder.go.eq(Cat(self.moves).all() if self.moves else 1)

    def _push_request(self, row) -> None:
        builder, op = self.builder, row.op
        target, fields = self.context.servers.request_port(self.region, op)
        counted = self.context.servers.is_waited_for(op)
        name = self.context.names.op(op)
        shape = target.payload.shape()
        early = self._early(row, fields(Signal(shape)))
        if early is None:
            fifo = StreamFifo(shape, row.request_depth, counted, credited=not self.builder.plan.elastic)
            self.m.submodules[f"{name}_request"] = fifo
            requests = fifo.o
            for field, value in fields(fifo.i.payload):
                builder.m.d.comb += field.eq(builder.at(value, row.push))
        else:
            fifo, requests = self._push_in_parts(row, early, shape, fields, counted)
        self.context.servers.queued[op] = fifo
        on = self._enabled(op, row.push)
        self._queue(fifo, row.push, on, row.request_depth, name)
        for hazard in self.context.servers.hazards.values():
            hazard.tell(builder, op, row.push, C(1) if on is None else on)
        self.context.stalls.connect(self.m, requests, target, f"{name}_request")
        if not row.joins:
            self.context.servers.unsent.append(~fifo.empty)

    def _early(self, row, fields) -> Early | None:
        """Which fields of the request are put beside the queue before its stage. A token of the level then has a credit
        for the queue and moves on in each cycle. Where hazards are looked for, the address is needed in the stage in
        which it is pushed."""
        if self.builder.plan.elastic or self._single() or self.context.servers.hazards:
            return None
        condition = self.context.servers.condition(row.op)
        least = 0 if condition is None else self.builder.known(condition)
        known = [max(least, self.builder.known(value)) for _, value in fields]
        sizes = [len(HardwareValue.cast(field)) for field, _ in fields]
        return early_fields(list(zip(sizes, known, strict=True)), row.push, row.request_depth)

    def _push_in_parts(self, row, early: Early, shape, fields, counted: bool):
        """Push the early fields of the request in their stage, the others in its own; returns the queue of these, and
        the stream of requests."""
        builder, pairs = self.builder, fields(Signal(shape))
        name, sizes = self.context.names.op(row.op), [len(HardwareValue.cast(field)) for field, _ in pairs]
        queue = RequestQueue(self.m, name, sizes, early, row.request_depth, counted)
        for k, field in queue.late.items():
            builder.m.d.comb += field.eq(builder.at(pairs[k][1], row.push))
        on, valid = self._enabled(row.op, early.stage), builder.valid(early.stage)
        resized = [Signal(sizes[k], name=f"{name}_early{k}") for k in early.fields]
        for k, signal in zip(early.fields, resized, strict=True):
            builder.m.d.comb += signal.eq(builder.at(pairs[k][1], early.stage))
        queue.put(builder.m, valid if on is None else valid & on, resized)
        return queue.fifo, queue.requests(self.m, shape, fields)

    def _enabled(self, op, stage):
        """The operation's predicate at a stage, or None if it is unconditional."""
        condition = self.context.servers.condition(op)
        return None if condition is None else self.builder.at(condition, stage)

    def _push_bypass(self, behind) -> None:
        fifo = behind.bypass
        stage = self.builder.plan.depth - 1
        self._queue(fifo, stage, None, self.builder.plan.bypass_depth, f"bypass{self.builder.plan.index}")
        if self.builder.plan.whole is not None:
            self._wait_for_group_room(fifo, self.builder.plan.whole)
        for k, value in enumerate(behind.carried):
            self.builder.m.d.comb += fifo.i.payload[f"f{k}"].eq(self.builder.at(value, stage))

    def _wait_for_group_room(self, fifo, whole) -> None:
        """Admit the first token of a group only where all of the group have room."""
        builder, index = self.builder, self.builder.plan.index
        credits = CreditCounter(builder.plan.bypass_depth, several=whole.items)
        self.m.submodules[f"bypass{index}_groups"] = credits
        begins = Signal(init=1, name=f"begins{index}")
        self.m.d.comb += [credits.take.eq(builder.enter), credits.give.eq(fifo.o.valid & fifo.o.ready)]
        with self.m.If(builder.enter):
            self.m.d.sync += begins.eq(builder.at(whole.last, 0))
        self.room.append(~begins | (credits.plenty if whole.items > 1 else credits.available))

    def _queue(self, fifo, stage, on, depth, name) -> None:
        """Drive ``fifo.i.valid`` from a stage, and account for its room."""
        m, builder = self.builder.m, self.builder
        if builder.plan.elastic:
            off = C(0) if on is None else ~on
            if stage:
                self.moves.append(~builder.present(stage) | off | fifo.i.ready)
            else:  # a token that would push as it enters waits outside and does not block those inside
                self.room.append(off | fifo.i.ready)
            m.d.comb += fifo.i.valid.eq(builder.valid(stage) & ~off)
            return
        m.d.comb += fifo.i.valid.eq(builder.valid(stage) if on is None else builder.valid(stage) & on)
        if self._single():
            return  # one token passes per run: it finds every queue empty
        credits = self.m.submodules[f"{name}_credits"] = CreditCounter(depth, gives=1 if on is None else 2)
        taken = fifo.o.valid & fifo.o.ready
        self.m.d.comb += [
            credits.take.eq(builder.enter),
            credits.give.eq(taken if on is None else Cat(taken, builder.valid(stage) & ~on)),
        ]
        self.room.append(credits.available)

    # --- before the level ---

    def accept(self) -> None:
        """Let tokens in: from the header, from the kernel's start, or from the boundary before the level."""
        plan, index = self.region.plan, self.builder.plan.index
        open_ = Signal(name=f"open{index}")
        gates = [*self.room, self.builder.go] if self.builder.plan.elastic else list(self.room)
        gates.append(~self.context.stalls.source(self.m, f"{self.context.names.region(plan)}_level{index}"))
        gates += self.region.enter_windows(self.builder)
        gates += self._turn()
        if index:
            there = self._join(open_)
            gates += self._slot_ready(index)
        elif plan.loop is not None:
            there = self._from_header(open_)
        else:
            there = self.context.run.start
            self.m.d.comb += [self.builder.enter.eq(there & open_), self.context.run.entered.eq(self.builder.enter)]
            sources = self.context.values.group_values()
            self.m.d.comb += [signal.eq(sources[value]) for value, signal in self.builder.incoming.items()]
        self.region.observe_windows(index, there)
        self.m.d.comb += open_.eq(Cat(*gates, *self._book(there, gates)).all())

    def _book(self, there, gates):
        """The gate of a level whose stores share a port with others: high if the port is free in all cycles in which
        the token needs it."""
        booked = self.context.servers.bookings.get((self.region.plan, self.builder.plan.index))
        if booked is None:
            return []
        want, may, op = booked
        self.m.d.comb += want.eq(there & Cat(gates).all())
        self.context.observations.add("port", op, want & ~may)
        return [may]

    def _single(self) -> bool:
        return self.region.plan.loop is None and not self.context.by_group

    def _turn(self):
        """The gate of a level whose tokens enter a multiple of ``spacing`` cycles apart: high in one cycle of each
        ``spacing``."""
        spacing, builder = self.builder.plan.spacing, self.builder
        if spacing == 1 or self._single():
            return []
        turn = Signal(range(spacing), name=f"turn{builder.plan.index}")
        with self.m.If(builder.go):
            self.m.d.sync += turn.eq(Mux(turn == spacing - 1, 0, turn + 1))
        return [turn == 0]

    def _from_header(self, open_):
        """Let the header issue; returns whether it has a token."""
        header = self.region.header
        self.m.d.comb += [header.o.ready.eq(open_), self.builder.enter.eq(header.o.valid & open_)]
        self.context.observations.add("refused", self.region.plan.loop_op, header.o.valid & ~open_)
        sources = self.region.token_values()
        for value, signal in self.builder.incoming.items():
            self.m.d.comb += signal.eq(sources[value])
        return header.o.valid

    def _slot_ready(self, index):
        """The gate of a recurrence: the slot's previous token has passed the point after which its values may be
        read."""
        ready, pseudo = self.region.ready_parts.get(index), self.region.pseudo
        if ready is None:
            return []
        # where it is not yet known which token is an invocation's last, the first one of the next waits like any other
        first = C(0) if self.region.undecided(index) else self.builder.at(pseudo.first, 0)
        # a gate that only matters if buffers overlap stays as it is in other runs: sets and clears must come in pairs
        matters = C(1) if self.builder.plan.ready is not None else self.context.values.overlap
        self.m.d.comb += ready.clear.valid.eq(self.builder.enter & ~first & matters)
        if self.region.plan.slots > 1:
            slot = self.builder.at(pseudo.slot, 0)
            self.m.d.comb += [ready.test.slot.eq(slot), ready.clear.slot.eq(slot)]
        return [first | ready.test.ready | ~matters]

    def _join(self, open_):
        """Let a token enter when the head of the bypass and every response it waits for are valid; returns whether they
        are, and whether the token enters."""
        index, builder = self.builder.plan.index, self.builder
        before = self.region.plan.levels[index - 1]
        if index in self.region.ready_parts or self.region.plan.speculative:
            builder.at(self.region.pseudo.first, 0)
            if self.region.plan.slots > 1:
                builder.at(self.region.pseudo.slot, 0)
        responses: dict[Value, HardwareValue] = {}
        waits = []
        failed = [(op, builder.at(value, 0)) for op, value in self.region.late_errors(index).items()]
        for row in before.row:
            if row.joins:
                waits.append(self._response(row.op, open_, responses))
        own = {self.region.error_value(row.op) for row in before.row}
        self.carried = [v for v in builder.incoming if v not in responses and v not in own]
        layout = data.StructLayout({f"f{k}": self.context.values.width(v) for k, v in enumerate(self.carried)})
        bypass = StreamFifo(layout, before.bypass_depth, credited=not before.elastic)
        self.bypass = self.m.submodules[f"bypass{index - 1}"] = bypass
        for k, value in enumerate(self.carried):
            self.m.d.comb += builder.incoming[value].eq(bypass.o.payload[f"f{k}"])
        arrived, taken = Signal(name=f"arrived{index}"), Signal(name=f"taken{index}")
        over = self._over(index)
        self.m.d.comb += [
            arrived.eq(bypass.o.valid & Cat(ok for ok, _, _ in waits).all()),
            builder.enter.eq(arrived & open_ & ~over),
            taken.eq(arrived & (open_ | over)),
            bypass.o.ready.eq(taken),
        ]
        self.region.leave_undecided(index, taken, over)
        for _, stream, on in waits:
            self.m.d.comb += stream.ready.eq(taken & on)
        self._errors([row.op for row in before.row if row.joins], [on for _, _, on in waits], failed)
        for (ok, _, _), row in zip(waits, [r for r in before.row if r.joins], strict=True):
            self.context.observations.add_wait(row.op, bypass.o.valid & ~ok)
        return arrived & ~over

    def _errors(self, ops, ons, failed) -> None:
        """Report failed loads, or pass the failure on to where it is known whether the program makes these loads."""
        index, builder = self.builder.plan.index, self.builder
        for op, on in zip(ops, ons, strict=True):
            error = self.context.servers.response_error(op)
            if error is None:
                continue
            if not self.region.undecided(index) and not is_early(op):
                failed.append((op, error & on))
            elif self.region.error_value(op) in builder.incoming:
                self.m.d.comb += builder.incoming[self.region.error_value(op)].eq(error & on)
        self.context.observations.read_errors += [(op, builder.enter & error) for op, error in failed]

    def _over(self, index):
        """Whether the token at the entry of a speculative loop's deciding level comes after the last of its
        invocation."""
        plan, builder = self.region.plan, self.builder
        if not plan.speculative or index != plan.decide.level:
            return C(0)
        first, over = builder.at(self.region.pseudo.first, 0), SlotReady(plan.slots)
        self.m.submodules.over = over
        slot = builder.at(self.region.pseudo.slot, 0) if plan.slots > 1 else 0
        self.m.d.comb += [
            over.set.valid.eq(self.region.header.done.valid),
            over.set.slot.eq(self.region.header.done.slot),
            over.clear.valid.eq(builder.enter & first),
            over.clear.slot.eq(slot),
            over.test.slot.eq(slot),
        ]
        return over.test.ready & ~first

    def _response(self, op, open_, responses):
        """(arrived or not expected, the response stream, expected) of one operation at the boundary before the
        level."""
        builder = self.builder
        stream, fields = self.context.servers.response_port(self.region, op)
        condition = self.context.servers.condition(op)
        on = C(1) if condition is None else builder.at(condition, 0)
        for result, bits, otherwise in fields(stream.payload):
            if result in builder.incoming:
                responses[result] = None
                value = (
                    bits
                    if condition is None
                    else Mux(on, bits, builder.at(otherwise, 0) if otherwise is not None else 0)
                )
                self.m.d.comb += builder.incoming[result].eq(value)
        return ~on | stream.valid, stream, on
