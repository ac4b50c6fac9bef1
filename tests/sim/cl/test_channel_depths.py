"""Channels on the emulator: as deep as hardware, or as the vendor's emulator has them."""

import numpy as np
import pytest

from hls.cli_run import run_command
from sim import cl
from sim.emulator.channel_depths import DEPTH_MODELS

TEXT = """
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int plain;
channel int four __attribute__((depth(4)));
__kernel void fills(__global int *restrict done, int n, int of_plain) {
    for (int i = 0; i < n; i++) {
        bool room = of_plain ? write_channel_nb_intel(plain, i) : write_channel_nb_intel(four, i);
        done[0] += room;
    }
}
__kernel void reads(__global int *restrict done) { done[0] = read_channel_intel(plain) + read_channel_intel(four); }
"""
OPTION = "-emulator-channel-depth-model="


def accepted(options: str = "", of_plain: bool = True) -> int:
    """How many of 100 values a channel takes that nobody reads."""
    context = cl.create_some_context(device="emulator")
    queue = cl.CommandQueue(context)
    program = cl.Program(context, TEXT).build(options)
    done = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(1, np.int32))
    program.fills(queue, (1,), None, done, np.int32(100), np.int32(of_plain)).wait()
    found = np.empty(1, np.int32)
    cl.enqueue_copy(queue, found, done)
    return int(found[0])


def test_the_command_knows_the_models():
    (option,) = [one for one in run_command.params if one.name == "channel_depths"]
    assert tuple(option.type.choices) == DEPTH_MODELS


def test_as_written_by_default():
    assert accepted(of_plain=False) == accepted(f"{OPTION}hardware", False) == 4


@pytest.mark.parametrize(
    ("model", "plain", "four"), [("strict", 1, 4), ("default", 100, 4), ("ignore-depth", 100, 100)]
)
def test_models_of_the_vendor(model, plain, four, monkeypatch):
    assert accepted(OPTION + model) == plain
    monkeypatch.setenv("SLUICE_CHANNEL_DEPTHS", model)
    assert accepted(of_plain=False) == four
    assert accepted(f"{OPTION}strict", False) == 4, "the option of the build wins"


def test_an_unknown_model_is_named():
    with pytest.raises(cl.RuntimeError, match="hardware, strict, default, ignore-depth on the emulator, not 'deep'"):
        accepted(f"{OPTION}deep")
