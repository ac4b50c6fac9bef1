"""What axe-core finds in every view, in both colour schemes; and the printed page."""

import base64
import re
import zlib
from pathlib import Path

import pytest

from tests.browser.page import VIEWS

pytestmark = pytest.mark.browser

#: axe-core 4.14.1 (MPL-2.0, its text is beside it): only the tests use it
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
SELECTED = {"loops": "loop:smooth/y/x", "memories": "memory:smooth/window", "schedule": "op:smooth/1/8"}
DRAWN = ("system", "memories")
RUN = """
const done = arguments[0];
axe.run(document).then(({ violations }) => done(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`)));
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(request, scheme, view):
    page = request.getfixturevalue(scheme)
    page.open(view=view, **({"item": SELECTED[view]} if view in SELECTED else {}))
    if view in DRAWN:
        page.drawn()
    page.run(AXE.read_text())
    assert page.driver.execute_async_script(RUN) == []


def test_axe_finds_nothing_in_the_help(light):
    page = light.open()
    page.press("?")
    page.run(AXE.read_text())
    assert page.driver.execute_async_script(RUN) == []


def test_prints_on_a4(light):
    page = light.open(view="loops", item="loop:smooth/y/x")
    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": False})
    pdf = base64.b64decode(printed["data"])
    sizes = {
        tuple(round(float(one)) for one in box) for box in re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    }
    assert sizes == {(595, 842)}
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    assert any(b" Tj" in text or b" TJ" in text for text in map(_inflated, streams)), "no text is on the paper"


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""
