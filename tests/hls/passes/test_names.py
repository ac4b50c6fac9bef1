"""A pass is one word in three spellings: file, class and the name in dumps and on the command line."""

import inspect
import re
from pathlib import Path

import pytest

from hls.opt import known_passes
from hls.passes.manager import Pass
from hls.report import gone
from hls.target.board import load_board

PASSES = {name: one for name, one in known_passes(load_board("de5net")).items()}


def technique(one: Pass) -> type:
    """The class; of a pass over every function, or over arrays, that of the pass inside."""
    return type(getattr(one, "each", getattr(one, "early", one)))


@pytest.mark.parametrize("name", PASSES)
def test_file_class_and_name_agree(name):
    found = technique(PASSES[name])
    words = (
        found.__name__.lower()
        if found.__name__ == "Mem2Reg"
        else re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", found.__name__).lower()
    )
    assert Path(inspect.getfile(found)).stem == words
    # mem2reg of whole arrays, and early loads within arrays
    assert name in (words.replace("_", "-"), "arrays-to-values", "array-look-ahead-loads", "array-speculate-loads")


def test_every_pass_has_a_place_among_the_forms():
    """Who needs no form of IR says so by being one of the cleaners that run everywhere, or a pass over the program as
    the frontend made it."""
    free = {
        "common-subexpression-elimination",
        "dead-code-elimination",
        "constant-folding",
        "drop-inbounds",
        "inline",
        "replicate-autorun",
    }
    assert {name for name, one in PASSES.items() if not technique(one).requires and not technique(one).forbids} <= free


def test_the_report_knows_the_passes_that_it_names():
    assert gone.UNUSED | gone.COUNTING <= set(PASSES)
