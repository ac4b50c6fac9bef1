"""report.html as a file: its data, that nothing in it can end an element, and its vendored part."""

import hashlib
import json
import re
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest

from hls.report import html, profile_page
from hls.report import json as report_json
from hls.report.colours import colours
from hls.report.packing import deflated, inflated, pack, unpack
from tests.browser.sample import TEXT, WEIGHTS, large, sample

PAGE = Path(str(resources.files("hls.report"))) / "page"
#: dagre 3.1.3 as its authors publish it, and its licence
VENDORED = {
    "dagre.min.js": "54a503e346f93ca0bb10abe7999587e037262935687aca45eb4e4b0f64bbb578",
    "dagre.LICENSE": "6a349742a6cb219d5a2fc8d0844f6d89a6efc62e20c664450d884fc7ff2d6015",
}


class Elements(HTMLParser):
    """The elements of a page in their order, and the text in each ``<script>``."""

    def __init__(self, text):
        super().__init__()
        self.found, self.scripts, self.inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "script"

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def page():
    return html.render(sample())


def test_data_is_report_json(page):
    data = Elements(page).scripts[0]
    assert unpack(inflated(json.loads(data))) == json.loads(report_json.render(sample()))


def test_no_text_of_a_source_ends_the_element_that_contains_it(page):
    assert "</script>" in TEXT, "the sample has nothing to escape"
    elements = Elements(page)
    assert len(elements.scripts) == 4, "data, colours, layout, page"
    assert [dict(attrs).get("id") for tag, attrs in elements.found if tag == "script"] == [
        "report",
        "colours",
        "dagre",
        None,
    ]
    assert html.data_text({"a": "</script><!--"}) == '{"a":"\\u003c/script>\\u003c!--"}'


def test_page_may_load_nothing(page):
    elements = Elements(page).found
    policy = next(attrs["content"] for tag, attrs in elements if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'unsafe-inline' blob:;")
    assert not [attrs for _, attrs in elements if "src" in attrs or "href" in attrs]
    assert "sourceMappingURL" not in page


def test_vendored_layout_is_the_published_one_and_named(page):
    for name, digest in VENDORED.items():
        assert hashlib.sha256((PAGE / "vendor" / name).read_bytes()).hexdigest() == digest, name
    assert f'"{html.DAGRE_VERSION}"' in (PAGE / "vendor" / "dagre.min.js").read_text()
    assert (PAGE / "vendor" / "dagre.LICENSE").read_text() in page
    assert f"dagre {html.DAGRE_VERSION} (MIT licence" in page


@pytest.mark.parametrize("report", [sample(), large(20)], ids=["sample", "large"])
def test_packing_keeps_data_and_is_smaller(report):
    data = report_json.plain(report)
    packed = pack(json.loads(json.dumps(data)))
    assert unpack(packed) == json.loads(json.dumps(data))
    assert len(json.dumps(packed)) < len(json.dumps(data))
    assert inflated(deflated(packed)) == packed


def test_a_page_of_200_loops_is_below_400_kilobytes():
    report = large(200)
    assert len(json.dumps(report_json.plain(report))) > 1_000_000
    assert len(html.render(report).encode()) < 400_000


def test_compacting_keeps_code():
    assert html._compact("/** words\n * more */\nfunction f() {\n  // why\n  return 1; // kept\n}\n") == (
        "function f() {\nreturn 1; // kept\n}\n"
    )


def test_every_script_is_joined_and_small():
    named = {*html.SCRIPTS, *html.STYLES, *profile_page.SCRIPTS, *profile_page.STYLES}
    files = [path for path in PAGE.rglob("*") if path.suffix in (".js", ".css") and path.parent.name != "vendor"]
    assert {path.relative_to(PAGE).as_posix() for path in files} == named
    long = {path.name: lines for path in files if (lines := len(path.read_text().splitlines())) > 400}
    assert not long


@pytest.mark.parametrize("scripts", [html.SCRIPTS, profile_page.SCRIPTS], ids=["report", "profile"])
def test_no_name_is_defined_by_two_scripts(scripts):
    """They share one scope, in which the second function of a name would silently replace the first."""
    found: dict[str, str] = {}
    for name in scripts:
        for one in re.findall(r"^(?:async )?(?:function\*?|const|let) (\w+)", (PAGE / name).read_text(), re.MULTILINE):
            assert one not in found, f"{one} is defined by {found.get(one)} and {name}"
            found[one] = name


@pytest.mark.parametrize("text", [TEXT, WEIGHTS, "", "\n", "kernel"])
def test_colours_have_a_list_for_each_line_and_lie_in_it(text):
    lines = text.split("\n")
    found = colours(text)
    assert len(found) == len(lines)
    for line, pieces in zip(lines, found, strict=True):
        ends = 0
        for first, length, colour in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
            assert ends <= first and first + length <= len(line) and re.fullmatch("[a-z]", colour)
            ends = first + length


def test_colours_know_opencl():
    (line,) = colours("__global const float4 *restrict a = 0x1f; // b")
    pieces = dict(zip(("__global", "const", "float4", "restrict", "0x1f", "// b"), line[2::3], strict=True))
    assert pieces == {"__global": "k", "const": "k", "float4": "t", "restrict": "k", "0x1f": "n", "// b": "c"}
