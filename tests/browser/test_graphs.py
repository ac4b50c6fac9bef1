"""The drawn views: system, memories, schedule, and circles of waiting."""

from dataclasses import replace

import pytest

from hls.report import html
from hls.report.model import Port
from tests.browser.sample import CHANNELS, LOCAL, SMOOTH, WINDOW, sample

pytestmark = pytest.mark.browser

RIGHT, LEFT, UP, DOWN, ENTER = "\ue014", "\ue012", "\ue013", "\ue015", "\ue007"


def nodes(page) -> list[str]:
    return page.run(
        "return [...document.querySelectorAll('svg.graph .node')].map((one) => one.getAttribute('aria-label'))"
    )


def titles(page) -> list[str]:
    return [text.removeprefix("▲ ") for text in page.texts_of("svg.graph .node text.title")]


def redrawn(page, change: str) -> None:
    page.run("document.querySelector('svg.graph').dataset.old = 'yes'")
    page.run(change)
    page.wait("return document.querySelector('svg.graph:not([data-old]) .node') !== null")


def test_system_has_every_kernel_memory_and_channel(light):
    page = light.open(view="system")
    page.drawn()
    assert sorted(titles(page)) == ["DDR", "global memory", "relay × 2", "send", "smooth"]
    labels = page.texts_of("svg.graph .edge text")
    assert {"rows[0]: 32 bits, 16 deep", "credit: 32 bits, wires", "1 load", "1 store"} <= set(labels)
    assert "rows[1]: 2 channels, 32 bits, 20 deep" in labels
    assert [label for label in nodes(page) if "less than an iteration" in label] == [
        "▲ smooth single work-item loop y: II 14: 2 loops with less than an iteration a cycle"
    ]
    redrawn(page, "[...document.querySelectorAll('.tools input')][2].click()")
    assert not [text for text in page.texts_of("svg.graph .edge text") if "bits" in text]
    assert not page.complaints()


def test_kernel_opens_into_its_pipeline(light):
    page = light.open(view="system")
    page.drawn()
    redrawn(page, "document.querySelector('[data-node=\"kernel:smooth\"]').dispatchEvent(new MouseEvent('dblclick'))")
    assert page.texts_of("svg.graph .group text") == ["kernel smooth", "loop y", "loop x"]
    assert "read of channel rows[0]" in titles(page) and "store to out[y]" in titles(page)
    assert "II 14" in page.texts_of("svg.graph .edge text")
    assert not page.complaints()


def test_graph_by_keys(light):
    page = light.open(view="system")
    page.drawn()
    page.run("document.querySelector('[data-node=\"kernel:send\"]').focus()")
    start = page.run("return document.activeElement.dataset.node")
    page.press(DOWN)
    if page.run("return document.activeElement.dataset.node") == start:  # the graph runs to the right
        page.press(RIGHT)
    assert page.run("return document.activeElement.dataset.node") != start
    lit = page.run("return document.querySelectorAll('svg.graph .node.on').length")
    assert lit > 0 and page.run("return document.querySelector('svg.graph').classList.contains('lit')")
    page.press(ENTER)
    assert page.hash["item"] == "kernel:smooth"
    assert page.run("return document.activeElement.getAttribute('aria-pressed')") == "true"
    box = page.run("return document.querySelector('svg.graph').getAttribute('viewBox')")
    page.press("+")
    assert page.run("return document.querySelector('svg.graph').getAttribute('viewBox')") != box
    page.press("0")
    assert page.run("return document.querySelector('svg.graph').getAttribute('viewBox')") == box


def test_graph_as_a_table(light):
    page = light.open(view="system")
    page.drawn()
    page.run("document.querySelector('.astable').open = true")
    rows = page.texts(".astable tbody tr")
    assert "send\tsmooth\tchannel\trows[0]: 32 bits, 16 deep" in rows and len(rows) == 6


def test_memory_shows_ports_of_the_ticked_banks(light):
    page = light.open(view="memories")
    page.drawn()
    assert titles(page).count("SHARE") == 2 and titles(page).count("ARB") == 1
    assert [title for title in titles(page) if title.startswith("bank")] == ["bank 0", "bank 1", "bank 2"]
    redrawn(page, "document.querySelector('.banks input').click()")
    assert "bank 0" not in titles(page) and "ARB" not in titles(page)
    assert not page.complaints()


def shown(page, tmp_path, report) -> None:
    """Put a report of the test's own among those of the page, as "own"."""
    page.files["own"] = tmp_path / "own.html"
    page.files["own"].write_text(html.render(report), encoding="utf-8")


def test_channels_between_the_same_kernels_are_named_and_counted(light, tmp_path):
    rows = replace(CHANNELS[0], name="rows[0..2]", count=3)
    credit = replace(rows, name="credit", bits=64, count=1)
    shown(light, tmp_path, replace(sample(), channels=(rows, credit)))
    page = light.open("own", view="system")
    page.drawn()
    assert "rows, credit: 4 channels" in page.texts_of("svg.graph .edge text")


def test_only_the_first_of_equal_banks_is_shown_at_first(light, tmp_path):
    """Each bank has a read port for two copies of one access, which are one node."""
    loads = tuple(replace(LOCAL[4], id=f"smooth/load/window#{k}", expression="window[t][x]") for k in range(2))
    ids = tuple(one.id for one in loads)
    ports = tuple(Port(bank, "R", 0, ids, "share") for bank in range(3))
    memory = replace(WINDOW, ports=(*ports, Port(3, "W", 0, (LOCAL[0].id,))), banks=4)
    kernel = replace(SMOOTH, memories=(memory,), local_accesses=(LOCAL[0], *loads))
    shown(light, tmp_path, replace(sample(), kernels=(kernel,)))
    page = light.open("own", view="memories")
    page.drawn()
    assert [title for title in titles(page) if title.startswith("bank")] == ["bank 0", "bank 3"]
    assert titles(page).count("load of window[t][x] × 2") == 1
    assert "banks 0 to 2 are alike" in page.texts(".banks")[0]
    redrawn(page, "document.querySelectorAll('.banks input')[1].click()")
    assert titles(page).count("bank 1") == 1 and titles(page).count("load of window[t][x] × 2") == 1
    assert not page.complaints()


def test_port_lights_the_way_to_its_accesses(light):
    page = light.open(view="memories", item="port:smooth/window/1")
    page.drawn()
    assert "arbitrated" in page.details
    page.run("document.querySelector('[data-node=port1]').dispatchEvent(new Event('pointerenter'))")
    lit = page.run("return [...document.querySelectorAll('.node.on')].map((one) => one.dataset.node)")
    assert set(lit) == {
        "memory", "bank0", "port1", "use1", "smooth/load/window#0", "smooth/load/window#3",
    }  # fmt: skip


def test_schedule_has_every_operation_in_its_cycle(light):
    page = light.open(view="schedule", item="kernel:smooth")
    rows = page.texts(".gantt .row")
    assert len([row for row in rows if "line" in row]) == 13
    assert page.texts(".row.region .oplabel") == [
        "outside of loops: latency 4", "loop y: II 14, latency 80", "loop x: II 14, latency 61",
    ]  # fmt: skip
    assert len(page.all(".opbar.critical")) == 2 and len(page.all(".opbar.variable")) == 6
    cycle = page.run("return document.querySelectorAll('.row.region ~ .row .opbar.critical .offscreen')[1].textContent")
    assert cycle == "cycle 65, 7 cycles"


def test_schedule_shows_dependences_and_distances(light):
    page = light.open(view="schedule", item="op:smooth/1/8")
    page.run("document.querySelector('.row[aria-selected=true]').focus()")
    page.settle()
    assert len(page.all(".arrows path:not(.head)")) == 3
    assert page.texts_of(".arrows text") == ["distance 1"]
    page.press(UP)
    assert page.run("return document.activeElement.dataset.index") is not None
    assert not page.complaints()


def test_schedule_filters(light):
    page = light.open(view="schedule", item="kernel:smooth")
    page.press("/", "remainder")
    assert [row.split("\n")[0] for row in page.texts(".row.op .oplabel")] == ["integer remainder for y line 25"]


def test_large_schedule_draws_only_what_is_visible(light):
    page = light.open("large", view="schedule")
    assert page.run("return document.querySelector('.gantt').getAttribute('aria-rowcount')") == str(200 * (25 + 2))
    assert len(page.all(".row")) < 100
    page.run("document.querySelector('.gantt').scrollTop = 60000")
    page.wait("return Number(document.querySelector('.row').dataset.index) > 2900")
    assert len(page.all(".row")) < 100
    page.run("document.querySelector('.row').focus()")
    page.press("\ue010")
    assert page.run("return document.activeElement.dataset.index") == str(200 * 27 - 1)
    assert not page.complaints()


def test_circle_of_waiting(light):
    page = light.open(view="deadlock")
    label = page.run("return document.querySelector('svg.ring').getAttribute('aria-label')")
    assert label == (
        "send waits for smooth to send a value through credit; smooth waits for send to send a value through rows[0]"
    )
