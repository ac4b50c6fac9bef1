"""The JSON Schema of a report, generated from its dataclasses: ``python -m hls.report.schema`` prints it.

docs/report.schema.json holds the result.
"""

import json
from typing import Any

from ..records import schema_of
from .model import SCHEMA, Report

__all__ = ["schema", "text"]


def schema() -> dict[str, Any]:
    """The schema of :func:`hls.report.json.render`'s result."""
    return schema_of(Report, "Report of one compilation", SCHEMA)


def text() -> str:
    """The schema as it is written into docs/report.schema.json."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    print(text(), end="")
