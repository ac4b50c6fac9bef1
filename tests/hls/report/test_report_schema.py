"""The JSON Schema of reports: generated from the dataclasses, and reports conform to it."""

import dataclasses
import json
from pathlib import Path

import jsonschema
import pytest
from planned import kernel
from samples import REPORT

from hls.report import json as report_json
from hls.report import schema
from hls.report.model import Report

DOCUMENT = Path(__file__).parents[3] / "docs/report.schema.json"


def check(report: Report) -> None:
    jsonschema.validate(json.loads(report_json.render(report)), schema.schema())


def test_the_document_is_what_the_dataclasses_say(request):
    if request.config.getoption("--refresh"):
        DOCUMENT.write_text(schema.text())
    assert DOCUMENT.read_text() == schema.text()
    jsonschema.Draft202012Validator.check_schema(schema.schema())


def test_reports_conform():
    check(REPORT)
    check(Report("k.cl", "b", 1.0, (kernel("for (int i = 0; i < n; i++)\n o[i] = a[i] / (i + 3);"),)))


def test_what_does_not_conform_is_refused():
    with pytest.raises(jsonschema.ValidationError):
        check(dataclasses.replace(REPORT, clock_mhz="fast"))
    with pytest.raises(jsonschema.ValidationError):
        check(dataclasses.replace(REPORT, schema=1))
