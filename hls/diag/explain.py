"""What a message's number stands for: why it is a problem, what to do, and an example."""

import difflib
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from .codes import Code

__all__ = ["Explanation", "explain", "nearest"]


@dataclass(frozen=True)
class Explanation:
    """Of one kind of message."""

    code: Code
    why: str  #: why it is a problem
    fix: str  #: what to do about it
    example: str = ""  #: the text of a program that has it; "" for none

    def text(self) -> str:
        """As `sluice explain` shows it."""
        lines = [f"{self.code.number}: {self.code.title}", "", self.why, "", f"What to do: {self.fix}"]
        if self.example:
            lines += ["", "Example:", *(f"    {line}" for line in self.example.splitlines())]
        return "\n".join(lines)


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(resources.files(__package__).joinpath("explanations.toml").read_text("utf-8"))


def explain(number: str) -> Explanation | None:
    """The explanation of a number such as E0201, in upper or lower case, without its leading zeros (E201), or without
    its letter where only one message has these digits; None if no message has it."""
    letter, digits = _split(number)
    named = [one for one in Code if one.number[1:] == digits and letter in ("", one.number[0])]
    code = named[0] if len(named) == 1 else None
    return Explanation(code, **_table()[code.number]) if code else None


def _split(number: str) -> tuple[str, str]:
    """The letter (may be empty) and the four digits of a number as users write it; "" and "" of any other text."""
    written = re.fullmatch(r"([A-Za-z]?)(\d{1,4})", number)
    return (written[1].upper(), written[2].zfill(4)) if written else ("", "")


def nearest(number: str) -> tuple[str, ...]:
    """Numbers that ``number`` may be meant for: those with its digits, else similar ones."""
    numbers = [one.number for one in Code]
    _, digits = _split(number)
    same = [one for one in numbers if one[1:] == digits]
    return tuple(same or difflib.get_close_matches(number.upper(), numbers, 3, 0.7))
