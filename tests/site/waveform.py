"""The picture of a stall in a waveform, docs/howto/stall.png: the page docs/howto/waveform.md is run, and what GTKWave shows
of its waveform, by the saved view that the run wrote, is kept.

``python -m tests.site.waveform`` makes it anew. It needs GTKWave 3.3 and Xvfb (packages gtkwave and xvfb on Debian).
"""

import contextlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .pages import DOCS, run_page

__all__ = ["PICTURE", "Missing", "made", "read_png", "screenshot", "write_png"]

PAGE = DOCS / "howto/waveform.md"
PICTURE = DOCS / "howto/stall.png"
PROGRAMS = ("gtkwave", "Xvfb")
#: the window, which has no tree of scopes, and the width of its names: as many pixels are left for waves as a saved view is for
WIDTH, HEIGHT, NAMES = 1280, 704, 440
#: seconds until a picture that never rests is an error, and between two looks at it
LIMIT, PAUSE = 60, 1.0


class Missing(RuntimeError):
    """A program that shows waveforms is not installed."""


def made() -> np.ndarray:
    """Run the page in a folder of its own, and return what GTKWave then shows."""
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        raise Missing(f"not installed: {', '.join(missing)} (packages gtkwave and xvfb on Debian)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_page(PAGE, folder, board=True)
        return screenshot(folder, "wave.fst", "wave.gtkw")


def screenshot(folder: Path, waveform: str, view: str) -> np.ndarray:
    """What GTKWave shows of a waveform of ``folder`` with a saved view, as pixels (row, column, red green blue)."""
    small = folder / f"small-{view}"
    small.write_text(_in_small(folder.joinpath(view).read_text()))
    command = ["gtkwave", "--rcvar", "splash_disable on", "--rcvar", "hide_sst on", waveform, small.name]
    with _display(folder) as display:
        environment = os.environ | {"DISPLAY": display, "NO_AT_BRIDGE": "1", "HOME": str(folder), "GDK_BACKEND": "x11"}
        with open(folder / "gtkwave.log", "w") as log:
            viewer = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            return _at_rest(folder / "Xvfb_screen0", viewer, folder / "gtkwave.log")
        finally:
            viewer.terminate()
            viewer.wait()


def _in_small(view: str) -> str:
    """A saved view for the window of the picture."""
    for name, value in (("size", f"{WIDTH} {HEIGHT}"), ("signals_width", NAMES)):
        view, found = re.subn(rf"^\[{name}\] .*$", f"[{name}] {value}", view, flags=re.MULTILINE)
        assert found == 1, name
    return view


@contextlib.contextmanager
def _display(folder: Path) -> Iterator[str]:
    """A screen that is written to ``folder/Xvfb_screen0``; its name."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", str(folder)]
    server = subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            number = told.readline().strip()
        if not number:
            raise RuntimeError("Xvfb ended at once")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def _at_rest(screen: Path, viewer: subprocess.Popen[bytes], log: Path) -> np.ndarray:
    """The pixels of the screen once they show something and no longer change."""
    before = read_xwd(screen)
    for _ in range(round(LIMIT / PAUSE)):
        time.sleep(PAUSE)
        if viewer.poll() is not None:
            raise RuntimeError(f"gtkwave ended with {viewer.returncode}:\n{log.read_text()}")
        now = read_xwd(screen)
        if now.any() and (now == before).all():
            return now
        before = now
    raise RuntimeError(f"gtkwave drew for {LIMIT} s:\n{log.read_text()}")


def read_xwd(path: Path) -> np.ndarray:
    """The pixels of a window dump of 32 bits a pixel, blue first, as Xvfb keeps its screen."""
    data = path.read_bytes()
    header = struct.unpack(">25I", data[:100])
    size, width, height, stride, colours = header[0], header[4], header[5], header[12], header[19]
    pixels = np.frombuffer(data, np.uint8, height * stride, size + colours * 12)
    return pixels.reshape(height, stride)[:, : width * 4].reshape(height, width, 4)[:, :, 2::-1].copy()


def write_png(path: Path, pixels: np.ndarray) -> None:
    """Write pixels (row, column, red green blue) as PNG."""
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*one) for one in chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def read_png(path: Path) -> np.ndarray:
    """The pixels of a file that :func:`write_png` wrote."""
    data, at, packed = path.read_bytes(), 8, b""
    width, height = struct.unpack(">2I", data[16:24])
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        packed += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


if __name__ == "__main__":
    try:
        write_png(PICTURE, made())
    except Missing as error:
        sys.exit(f"waveform: {error}")
