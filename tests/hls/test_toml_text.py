"""TOML of users' files: project, board and RTL library fail alike on what `tomllib` fails on, and take a byte order
mark."""

import tomllib
from pathlib import Path

import pytest

from hls.diag import CompileError
from hls.rtl_library import load_library
from hls.target.board import BoardError
from hls.target.table import read_toml
from hls.toml_text import parse, read_text

BROKEN = {"a = 1\nb = " + "9" * 5000: ("a number is too long", 2), "b = " + "[" * 5000: ("nested too deeply", 1)}


@pytest.mark.parametrize("text", BROKEN, ids=["digits", "depth"])
def test_what_is_too_long_or_deep_is_not_valid_and_has_a_line(text, tmp_path):
    what, line = BROKEN[text]
    file = tmp_path / "one.toml"
    file.write_text(text)
    with pytest.raises(tomllib.TOMLDecodeError, match=rf"{what} \(at line {line}, column 1\)"):
        parse(text)
    with pytest.raises(BoardError, match=rf"is not valid TOML: .*{what} \(at line {line}"):
        read_toml(file)
    with pytest.raises(CompileError) as failed:
        load_library(file)
    (error,) = failed.value.diagnostics
    assert what in error.message and error.span is not None and error.span.line == line


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    file = Path(tmp_path / "one.toml")
    file.write_bytes(b"\xef\xbb\xbfa = 1\r\n")
    assert parse(read_text(file)) == {"a": 1}
    assert "a" in read_toml(file)
