"""Numbers of #if: evaluated as in C, in 64 bits, and in no more memory than that."""

import pytest

from hls.diag import CompileError
from hls.frontend import parse_source


def holds(condition: str) -> bool:
    """Whether ``#if`` takes the condition for true."""
    try:
        parse_source(f"#if {condition}\n#error yes\n#endif\n__kernel void k() {{ }}", "k.cl")
    except CompileError as error:
        if "#error yes" in str(error):
            return True
        raise
    return False


@pytest.mark.parametrize(
    "condition",
    [
        "(1 << 40000000000) == 0",
        "(1u << 40000000000u) == 0",
        "(1 << 64) == 0",
        "(1 << 63) < 0",
        "(-1 >> 40000000000) == -1",
        "(~0u >> 64) == 0",
        "1 << 3 == 8",
        "9007199254740993 / 1 == 9007199254740993",
        "-7 / 2 == -3",
        "-7 % 2 == -1",
        "7 % -2 == 1",
        "-1 / 2u == 9223372036854775807u",
        "-1 % 10u == 5",
        "!(0 && 1 / 0)",
        "!(0 && 1 % 0)",
    ],
)
def test_conditions_that_hold(condition):
    assert holds(condition)


@pytest.mark.parametrize("condition", ["1 << -1", "1 >> -1", "1 / 0", "1 % 0", "1 << -40000000000"])
def test_no_constants(condition):
    with pytest.raises(CompileError, match="the condition is not a constant integer expression"):
        holds(condition)
