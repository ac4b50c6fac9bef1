"""The vendor's descriptions in XML: what is read, and what is refused at which line."""

from pathlib import Path

import pytest

from hls.diag import CompileError
from hls.rtl_library import load_library

HERE = Path(__file__).parent
TEXT = (HERE / "waiting.xml").read_text()


def library(folder: Path, text: str):
    for name in ("waiting.cl", "waiting.h", "gcd.v", "square.v"):
        (folder / name).write_text((HERE / name).read_text())
    (folder / "lib.xml").write_text(text)
    return load_library(folder / "lib.xml")


def test_functions_of_a_description():
    gcd, square = load_library(HERE / "waiting.xml")
    assert (gcd.stallable, gcd.capacity, gcd.latency, gcd.inputs, gcd.output) == (True, 1, 40, ("a", "b"), "q")
    assert (gcd.clock, gcd.resetn, gcd.input_valid, gcd.output_ready) == ("clk", "resetn", "ivalid", "oready")
    assert gcd.area == (220, 70, 1, 2)
    assert square.area == (0, 0, 0, 0)
    assert (square.stallable, square.capacity, square.latency, square.clock) == (False, 0, 2, "clock")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("</RTL_SPEC>", "", 60, "the description is no XML: no element found"),
        ("<RTL_SPEC>", "<!DOCTYPE a>\n<RTL_SPEC>", 1, "a description has no document type"),
        ('<FUNCTION name="gcd" module="gcd">', '<FUNCTION name="gcd">', 2, "FUNCTION has no attribute module"),
        ('name="gcd" module', 'kind="x" name="gcd" module', 2, "FUNCTION has no attribute kind"),
        ('<CAPACITY value="1"/>', '<DEPTH value="1"/>', 7, "DEPTH is not supported in ATTRIBUTES"),
        ('<CAPACITY value="1"/>', '<CAPACITY value="one"/>', 7, "CAPACITY has a value that is no number: 'one'"),
        ('<CAPACITY value="1"/>', '<CAPACITY value="9000"/>', 7, "the capacity is 0 to 1024 operands, not 9000"),
        ('<IS_STALL_FREE value="no"/>', '<IS_STALL_FREE value="maybe"/>', 4, "IS_STALL_FREE is yes or no, not 'maybe'"),
        ('EFFECTS value="no"/>', 'EFFECTS value="yes"/>', 8, "functions with side effects are not supported"),
        ('port="clk" type="clock"', 'port="clk" type="clock2x"', 12, "ports of type clock2x are not supported"),
        ('port="resetn" type="resetn"', 'port="resetn" type="clock"', 13, "two ports have the type clock"),
        ('<AVALON port="ivalid" type="ivalid"/>', "", 4, "a module that waits has a port input_valid"),
        ('port="a" width="32"', 'port="a" width="31"', 18, "port a of module gcd has 32 bits, not 31"),
        ('port="a" width="32"', 'port="c" width="32"', 18, "module gcd has no input c"),
        ('<OUTPUT port="q" width="32"/>', "", 2, "the function has no key output"),
        ('<EXPECTED_LATENCY value="40"/>', "", 2, "the function has no key latency"),
        ('<FILE name="gcd.v"/>', '<FILE name="gcd.vhd"/>', 26, "gcd.vhd is no file of Verilog"),
        ('<FILE name="gcd.v"/>', '<FILE name="none.v"/>', 26, "there is no file"),
        ('<FILE name="waiting.cl"/>', '<FILE name="a.cl"/><FILE name="b.cl"/>', 23, "FILE is given twice"),
        ('name="square" module', 'name="gcd" module', 36, "gcd is described twice"),
        ('<DSPS value="1.5"/>', '<DSPS value="1.5.0"/>', 33, "DSPS has a value that is no number: '1.5.0'"),
        ('<FFS value="70"/>', '<FFS value="100000000"/>', 30, "registers are 0 to 10,000,000, not 100000000"),
        ("<INTERFACE>", "<INTERFACE>ports", 11, "a text in INTERFACE: 'ports'"),
    ],
)
def test_descriptions_that_are_refused(tmp_path, old, new, line, message):
    with pytest.raises(CompileError) as found:
        library(tmp_path, TEXT.replace(old, new, 1))
    (one,) = found.value.diagnostics
    assert message in one.message
    assert (one.span.file, one.span.line) == (str(tmp_path / "lib.xml"), line)
    assert one.hint
