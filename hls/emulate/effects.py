"""Operations that need statements: memory, control, calls. One writer function each; EFFECTS lists them by opcode.

A writer takes the function's writer ``w`` and the operation, and appends lines.
"""

from ..diag import Code, CompileError
from ..ir import (
    ArrayType,
    Attr,
    FloatType,
    IntType,
    Op,
    PointerType,
    TokenType,
    Value,
    fixed_operands,
    lane_mask,
    memory_name,
    predicate,
)
from ..ir.barriers import condition_place
from ..ir.model_function import RTL, callee_of
from ..narrow import instance, present
from .group_loop import EFFECTS as GROUP_EFFECTS
from .group_loop import is_group_loop, last_of_group, write_group_loop
from .types import from_memory, has_data, masked, memory_type, to_memory, zero

__all__ = ["ATOMICS", "EFFECTS"]

_IDS = ("global_id", "local_id", "group_id")


def _is_true(value) -> bool:
    return value.op is not None and value.op.opcode == "const" and value.op.attrs[Attr.VALUE] == 1


def _work_item(w, op: Op) -> None:
    fn = op.attrs[Attr.FN]
    if fn == "work_dim":
        text = "item.launch->work_dim"
    elif fn == "compute_id":
        text = "0"  # one unit runs all groups
    else:
        text = f"item.{'' if fn in _IDS else 'launch->'}{fn}[{op.attrs.get(Attr.DIM, 0)}]"
    w.declare(op.result, masked(text, instance(op.result.type, IntType)))


def _addr(w, op: Op) -> None:
    if op.attrs[Attr.MEM] not in w.storage.variables:
        w.declare(op.result, f"moved({w.memories[op.attrs[Attr.MEM]]}, {w.name(op.operands[0])})")


def _ptradd(w, op: Op) -> None:
    w.declare(op.result, f"moved({w.name(op.operands[0])}, {w.name(op.operands[1])})")


def _given(w, op: Op) -> None:
    w.declare(op.result, f"{w.memories[op.attrs[Attr.MEM]]}.size != 0")


def _load(w, op: Op) -> None:
    type, name, pred = op.result.type, w.name(op.result), op.operands[1]
    if lane_mask(op) is not None:
        w.declare(op.result, zero(type))
        _note_lanes(w, op)
        lane = instance(type, ArrayType).element
        place, site = f"moved({w.name(op.operands[0])}, k * {lane.bytes})", w.site(op)
        read = f"read<{memory_type(lane)}>({w.place(op, place, lane, site)}, {site})"
        w.line(f"{_each_lane(w, op)} {name}.e[k] = {from_memory(read, lane)};")
        return
    watched = w.storage.may_be_unset(op)
    site = w.site(op)
    if watched and w.storage.is_copied(op):
        w.flags[op.result] = (f"{name}_set", site)
        w.line(f"bool {name}_set = true;")
    text = _read(w, op, site)
    if _is_true(pred):
        w.declare(op.result, text)
    else:
        w.declare(op.result, zero(type))
        w.line(f"if ({w.name(pred)}) {name} = {text};")


def _check(w, op: Op) -> None:
    (load, *_), (checked, wanted) = w.checked[op], op.operands
    if checked is not load.result:
        buffer = w.memories[memory_name(load)]
        w.line(f"if ({w.name(wanted)} && {w.name(checked)}) failed_early({buffer}, {w.site(op)});")
        return
    pointer, type = w.name(load.operands[0]), load.result.type
    w.line(f"if ({w.name(wanted)}) inside({pointer}, READ_OUTSIDE, {w.site(load)}, {type.bytes});")


def _failed(w, op: Op) -> None:
    load = op.operands[0].defining_op
    pointer, pred = (w.name(v) for v in load.operands[:2])
    w.declare(op.result, f"{pred} && !is_inside({pointer}, {load.result.type.bytes})")


def _read(w, op: Op, site: int) -> str:
    """A read; for a value that is only copied, also the flag that says whether it was ever written."""
    type, pointer = op.result.type, op.operands[0]
    variable = w.storage.variable(pointer)
    flag = w.flags[op.result][0] if op.result in w.flags else None
    if variable is not None:
        name = w.memories[variable]
        if variable not in w.storage.watched:
            return name
        return f"({flag} = {name}_set, {name})" if flag else f"(check_set({name}_set, {site}), {name})"
    if isinstance(type, PointerType):
        return f"read_pointer({w.name(pointer)}, {site})"
    if op.attrs.get(Attr.EARLY):
        return from_memory(f"read_early<{memory_type(type)}>({w.observed(op, w.name(pointer), type.bytes)})", type)
    rest = f"{site}, {flag}" if flag else f"{site}"
    return from_memory(f"read<{memory_type(type)}>({w.place(op, w.name(pointer), type, site)}, {rest})", type)


def _each_lane(w, op: Op) -> str:
    """The head of a statement for each enabled lane ``k``."""
    mask = present(lane_mask(op))
    lanes = instance(mask.type, ArrayType).length
    return f"for (u32 k = 0; k < {lanes}; k++) if ({w.name(predicate(op))} && {w.name(mask)}.e[k])"


def _note_lanes(w, op: Op) -> None:
    for line in w.shared.observer.lanes(op, w.name(predicate(op)), w.name(op.operands[0])):
        w.line(line)


def _store(w, op: Op) -> None:
    pointer, value, pred = op.operands[:3]
    if lane_mask(op) is not None:
        lane = instance(value.type, ArrayType).element
        _note_lanes(w, op)
        site = w.site(op)
        bits = to_memory(f"{w.name(value)}.e[k]", lane)
        place = w.place(op, f"moved({w.name(pointer)}, k * {lane.bytes})", lane, site, bits)
        w.line(f"{_each_lane(w, op)} write<{memory_type(lane)}>({place}, {bits}, {site}, true, 0);")
        return
    variable = w.storage.variable(pointer)
    flag, origin = w.flags.get(value, ("true", 0))
    if variable is not None:
        name = w.memories[variable]
        noted = f"{name}_set = {flag}" if variable in w.storage.watched else f"check_set({flag}, {origin})"
        text = f"{name} = {w.name(value)}, {noted};"
    elif isinstance(value.type, PointerType):
        text = f"write_pointer({w.name(pointer)}, {w.name(value)}, {w.site(op)});"
    else:
        bits, site = to_memory(w.name(value), value.type), w.site(op)
        place = w.place(op, w.name(pointer), value.type, site, bits)
        text = f"write<{memory_type(value.type)}>({place}, {bits}, {site}, {flag}, {origin});"
    w.line(text if _is_true(pred) else f"if ({w.name(pred)}) {text}")


def _fresh(w, op: Op) -> None:
    """A new instance of the memory: 0, and marked as never written unless the program initializes it."""
    memory, is_set = w.function.memories[op.attrs[Attr.MEM]], str(op.attrs[Attr.SET]).lower()
    name = w.memories[memory.name]
    if memory.name in w.storage.variables:
        w.line(f"{name} = {zero(memory.element)};")
        if memory.name in w.storage.watched:
            w.line(f"{name}_set = {is_set};")
    elif isinstance(memory.element, PointerType):
        w.line(f"renew_pointers({name});")
    else:
        w.line(f"renew({name}, {is_set});")
        if w.shared.promises.watch(op):
            w.line(f"untouched(item.promises, {name});")


def _nothing(w, op: Op) -> None:
    """Ordering operations need no text: accesses execute in program order."""


def _fence(w, op: Op) -> None:
    """Accesses execute in program order; whoever observes them sees when it is made."""
    for line in w.shared.observer.event(op, [(w.name(op.operands[0]), "1")]):
        w.line(line)


def _hazard(w, op: Op) -> None:
    """Every earlier store is in memory, so nothing is found in flight."""
    count = 2 * (len(op.attrs[Attr.ASKS]) + len(op.attrs[Attr.CERTAIN]))
    facts = []
    for place, made in zip(op.operands[:count:2], op.operands[1:count:2], strict=True):
        number = f"{w.name(place)}.off" if isinstance(place.type, PointerType) else f"(u64){w.name(place)}"
        facts.append((w.name(made), f"{number} + 1"))
    for line in w.shared.observer.event(op, facts):
        w.line(line)
    for result in op.results:
        if has_data(result.type):
            w.declare(result, zero(result.type))


def _call(w, op: Op) -> None:
    operands = op.operands[: fixed_operands(op)] if op.opcode in RTL else op.operands
    call = f"helper_{callee_of(op)}({', '.join(['item', *(w.name(v) for v in operands)])})"
    if len(op.results) == 1 or op.opcode in RTL:
        w.declare(op.results[0], call)
    elif op.results:
        returned = w.name(op.results[0]) + "_all"
        w.line(f"auto {returned} = {call};")
        for k, value in enumerate(op.results):
            w.declare(value, f"{returned}.r{k}")
    else:
        w.line(f"{call};")


def _decide(w, op: Op, condition: Value) -> None:
    """Compare the work-item's decision with those of others, if it decides whether a barrier is reached."""
    barrier = w.shared.deciding.get(op)
    if barrier is not None:
        # a barrier in a helper function is reported at its own location, whatever the caller
        sites = [
            w.shared.site(w.function, span) for span in (condition_place(w.function, condition, op.span), barrier.span)
        ]
        w.line(f"decide(item, {w.name(condition)}, {sites[0]}, {sites[1]});")


def _if(w, op: Op) -> None:
    w.declare_results(op)
    _decide(w, op, op.operands[0])
    targets = [w.name(v) for v in op.results]
    condition = w.shared.observer.branch(w.function.name, op, w.name(op.operands[0]))
    for head, region in zip((f"if ({condition}) {{", "} else {"), op.regions):
        w.line(head)
        w.region(region, lambda end: w.assign(targets, end.operands))
    w.line("}")


def _loop(w, op: Op) -> None:
    """The results double as the carried values: they hold the initial ones when the loop is disabled."""
    if is_group_loop(op):
        write_group_loop(w, op)
        return
    enable, *initial = op.operands
    (body,) = op.regions
    w.declare_results(op, initial)
    site, left, promise = w.site(op), f"left{len(w.lines)}", w.shared.promises.vows(op, w.numbers)
    observer = w.shared.observer
    _decide(w, op, enable)
    w.line(f"if ({w.name(enable)}) {{")
    silent = str(Attr.SILENT_STORES in w.function.attrs).lower()
    if promise:
        w.line(f"  static const Vow vows[] = {{{promise}}};")
        w.line(f"  item.promises = open_promise(item.promises, {site}, vows, sizeof vows / sizeof *vows, {silent});")
    w.line(f"for (u64 {left} = control->max_iterations;;) {{")
    w.line(f"  iterate({left}, {site});{' item.promises->iteration++;' if promise else ''}")
    last = last_of_group(op) if op.attrs.get(Attr.RING) else None
    if begun := observer.enter(w.function.name, op, "" if last is None else w.name(last)):
        w.line(f"  {begun}")
    w.depth += 1
    for value, result in zip(body.args, op.results):
        if has_data(value.type):
            w.declare(value, w.name(result))
    w.depth -= 1

    def again(end: Op) -> None:
        w.assign([w.name(v) for v in op.results], end.operands[1:])
        _decide(w, op, end.operands[0])
        leave = observer.leave(f"control->max_iterations - {left}")
        w.line(f"if (!{w.name(end.operands[0])}) {f'{{ {leave} break; }}' if leave else 'break;'}")

    w.region(body, again)
    w.line("}")
    if promise:
        w.line("  item.promises = close_promise(item.promises);")
    skipped = observer.skipped()
    w.line(f"}} else {{ {skipped} }}" if skipped else "}")


def _barrier(w, op: Op) -> None:
    if op.operands:
        _decide(w, op, op.operands[0])
    condition = f"if ({w.name(op.operands[0])}) " if op.operands else ""
    w.line(f"{condition}suspend(AT_BARRIER, {w.site(op)});")


def _new_value(w, op: Op, old: str) -> str:
    """The new memory contents of an atomic operation."""
    type, values = op.results[0].type, [w.name(v) for v in op.operands[2:] if has_data(v.type)]
    if op.attrs[Attr.FN] in ("xchg", "cmpxchg", "read"):
        bits = {f"bits{k}": to_memory(x, type) for k, x in enumerate((old, *values))}
        return ATOMICS[op.attrs[Attr.FN]].format(old, *values, **bits)
    signs = {f"s{k}": f"sign64({x}, {type.bits})" for k, x in enumerate((old, *values))}
    return masked(ATOMICS[op.attrs[Attr.FN]].format(old, *values, **signs), instance(type, IntType))


def _atomic(w, op: Op) -> None:
    type, old, pointer, site = op.results[0].type, w.name(op.results[0]), w.name(op.operands[0]), w.site(op)
    w.declare(op.results[0], zero(type))
    w.line(f"if ({w.name(op.operands[1])}) {{")
    seen = w.observed(op, pointer, type.bytes)
    w.line("  " + f"{old} = {from_memory(f'read<{memory_type(type)}>({seen}, {site})', type)};")
    w.line(f"  write<{memory_type(type)}>({pointer}, {to_memory(_new_value(w, op, old), type)}, {site});")
    w.line("}")


def _queue(w, op: Op, site: int) -> None:
    if op.attrs[Attr.CHANNEL] in w.function.memories:
        raise CompileError.at(
            op.span,
            f"{op.attrs[Attr.CHANNEL]} is a pipe of the host, which the emulator does not have",
            "declare a channel at file scope",
            code=Code.PIPES,
        )
    channel = w.shared.channels[op.attrs[Attr.CHANNEL]]
    w.line(f"if ({w.name(op.operands[1])}) {{")
    w.line(f"  Queue &q = queue_of({channel}, {w.name(op.operands[0])}, {site});")


def _transfer(w, op: Op, site: int, stuck: str, writes: str, answers, action: str) -> None:
    """Wait until the transfer is possible, and do it; a non-blocking one lets others run once, tries, and reports
    whether it succeeded."""
    answers = [value for value in answers if not isinstance(value.type, TokenType)]
    for value in answers:
        w.declare(value, "0")
    answered = f"{w.name(answers[0])} = 1; " if answers else ""
    _queue(w, op, site)
    if op.attrs[Attr.BLOCKING]:
        w.line(f"  while ({stuck}) wait_for(q, {writes}, {site});")
        w.line(f"  {action}")
    elif decides := w.shared.observer.outcome(op, "q", writes, site):
        w.line(f"  if ({decides}) {{ {answered}{action} }}")
    else:
        w.line(f"  if ({stuck}) wait_for(q, {writes}, {site}, POLLING);")
        w.line(f"  if (!({stuck})) {{ {answered}{action} }}")
    done = "true" if op.attrs[Attr.BLOCKING] else w.name(answers[0]) if answers else "false"
    if seen := w.shared.observer.call(w.function.name, op, done):
        w.line(f"  {seen}")
    w.line("}")


def _channel_read(w, op: Op) -> None:
    value, *answers = op.results
    w.declare(value, zero(value.type))
    taken = from_memory(f"take<{memory_type(value.type)}>(q)", value.type)
    _transfer(w, op, w.site(op), "!q.count", "false", answers, f"{w.name(value)} = {taken};")


def _channel_write(w, op: Op) -> None:
    value = op.operands[2]
    given = to_memory(w.name(value), value.type)
    _transfer(w, op, w.site(op), "is_full(q)", "true", op.results, f"put<{memory_type(value.type)}>(q, {given});")


def _printf(w, op: Op) -> None:
    pred, *values = op.operands
    number = w.shared.format(op.attrs[Attr.FORMAT], [v.type for v in values])
    words = [
        f"bits_as<u64>((double){w.name(v)})"
        if isinstance(v.type, FloatType)
        else f"{w.name(v)}.off"
        if isinstance(v.type, PointerType)
        else f"(u64){w.name(v)}"
        for v in values
    ]
    w.line(f"if ({w.name(pred)}) {{")
    w.line(f"  const u64 words[] = {{{', '.join(words) or 0}}};")
    w.line(f"  print({number}, words, {len(words)});")
    w.line("}")


#: new memory contents of an atomic operation: ``{0}`` is the old value, ``{1}``... are the operands (see
#: hls.ir.optable)
ATOMICS = {
    "add": "(u64){0} + {1}",
    "sub": "(u64){0} - {1}",
    "xchg": "{1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "umin": "{0} < {1} ? {0} : {1}",
    "umax": "{0} > {1} ? {0} : {1}",
    "smin": "{s0} < {s1} ? {0} : {1}",
    "smax": "{s0} > {s1} ? {0} : {1}",
    "cmpxchg": "({bits0} == {bits1} ? {2} : {0})",
    "read": "{0}",
}

EFFECTS = {
    "work_item": _work_item,
    "addr": _addr,
    "ptradd": _ptradd,
    "given": _given,
    "load": _load,
    "store": _store,
    "check": _check,
    "failed": _failed,
    "fresh": _fresh,
    "token": _nothing,
    "fence": _fence,
    "hazard": _hazard,
    "call": _call,
    **dict.fromkeys(RTL, _call),
    "if": _if,
    "loop": _loop,
    "barrier": _barrier,
    "mem_fence": _nothing,
    "atomic": _atomic,
    "channel_read": _channel_read,
    "channel_write": _channel_write,
    "printf": _printf,
    **GROUP_EFFECTS,
}
