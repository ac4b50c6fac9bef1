"""The JSON Schema of profile.json, generated from its dataclasses: ``python -m hls.profile.schema`` prints it.

docs/profile.schema.json holds the result.
"""

import json

from ..records import schema_of
from .model import SCHEMA, Profile

__all__ = ["text"]


def text() -> str:
    """The schema as it is written into docs/profile.schema.json."""
    return json.dumps(schema_of(Profile, "Profile of one run of a host program", SCHEMA), indent=1) + "\n"


if __name__ == "__main__":
    print(text(), end="")
