"""The report of every example: it conforms to its schema, its areas sum exactly, and nearly all of its area has a line."""

import json
from pathlib import Path

import jsonschema
import pytest

from hls import Options, compile
from hls.model.area import NOTHING
from hls.report import json as report_json
from hls.report import schema, text
from hls.report.collect import collect

EXAMPLES = Path(__file__).parents[3] / "examples"
#: the largest share of the logic that may belong to no line of the source
NO_LINE = 0.1
#: lines of report.txt, fewer than which an example of many copies of its kernels has
MOST_LINES = {"systolic": 250}


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/kernel.cl")))
def test_report_of_an_example(name):
    source = EXAMPLES / name / "kernel.cl"
    report = collect(compile(source.read_text(), "de5net", Options(), str(source)), str(source))
    jsonschema.validate(json.loads(report_json.render(report)), schema.schema())
    assert sum((line.resources for line in report.lines), NOTHING) == report.resources == report.area.resources
    lost = sum((line.resources for line in report.lines if line.span is None), NOTHING)
    assert lost.logic < NO_LINE * report.resources.logic
    entries = {channel.name for channel in report.channels}
    for network in report.networks:
        assert set(network.channels) <= entries and (network.channels or len(network.kernels) < 2)
    assert len(text.render(report).splitlines()) < MOST_LINES.get(name, 500)
