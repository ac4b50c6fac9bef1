"""One frozen report of a compilation, and its text and JSON forms."""

from . import json, text
from .model import Access, Bottleneck, Channel, Kernel, Loop, Path, Private, Report, Resources, Serial, Share, Unroll

__all__ = [
    "Access",
    "Bottleneck",
    "Channel",
    "Kernel",
    "Loop",
    "Path",
    "Private",
    "Report",
    "Resources",
    "Serial",
    "Share",
    "Unroll",
    "json",
    "text",
]
