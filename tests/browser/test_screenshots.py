"""Every view looks as it did: screenshots of 1280 x 900 pixels, compared with those in ``screenshots/`` tile by tile.

Pictures are lossless WebP. Which version of Chromium they are of is kept beside them, for the message. The pictures that
versions 150 and 156 have both drawn are alike, bit by bit, so all versions are compared.

``make browser UPDATE=1`` writes new ones; look at them before they are committed.
"""

import base64
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from hls.driver import compile
from hls.report import html
from hls.report.collect import collect
from tests.browser.chromium import HEIGHT, WIDTH
from tests.browser.page import VIEWS
from tests.site.pages import DOCS, blocks

pytestmark = pytest.mark.browser

FOLDER = Path(__file__).parent / "screenshots"
TILES = Path(__file__).with_name("tiles.js").read_text()
#: Edge of a tile in pixels; the difference of a channel that counts; the shares of a picture's and of a tile's pixels
#: that may differ. A moved word or a lost box fills a good part of some tile; another rasterizer of fonts does not.
EDGE, LEVEL, OF_PICTURE, OF_TILE = 50, 48, 0.01, 0.04
SELECTED = {
    "bottlenecks": "loop:smooth/y/x",
    "loops": "loop:smooth/y/x",
    "memories": "memory:smooth/window",
    "schedule": "op:smooth/1/8",
    "system": "kernel:smooth",
}
DRAWN = ("system", "memories")
#: what is kept for the dark scheme, which differs in colours alone
DARK = ("summary", "loops", "system", "schedule")
SHOTS = [*((view, "light") for view in VIEWS), *((view, "dark") for view in DARK)]
#: the views of a profile, what is selected in them
PROFILE = {
    "verdict": {},
    "cycles": {"item": "cause:send/2_wait"},
    "lines": {"line": "filter.cl:14"},
    "execution": {"item": "launch:0"},
    "memory": {"item": "use:send/load_image_L14"},
    "roofline": {"item": "launch:0"},
}
VERSION = FOLDER / "chromium.txt"
#: the kernels of the tutorial before and after its edit, of whose loops README.md has pictures: of a low window
TUTORIAL, LOW = ("dot", "shift"), 560


def picture(page, view: str) -> str:
    """A screenshot of a view, in base64."""
    page.open(view=view, **({"item": SELECTED[view]} if view in SELECTED else {}))
    if view in DRAWN:
        page.drawn()
    page.run("document.activeElement.blur()")
    page.settle()
    return shot(page)


def shot(page) -> str:
    return page.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 100})["data"]


def major(page) -> str:
    return page.driver.capabilities["browserVersion"].split(".")[0]


def differences(page, one: str, other: str) -> tuple[float, list[str]]:
    """The share of pixels that differ, and the tiles in which too many do."""
    page.driver.get("about:blank")
    found = page.driver.execute_async_script(TILES, one, other, EDGE, LEVEL)
    return found["pixels"], [f"{tile['x']},{tile['y']}" for tile in found["tiles"] if tile["share"] > OF_TILE]


@pytest.mark.parametrize("view, scheme", SHOTS)
def test_view_looks_as_before(request, tmp_path, scheme, view):
    page = request.getfixturevalue(scheme)
    compare(page, tmp_path, picture(page, view), FOLDER / f"{view}-{scheme}.webp")


@pytest.mark.parametrize("view", PROFILE)
def test_view_of_a_profile_looks_as_before(light, tmp_path, view):
    light.open("profile", view=view, **PROFILE[view])
    light.run("document.activeElement.blur()")
    light.settle()
    compare(light, tmp_path, shot(light), FOLDER / f"profile-{view}-light.webp")


@pytest.mark.parametrize("name", TUTORIAL)
def test_the_loop_of_the_tutorial_looks_as_before(light, tmp_path, name):
    (block,) = (one for one in blocks(DOCS / "tutorial.md") if one.title == f"{name}.cl")
    light.files[name] = tmp_path / f"{name}.html"
    report = collect(compile(block.body, "de5net", file=block.title), block.title)
    light.files[name].write_text(html.render(report), encoding="utf-8")
    with resized(light, LOW):
        light.open(name, view="loops", item="loop:dot/i")
        light.settle()
        compare(light, tmp_path, shot(light), FOLDER / f"tutorial-{name}.webp")


@contextmanager
def resized(page, height: int):
    """The window with another height."""
    size = {"width": WIDTH, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": height})
    try:
        yield
    finally:
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": HEIGHT})


def compare(page, tmp_path: Path, made: str, golden: Path) -> None:
    """Fail if a new picture is not like the kept one, or keep it if that was asked for."""
    if os.environ.get("UPDATE_SCREENSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        golden.write_bytes(base64.b64decode(made))
        VERSION.write_text(f"{major(page)}\n")
    share, tiles = differences(page, made, base64.b64encode(golden.read_bytes()).decode())
    if share > OF_PICTURE or tiles:
        (tmp_path / golden.name).write_bytes(base64.b64decode(made))
    versions = f"pictures are of Chromium {VERSION.read_text().strip()}, this is {major(page)}"
    assert share <= OF_PICTURE and not tiles, (
        f"{golden.name}: {share:.2%} differ; new one: {tmp_path / golden.name}; {versions}; make browser UPDATE=1"
    )


def test_a_moved_pane_is_noticed(light):
    made = picture(light, "loops")
    light.run("document.documentElement.style.setProperty('--nav-size', '182px')")
    light.settle()
    _, tiles = differences(light, made, shot(light))
    assert tiles


def test_a_lost_word_is_noticed(light):
    made = picture(light, "loops")
    light.run("document.querySelector('tbody .sign').textContent = ''")
    light.settle()
    _, tiles = differences(light, made, shot(light))
    assert tiles
