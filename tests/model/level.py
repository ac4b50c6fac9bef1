"""One level: a token enters, advances a stage every enabled cycle, and leaves into the boundary or the exit."""

__all__ = ["Level"]


class Level:
    """Level ``index`` of a loop.

    In every enabled cycle the token at each stage does what the schedule put there: it reads and defines
    carried values, pushes requests, decides whether its slot goes on. A stall-free cluster is always
    enabled and takes its room in advance; a stall-enabled one stops as a whole while one push is blocked.
    """

    def __init__(self, loop, index):
        self.loop, self.index, self.spec = loop, index, loop.spec.levels[index]
        self.clock, self.rules, self.meaning = loop.clock, loop.rules, loop.meaning
        self.source = loop.header if index == 0 else loop.rows[index - 1]
        self.row = loop.rows[index]
        self.stages = [None] * self.spec.depth
        self.ready_point, self.undecided = loop.spec.ready(index), loop.spec.undecided(index)
        # where nobody knows which token is the last, the first one of the next invocation waits like any other
        self.ready, self._set, self._cleared = set(range(loop.spec.slots)) if self.undecided else set(), set(), set()
        self.drops = loop.spec.speculative and index == loop.spec.continues[0]
        self._over = set()  # slots of which the token that came last is through: drop what comes behind it
        self._writes = []
        at = lambda point: [r for r in loop.spec.recurrences if point(r)]
        stages = range(self.spec.depth)
        self.uses = [at(lambda r, s=s: r.use == (index, s)) for s in stages]
        self.defines = [at(lambda r, s=s: r.define == (index, s)) for s in stages]
        self.asks = [[o for o in self.spec.row if o.stage == s] for s in stages]
        self.busy = [s for s in stages if self._happens(s)]
        self.clock.add(self)

    def _happens(self, stage):
        """Whether anything happens to a token at the stage."""
        point, spec = (self.index, stage), self.loop.spec
        points = {spec.continues, spec.again, *(spec.ready(k) for k in range(len(spec.levels)))}
        last = stage == self.spec.depth - 1
        return last or point in points or self.uses[stage] or self.defines[stage] or self.asks[stage]

    # -- one cycle
    def evaluate(self):
        dropped = self._drop()
        if not self._enabled():
            return
        self.stages[0] = None if dropped else self._enter()
        for stage in self.busy:
            token = self.stages[stage]
            if token is not None:
                self._compute(stage, token)
                self._act(stage, token)
        if any(token is not None for token in self.stages):
            self.clock.moved()
        self.stages = [None, *self.stages[:-1]]

    def _enabled(self):
        if self.spec.stall_free:
            return True
        return not any(token is not None and self._blocked(stage, token) for stage, token in enumerate(self.stages))

    def _blocked(self, stage, token):
        """Whether a push of this token at this stage finds no room."""
        self._compute(stage, token)
        asked = any(o.name in token.on and not self._fifo(o).can_push() for o in self.asks[stage])
        leaving = stage == self.spec.depth - 1 and self.row.bypass is not None
        return asked or (leaving and not self.row.bypass.can_push())

    def _drop(self):
        """Take a token that was issued behind the last one of its invocation, whether or not the level can move."""
        token = self.source.peek() if self._over and self.rules.drops_behind_last else None
        if token is None or token.first or token.slot not in self._over:
            return False
        self.source.take(token)
        return True

    def _enter(self):
        token = self.source.peek()
        if token is None or not self._may_follow(token) or not self._has_room(token):
            return None
        self.source.take(token)
        if self.spec.stall_free and self.rules.credits:
            for fifo in self._exits():
                fifo.reserve()
        if (self.undecided or not token.first) and self.rules.ready_is_consumed:
            self._cleared.add(token.slot)
        if token.first:
            self._over.discard(token.slot)
        return token

    def _may_follow(self, token):
        """The value that the token needs is there, or will be when it reaches the stage that reads it."""
        waits = not token.first or self.undecided and self.rules.first_waits_where_undecided
        if self.ready_point is None or not waits or not self.rules.waits_for_ready:
            return True
        return token.slot in self.ready

    def _has_room(self, token):
        if self.row.bypass is None and not self.rules.exit_reserved_at_start:
            coming = sum(t is not None and t.last is True for t in self.stages)
            if not self.loop.exit.has_room(coming):
                return False
        if not self.spec.stall_free:
            return not self._blocked(0, token)
        return not self.rules.credits or all(fifo.available() for fifo in self._exits())

    def _exits(self):
        # behind the last level: an exit entry was reserved when the invocation started
        past = [] if self.row.bypass is None else [self.row.bypass]
        return past + [self._fifo(operation) for operation in self.spec.row]

    def _fifo(self, operation):
        return self.row.units[operation.name].requests

    # -- what a token does at a stage
    def _compute(self, stage, token):
        """The stage's combinational part: repeating it while the cluster stands changes nothing."""
        values, spec = token.values, self.loop.spec
        for r in self.uses[stage]:
            values[r.name] = token.initial[r.name] if token.first else self.loop.carried[r.name].get(token.slot)
        for r in self.defines[stage]:
            values[f"next {r.name}"] = self.meaning.define(spec, r, values)
        for operation in self.asks[stage]:
            if self.meaning.on(spec, operation, values):
                token.on.add(operation.name)

    def _act(self, stage, token):
        point, spec = (self.index, stage), self.loop.spec
        if point == spec.continues:
            token.last = not self.meaning.continues(spec, token.values)
            if token.last:
                self.loop.header.done(token.slot)
                self._over.update([token.slot] if self.drops else [])
        for r in self.defines[stage]:
            self._writes.append((r.name, token.slot, token.values[f"next {r.name}"]))
        for operation in self.asks[stage]:
            self._ask(operation, token)
        self._signal(point, token)
        if stage == self.spec.depth - 1:
            self._leave(token)

    def _ask(self, operation, token):
        if operation.name in token.on:
            self._fifo(operation).push(self.meaning.request(self.loop.spec, operation, token.values))
        elif self.spec.stall_free and self.rules.credits and self.rules.credit_back_when_off:
            self._fifo(operation).cancel()

    def _signal(self, point, token):
        """Tells the header and the entries of levels that the slot's next token may come."""
        spec = self.loop.spec
        if point == (spec.again if self.rules.spacing else spec.continues) and not token.last:
            self.loop.header.again(token)
        for level in self.loop.levels:
            if level.ready_point == point and (level.undecided or not token.last or not self.rules.last_sets_nothing):
                level._set.add(token.slot)

    def _leave(self, token):
        if self.row.bypass is not None:
            self.row.bypass.push(token)
        elif token.last:
            self.loop.exit.write(token.entry, self.meaning.result(self.loop.spec, token.values))

    def commit(self):
        for name, slot, value in self._writes:
            self.loop.carried[name][slot] = value
        if self._set or self._cleared:
            self.ready = (self.ready - self._cleared) | self._set
            self._set, self._cleared = set(), set()
        self._writes = []
