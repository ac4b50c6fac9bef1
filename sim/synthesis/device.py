"""Parts that the open tools know: the flow that does so, and how its place and route names the part."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from .flows import ECP5, GOWIN, NEXUS, Flow

__all__ = ["OpenPart", "open_part"]


@dataclass(frozen=True)
class OpenPart:
    """A part, by the ``options`` of the place and route of its ``flow`` that choose it. Where ports must have pins,
    ``pins`` are some of its package, the first for a clock."""

    flow: Flow
    options: tuple[str, ...]
    pins: tuple[str, ...] = ()


#: LFE5UM5G-85F-8BG756C: kind, size, speed grade, package, number of balls, range of temperature
_ECP5 = re.compile(
    r"LFE5(?P<kind>U|UM|UM5G)-(?P<size>12|25|45|85)F-(?P<grade>[678])(?P<package>BG|MG)(?P<balls>\d+)[CI]"
)
_KINDS = {"U": "", "UM": "um-", "UM5G": "um5g-"}
_PACKAGES = {"BG": "CABGA", "MG": "CSFBGA"}
#: GW2A-LV18PG256C8/I7: series, voltage, size, package, speed grade
_GOWIN = re.compile(r"(?P<series>GW[12]A?[NRSZ]*)-(?:LV|UV)(?P<size>\d+)(?P<package>[A-Z]+\d+)[CEI]\d/[CEI]\d")
#: LIFCL-40-9BG400C: series, size, speed grade, package, range of temperature
_NEXUS = re.compile(r"(?:LIFCL|LFD2NX|LFCPNX)-\d+-[789][A-Z]+\d+[ACI]")
#: pins of packages, the first with a clock: on the boards that LiteX describes
_PINS = {"PG256": ("H11", "T13", "M11", "M9", "L10")}


def _ecp5(found: re.Match[str]) -> OpenPart:
    package = f"{_PACKAGES[found['package']]}{found['balls']}"
    die = f"{_KINDS[found['kind']]}{found['size']}k"
    return OpenPart(ECP5, (f"--{die}", "--package", package, "--speed", found["grade"]))


def _gowin(found: re.Match[str]) -> OpenPart | None:
    pins = _PINS.get(found["package"])
    family = f"family={found['series']}-{found['size']}"
    return OpenPart(GOWIN, ("--device", found[0], "--vopt", family), pins) if pins else None


_NAMES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], OpenPart | None]], ...] = (
    (_ECP5, _ecp5),
    (_GOWIN, _gowin),
    (_NEXUS, lambda found: OpenPart(NEXUS, ())),
)


def open_part(part: str) -> OpenPart | None:
    """The part of that order number, or None if no open tool knows it, or no pins of its package are known here."""
    return next((make(found) for names, make in _NAMES if (found := names.fullmatch(part))), None)
