"""The two readings of the paper's equations."""

from enum import Enum

__all__ = ["Variant"]


class Variant(Enum):
    """The equations as the paper prints them, or with the corrections of docs/rationale/model.md."""

    PRINTED = "printed"
    CORRECTED = "corrected"
