"""A recording of a kernel's run, iteration by iteration: the data that drives the model's tokens."""

from dataclasses import dataclass, field

from hls.ir.interpreter import run_kernel

__all__ = ["Invocation", "Recorded", "record"]


@dataclass(eq=False)
class Invocation:
    """One run of a loop (or of a kernel's top): for each iteration what every operation of its rows did.

    An access has the byte offset in its buffer (one of a run a pair of it and that of the run's last access), a loop
    its :class:`Invocation`, a fence True; what was off has None.
    """

    iterations: list = field(default_factory=list)


class _Recorder:
    def __init__(self):
        self.top = Invocation([{}])
        self._stack = [self.top]

    def access(self, op, offset, last=None):
        self._stack[-1].iterations[-1][op] = offset if last is None or offset is None else (offset, last)

    def enter(self, op, on):
        invocation = Invocation() if on else None
        self._stack[-1].iterations[-1][op] = invocation
        self._stack.append(invocation)

    def iterate(self, op):
        self._stack[-1].iterations.append({})

    def leave(self, op):
        self._stack.pop()


def record(function, buffers, scalars, global_size, local_size=None, global_offset=None) -> Invocation:
    """Runs a flat kernel (arguments as for :func:`hls.ir.interpreter.run_kernel`); the invocation of its top."""
    recorder = _Recorder()
    run_kernel(function, function.name, buffers, scalars, global_size, local_size, global_offset, watch=recorder)
    return recorder.top


class Recorded:
    """The :class:`~.meaning.Meaning` of a recorded run: a token knows its invocation and how many came before it.

    ``operations`` maps the model's operation names to (operation, address of its buffer; None of a loop). A fence that
    is for overlapping buffers is off: the interpreter cannot tell, and takes it as on. A token that a speculative loop
    issued in vain asks for what the last iteration asked for.
    """

    def __init__(self, operations):
        self.operations = operations

    def _fact(self, operation, values):
        op, base = self.operations[operation.name]
        iterations = values["request"].iterations
        return iterations[min(values["index"], len(iterations) - 1)].get(op), base

    def initial(self, loop, request):
        return {r.name: 0 for r in loop.recurrences}

    def define(self, loop, recurrence, values):
        return values["index"] + 1 if recurrence.name == "index" else 0

    def on(self, loop, operation, values):
        fact, base = self._fact(operation, values)
        return fact is not None and (base is not None or isinstance(fact, Invocation))

    def request(self, loop, operation, values):
        fact, base = self._fact(operation, values)
        if isinstance(fact, tuple):
            return tuple(base + offset for offset in fact)
        return fact if isinstance(fact, Invocation) else base + fact

    def continues(self, loop, values):
        return values["next index"] < len(values["request"].iterations)

    def result(self, loop, values):
        return None

    def answer(self, operation, payload):
        raise AssertionError(f"{operation.name} is answered by the memory")
