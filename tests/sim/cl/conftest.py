"""A context whose compiler returns the hand-written design."""

from dataclasses import replace

import pytest

from hls.target.board import load_board
from sim import cl
from sim.cl import compiler
from tests.sim.handmade import Handmade, design, system


@pytest.fixture
def compiled(monkeypatch):
    """Replaces the compiler: every program is ``increment``."""
    asked = []

    def compile_source(source, board, options, file):
        asked.append(options)
        return Handmade(design("increment"), system())

    monkeypatch.setattr(compiler, "compile_source", compile_source)
    return asked


@pytest.fixture
def context():
    """A board with one bank: the design has one AXI port."""
    board = load_board("de5net")
    return cl.Context([cl.Device(replace(board, memory=replace(board.memory, banks=board.memory.banks[:1])))])


@pytest.fixture
def program(compiled, context):
    return cl.Program(context, "source").build()


@pytest.fixture
def queue(context):
    return cl.CommandQueue(context)
