"""One frozen report of a compilation, and its text and JSON forms."""

from . import json, text
from .model import (
    Access,
    Bottleneck,
    Channel,
    Conflict,
    Copies,
    Kernel,
    Loop,
    Part,
    Path,
    Private,
    Report,
    Resources,
    Serial,
    Share,
    Unroll,
    WouldBe,
)

__all__ = [
    "Access",
    "Bottleneck",
    "Channel",
    "Conflict",
    "Copies",
    "Kernel",
    "Loop",
    "Part",
    "Path",
    "Private",
    "Report",
    "Resources",
    "Serial",
    "Share",
    "Unroll",
    "WouldBe",
    "json",
    "text",
]
