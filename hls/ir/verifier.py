"""Checks that IR is well formed. Run after every pass in tests and in CI."""

from ..narrow import present
from .accesses import fixed_operands, is_access, lane_mask
from .attributes import CHANNELS, FUNCTIONS, MEMORIES, Attr, misuse
from .exact import ROUNDINGS
from .nodes import Function, Module, Op, Region, Value
from .optable import ATOMICS, OPS, has
from .types import BOOL, I64, PTR, ArrayType, FloatType, IntType, PointerType, TokenType

__all__ = ["VerifyError", "verify", "verify_module"]

_CONVERSIONS: dict[str, tuple[type | tuple[type, ...], type | tuple[type, ...], str]] = {
    "zext": (IntType, IntType, "wider"),
    "sext": (IntType, IntType, "wider"),
    "trunc": (IntType, IntType, "narrower"),
    "bitcast": ((IntType, FloatType, ArrayType), (IntType, FloatType, ArrayType), "same"),
    "sitofp": (IntType, FloatType, "any"),
    "uitofp": (IntType, FloatType, "any"),
    "fptosi": (FloatType, IntType, "any"),
    "fptoui": (FloatType, IntType, "any"),
    "fresize": (FloatType, FloatType, "different"),
}
_WORK_ITEM = {
    "global_id",
    "local_id",
    "group_id",
    "global_size",
    "local_size",
    "num_groups",
    "global_offset",
    "work_dim",
    "compute_id",
}


#: most inputs of a lookup table: those of the largest that a device has
MOST_TABLE_INPUTS = 6


class VerifyError(Exception):
    """Malformed IR: a bug in the compiler, not in the user's kernel."""


def verify(function: Function, module: Module | None = None) -> None:
    """Raise VerifyError at the first operation of the function that breaks a rule; ``module`` is needed to check
    calls."""
    _Verifier(function, module).run()


def verify_module(module: Module) -> None:
    """``verify`` for every function, and the attributes of the channels."""
    for channel in module.channels.values():
        if wrong := misuse(CHANNELS, channel.attrs):
            raise VerifyError(f"channel {channel.name} {wrong}")
    for function in module.functions.values():
        verify(function, module)


class _Verifier:
    def __init__(self, function, module) -> None:
        self.function, self.module = function, module
        self.visible: set[Value] = set()
        self.defined: set[Value] = set()
        self.seen: set[int] = set()

    def run(self) -> None:
        self._attributes(FUNCTIONS, self.function.attrs.items(), None, f"{self.function.kind} {self.function.name}")
        for memory in self.function.memories.values():
            self._memory(memory)
        for k, value in enumerate(self.function.args):
            self._define(value, self.function.body if value.owner is self.function.body else None, k, None)
        self._region(self.function.body, None, "return")

    def _fail(self, op, message) -> None:
        place = f" ({op.span})" if op is not None and op.span else ""
        raise VerifyError(f"{self.function.name}: {op.opcode + ': ' if op else ''}{message}{place}")

    def _require(self, condition, op, message) -> None:
        if not condition:
            self._fail(op, message)

    def _attributes(self, holder, attrs, op, subject: str = "") -> None:
        wrong = misuse(holder, attrs)
        self._require(wrong is None, op, f"{subject} {wrong}".lstrip())

    def _memory(self, m) -> None:
        self._attributes(MEMORIES, m.attrs, None, f"memory {m.name}")
        known = m.space in ("global", "constant", "private", "local", "pipe")
        self._require(known, None, f"memory {m.name} has the unknown space {m.space}")
        if m.space in ("constant", "private"):
            self._require(m.length is not None and m.length > 0, None, f"memory {m.name} has no length")
        if m.space == "constant":
            data = m.data is not None and len(m.data) == m.length * m.element.bytes
            self._require(data, None, f"memory {m.name}: the data does not have the memory's size")

    def _define(self, value, owner, index, op) -> None:
        if value in self.defined:
            self._fail(op, f"{value.name or 'a value'} is defined twice")
        if owner is not None:
            self._require(value.owner is owner and value.index == index, op, "a value does not know who defines it")
        self.defined.add(value)
        self.visible.add(value)

    def _region(self, region: Region, parent: Op | None, terminator: str) -> None:
        """Check the region; values it defines are visible only inside it."""
        outside = set(self.visible)
        for k, value in enumerate(region.args):
            self._define(value, region, k, parent)
        self._require(region.ops, parent, "a region is empty")
        for op in region.ops:
            last = op is region.ops[-1]
            self._require(has(op, "terminator") == last, op, "stands in the wrong place of its region")
            self._op(op)
        self._require(region.terminator.opcode == terminator, region.terminator, f"expected {terminator}")
        self.visible = outside

    def _op(self, op: Op) -> None:
        self._require(op.opcode in OPS, None, f"unknown operation {op.opcode}")
        self._require(id(op) not in self.seen, op, "stands in two places")
        self.seen.add(id(op))
        for k, value in enumerate(op.operands):
            if value not in self.visible:  # messages are only built for errors: this runs after every pass
                how = "is used outside the region that defines it" if value in self.defined else "is not defined before"
                self._fail(op, f"operand {k} ({value.name or value.type}) {how}")
        self._arity(op)
        self._attributes(op.opcode, op.attrs.items(), op)
        getattr(self, f"_check_{op.opcode}", self._check_pure)(op)
        for k, value in enumerate(op.results):
            self._define(value, op, k, op)

    def _arity(self, op) -> None:
        arity = OPS[op.opcode].arity
        if is_access(op):
            arity = fixed_operands(op)
        fixed = op.operands[:arity] if has(op, "ordered") else op.operands
        if arity is not None and len(fixed) != arity:
            self._fail(op, f"has {len(op.operands)} operands, not {arity}")
        for value in op.operands[len(fixed) :]:
            if not isinstance(value.type, TokenType):
                self._fail(op, f"takes tokens after its operands, not {value.type}")
        regions = {"if": 2, "loop": 1}.get(op.opcode, 0)
        if len(op.regions) != regions:
            self._fail(op, f"has {len(op.regions)} regions, not {regions}")
        several = has(op, "region") or has(op, "terminator") or has(op, "effect") or op.attrs.get(Attr.FINDS)
        if len(op.results) != 1 and not several:
            self._fail(op, f"has {len(op.results)} results, not 1")

    def _check_pure(self, op) -> None:
        if has(op, "terminator"):
            return
        info, types = OPS[op.opcode], [v.type for v in op.operands]
        allowed = {"int": IntType, "float": FloatType}.get(info.check, object)
        if not all(isinstance(t, allowed) for t in types):
            self._fail(op, f"takes {info.check} operands, not {_list(types)}")
        if info.check in ("int", "float", "same") and len(set(types)) > 1:
            self._fail(op, f"operands differ in type: {_list(types)}")
        if info.result is not None:
            expected = info.result(types, op.attrs)
            if op.result.type != expected:
                self._fail(op, f"result is {op.result.type}, not {expected}")
        if op.opcode in _CONVERSIONS:
            self._conversion(op, types[0], op.result.type)
        if op.opcode == "fintegral" or Attr.ROUNDING in op.attrs:
            self._require(op.attrs.get(Attr.ROUNDING) in ROUNDINGS, op, f"rounds as one of {', '.join(ROUNDINGS)}")

    def _conversion(self, op, source, target) -> None:
        sources, targets, size = _CONVERSIONS[op.opcode]
        fits = isinstance(source, sources) and isinstance(target, targets)
        if not fits:
            self._fail(op, f"cannot convert {source} to {target}")
        order = {
            "wider": target.bits > source.bits,
            "narrower": target.bits < source.bits,
            "same": target.bits == source.bits,
            "different": target.bits != source.bits,
        }.get(size, True)
        if not order:
            self._fail(op, f"cannot convert {source} to {target}: it must be {size}")

    def _check_fsum(self, op) -> None:
        self._check_pure(op)
        terms = op.attrs.get(Attr.TERMS)
        known = isinstance(terms, (tuple, list)) and len(terms) > 1 and {"+", "-", "+*", "-*"}.issuperset(terms)
        self._require(known, op, f"is a sum of two or more of +, -, +* and -*, not of {terms!r}")
        wanted = sum(map(len, terms))
        self._require(len(op.operands) == wanted, op, f"has {len(op.operands)} operands, not the {wanted} of its terms")

    def _check_lut(self, op) -> None:
        self._check_pure(op)
        table, inputs = op.attrs.get(Attr.TABLE), len(op.operands)
        self._require(0 < inputs <= MOST_TABLE_INPUTS, op, f"has {inputs} inputs, not 1 to {MOST_TABLE_INPUTS}")
        known = isinstance(table, int) and 0 <= table < 1 << (1 << inputs)
        self._require(known, op, f"{table} is no table of {inputs} inputs")

    def _check_const(self, op) -> None:
        value, type = op.attrs.get(Attr.VALUE), op.result.type
        self._require(value is not None, op, "has no value")
        if isinstance(type, IntType):
            if not (isinstance(value, int) and 0 <= value < 1 << type.bits):
                self._fail(op, f"{value} is not an {type}")
        elif isinstance(type, FloatType):
            self._require(isinstance(value, float), op, f"{value} is not an {type}")
        elif isinstance(type, ArrayType):
            whole = isinstance(value, tuple) and len(value) == type.length
            self._require(whole, op, f"the value does not have the {type.length} elements of {type}")
        else:
            self._require(value == 0, op, f"the only constant of type {type} is 0")

    def _check_copy_number(self, op) -> None:
        self._check_const(op)

    def _check_select(self, op) -> None:
        c, a, b = (v.type for v in op.operands)
        self._require(c == BOOL and a == b, op, f"takes i1 and two equal types, not {c}, {a}, {b}")
        self._require(op.result.type == a, op, f"result is {op.result.type}, not {a}")

    def _check_extract(self, op) -> None:
        array, index = (v.type for v in op.operands)
        fits = isinstance(array, ArrayType) and isinstance(index, IntType)
        self._require(
            fits and op.result.type == array.element, op, f"takes an array and an index, not {array}, {index}"
        )

    def _check_insert(self, op) -> None:
        array, index, value = (v.type for v in op.operands)
        fits = isinstance(array, ArrayType) and isinstance(index, IntType) and value == array.element
        self._require(fits, op, f"takes an array, an index and an element, not {array}, {index}, {value}")
        self._require(op.result.type == array, op, "changes the type of its array")

    def _check_work_item(self, op) -> None:
        self._require(op.attrs.get(Attr.FN) in _WORK_ITEM, op, f"asks for the unknown {op.attrs.get(Attr.FN)}")
        self._require(op.attrs.get(Attr.DIM, 0) in (0, 1, 2), op, "has no dimension 0, 1 or 2")
        self._require(isinstance(op.result.type, IntType), op, f"gives no {op.result.type}")

    def _check_addr(self, op) -> None:
        self._require(
            op.attrs.get(Attr.MEM) in self.function.memories, op, f"no memory is called {op.attrs.get(Attr.MEM)}"
        )
        self._require(isinstance(op.operands[0].type, IntType) and op.result.type == PTR, op, "takes an integer offset")

    def _check_ptradd(self, op) -> None:
        fits = op.operands[0].type == PTR and isinstance(op.operands[1].type, IntType) and op.result.type == PTR
        self._require(fits, op, "takes a pointer and an integer offset")

    def _check_ptroffset(self, op) -> None:
        self._require(
            [v.type for v in op.operands] == [PTR] and op.result.type == I64, op, "takes a pointer and gives an i64"
        )

    _check_ptraddr = _check_ptroffset

    def _check_ptreq(self, op) -> None:
        fits = [v.type for v in op.operands] == [PTR, PTR] and op.result.type == BOOL
        self._require(fits, op, "takes two pointers and gives an i1")

    def _check_given(self, op) -> None:
        memory = self.function.memories.get(op.attrs.get(Attr.MEM))
        self._require(
            memory is not None and memory.space == "global" and op.result.type == BOOL,
            op,
            f"{op.attrs.get(Attr.MEM)} is no buffer",
        )

    def _check_fresh(self, op) -> None:
        memory = self.function.memories.get(op.attrs.get(Attr.MEM))
        self._require(
            memory is not None and memory.space == "private", op, f"{op.attrs.get(Attr.MEM)} is no private memory"
        )
        self._require(
            not op.results and isinstance(op.attrs.get(Attr.SET), bool),
            op,
            "has a result, or does not say if it is set",
        )

    def _check_shift(self, op) -> None:
        self._whole(op)
        moved = op.attrs[Attr.HIGH] - op.attrs[Attr.LOW] - abs(op.attrs.get(Attr.BY, 0))
        self._require(op.attrs.get(Attr.BY) and moved > 0, op, "moves nothing")

    def _check_fill(self, op) -> None:
        self._whole(op)
        element = self.function.memories[op.attrs[Attr.MEM]].element
        self._require(op.operands[0].type == element, op, f"sets elements of type {element} to another one")

    def _whole(self, op) -> None:
        memory = self.function.memories.get(op.attrs.get(Attr.MEM))
        self._require(
            memory is not None and memory.space == "private", op, f"{op.attrs.get(Attr.MEM)} is no private memory"
        )
        inside = 0 <= op.attrs.get(Attr.LOW, -1) < op.attrs.get(Attr.HIGH, -1) <= memory.length
        self._require(inside, op, f"is not inside the {memory.length} elements of {memory.name}")

    def _check_load(self, op) -> None:
        pointer, pred = (v.type for v in op.operands[:2])
        self._require(pointer == PTR and pred == BOOL, op, f"takes a pointer and a predicate, not {pointer}, {pred}")
        self._access(op, op.result.type)

    def _check_check(self, op) -> None:
        known = self._of_early_load(op) or op.operands[0].type == BOOL
        self._require(
            known and op.operands[1].type == BOOL, op, "takes the result of an early load or a bit, and a condition"
        )

    def _check_failed(self, op) -> None:
        self._require(self._of_early_load(op) and op.result.type == BOOL, op, "takes the result of an early load")

    @staticmethod
    def _of_early_load(op) -> bool:
        """Whether the first operand is what an early load gives."""
        load = op.operands[0].op
        return load is not None and load.opcode == "load" and bool(load.attrs.get(Attr.EARLY))

    def _check_store(self, op) -> None:
        pointer, value, pred = (v.type for v in op.operands[:3])
        self._require(pointer == PTR and pred == BOOL, op, f"takes a pointer and a predicate, not {pointer}, {pred}")
        tokens = len(op.results) <= 1 and all(isinstance(v.type, TokenType) for v in op.results)
        self._require(tokens, op, "has a result that is no token")
        self._access(op, value)

    def _access(self, op, type) -> None:
        if lane_mask(op) is not None:
            self._wide(op, type)
        source = op.operands[0].op
        if source is not None and source.opcode == "addr" and op.opcode == "store":
            memory = self.function.memories[source.attrs[Attr.MEM]]
            self._require(memory.space != "constant", op, f"writes the constant {memory.name}")
        if isinstance(type, PointerType) and source is not None and source.opcode == "addr":
            memory = self.function.memories[source.attrs[Attr.MEM]]
            self._require(memory.element == PTR, op, f"moves a pointer, but {memory.name} holds {memory.element}")

    def _wide(self, op, type) -> None:
        element, mask = type.element, present(lane_mask(op)).type
        whole = isinstance(element, IntType) and element.bits == 8 * element.bytes
        self._require(whole, op, f"moves a {type}: lanes must be integers of whole bytes")
        self._require(mask == ArrayType(BOOL, type.length), op, f"the mask of {type.length} lanes is a {mask}")

    def _check_barrier(self, op) -> None:
        self._require(not op.results and op.attrs.get(Attr.FLAGS) in range(8), op, "has a result, or no flags")
        self._require([v.type for v in op.operands] in ([], [BOOL]), op, "takes more than a predicate")

    def _check_meet(self, op) -> None:
        conditions, tokens = op.operands[:2], op.operands[2:]
        self._require(
            [v.type for v in conditions] == [BOOL, BOOL], op, "takes a predicate and whether the group is complete"
        )
        self._require(
            all(isinstance(v.type, TokenType) for v in (*tokens, *op.results)), op, "takes or gives what is no token"
        )
        self._memories(op, *op.attrs.get(Attr.MEMS, ()), *op.attrs.get(Attr.FLUSH, ()))

    def _check_group(self, op) -> None:
        self._require(
            [v.type for v in op.operands] == [BOOL, BOOL],
            op,
            "takes whether a work-item is its group's first, and last",
        )
        self._require(op.attrs.get(Attr.COPIES, 0) >= 1, op, "says nothing about copies")
        self._memories(op, *op.attrs.get(Attr.MEMS, ()))

    def _memories(self, op, *names) -> None:
        for name in names:
            self._require(name in self.function.memories, op, f"no memory is called {name}")

    def _check_mem_fence(self, op) -> None:
        self._require(not op.results and op.attrs.get(Attr.FLAGS) in range(8), op, "has a result, or no flags")
        self._require(
            op.attrs.get(Attr.KIND) in ("all", "read", "write"), op, f"is of the unknown kind {op.attrs.get(Attr.KIND)}"
        )

    def _check_atomic(self, op) -> None:
        fn = op.attrs.get(Attr.FN)
        self._require(fn in ATOMICS, op, f"does the unknown {fn}")
        types = [v.type for v in op.operands]
        (pointer, pred, *rest), tokens = types[: fixed_operands(op)], types[fixed_operands(op) :]
        tokens += [v.type for v in op.results[1:]]
        self._require(all(isinstance(t, TokenType) for t in tokens), op, "takes or gives what is no token")
        self._require(pointer == PTR and pred == BOOL, op, f"takes a pointer and a predicate, not {pointer}, {pred}")
        fits = all(t == op.results[0].type for t in rest)
        self._require(fits, op, f"{fn} does not take {_list(rest)}")

    def _channel(self, op, value, answers) -> None:
        index, pred = (v.type for v in op.operands[:2])
        self._require(index == I64 and pred == BOOL, op, f"takes an index and a predicate, not {index}, {pred}")
        if answers and isinstance(answers[-1], TokenType):
            answers = answers[:-1]
        name, blocking = op.attrs.get(Attr.CHANNEL), op.attrs.get(Attr.BLOCKING)
        self._require(isinstance(blocking, bool), op, "does not say whether it blocks")
        self._require(
            all(t == BOOL for t in answers) and len(answers) == (not blocking), op, f"answers {_list(answers)}"
        )
        known = self.function.memories.get(name) or (self.module.channels.get(name) if self.module else None)
        self._require(known is not None or self.module is None, op, f"no channel is called {name}")
        if known is not None:
            self._require(value == known.element, op, f"passes {value}, not {known.element}")

    def _check_channel_read(self, op) -> None:
        self._require(op.results, op, "gives nothing")
        self._channel(op, op.results[0].type, [v.type for v in op.results[1:]])

    def _check_channel_write(self, op) -> None:
        self._channel(op, op.operands[2].type, [v.type for v in op.results])

    def _check_printf(self, op) -> None:
        self._require(op.operands and op.operands[0].type == BOOL, op, "has no predicate")
        self._require(isinstance(op.attrs.get(Attr.FORMAT), str) and not op.results, op, "has no format")

    def _check_token(self, op) -> None:
        self._require(isinstance(op.result.type, TokenType), op, f"gives a {op.result.type}")

    def _check_fence(self, op) -> None:
        self._require(op.operands[0].type == BOOL, op, f"the predicate is {op.operands[0].type}, not i1")
        self._require(isinstance(op.result.type, TokenType), op, f"gives a {op.result.type}")
        self._require(op.attrs.get(Attr.MEMS), op, "waits for no memory")
        self._memories(op, *op.attrs[Attr.MEMS], *op.attrs.get(Attr.FLUSH, ()))

    def _check_hazard(self, op) -> None:
        asks, stores = op.attrs.get(Attr.ASKS, ()), len(op.attrs.get(Attr.CERTAIN, ()))
        token, *found = [v.type for v in op.results] or [None]
        self._require(isinstance(token, TokenType), op, f"gives a {token}")
        answers = 2 * sum(map(len, asks)) + stores if op.attrs.get(Attr.FINDS) else 0
        self._require(len(found) == answers, op, f"gives {len(found)} answers, not {answers}")
        accesses = len(asks) + stores
        self._require(
            asks and {k for one in asks for k in one} == set(range(stores)), op, "does not compare each store"
        )
        self._require(len(op.operands) >= 2 * accesses, op, f"has {len(op.operands)} operands for {accesses} accesses")
        for k, value in enumerate(op.operands[: 2 * accesses]):
            slot = op.attrs.get(Attr.UNTIL_PUSHED) and isinstance(value.type, IntType)
            wanted = BOOL if k % 2 else PTR
            self._require(value.type == wanted or k % 2 == 0 and slot, op, f"operand {k} is {value.type}, not {wanted}")
        for value in op.operands[2 * accesses :]:
            self._require(isinstance(value.type, TokenType), op, f"waits for a {value.type}")

    def _check_call(self, op) -> None:
        callee = op.attrs.get(Attr.CALLEE)
        self._require(isinstance(callee, str), op, "names no function")
        if self.module is None:
            return
        self._require(callee in self.module.functions, op, f"no function is called {callee}")
        target = self.module.functions[callee]
        given, taken = [v.type for v in op.operands], [v.type for v in target.args]
        self._require(given == taken, op, f"{callee} takes {_list(taken)}, not {_list(given)}")
        returned = [v.type for v in target.body.terminator.operands]
        self._require([v.type for v in op.results] == returned, op, f"{callee} returns {_list(returned)}")

    def _check_if(self, op) -> None:
        self._require(op.operands[0].type == BOOL, op, f"the condition is {op.operands[0].type}, not i1")
        for region in op.regions:
            self._require(not region.args, op, "a branch has arguments")
            self._region(region, op, "yield")
            self._types(op, "a branch yields", region.terminator.operands, op.results)

    def _check_loop(self, op) -> None:
        enable, *inits = op.operands
        (body,) = op.regions
        self._require(enable.type == BOOL, op, f"the enable is {enable.type}, not i1")
        self._types(op, "the initial values are", inits, op.results)
        self._types(op, "the arguments are", body.args, op.results)
        self._region(body, op, "yield")
        self._require(body.terminator.operands, op, "the body yields no continue")
        again, *nexts = body.terminator.operands
        self._require(again.type == BOOL, op, f"continue is {again.type}, not i1")
        self._types(op, "the body yields", nexts, op.results)

    def _types(self, op, what, values, expected) -> None:
        given, wanted = [v.type for v in values], [v.type for v in expected]
        self._require(given == wanted, op, f"{what} {_list(given)}, not {_list(wanted)}")


def _list(types) -> str:
    return "(" + ", ".join(str(t) for t in types) + ")"
