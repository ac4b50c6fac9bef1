"""Platforms and devices: which there are, which is the first, and what they say. Nothing here builds a simulation."""

import pytest

from hls.target.board import known_boards
from sim import cl
from tests.sim.cl.test_host_api import code, fails


class TestPlatforms:
    def test_every_board_is_a_device(self):
        devices = cl.get_platforms()[0].get_devices()
        assert {device.board.name for device in devices} >= {"de5net", "a10pac", "ecp5_onchip"}
        assert cl.get_platforms()[0].get_devices(cl.device_type.GPU) == []

    def test_the_board_is_chosen_by_argument_then_environment(self, monkeypatch):
        monkeypatch.setenv("SLUICE_BOARD", "a10pac")
        assert cl.create_some_context(interactive=False).device.board.name == "a10pac"
        assert cl.create_some_context(board="ecp5_onchip").device.board.name == "ecp5_onchip"

    def test_unknown_boards(self):
        with fails(cl.RuntimeError, code.DEVICE_NOT_FOUND, "known are a10pac"):
            cl.create_some_context(board="none")
        with fails(cl.LogicError, code.INVALID_DEVICE):
            cl.create_some_context(device="gpu")


class TestDevices:
    @pytest.mark.parametrize("kind", ["board", "emulator"])
    @pytest.mark.parametrize("board", ["de5net", "a10pac", "ecp5_onchip"])
    def test_the_chosen_one_comes_first(self, monkeypatch, board, kind):
        monkeypatch.setenv("SLUICE_BOARD", board)
        monkeypatch.setenv("SLUICE_DEVICE", kind)
        devices = cl.get_platforms()[0].get_devices()
        assert (devices[0].board.name, devices[0].kind) == (board, kind)
        assert sorted(d.board.name for d in devices) == list(known_boards()) and {d.kind for d in devices} == {kind}
        assert (
            cl.Context(dev_type=cl.device_type.ACCELERATOR).device.name
            == cl.Context([devices[0]]).device.name
            == cl.create_some_context().device.name
        )

    @pytest.mark.parametrize("kind", ["GPU", "CPU", "CUSTOM"])
    def test_there_are_no_others(self, kind):
        with pytest.raises(cl.RuntimeError, match="DEVICE_NOT_FOUND"):
            cl.Context(dev_type=getattr(cl.device_type, kind))

    def test_facts_have_opencl_numbers(self):
        device = cl.create_some_context(device="emulator").device
        assert device.get_info(cl.device_info.MAX_WORK_GROUP_SIZE) == device.max_work_group_size
        assert "cl_khr_fp64" in device.get_info(cl.device_info.EXTENSIONS).split()
        assert device.platform.get_info(cl.platform_info.NAME) == device.platform.name
        with pytest.raises(cl.LogicError, match="0x1fff"):
            device.get_info(0x1FFF)
