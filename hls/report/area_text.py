"""Resources as text: a table, what each kernel's share consists of, and how much of the device it is."""

from .facts.area import AreaNode, Role
from .layout import count, wrapped
from .model import Report, Resources

__all__ = ["area_section", "fits"]

FIELDS = ("logic", "registers", "rams", "dsps")
#: from this share of the logic cells on, placement makes paths longer
CROWDED = 0.8
#: what a role takes area for, and what makes it smaller
NOTES = {
    Role.BOARD: "ports to the board's memory and to the host; depends on the board only",
    Role.DISPATCH: "arguments and start of each kernel; fewer arguments need less",
    Role.CONSTANT_CACHE: "a copy for each load that uses it; -const-cache-bytes sets its size, and loads of __global "
    "const use none",
    Role.SHARED_CACHE: "words that copies of a kernel load for each other; each copy reads its own copy of them",
    Role.STATE: "values and control between pipeline stages; fewer variables alive across loops, narrower types and "
    "less unrolling need less",
    Role.FEEDBACK: "values that loops carry from iteration to iteration; fewer or narrower ones need less",
}


def area_section(report: Report) -> list[str]:
    """The table, and below it the roles of each kernel's logic."""
    return [*_table(report), *_roles(report)]


def fits(report: Report) -> list[str]:
    """One line: how much of the device the design takes, or which resource it lacks."""
    if report.device is None or report.resources == Resources():
        return []
    names = dict(zip(FIELDS, (report.logic_cell, "registers", "block RAMs", "DSP blocks"), strict=True))
    shares = {
        field: getattr(report.resources, field) / getattr(report.device, field)
        for field in FIELDS
        if getattr(report.device, field)
    }
    if not shares:
        return []
    over = [f"{100 * share:.0f} % of the {names[field]}" for field, share in shares.items() if share > 1]
    if over:
        return [f"does not fit: {', '.join(over)}"]
    most = max(shares, key=shares.__getitem__)
    text = f"fits: {100 * shares['logic']:.1f} % of the {report.logic_cell}" if "logic" in shares else "fits"
    if most != "logic":
        text += f", {100 * shares[most]:.1f} % of the {names[most]}"
    crowded = shares.get("logic", 0) >= CROWDED
    return [text + ("; so full a device usually misses its clock" if crowded else "")]


def _table(report: Report) -> list[str]:
    """A row for each kernel, what they share, and the total, with its share of the device if that is known."""
    rows = [
        (f"kernel {kernel.name}{f' x {kernel.copies.count}' if kernel.copies else ''}", kernel.resources)
        for kernel in report.kernels
    ]
    rows += _shared(report)
    rows.append(("total", report.resources))
    if report.counters != Resources():
        rows.append(("of these, hardware counters", report.counters))
    label = max(28, *(len(name) for name, _ in rows))
    cells = dict(zip(FIELDS, (report.logic_cell, "registers", "block RAMs", "DSP blocks"), strict=True))
    lines = ["  " + " " * label + "".join(f"{name:>17}" for name in cells.values())]
    for name, used in rows:
        figures = "".join(f"{getattr(used, field):>10,}{_share(used, report.device, field):>7}" for field in cells)
        lines.append(f"  {name:<{label}}{figures}")
    if report.device:
        lines.append(
            f"  {'device':<{label}}" + "".join(f"{getattr(report.device, field):>10,}{'':7}" for field in cells)
        )
    return [line.rstrip() for line in lines]


def _shared(report: Report) -> list[tuple[str, Resources]]:
    """What kernels share, by role."""
    if report.area is None:
        return [("interconnect, ports, control", report.shared)]
    return [(node.name, node.resources) for node in report.area.children if node.role is not Role.KERNEL]


def _share(used: Resources, device: Resources | None, field: str) -> str:
    total = getattr(device, field) if device else 0
    return f"{100 * getattr(used, field) / total:.1f}%" if total else ""


def _roles(report: Report) -> list[str]:
    if report.area is None:
        return []
    lines = []
    for node in report.area.children:
        if node.role is Role.KERNEL:
            sums = sorted(_by_role(node).items(), key=lambda item: -item[1])
            parts = ", ".join(f"{role.value} {cells:,}" for role, cells in sums if cells)
            lines += wrapped(f"{node.name}: {parts} {report.logic_cell}", "  ")
    present = {role for node in report.area.children for role in _by_role(node)}
    lines += [
        line for role, note in NOTES.items() if role in present for line in wrapped(f"{role.value}: {note}", "  ")
    ]
    if any(node.role is Role.INTERCONNECT for node in report.area.children):
        loads, stores = _units(report, {"load", "atomic"}), _units(report, {"store", "atomic"})
        served = f"{count(loads, 'load')} and {count(stores, 'store')}"
        lines += wrapped(f"The global interconnect serves {served}; fewer of them make it smaller.", "  ")
    return ["", *lines] if lines else []


def _units(report: Report, kinds: set[str]) -> int:
    """Units for accesses to global memory of these kinds, in all copies of all kernels."""
    return sum(
        access.count * kernel.units * (kernel.copies.count if kernel.copies else 1)
        for kernel in report.kernels
        for access in kernel.accesses
        if access.kind in kinds
    )


def _by_role(node: AreaNode) -> dict[Role, int]:
    """Logic cells by role, over all loops."""
    if not node.children:
        return {node.role: node.resources.logic}
    found: dict[Role, int] = {}
    for child in node.children:
        for role, cells in _by_role(child).items():
            found[role] = found.get(role, 0) + cells
    return found
