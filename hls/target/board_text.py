"""A board as the text of a board file: the reverse of :func:`hls.target.board.read_board`."""

from collections.abc import Callable, Iterator, Mapping

from .board import Board, Device, Stream
from .memory import DramTiming, Memory, PortTiming
from .memory_file import CONTROLLER_KEYS, DDR_KEYS, SDR_KEYS

__all__ = ["board_text"]

#: says of a key, by its path, where its figure comes from
Source = Callable[[str], str]

COLUMN = 32  #: where comments begin
HEX = 1 << 20  #: numbers of bytes from here on are written in hexadecimal


def board_text(board: Board, source: Source) -> str:
    """The file. ``source`` gives the comment behind the figure of a key such as ``device.rams.count`` ("" for none)."""
    return "\n\n".join("\n".join(table) for table in _tables(board, source)) + "\n"


def _tables(board: Board, source: Source) -> Iterator[list[str]]:
    head = {"name": board.name, "description": board.description} | ({"flow": board.flow} if board.flow else {})
    yield _table("board", head, source)
    yield _table("clock", {key: value for key, value in vars(board.clock).items() if value}, source)
    yield _table("host", vars(board.host), source)
    device = board.device
    yield _table("device", _device(device), source)
    rams = {"count": device.rams.count, "bits": device.rams.bits}
    yield _table(
        "device.rams", rams | ({"pumped_mhz": device.rams.pumped_mhz} if device.rams.pumped_mhz else {}), source
    )
    yield _table("device.dsps", vars(device.dsps), source)
    yield from _memory("memory", board.memory, source, several=False)
    for other in board.others:
        yield from _memory("other_memory", other, source, several=True)
    for stream in board.streams:
        yield _stream(stream, source)
    if board.soc is not None:
        yield _table("soc", board.soc.given(), source)


def _device(device: Device) -> dict[str, object]:
    first = {"family": device.family, "part": device.part}
    grade = {"speed_grade": device.speed_grade} if device.speed_grade else {}
    keys = ("delays", "logic_cell", "logic_cells", "registers", "lutram_bits")
    return first | grade | {key: getattr(device, key) for key in keys}


def _memory(name: str, memory: Memory, source: Source, several: bool) -> Iterator[list[str]]:
    keys = ("kind", "interleave_bytes", "word_bytes", "read_latency", "name")
    yield _table(name, {key: getattr(memory, key) for key in keys}, source, several)
    if memory.timing is not None:
        yield _table(f"{name}.timing", _timing(memory), source)
    for bank in memory.banks:
        yield _table(f"{name}.bank", vars(bank), source, several=True)


def _timing(memory: Memory) -> dict[str, object]:
    timing = memory.timing
    if isinstance(timing, PortTiming):
        if memory.kind == "sram":
            return {"word_ns": timing.word_ns, "latency_ns": timing.latency_ns}
        return {"latency_ns": timing.latency_ns, "bytes_per_ns": memory.word_bytes / timing.word_ns}
    assert isinstance(timing, DramTiming)
    same = {"tRRD": timing.tRRD_S, "banks": timing.banks_per_group}
    keys = DDR_KEYS if memory.kind == "ddr" else (*SDR_KEYS, *CONTROLLER_KEYS)
    figures = {key: same[key] if key in same else getattr(timing, key) for key in keys}
    return {"tck_ns": timing.tck_ns, **figures, "controller_latency_ns": timing.controller_latency_ns}


def _stream(stream: Stream, source: Source) -> list[str]:
    return _table("stream", vars(stream), source, several=True)


def _table(name: str, values: Mapping[str, object], source: Source, several: bool = False) -> list[str]:
    lines = [f"[[{name}]]" if several else f"[{name}]"]
    for key, value in values.items():
        line = f"{key} = {_value(key, value)}"
        said = source(f"{name}.{key}")
        lines.append(f"{line.ljust(COLUMN - 1)} # {said}" if said else line)
    return lines


def _value(key: str, value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return f"[{', '.join(_value(key, one) for one in value)}]"
    if isinstance(value, int) and key == "bytes" and value >= HEX:
        return f"{value:#x}"
    return str(value).lower() if isinstance(value, bool) else repr(value)
