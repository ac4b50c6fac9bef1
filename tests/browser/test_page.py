"""Every view of report.html opens, selects, filters and is used by keys alone; nothing is said or loaded meanwhile."""

import json
from dataclasses import replace

import pytest

from hls.driver import compile
from hls.report import html
from hls.report import json as report_json
from hls.report.collect import collect
from tests.browser.page import VIEWS
from tests.browser.sample import SMOOTH, sample

pytestmark = pytest.mark.browser

DOWN, ENTER, RIGHT, LEFT, ESCAPE, TAB = "\ue015", "\ue007", "\ue014", "\ue012", "\ue00c", "\ue004"
KEYS = 9  #: views that have a key
#: of each view with a table: a row's item, its line, and a text that only this row of the first table has
ROWS = {
    "summary": ("kernel:smooth", 18, "5,200", "smooth"),
    "bottlenecks": ("access:send/load/image#0", 14, "image[(y * width + x) * 16]", "bandwidth"),
    "loops": ("loop:smooth/y/x", 23, "a recurrence of 14 cycles", "loop-none"),
    "area-system": ("area:system/smooth#0", 18, "5,200", "interconnect"),
    "memories": ("memory:smooth/window", 20, "24,576 bytes", "window"),
    "deadlock": ("network:0", 12, "depth 1 for credit", "impossible"),
}


def test_data_is_report_json(light):
    page = light.open()
    shown = page.run("return JSON.stringify(window.sluiceReport.report)")
    assert json.loads(shown) == json.loads(report_json.render(sample()))


@pytest.mark.parametrize("number", range(len(VIEWS)))
def test_view_opens_by_its_address_and_by_its_key(light, number):
    page = light.open(view=VIEWS[number])
    assert page.view == VIEWS[number]
    other = (number + 1) % KEYS
    page.press(str(other + 1))
    assert page.view == VIEWS[other] and page.hash["view"] == VIEWS[other]
    assert page.texts("#nav .chosen")[0].endswith(page.texts("#view-title")[0])
    assert not page.complaints()


@pytest.mark.parametrize("view", ROWS)
def test_row_selects_its_lines_and_details(light, view):
    key, line, fact, _ = ROWS[view]
    page = light.open(view=view, item=key)
    assert page.marked[0] == line or line in page.marked
    assert fact in page.details
    assert page.texts('tr[aria-selected="true"]'), "no row is marked"
    page.open(view=view)
    page.run("document.querySelector('.viewbody').querySelectorAll('tr[aria-selected]')[0].click()")
    page.settle()
    assert page.hash["item"] and page.texts('tr[aria-selected="true"]')
    assert not page.complaints()


def test_synthesis_tells_the_path_and_the_errors(light):
    page = light.open(view="synthesis")
    text = page.texts(".viewbody")[0]
    for words in ("clock not reached", "88.1 MHz of 100 MHz", "9.5 ns", "+25 %", "Run the design at 88 MHz"):
        assert words in text, words
    page.run("document.querySelector('.viewbody tbody a.place').click()")
    page.settle()
    assert page.hash["line"] == "filter.cl:26" and page.marked == [26]
    assert not page.complaints()


def test_places_in_sentences_are_links(light):
    page = light.open(view="loops", item="loop:smooth/y/x")
    assert "Loop-carried dependence on sum (line 26): a recurrence of 14 cycles." in page.details
    page.run("[...document.querySelectorAll('#details a.place')].find((one) => one.textContent === 'line 26').click()")
    page.settle()
    assert page.hash["line"] == "filter.cl:26" and page.marked == [26]
    page.open(view="deadlock", item="network:0")
    page.click('#details a[data-item="channel:credit"]')
    assert page.hash["item"] == "channel:credit"


def test_order_of_bottlenecks_says_what_it_assumes(light):
    page = light.open(view="bottlenecks")
    assert "the order assumes 1,000 iterations" in page.texts(".lead")[0]
    rows = [text for text in page.texts(".viewbody tbody tr") if "Keep 14 partial sums" in text]
    assert len(rows) == 1 and rows[0].count("Keep 14 partial sums") == 1


def test_line_lists_what_it_became_and_links_lead_there(light):
    page = light.open(view="loops", line="filter.cl:26")
    for part in ("This line became", "Loop x", "Load of taps[x]", "Floating-point multiply for weight", "3,700"):
        assert part.lower() in page.details.lower()
    page.click('#details a[data-item="access:smooth/load/taps#0"]')
    assert page.hash["item"] == "access:smooth/load/taps#0" and "prefetching" in page.details.lower()
    page.run("history.back()")
    page.wait("return location.hash.includes('line=')")
    page.settle()
    assert page.marked == [26]


def test_line_of_another_file(light):
    page = light.open(view="memories", item="private:smooth/lut")
    assert page.run("return document.querySelector('#source select').value") == "weights.h"
    assert page.marked == [3]
    assert page.texts(".line.marked code") == ["    return tap * 0.125f; // größer als null: ünïcode"]


@pytest.mark.parametrize("view", ROWS)
def test_filter(light, view):
    page = light.open(view=view)
    rows = page.run("return document.querySelector('.viewbody tbody').querySelectorAll('tr[tabindex]').length")
    page.press("/", "xyzzy")
    assert page.texts(".viewbody tbody")[0] == "nothing matches the filter"
    page.press(ESCAPE)
    assert page.run("return document.querySelector('.viewbody tbody').querySelectorAll('tr[tabindex]').length") == rows
    wanted = ROWS[view][3]
    if wanted != "loop-none":
        page.press("/", wanted)
        assert all(
            wanted in text.replace("\n", " ") or "\n" in text for text in page.texts(".viewbody tbody tr[tabindex]")[:1]
        )


def test_filter_keeps_what_is_around_a_match(light):
    page = light.open(view="loops")
    page.press("/", "loop t")
    names = [text.split("\t")[0].strip("▾▸ ").strip() for text in page.texts(".viewbody tbody tr")]
    assert names == ["kernel smooth", "loop y", "loop x", "loop t"]


def test_unrolled_loops_can_be_hidden(light):
    page = light.open(view="loops")
    assert "unrolled" in "".join(page.texts(".viewbody tbody"))
    page.click(".toggle input")
    assert "unrolled" not in "".join(page.texts(".viewbody tbody"))


def test_columns_sort_in_both_directions(light):
    page = light.open(view="area-system")
    names = lambda: [text.split("\t")[0].strip("▾▸ ").strip() for text in page.texts("tbody tr[aria-level='2']")]
    sizes = ["board interface", "relay × 2", "global interconnect", "send", "smooth"]
    for order, shown in (("descending", sizes[::-1]), ("ascending", sizes), ("descending", sizes[::-1])):
        assert names() == shown
        assert page.run("return document.querySelector('th:nth-child(4)').getAttribute('aria-sort')") == order
        page.click("th:nth-child(4) button")


def test_copy_as_markdown(light):
    page = light.open(view="loops")
    page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; };")
    page.run("[...document.querySelectorAll('.tools button')].at(-1).click()")
    lines = page.wait("return window.copied").splitlines()
    assert lines[0].startswith("| Loop | Line | Verdict | II |") and lines[1].startswith("| :-- |")
    assert "|     loop x | 23 | pipelined | 14 | 1 | loop-carried dependence | 61 | 5 |  | 227.2 |" in lines


def test_keys_alone(light):
    page = light.open(view="loops")
    page.press("v")
    page.press(*[DOWN] * 5)
    page.press(ENTER)
    assert page.hash["item"] == "loop:smooth/y/x"
    page.press("v", LEFT)
    assert "loop t" not in "".join(page.texts(".viewbody tbody"))
    page.press(RIGHT, RIGHT)
    assert page.run("return document.activeElement.innerText").strip().startswith("loop t")
    page.press("s", DOWN, ENTER)
    assert page.hash["line"] == "filter.cl:24"
    page.press("g", DOWN, ENTER)
    assert page.view == "area-system"
    page.press("d")
    assert page.run("return document.activeElement.id") == "details"
    page.press("?")
    assert page.run("return document.getElementById('help').open") and "initiation interval" in page.texts("#help")[0]
    page.press(ESCAPE)
    assert not page.run("return document.getElementById('help').open")
    assert not page.complaints()


def test_tab_reaches_every_pane(light):
    page = light.open(view="loops", item="loop:smooth/y/x")
    seen = set()
    for _ in range(60):
        page.press(TAB)
        seen.add(
            page.run("return document.activeElement.closest('header, nav, #view, .splitter, #source, #details')?.id")
        )
    assert {"nav", "split-nav", "view", "split-source", "source", "split-details", "details"} <= seen


def test_panes_resize_and_fold(light):
    page = light.open()
    width = lambda: page.run("return document.getElementById('source').offsetWidth")
    before = width()
    page.run("document.getElementById('split-source').focus()")
    page.press(LEFT, LEFT)
    assert width() == before + 40
    page.press(ENTER)
    assert width() == 0
    page.press(ENTER)
    assert width() == before + 40


def test_summary_says_what_matters(light):
    page = light.open()
    verdicts = page.texts(".verdicts")[0]
    assert "fits 5SGXEA7" in verdicts and "deadlock certain" in verdicts and "loop x waits 14 cycles" in verdicts
    assert page.texts(".stack .figure")[0] == "9,740 of 234,720 (4.1 %)"
    assert "W0213" in page.texts("#view")[0] and "sluice compile filter.cl" in page.texts("#view")[0]


def test_small_parts_of_a_bar_are_seen(light):
    """No border covers a piece that is not wider than a few pixels."""
    page = light.open()
    widths = page.run(
        "return [...document.querySelectorAll('.piece')].map((one) =>"
        "[one.offsetWidth, parseFloat(getComputedStyle(one).borderRightWidth)])"
    )
    assert any(width for width, _ in widths) and not [width for width, edge in widths if edge and width < 4]


@pytest.mark.parametrize("view", VIEWS)
def test_no_table_is_wider_than_its_pane(light, view):
    page = light.open(view=view)
    found = page.run(
        "return [...document.querySelectorAll('#view .scroll')].map((one) => [one.ariaLabel, one.scrollWidth - one.clientWidth])"
    )
    assert not [one for one in found if one[1] > 0]


def test_columns_that_say_nothing_are_left_out(light, tmp_path):
    head = lambda page: [text.strip() for text in page.texts("#view thead")[0].split("\t")]
    assert "Copies" in head(light.open())
    light.files["own"] = tmp_path / "own.html"
    light.files["own"].write_text(html.render(replace(sample(), kernels=(SMOOTH,))), encoding="utf-8")
    assert head(light.open("own"))[:4] == ["Kernel", "Line", "Kind", "Loops"]


def test_heat_is_beside_the_lines_of_area_by_source(light):
    page = light.open(view="area-source")
    heats = page.run("return [...document.querySelectorAll('.line')].map((one) => one.firstChild.textContent)")
    assert heats[25] == "3,700" and heats[22] == "800" and heats[0] == "" and heats[21] == "", "counters are apart"
    totals = page.run("return window.sluiceReport.report.lines.reduce((sum, one) => sum + one.resources.logic, 0)")
    assert totals == 9740
    page.press("1")
    assert page.run("return getComputedStyle(document.querySelector('.heat')).display") == "none"


@pytest.fixture(scope="module")
def compiled(files):
    """The page of a compiled design: 20 kernels of ten loops each. Its path."""
    kernels = [
        f"__kernel void stage{k}(__global int *restrict out, int n) {{\n    int s = 0;\n"
        + "".join(
            f"    for (int i{j} = 0; i{j} < n; i{j}++)\n        s = s * {2 * j + 3} + (i{j} ^ {k});\n"
            for j in range(10)
        )
        + "    out[0] = s;\n}\n"
        for k in range(20)
    ]
    source = "".join(kernels)
    report = collect(compile(source, "ecp5_onchip"), "kernel.cl")
    files["compiled"] = files["large"].with_name("compiled.html")
    files["compiled"].write_text(html.render(report), encoding="utf-8")
    return files["compiled"]


def test_a_compiled_design_of_200_loops_is_small_and_opens_at_once(light, compiled):
    assert compiled.stat().st_size < 400_000
    light.open()
    spent = []
    for _ in range(5):
        light.driver.get("about:blank")
        before = light.cpu()
        light.open("compiled")
        spent.append(light.cpu() - before)
        if spent[-1] < 500:
            break
    print(f"{compiled.stat().st_size / 1000:.0f} kB, opened in {min(spent):.0f} ms")
    assert 0 < min(spent) < 500
    light.run("location.hash = 'view=loops'")
    light.wait("return window.sluiceReport.timing.views.loops")
    light.settle()
    light.run("window.dispatchEvent(new Event('beforeprint'))")
    assert len(light.all("table tbody tr")) >= 200
    assert not light.driver.get_log("browser")


def test_a_large_report_opens_and_changes_views_at_once(light):
    """5,000 operations in 200 loops. The goals, 500 ms and 100 ms, are compared with the CPU time of the page's main
    thread, to which other programs add only where they share its core: the least of up to five attempts counts."""
    light.open()  # the process that draws pages runs from here on
    least: dict[str, float] = {}
    for _ in range(5):
        for name, spent in work_of_views(light).items():
            least[name] = min(spent, least.get(name, spent))
        if not (late := {name: spent for name, spent in least.items() if spent >= (500 if name == "open" else 100)}):
            break
    print({name: f"{spent:.1f} ms" for name, spent in least.items()})
    assert not late and all(least.values())
    assert not light.driver.get_log("browser")


def work_of_views(page) -> dict[str, float]:
    """Milliseconds of CPU time for opening the large report, and for showing each view for the first time."""
    page.driver.get("about:blank")
    before = page.cpu()
    page.open("large")
    figures = {"open": page.cpu() - before}
    for view in VIEWS:
        before = page.cpu()
        page.run("location.hash = `view=${arguments[0]}`", view)
        page.wait(f"return window.sluiceReport.timing.views[{json.dumps(view)}]")
        page.settle()
        figures[view] = page.cpu() - before
    return figures


#: scrolls through the schedule in so many frames, each with other rows; returns the rows in the document at each
SCROLL = """
const [frames, done] = arguments, chart = document.querySelector(".gantt"), rows = [];
let last = performance.now(), longest = 0;
function next(now) {
  longest = Math.max(longest, now - last), last = now;
  rows.push(chart.querySelectorAll(".row").length);
  if (rows.length > frames) return done({ rows, longest, top: chart.scrollTop });
  chart.scrollTop = (chart.scrollHeight - chart.clientHeight) * rows.length / frames;
  requestAnimationFrame(next);
}
requestAnimationFrame(next);
"""


def test_a_schedule_of_5000_operations_scrolls_at_30_frames_a_second(light):
    """A frame's CPU time on the main thread is below its 33 ms, when each frame shows other rows than the one before."""
    page, frames = light.open("large", view="schedule"), 60
    before = page.cpu()
    found = page.driver.execute_async_script(SCROLL, frames)
    spent = (page.cpu() - before) / frames
    print(f"{spent:.1f} ms of CPU time in a frame, {max(found['rows'])} rows; longest frame {found['longest']:.0f} ms")
    assert found["top"] > 100_000 and max(found["rows"]) < 100
    assert 0 < spent < 1000 / 30
