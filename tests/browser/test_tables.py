"""Tables in report.html and profile.html: nothing is cut off, whatever the names and the pane, and their order."""

import json
import re
from dataclasses import replace

import pytest

from hls.report import html
from hls.report import json as report_json
from hls.report.model import LaunchPrediction, LoopPrediction
from hls.report.packing import deflated, pack
from tests.browser.chromium import HEIGHT, WIDTH
from tests.browser.page import PROFILE_VIEWS, VIEWS
from tests.browser.sample import large, sample

pytestmark = pytest.mark.browser


#: names that are far longer than a column, in every table that has names
LONG = "the_accumulated_and_weighted_contributions_of_all_sensors"


@pytest.fixture(scope="module")
def long(files):
    """The page of the sample report with names of 60 characters. Its name."""
    text = report_json.render(sample())
    for name in ("smooth", "window", "rows", "credit", "image"):
        text = re.sub(rf"\b{name}\b", f"{name}_{LONG}", text)
    files["long"] = files["sample"].with_name("long.html")
    files["long"].write_text(page_of(json.loads(text)), encoding="utf-8")
    return "long"


def page_of(data: dict) -> str:
    """The page of a report in plain form."""
    return html.assembled(
        title="report",
        heading="report",
        subtitle="",
        text_beside="report.txt",
        styles=html.STYLES,
        scripts=html.SCRIPTS,
        data={"report": deflated(pack(data)), "colours": html.coloured(data)},
    )


def too_wide(page) -> list:
    """The tables of a view that are wider than their box, with the pixels that are cut off."""
    page.settle()
    found = page.run(
        "return [...document.querySelectorAll('#view .scroll')].map((one) =>"
        "[one.querySelector('table').ariaLabel, one.scrollWidth - one.clientWidth])"
    )
    return [one for one in found if one[1] > 0]


@pytest.mark.parametrize("view", VIEWS)
def test_long_names_do_not_widen_a_table(light, long, view):
    page = light.open(long, view=view)
    assert too_wide(page) == []
    assert not page.complaints()


def test_a_narrow_pane_breaks_names_and_a_wide_one_does_not(light):
    page = light.open(view="loops")
    broken = "return document.querySelector('#view .scroll').classList.contains('broken')"
    assert not page.run(broken)
    page.run("document.documentElement.style.setProperty('--source-size', '520px')")
    page.settle()
    assert page.run(broken) and too_wide(page) == []
    page.run("document.documentElement.style.removeProperty('--source-size')")
    page.settle()
    assert not page.run(broken)


@pytest.mark.parametrize("report, views", [("sample", VIEWS), ("profile", PROFILE_VIEWS)])
def test_a_narrow_window_has_one_column(light, report, views):
    """Every pane takes the whole width, one below the other, and no table is wider than it."""
    size = {"width": 480, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    light.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for view in views:
            page = light.open(report, view=view)
            boxes = page.run(
                "return ['nav', 'view', 'source', 'details'].map((id) => document.getElementById(id))"
                ".map((one) => [one.getBoundingClientRect().width, one.getBoundingClientRect().height])"
            )
            assert all(width == 480 and height > 40 for width, height in boxes), (view, boxes)
            assert page.run("return document.documentElement.scrollWidth") == 480, view
    finally:
        light.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | {"width": WIDTH, "height": HEIGHT})


def test_area_by_system_has_the_largest_first(light):
    page = light.open(view="area-system")
    page.run("[...document.querySelectorAll('.tools button')].find((one) => one.innerText === 'Open all').click()")
    page.settle()
    rows = page.run(
        "return [...document.querySelectorAll('#view tbody tr')].map((row) =>"
        "[Number(row.ariaLevel), Number(row.cells[3].innerText.replaceAll(',', ''))])"
    )
    last: dict[int, float] = {}
    for level, logic in rows:
        last = {above: value for above, value in last.items() if above <= level}
        assert logic <= last.get(level, logic)
        last[level] = logic
    assert len(rows) > 10 and page.run("return document.querySelectorAll('th')[3].ariaSort") == "descending"


def test_every_circle_of_waiting_names_its_kernels(light):
    certain = next(one for one in sample().networks if one.circle)
    second = replace(
        certain,
        kernels=("first", "other"),
        circle=tuple(replace(stop, kernel=name) for stop, name in zip(certain.circle, ("first", "other"))),
    )
    light.files["circles"] = light.files["sample"].with_name("circles.html")
    light.files["circles"].write_text(
        html.render(replace(sample(), networks=(*sample().networks, second))), encoding="utf-8"
    )
    page = light.open("circles", view="deadlock")
    heads = [text for text in page.texts("#view h3") if text.startswith("Circle")]
    assert heads == ["Circle of waiting: " + ", ".join(one.kernel for one in each.circle) for each in (certain, second)]
    ids = page.run("return [...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_predictions_are_beside_loops(light):
    """A column of its own, and the details; no column where nothing was predicted."""
    (kernel,) = (one for one in sample().kernels if one.name == "smooth")
    outer = replace(kernel.loops[0], predicted=LoopPrediction(480.0, 1.0, 1234.5, "loops inside, or memory"))
    launches = LaunchPrediction(2, 592560.0, 590000.0, 600000.0)
    predicted = replace(kernel, loops=(outer, *kernel.loops[1:]), predicted=launches)
    light.files["predicted"] = light.files["sample"].with_name("predicted.html")
    light.files["predicted"].write_text(html.render(replace(sample(), kernels=(predicted,))), encoding="utf-8")
    page = light.open("predicted", view="loops", item="loop:smooth/y")
    assert "Pred." in page.texts("#view thead")[0] and "1,234.5" in page.texts("#view tbody")[0]
    assert "480 in 1 invocation" in page.details and "1,234.5 cycles apart: loops inside, or memory" in page.details
    page.open("predicted", view="loops", item="kernel:smooth")
    assert "592,560 cycles (590,000 to 600,000) in 2 launches" in page.details
    assert "Pred." not in light.open(view="loops").texts("#view thead")[0]


@pytest.mark.parametrize("view", PROFILE_VIEWS)
def test_no_table_of_a_profile_is_wider_than_its_pane(light, view):
    assert too_wide(light.open("profile", view=view)) == []


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_usual_window_has_room_for_every_column_of_a_profile(light, width):
    """No figure is left out, and no word of a few letters is broken, beside the source."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    light.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for view in PROFILE_VIEWS:
            page = light.open("profile", view=view)
            assert too_wide(page) == [] and not [text for text in page.texts("#view .tools") if "no room" in text], view
    finally:
        light.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | {"width": WIDTH, "height": HEIGHT})


def test_columns_without_room_are_named_and_stay_in_the_details(light):
    """All figures of the widest table: in the copy as Markdown, and each column that is left out in a row's details."""
    page = light.open("profile", view="memory", item="use:send/load_image_L14")
    page.run("document.documentElement.style.setProperty('--source-size', '560px')")
    page.settle()
    (said,) = [text for text in page.texts("#view .tools") if "no room for: " in text and "Full" in text]
    left = said.partition("no room for: ")[2].split(", ")
    shown = page.texts("#view .scroll")[1].splitlines()[0]
    assert "Full" in left and not [title for title in left if title in shown]
    words = {"Burst": "average burst", "Hits": "cache hits"}
    words |= {"Unaligned": "unaligned requests", "In vain": "requests in vain", "Full": "full bursts"}
    for title in left:
        assert words.get(title, title.lower()) in page.details.lower(), title
    page.run("document.documentElement.style.removeProperty('--source-size')")
    page.settle()
    assert too_wide(page) == [] and "Full" in page.texts("#view .scroll")[1]


def test_rows_of_a_long_table_are_drawn_where_a_reader_looks(light):
    """Rows come as they are scrolled to, by keys, by selection, and all of them for print and for a search of the
    browser; columns keep their widths meanwhile."""
    drawn = "return document.querySelectorAll('#view tbody tr').length"
    widths = "return [...document.querySelectorAll('#view th')].map((one) => one.getBoundingClientRect().width)"
    page = light.open("large", view="loops")
    page.settle()
    first, before = page.run(drawn), page.run(widths)
    assert 40 < first < 100
    page.run("const view = document.getElementById('view'); view.scrollTop = view.scrollHeight")
    page.wait(f"{drawn} > {first}")
    page.wait("const view = document.getElementById('view'); view.scrollTop = view.scrollHeight; " + drawn + " === 201")
    last = "document.querySelector('#view tbody tr:last-child')"
    assert page.run(f"return {last}.innerText").strip().startswith("loop i199")
    assert page.run(f"return {last}.ariaPosInSet === '200' && {last}.ariaSetSize === '200'")
    assert page.run(widths) == before
    page.open("large", view="loops")
    page.press("v", "\ue010")
    assert page.run("return document.activeElement.innerText").strip().startswith("loop i199")
    page.open("large", view="loops", item=f"loop:{large().kernels[0].loops[-1].id}")
    assert page.texts("#view tr[aria-selected='true']")[0].strip().startswith("loop i199")
    for event in (
        "new Event('beforeprint')",
        "new KeyboardEvent('keydown', { key: 'f', ctrlKey: true, bubbles: true })",
    ):
        page.open("large", view="loops")
        assert page.run(drawn) == first
        page.run(f"(event => (event.type === 'keydown' ? document.body : window).dispatchEvent(event))({event})")
        assert page.run(drawn) == 201
        assert page.run(widths) == before
    assert not light.driver.get_log("browser")
