"""The loop over work-items of a planned kernel whose groups synchronize: its iterations run group by group, each on a
stack of its own, until they meet (``groups.h``).

What the next iteration needs of one - the ids, and whether there is another - does not depend on what the work-items
do: it is computed first.
"""

from math import prod
from typing import Any

from ..ir import Attr, Op, Region, Value, has, walk
from ..ir.launch import PER_UNIT, compute_units, hidden_arguments, most_tokens, per_group, units_of
from ..narrow import present
from .types import has_data

__all__ = ["EFFECTS", "is_group_loop", "last_of_group", "per_group_lines", "write_group_loop"]


def is_group_loop(loop: Op) -> bool:
    """Whether the iterations are work-items that meet at barriers."""
    return loop.attrs.get(Attr.FORM) == "ndrange" and last_of_group(loop) is not None


def last_of_group(loop: Op) -> Value | None:
    """The value that is true for the last work-item of a group, of a loop in which work-items meet; None for others."""
    return next((op.operands[1] for op in walk(loop.regions[0]) if op.opcode == "meet"), None)


def write_group_loop(w: Any, op: Op) -> None:
    """The loop: while the work-items of a group are counted nothing else is done; then all of them run."""
    enable, *initial = op.operands
    (body,) = op.regions
    last, end, observer = present(last_of_group(op)), body.terminator, w.shared.observer
    w.declare_results(op, initial)
    site, left, shared = w.site(op), f"left{len(w.lines)}", [arg for arg in body.args if has_data(arg.type)]
    w.line(f"if ({w.name(enable)}) {{")
    w.line(f"for (u64 {left} = control->max_iterations;;) {{")
    w.line(f"  iterate({left}, {site});")
    w.depth += 1
    for value, result in zip(body.args, op.results, strict=True):
        if has_data(value.type):
            w.declare(value, w.name(result))
    w.operations(_needed(body, [*end.operands, last]))
    captured = "".join(f", {w.name(value)}" for value in shared)
    w.line(f"join_group(item, {most_tokens(w.function)}, {site}, [&{captured}](Item &item) {{")
    if begun := observer.enter(w.function.name, op, w.name(last)):
        w.line(f"  {begun}")
    w.region(body, lambda end: None)
    w.line("});")
    w.assign([w.name(v) for v in op.results], end.operands[1:])
    w.line(f"const bool more{left} = {w.name(end.operands[0])};")
    w.line(f"if ({w.name(last)} || !more{left}) run_group(item);")
    leave = observer.leave(f"control->max_iterations - {left}")
    w.line(f"if (!more{left}) {f'{{ {leave} break; }}' if leave else 'break;'}")
    w.depth -= 1
    w.line("}")
    skipped = observer.skipped()
    w.line(f"}} else {{ {skipped} }}" if skipped else "}")


def _needed(body: Region, wanted: list[Value]) -> list[Op]:
    """The operations of the region that ``wanted`` values come from."""
    work, found = [value.op for value in wanted], set[Op]()
    inside = set(body.ops)
    while work:
        op = work.pop()
        if op is None or op not in inside or op in found:
            continue
        if not has(op, "pure"):
            raise AssertionError(f"the ids of work-items depend on a {op.opcode}")
        found.add(op)
        work += [value.op for value in op.operands]
    return [op for op in body.ops if op in found]


def _meet(w: Any, op: Op) -> None:
    """A barrier: the rest of the group has its turn before the work-item goes on."""
    pred, last = (w.name(value) for value in op.operands[:2])
    for line in w.shared.observer.event(op, [(pred, f"1 + {last}")]):
        w.line(line)
    w.line(f"if ({pred}) suspend(AT_BARRIER, {w.site(op)});")


def _group(w: Any, op: Op) -> None:
    """Groups run one after the other, so a copy of their memory is free; whoever observes them sees them begin and
    end."""
    for line in w.shared.observer.event(op, [(w.name(value), "1") for value in op.operands[:2]]):
        w.line(line)


def per_group_lines(w: Any) -> list[str]:
    """The head of the loop over the groups of a launch, of a kernel that is planned for one group and runs on several
    compute units: what differs between groups, x fastest."""
    function = w.function
    mine, given = per_group(function), {name: w.name(v) for name, v in hidden_arguments(function).items()}
    sizes = (*(function.attrs.get(Attr.WORK_GROUP_SIZE) or ()), 1, 1, 1)
    lines = [f"for (u64 group = 0; group < {given['group_count_012']}; group++) {{", "u64 rest = group;"]
    for d in sorted({int(name[-1]) for name in mine if name[-1].isdigit()}):
        lines.append(f"const u64 place_{d} = rest % {given[f'num_groups_{d}']};")
        lines.append(f"rest /= {given[f'num_groups_{d}']};")
        size = given.get(f"local_size_{d}", sizes[d])
        values = {
            f"group_id_{d}": f"place_{d}",
            f"group_start_{d}": f"{given.get(f'global_offset_{d}', 0)} + place_{d} * {size}",
        }
        lines += [f"const u32 {given[name]} = (u32)({text});" for name, text in values.items() if name in mine]
    lines += _unit_lines(w, given)
    if "group_turn" in mine:
        lines.append(f"const u32 {given['group_turn']} = (u32)group;")
    return lines


def _unit_lines(w: Any, given: dict[str, str]) -> list[str]:
    """The place of the compute unit that runs a group, as the kernel asks for it; the last dimension counts fastest."""
    asked = [name for name in given if name.startswith(PER_UNIT)]
    if not asked:
        return []
    sizes, every = compute_units(w.function), units_of(w.function)
    lines = [f"const u64 unit = {w.shared.observer.unit(w.function.name, every)};"]
    for name in asked:
        d = int(name[-1])
        size, below = (*sizes, 1, 1)[d], prod(sizes[d + 1 :])
        lines.append(f"const u32 {given[name]} = (u32)(unit / {below} % {size});")
    return lines


EFFECTS = {"meet": _meet, "group": _group}
