"""Every view of profile.html opens, selects, filters and is used by keys alone; its figures are those of the data."""

import pytest

from hls.profile.totals import total_of
from tests.browser.chromium import WIDTH
from tests.browser.page import PROFILE_VIEWS, VIEWS
from tests.browser.profile_sample import sample_profile
from tests.browser.test_accessible import AXE, RUN

pytestmark = pytest.mark.browser

DOWN, ENTER, ESCAPE = "\ue015", "\ue007", "\ue00c"
PROFILE = sample_profile()
#: of each view: an item of a row, its line, a text of its details, and a text that the filter finds
ROWS = {
    "roofline": ("launch:0", 9, "autorun kernels meanwhile", "smooth"),
    "verdict": ("kernel:send", 9, "in all launches", "smooth"),
    "cycles": ("cause:send/2_wait", 14, "write to channel rows[0] (line 14)", "recurrence"),
    "execution": ("launch:0", 9, "autorun kernels meanwhile", "smooth"),
    "memory": ("use:send/load_image_L14", 14, "6.3 %", "taps"),
    "channels": ("pipe:credit", 12, "waits for a value", "credit"),
    "paces": ("pace:smooth/loop_x_L23", 23, "loop-carried dependence", "loop y"),
}


def launches(kernel: str):
    return [one for one in PROFILE.launches if one.kernel == kernel]


@pytest.mark.parametrize("number", range(len(PROFILE_VIEWS)))
def test_view_opens_by_its_address_and_by_its_key(light, number):
    page = light.open("profile", view=PROFILE_VIEWS[number])
    assert page.view == PROFILE_VIEWS[number]
    page.press("1" if number else "2")
    assert page.view == PROFILE_VIEWS[0 if number else 1]
    assert not page.complaints()


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_the_report_are_a_click_away(light, view):
    page = light.open("profile")
    page.click(f'#nav [data-view="{view}"]')
    assert page.view == view and not page.complaints()


@pytest.mark.parametrize("view", ROWS)
def test_row_selects_its_lines_and_details(light, view):
    key, line, fact, _ = ROWS[view]
    page = light.open("profile", view=view, item=key)
    assert line in page.marked
    assert fact in page.details.lower()
    assert page.texts('tr[aria-selected="true"]'), "no row is marked"
    page.open("profile", view=view)
    page.run("document.querySelector('.viewbody').querySelectorAll('tr[aria-selected]')[0].click()")
    page.settle()
    assert page.hash["item"] and page.texts('tr[aria-selected="true"]')
    assert not page.complaints()


@pytest.mark.parametrize("view", ROWS)
def test_filter_and_rows_by_keys_alone(light, view):
    page = light.open("profile", view=view)
    page.press("/", "xyzzy")
    assert page.texts(".viewbody tbody")[0] == "nothing matches the filter"
    page.press(ESCAPE, "/", ROWS[view][3], ESCAPE, "v", DOWN, ENTER)
    assert page.hash.get("item"), "Enter on a row selects nothing"
    assert not page.complaints()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", PROFILE_VIEWS)
def test_axe_finds_nothing(request, scheme, view):
    page = request.getfixturevalue(scheme)
    page.open("profile", view=view, **({"item": ROWS[view][0]} if view in ROWS else {"line": "filter.cl:14"}))
    page.run(AXE.read_text())
    assert page.driver.execute_async_script(RUN) == []


def test_samples_are_those_of_the_profile(light):
    page = light.open("profile")
    (samples,) = PROFILE.launches[0].samples
    found = page.run(
        "const { columnsOf, profile } = window.sluiceProfile;"
        "const launch = profile.launches.find((one) => one.number === 0);"
        "return columnsOf.get(launch.samples[0]).map(({ id, values }) => [id, [...values]]);"
    )
    assert found == [[column.id, list(column.values)] for column in samples.columns]


def test_causes_sum_to_the_cycles_and_the_sum_is_shown(light):
    page = light.open("profile", view="cycles")
    rows = [text.split("\t") for text in page.texts(".viewbody tbody tr")]
    sums = [int(row[3].replace(",", "")) for row in rows if row[0].strip() == "sum"]
    heads = [int(row[3].replace(",", "")) for row in rows if "kernel " in row[0]]
    assert sums == heads and len(sums) == 3, "the copies of relay are one"
    assert sums[0] == sum(one.cycles for one in launches("send"))
    relayed = next(row for row in rows if "rows[1]" in row[0])
    assert "6,000 to 6,200" in relayed, "the least and the most of the copies"


def test_one_launch_is_shown_alone(light):
    page = light.open("profile", view="execution", item="launch:4")
    page.run("[...document.querySelectorAll('#details button')][0].click()")
    page.settle()
    page.press("2")
    assert page.hash["launch"] == "4" and page.view == "cycles"
    heads = [text.split("\t") for text in page.texts(".viewbody tbody tr.kernelrow")]
    assert [int(row[3].replace(",", "")) for row in heads] == [launches("send")[1].cycles, 3051]
    page.run(
        "document.querySelector('.scope').value = ''; document.querySelector('.scope').dispatchEvent(new Event('change'))"
    )
    page.settle()
    assert "launch" not in page.hash
    assert int(page.texts("tr.kernelrow")[0].split("\t")[3].replace(",", "")) == total_of(launches("send")).cycles


def test_red_lines_are_those_that_stall_and_n_goes_to_the_next(light):
    page = light.open("profile", view="lines")
    red = page.run(
        "return [...document.querySelectorAll('tr[class^=hot] td:first-child')].map((one) => one.innerText.trim())"
    )
    assert [text.strip("▸▾ \n\t") for text in red] == ["12", "14", "23", "24", "40"]
    page.press("n")
    assert page.hash["line"] == "filter.cl:12"
    page.press("n", "n", "p")
    assert page.hash["line"] == "filter.cl:14"
    assert "load of image" in page.details.lower()


def test_time_line_zooms_and_lists_channels(light):
    page = light.open("profile", view="execution")
    labels = page.texts_of(".lanelabel text:first-of-type")
    assert any(text.startswith("queue 0") for text in labels) and any(text.startswith("rows[0]") for text in labels)
    ticks = page.texts_of(".ticks text")
    page.run("document.querySelector('.timeline').focus()")
    page.press("+", "+")
    assert page.texts_of(".ticks text") != ticks
    page.press("0")
    assert page.texts_of(".ticks text") == ticks


def test_many_queued_commands_take_few_rows(light):
    """Commands run in one row, each behind its wait where there is room; of the other waits three are drawn."""
    page = light.open("profile", view="execution")
    rows = page.run(
        "const run = (k) => ({ key: k, start: 100 + 10 * k, end: 110 + 10 * k, tone: 'launched' });"
        "const wait = (k) => ({ key: k, start: k ? 50 : 60, end: 100 + 10 * k, tone: 'waits' });"
        "const slices = [0, 1, 2, 3, 4, 5].flatMap((k) => [wait(k), run(k)]);"
        "slices.push({ key: 9, start: 170, end: 180, tone: 'waits' }, { key: 9, start: 180, end: 190, tone: 'launched' });"
        "return [window.sluiceProfile.stackSlices(slices), slices.map((one) => one.row)];"
    )
    assert rows == [4, [0, 0, None, 0, None, 0, 3, 0, 2, 0, 1, 0, 0, 0]]


def test_roofline_shows_each_launch_below_its_roofs(light):
    page = light.open("profile", view="roofline", item="launch:0")
    rows = {row.split("\t")[0]: row.split("\t") for row in page.texts(".viewbody tbody tr")}
    one = PROFILE.launches[0]
    rate = 3000 / (one.cycles / 0.24)
    assert rows["0"][1:4] == ["send", "3,000", "integer"] and float(rows["0"][4]) == round(rate, 3)
    assert float(rows["0"][6]) == round(3000 / 64000, 3) and float(rows["0"][7]) == 0.75
    assert rows["0"][8] == "memory in this order (activation)"
    assert float(rows["0"][9].split()[-2]) == round(100 * rate / (4.2 * 3000 / 64000), 1)
    assert rows["1"][2:4] == ["5,000", "floating-point"], "floating-point operations come before integer ones"
    labels = page.texts_of(".roof text")
    assert "peak of DDR, 25.6 GB/s" in labels and "the device's DSP blocks, 61.44 op/ns" in labels
    assert set(page.texts_of(".roofpoint text")) == {"send 0", "smooth 1", "send 4", "smooth 5"}


def test_names_in_the_roofline_do_not_overlap(light):
    """Launches of one kernel do nearly the same, so their points lie nearly at one place."""
    page = light.open("profile", view="roofline")
    boxes = page.run(
        "return [...document.querySelectorAll('.roofpoint text')].map((one) => one.getBBox())"
        ".map((box) => [box.x, box.y, box.x + box.width, box.y + box.height])"
    )
    assert len(boxes) == 4
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert all(x1 <= left or right <= x0 or y1 <= top + 3 or bottom <= y0 + 3 for x0, y0, x1, y1 in boxes[:k])


def test_accesses_inside_kernels_are_listed_the_longest_wait_first(light):
    page = light.open("profile", view="memory")
    rows = [row.split("\t") for row in page.texts(".viewbody section:last-of-type tbody tr")]
    assert [row[0].strip("▸▾ \n") for row in rows] == ["kernel smooth", "store of window", "load of window"]
    assert [row[2:] for row in rows[1:]] == [["2,000", "7 %", "■ 30 %"], ["18,000", "63 %", "0 %"]]


def test_a_level_is_drawn_from_its_least_to_its_most(light):
    page = light.open("profile", view="execution")
    tops = page.run(
        "return ['most', 'values', 'least'].map((kind) => document.querySelector(`.levels .${kind}`).getBBox().height)"
    )
    assert tops[0] > tops[1] > tops[2] > 0


def test_a_low_efficiency_is_marked_where_it_matters(light):
    """The store of a few words wastes as much of each as the load does, and less than a thousandth of the bandwidth."""
    page = light.open("profile", view="memory")
    found = {row.split("\t")[0].strip("▸▾ \n"): row for row in page.texts(".viewbody tbody tr")}
    assert "▲ 6.3 %" in found["load of image"]
    assert "6.3 %" in found["store of out"] and "▲" not in found["store of out"]


def test_interactive_in_a_second_and_small(light, files):
    page = light.open("profile")
    assert page.run("return window.sluiceReport.timing.start") < 10_000, "a loaded machine takes longer than a second"
    assert len(files["profile"].read_bytes()) < 400_000


@pytest.fixture
def narrow(light):
    """The page in a window of 900 pixels."""
    device = {"height": 900, "deviceScaleFactor": 1, "mobile": False}
    light.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 900, **device})
    yield light
    light.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": WIDTH, **device})


@pytest.mark.parametrize("view", PROFILE_VIEWS)
def test_tables_fit_a_narrow_window(narrow, view):
    page = narrow.open("profile", view=view)
    over = "[...document.querySelectorAll('#view .scroll')].filter((one) => one.scrollWidth > one.clientWidth)"
    assert not page.run(f"return {over}.map((one) => one.ariaLabel)")
    lines = "[...document.querySelectorAll('.linecell')].map((one) => [one.innerText.trim(), getComputedStyle(one).whiteSpace])"
    assert all("\n" not in text and space == "nowrap" for text, space in page.run(f"return {lines}"))
