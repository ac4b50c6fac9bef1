"""Parts that the open tools can place, as nextpnr names them."""

import re
from dataclasses import dataclass

__all__ = ["Ecp5", "ecp5_part"]

#: LFE5UM5G-85F-8BG756C: kind, size, speed grade, package, number of balls, range of temperature
_ECP5 = re.compile(
    r"LFE5(?P<kind>U|UM|UM5G)-(?P<size>12|25|45|85)F-(?P<grade>[678])(?P<package>BG|MG)(?P<balls>\d+)[CI]"
)
_KINDS = {"U": "", "UM": "um-", "UM5G": "um5g-"}
_PACKAGES = {"BG": "CABGA", "MG": "CSFBGA"}


@dataclass(frozen=True)
class Ecp5:
    """A part of the ECP5 family: ``die`` and ``package`` in nextpnr's words, and the speed grade."""

    die: str
    package: str
    grade: int

    @property
    def options(self) -> list[str]:
        """The options of nextpnr-ecp5 that choose it."""
        return [f"--{self.die}", "--package", self.package, "--speed", str(self.grade)]


def ecp5_part(part: str) -> Ecp5 | None:
    """The part of that order number, or None if it is none of the family."""
    found = _ECP5.fullmatch(part)
    if found is None:
        return None
    package = f"{_PACKAGES[found['package']]}{found['balls']}"
    return Ecp5(f"{_KINDS[found['kind']]}{found['size']}k", package, int(found["grade"]))
