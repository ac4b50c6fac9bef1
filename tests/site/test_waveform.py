"""The picture of a stall in README.md is what GTKWave shows."""

import numpy as np
import pytest

from .waveform import HEIGHT, PICTURE, WIDTH, Missing, made, read_png, write_png

#: the difference of a colour that counts, and the share of the pixels that may have one: fonts are drawn by the system
LEVEL, SHARE = 48, 0.01


def test_a_picture_is_read_as_it_was_written(tmp_path):
    pixels = np.random.default_rng(1).integers(0, 256, (7, 5, 3), np.uint8)
    write_png(tmp_path / "some.png", pixels)
    assert (read_png(tmp_path / "some.png") == pixels).all()


def test_the_picture_has_its_size_and_is_small():
    assert read_png(PICTURE).shape == (HEIGHT, WIDTH, 3) and PICTURE.stat().st_size < 100_000


@pytest.mark.verilator
def test_gtkwave_shows_the_stall_as_before(tmp_path):
    try:
        pixels = made()
    except Missing as error:
        pytest.skip(str(error))
    share = (np.abs(pixels.astype(int) - read_png(PICTURE)) > LEVEL).any(axis=2).mean()
    if share > SHARE:
        write_png(tmp_path / "new.png", pixels)
    assert share <= SHARE, f"{share:.1%} differ; new one: {tmp_path / 'new.png'}; python -m tests.site.waveform"
