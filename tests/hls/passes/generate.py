"""Random kernels in the form that the frontend outputs: variables in memory, `if`, rotated loops, calls, pointers."""

import random
from dataclasses import dataclass, field

from hls.ir import BOOL, F32, I8, I16, I32, I64, PTR, Builder, Function, MemoryObject, Module, Parameter, Region, Value

__all__ = ["BUFFERS", "ELEMENTS", "random_module"]

ELEMENTS = 64  #: of every buffer
BUFFERS = {"a": I32, "b": F32, "c": I8, "d": I64}
_TYPES = [BOOL, I8, I16, I32, I32, I32, I64, F32]
_ARITHMETIC = ["add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr"]
_COMPARE = ["eq", "ne", "ult", "ule", "slt", "sle"]
_FLOAT = ["fadd", "fsub", "fmul", "fdiv"]


@dataclass
class _Scope:
    """Where statements are being written."""

    b: Builder
    depth: int = 0
    loops: int = 0
    flags: list[str] = field(default_factory=list)  #: break flags of the loops around


class _Generator:
    def __init__(self, seed: int, size: int, ndrange: bool):
        self.rng = random.Random(seed)
        self.budget = size
        self.ndrange = ndrange
        self.counters: list[str] = []  #: of the loops around; never written by statements, so that loops end
        self.function = Function("k", "kernel", attrs={"ndrange": ndrange})
        self.helpers = [self._helper(k) for k in range(2)]

    # -- declarations

    def module(self) -> Module:
        f = self.function
        for name, type in BUFFERS.items():
            f.memories[name] = MemoryObject(name, "global", type)
            f.params.append(Parameter(name, "buffer", f"{type} *", 8))
        data = bytes(self.rng.randrange(256) for _ in range(32))
        f.memories["table"] = MemoryObject("table", "constant", I32, 8, const=True, data=data)
        for name, type in (("n", I32), ("x", F32)):
            f.args.append(Value(type, name, f.body, len(f.args)))
            f.params.append(Parameter(name, "scalar", str(type), 4))
        self.scalars = {f"v{k}": self.rng.choice(_TYPES) for k in range(6)}
        for name, type in self.scalars.items():
            f.memories[name] = MemoryObject(name, "private", type, 1)
        f.memories["array"] = MemoryObject("array", "private", I32, 8)
        f.memories["q"] = MemoryObject("q", "private", PTR, 1)
        b = Builder(f.body)
        for name, type in self.scalars.items():
            b.op("store", b.addr(name), self._literal(b, type), b.true())
        b.op("store", b.addr("q"), b.addr("a", self._slice(b)), b.true())
        self.statements(_Scope(b))
        self._reveal(b)
        b.op("return")
        return Module({**{h.name: h for h in self.helpers}, "k": f})

    def _reveal(self, b):
        """Store every variable, so that no assignment is for nothing."""
        for name, type in self.scalars.items():
            value = b.value("load", b.addr(name), b.true(), result=type)
            wide = I64 if type in (BOOL, I16) else type
            value = value if wide == type else b.value("sext", value, result=wide)
            target = next(buffer for buffer, t in BUFFERS.items() if t == wide)
            b.op("store", self._buffer(b, target, wide), value, b.true())

    def _helper(self, k: int) -> Function:
        """int helper(int *p, int s): reads and perhaps writes through p, with a variable and a loop of its own."""
        h = Function(f"helper{k}", "helper")
        h.args = [Value(PTR, "p", h.body, 0), Value(I32, "s", h.body, 1)]
        h.memories["t"] = MemoryObject("t", "private", I32, 1)
        b = Builder(h.body)
        old = b.value("load", h.args[0], b.true(), result=I32)
        b.op("store", b.addr("t"), b.value(self.rng.choice(["add", "xor", "mul"]), old, h.args[1]), b.true())
        if self.rng.random() < 0.7:
            body = Region()
            b.op("loop", b.value("slt", h.args[1], old), regions=[body], attrs={"unroll": 0})
            c = Builder(body)
            t = c.value("load", c.addr("t"), c.true(), result=I32)
            halved = c.value("lshr", t, c.const(3, I32))
            c.op("store", c.addr("t"), halved, c.true())
            c.op("yield", c.value("ne", halved, c.const(0, I32)))
        t = b.value("load", b.addr("t"), b.true(), result=I32)
        if self.rng.random() < 0.6:
            b.op("store", h.args[0], t, b.true())
        b.op("return", t)
        return h

    # -- values

    def _literal(self, b, type):
        if type == F32:
            return b.const(self.rng.choice([0.0, -0.0, 1.0, 0.5, -3.25, 1024.0]), F32)
        return b.const(self.rng.choice([0, 1, 2, 3, 7, 8, 10, -1, 1 << type.bits - 1, self.rng.getrandbits(64)]), type)

    def value(self, b: Builder, type, depth=2) -> Value:
        """A random expression of the type."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            return self._leaf(b, type)
        if rng.random() < 0.12:
            return b.value(
                "select", self.value(b, BOOL, depth - 1), self.value(b, type, depth - 1), self.value(b, type, depth - 1)
            )
        if type == F32:
            return self._float(b, depth)
        if type == BOOL and rng.random() < 0.7:
            if rng.random() < 0.25:
                operands = [self.value(b, F32, depth - 1) for _ in range(2)]
                return b.value(rng.choice(["feq", "fne", "flt", "fle"]), *operands)
            other = rng.choice([I8, I32, I64, BOOL])
            return b.value(rng.choice(_COMPARE), self.value(b, other, depth - 1), self.value(b, other, depth - 1))
        if rng.random() < 0.25:
            return self._converted(b, type, depth)
        right = self._literal(b, type) if rng.random() < 0.4 else self.value(b, type, depth - 1)
        return b.value(rng.choice(_ARITHMETIC), self.value(b, type, depth - 1), right)

    def _float(self, b, depth):
        kind = self.rng.random()
        if kind < 0.2:
            return b.value(self.rng.choice(["fneg", "fabs"]), self.value(b, F32, depth - 1))
        if kind < 0.35:
            return b.value(
                self.rng.choice(["sitofp", "uitofp"]),
                self.value(b, self.rng.choice([I8, I32, I64]), depth - 1),
                result=F32,
            )
        return b.value(self.rng.choice(_FLOAT), self.value(b, F32, depth - 1), self.value(b, F32, depth - 1))

    def _converted(self, b, type, depth):
        source = self.rng.choice([t for t in _TYPES if t != type])
        x = self.value(b, source, depth - 1)
        if source == F32:
            return b.value(self.rng.choice(["fptosi", "fptoui"]), x, result=type)
        opcode = "trunc" if source.bits > type.bits else self.rng.choice(["zext", "sext"])
        return b.value(opcode, x, result=type)

    def _leaf(self, b, type):
        rng, kind = self.rng, self.rng.random()
        names = [name for name, t in self.scalars.items() if t == type] + (self.counters if type == I32 else [])
        if names and kind < 0.5:
            name = rng.choice(names)
            return b.value("load", b.addr(name), b.true(), result=type, name=name)
        if kind < 0.75:
            return self._from_memory(b, type)
        if self.ndrange and type == I64:
            return b.value("work_item", result=I64, attrs={"fn": rng.choice(["global_id", "global_size"]), "dim": 0})
        args = [v for v in self.function.args if v.type == type]
        return rng.choice(args) if args and kind < 0.85 else self._literal(b, type)

    def _from_memory(self, b, type):
        matching = [name for name, t in BUFFERS.items() if t == type]
        if type == I32 and self.rng.random() < 0.5:
            name = self.rng.choice(["array", "table", "q"])
            if name == "q":
                q = b.value("load", b.addr("q"), b.true(), result=PTR)
                return b.value("load", q, b.true(), result=I32)
            return b.value("load", b.addr(name, self._offset(b, 8, 4)), b.true(), result=I32)
        if not matching:
            return self._literal(b, type)
        return b.value("load", self._buffer(b, matching[0], type), b.true(), result=type)

    def _offset(self, b, length, size):
        """The byte offset of a random element, in bounds."""
        if self.rng.random() < 0.5:
            return b.const(size * self.rng.randrange(length), I64)
        index = b.value("and", self.value(b, I32, 1), b.const(length - 1, I32))
        return b.value("mul", b.value("sext", index, result=I64), b.const(size, I64))

    def _slice(self, b) -> Value:
        """Byte offset of the four-byte elements that belong to this work-item."""
        if not self.ndrange:
            return b.const(0, I64)
        item = b.value("work_item", result=I64, attrs={"fn": "global_id", "dim": 0})
        return b.value("mul", item, b.const(32, I64))

    def _buffer(self, b, name, type):
        """A random place in the buffer; work-items keep to eight elements of their own."""
        if not self.ndrange:
            return b.addr(name, self._offset(b, ELEMENTS, type.bytes))
        item = b.value("work_item", result=I64, attrs={"fn": "global_id", "dim": 0})
        start = b.value("mul", item, b.const(8 * type.bytes, I64))
        return b.addr(name, b.value("add", start, self._offset(b, 8, type.bytes)))

    # -- statements

    def statements(self, scope: _Scope):
        for _ in range(self.rng.randint(1, 5)):
            if self.budget <= 0:
                return
            self.budget -= 1
            kinds = [self._assign] * 4 + [self._store] * 3 + [self._array] * 2 + [self._pointer, self._call]
            if scope.depth < 3:
                kinds += [self._if] * 3
            if scope.loops < 2:
                kinds += [self._loop] * 3
            if scope.flags:
                kinds += [self._break]
            self.rng.choice(kinds)(scope)

    def _assign(self, scope):
        name = self.rng.choice(list(self.scalars))
        b = scope.b
        b.op("store", b.addr(name), self.value(b, self.scalars[name]), b.true())

    def _store(self, scope):
        name, b = self.rng.choice(list(BUFFERS)), scope.b
        pred = self.value(b, BOOL, 1) if self.rng.random() < 0.2 else b.true()
        b.op("store", self._buffer(b, name, BUFFERS[name]), self.value(b, BUFFERS[name]), pred)

    def _array(self, scope):
        b = scope.b
        b.op("store", b.addr("array", self._offset(b, 8, 4)), self.value(b, I32), b.true())

    def _pointer(self, scope):
        """q = &somewhere, or a write through q."""
        b = scope.b
        if self.rng.random() < 0.4:
            q = b.value("load", b.addr("q"), b.true(), result=PTR)
            b.op("store", q, self.value(b, I32), b.true())
            return
        places = [b.addr("array", 4 * self.rng.randrange(8)), b.addr("a", self._slice(b))]
        places += [b.addr(name) for name, t in self.scalars.items() if t == I32]
        target = self.rng.choice(places)
        if self.rng.random() < 0.3:
            target = b.value("select", self.value(b, BOOL, 1), target, self.rng.choice(places))
        b.op("store", b.addr("q"), target, b.true())

    def _call(self, scope):
        b = scope.b
        callee = self.rng.choice(self.helpers).name
        q = b.value("load", b.addr("q"), b.true(), result=PTR)
        result = b.value("call", q, self.value(b, I32, 1), result=I32, attrs={"callee": callee})
        names = [name for name, t in self.scalars.items() if t == I32]
        if names:
            b.op("store", b.addr(self.rng.choice(names)), result, b.true())

    def _if(self, scope):
        regions = Region(), Region()
        scope.b.op("if", self.value(scope.b, BOOL), regions=regions)
        for region in regions:
            inner = _Scope(Builder(region), scope.depth + 1, scope.loops, scope.flags)
            if region is regions[0] or self.rng.random() < 0.5:
                self.statements(inner)
            inner.b.op("yield")

    def _break(self, scope):
        b = scope.b
        b.op("store", b.addr(scope.flags[-1]), self.value(b, BOOL, 1), b.true())

    def _loop(self, scope):
        """for (i = 0; i < bound && !flag; i += step) with a constant or a small unknown bound."""
        b, f = scope.b, self.function
        name = f"i{len(f.memories)}"
        flag = f"{name}.left"
        f.memories[name] = MemoryObject(name, "private", I32, 1)
        f.memories[flag] = MemoryObject(flag, "private", BOOL, 1)
        step, trips = self.rng.choice([1, 1, 2, 3]), self.rng.randint(0, 5)
        constant = self.rng.random() < 0.6
        bound = b.const(step * trips, I32) if constant else b.value("and", self.value(b, I32, 1), b.const(7, I32))
        b.op("store", b.addr(name), b.const(0, I32), b.true())
        body = Region()
        attrs = {"label": name, "form": "for", "unroll": self.rng.choice([0, 0, 1, -1, 2, 3, 4])}
        b.op("loop", b.value("slt", b.const(0, I32), bound), regions=[body], attrs=attrs)
        inner = _Scope(Builder(body), scope.depth + 1, scope.loops + 1, [flag])
        c = inner.b
        c.op("store", c.addr(flag), c.const(0, BOOL), c.true())
        self.counters.append(name)
        self.statements(inner)
        self.counters.pop()
        c.op("yield", self._again(c, name, flag, bound, step))

    def _again(self, c, name, flag, bound, step):
        after = c.value("add", c.value("load", c.addr(name), c.true(), result=I32), c.const(step, I32))
        c.op("store", c.addr(name), after, c.true())
        more = c.value("slt", after, bound)
        left = c.value("load", c.addr(flag), c.true(), result=BOOL)
        return c.value("and", more, c.value("xor", left, c.true()))


def random_module(seed: int, size: int = 12, ndrange: bool = False) -> Module:
    """A kernel ``k`` of about ``size`` statements and two helpers; the same for the same arguments.

    Buffers are ``BUFFERS`` of ELEMENTS elements, scalars ``n`` (i32) and ``x`` (f32). With ``ndrange`` it is meant for
    a one-dimensional range of up to 8 work-items, which do not touch each other's data. Every loop ends, but nests may
    be long: give the interpreter a bound.
    """
    return _Generator(seed, size, ndrange).module()
