"""A bench as an and-inverter graph, which the proofs of ``solve`` use."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from amaranth.back import rtlil

from tests.yosys import run_yosys

__all__ = ["Circuit", "circuit_of"]

#: From the text of a design to and-gates and flip-flops of one clock, memories included.
SCRIPT = """read_rtlil top.il; hierarchy -top top; proc; flatten; chformal -remove; memory_map; opt -full -nodffe -nosdff; async2sync; dffunmap
techmap; opt -nodffe -nosdff; dffunmap; aigmap; opt_clean; write_aiger -ascii -zinit -map top.map top.aag"""


@dataclass(frozen=True)
class Circuit:
    """An and-inverter graph with flip-flops that start at 0, in the numbering of the AIGER format.

    A literal is twice the number of a node, plus one where its value is inverted; literal 0 is false.
    """

    inputs: tuple[int, ...]
    registers: tuple[tuple[int, int], ...]  #: literal, and that of what it becomes
    gates: tuple[tuple[int, int, int], ...]  #: literal and its two operands, in an order in which operands come first
    outputs: dict[str, int]  #: by what the bench claims of it
    names: dict[int, str]  #: of inputs


def circuit_of(bench) -> Circuit:
    """The circuit of a :class:`~tests.formal.bench.Bench`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "top.il").write_text(rtlil.convert(bench, name="top", ports=bench.ports(), emit_src=False))
        code, out, errors = run_yosys(SCRIPT.replace("\n", "; "), folder)
        if code:
            raise RuntimeError(f"yosys: {out}{errors}")
        return _parse(Path(folder, "top.aag").read_text(), Path(folder, "top.map").read_text(), bench.claims)


def _parse(text: str, names: str, claims: dict[str, str]) -> Circuit:
    lines = iter(text.splitlines())
    kind, _, inputs, registers, outputs, gates, *more = next(lines).split()
    if kind != "aag" or any(int(count) for count in more):
        raise ValueError(f"a circuit with more than inputs, registers, outputs and gates: {text[:40]!r}")
    read = [
        [tuple(map(int, next(lines).split())) for _ in range(int(count))]
        for count in (inputs, registers, outputs, gates)
    ]
    if any(len(register) > 2 and register[2] for register in read[1]):
        raise ValueError("a register that does not start at 0")
    ports: dict[str, dict[int, str]] = {"input": {}, "output": {}}
    for line in names.splitlines():
        what, *port = line.split()
        if what in ports:
            place, bit, name = port
            ports[what][int(place)] = name if what == "output" else f"{name}[{bit}]"
    literals = {read[0][place][0]: name for place, name in ports["input"].items()}
    return Circuit(
        inputs=tuple(literal for (literal,) in read[0]),
        registers=tuple(register[:2] for register in read[1]),
        gates=tuple(read[3]),
        outputs={claims[name]: read[2][place][0] for place, name in ports["output"].items()},
        names=literals,
    )
