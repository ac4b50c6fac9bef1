"""What the registers of a kernel's window mean, in words and bits: the part of the interface that drivers are made
from."""

from collections.abc import Iterator
from dataclasses import replace

from rtl_lib.axi.register_map import CONTROL, CYCLE_BITS, CYCLES, IDENTIFICATION, INTERRUPT, SLOT, STATUS, RegisterMap

from ..ir.launch import BYTES_OF, OVERLAP
from ..profile.layout import Counter, Layout
from ..profile.refused import READ_REFUSED, WRITE_REFUSED, refused_bit
from .interface import ArgumentInterface, FieldInterface, RegisterInterface

__all__ = ["describe_registers"]

SLOT_BITS = 8 * SLOT


def describe_registers(
    map_: RegisterMap, arguments: tuple[ArgumentInterface, ...], layout: Layout, autorun: bool
) -> tuple[RegisterInterface, ...]:
    """The registers at the addresses of ``map_``, in their order. Those of an ``autorun`` kernel can only be read."""
    described = {one.name: one for one in arguments if one.kind != "pipe"}
    counters = {counter.name: counter for counter in layout.counters}
    return (
        *_control(layout, autorun),
        *(_argument(map_, name, bits, described.get(name)) for name, bits in map_.arguments),
        *(_counter(map_, name, bits, counters[name]) for name, bits in map_.counters),
    )


def _control(layout: Layout, autorun: bool) -> Iterator[RegisterInterface]:
    def register(
        name: str, offset: int, description: str, *fields: FieldInterface, bits: int = 32
    ) -> RegisterInterface:
        return RegisterInterface(name, "control", offset, bits, fields, description)

    yield register("control", CONTROL, "Starts a run, and says how far it is.", *_control_fields())
    yield register("status", STATUS, "Errors of the last run.", *_status_fields(layout))
    yield register("identification", IDENTIFICATION, "Reserved.", FieldInterface("number", 0, 32, "r", "Always 0."))
    enable = FieldInterface("enable", 0, 1, "rw", "The kernel's interrupt follows done.")
    text = "This kernel starts by itself and has no interrupt." if autorun else "Enables the interrupt."
    yield register("interrupt", INTERRUPT, text, enable)
    text = "Clock cycles of the run under way, or of the last one."
    yield register("cycles", CYCLES, text, _readable("count", 0, CYCLE_BITS, "Clock cycles."), bits=64)


def _readable(name: str, lsb: int, bits: int, description: str) -> FieldInterface:
    """A field that the hardware sets."""
    return FieldInterface(name, lsb, bits, "r", description, volatile=True)


def _control_fields() -> tuple[FieldInterface, ...]:
    start = FieldInterface("start", 0, 1, "rw", "Write 1 to start. Reads 1 while a run is under way.")
    done = FieldInterface("done", 1, 1, "rw", "A run has ended. Write 1 to clear; a start clears it.")
    forget = FieldInterface("forget", 3, 1, "w", "Write 1 with start if constant memory was written.")
    return (
        replace(start, on_write="set", volatile=True),
        replace(done, on_write="clear", volatile=True),
        replace(_readable("idle", 2, 1, "No run is under way."), reset=1),
        replace(forget, on_write="set"),
    )


def _status_fields(layout: Layout) -> Iterator[FieldInterface]:
    yield _readable("read_refused", READ_REFUSED, 1, "Memory refused a read.")
    yield _readable("write_refused", WRITE_REFUSED, 1, "Memory refused a write.")
    accesses = layout.all_accesses
    for number, access in enumerate(accesses):
        bit = refused_bit(number)
        if number and bit == refused_bit(number - 1):
            break
        shared = number + 1 < len(accesses) and refused_bit(number + 1) == bit
        more = " or of a later access" if shared else ""
        text = f"Memory refused {access.kind} of {access.buffer}{_line(access.line)}{more}."
        yield _readable(access.key, bit, 1, text)


def _argument(map_: RegisterMap, name: str, bits: int, argument: ArgumentInterface | None) -> RegisterInterface:
    """The register of an argument, or where ``argument`` is None of a value of the launch."""
    slots = -(-bits // SLOT_BITS)
    width = SLOT_BITS if slots > 1 else bits
    field = FieldInterface("value", 0, width, "rw", "The value.", reset=int(name == OVERLAP))
    if argument is None:
        kind, text = "launch", _launch_text(name)
    else:
        kind, text = "argument", _argument_text(argument)
    return RegisterInterface(name, kind, map_.argument(name), SLOT_BITS, (field,), text, count=slots)


def _launch_text(name: str) -> str:
    if name.startswith(BYTES_OF):
        return f"Bytes of buffer {name.removeprefix(BYTES_OF)}, or 0: copied to the chip if few enough."
    return _LAUNCH[name] if name in _LAUNCH else _LAUNCH[name.rpartition("_")[0]]


#: by the name without its dimensions
_LAUNCH = {
    OVERLAP: "1 if two buffers of the launch may share bytes; 0 is faster.",
    "work_dim": "Number of dimensions.",
    "global_size": "Work-items in a dimension.",
    "local_size": "Work-items of a group in a dimension.",
    "num_groups": "Groups in a dimension.",
    "global_offset": "The first global id in a dimension.",
    "global_count": "Product of the global sizes of some dimensions.",
    "local_count": "Product of the local sizes of some dimensions.",
    "group_count": "Product of the numbers of groups in some dimensions.",
}


def _argument_text(argument: ArgumentInterface) -> str:
    if argument.kind == "buffer":
        where = f" in memory {argument.memory}" if argument.memory else ""
        what = "buffer" if argument.variable is None else "the program's variable"
        return (
            f"Global address of {what} {argument.name}{where}, a multiple of {argument.alignment} ({argument.c_type})."
        )
    if argument.kind == "local":
        most = f", at most {argument.limit}" if argument.limit is not None else ""
        return f"Bytes of local memory {argument.name}{most} ({argument.c_type})."
    return f"Value of {argument.name} ({argument.c_type})."


def _counter(map_: RegisterMap, name: str, bits: int, counter: Counter) -> RegisterInterface:
    field = _readable("count", 0, bits, "The count.")
    text = f"{counter.kind} of {counter.owner}{_line(counter.line)}."
    return RegisterInterface(name, "counter", map_.counter(name), SLOT_BITS, (field,), text)


def _line(line: int | None) -> str:
    return "" if line is None else f" (line {line})"
