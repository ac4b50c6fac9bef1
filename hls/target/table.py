"""Typed reading of TOML tables; every error names the file and the key."""

import difflib
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from ..toml_text import parse, read_text

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["BoardError", "Table", "read_toml"]


class BoardError(ValueError):
    """A target description that cannot be used.

    Attributes: ``file`` (path or name as given), ``key`` (dotted path such as ``memory.bank[1].bytes``, empty for the
    file as a whole), ``message`` (what is wrong and what is expected).
    """

    def __init__(self, file: "Path | Traversable | str", key: str, message: str) -> None:
        self.file, self.key, self.message = str(file), key, message
        super().__init__(f"{self.file}: {key}: {message}" if key else f"{self.file}: {message}")


def read_toml(file: "Path | Traversable") -> "Table":
    """Parse ``file`` (a path or a package resource); a missing or malformed file is a :class:`BoardError`."""
    try:
        text = read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise BoardError(file, "", f"cannot be read: {error}") from error
    try:
        return Table(file, "", parse(text))
    except tomllib.TOMLDecodeError as error:
        raise BoardError(file, "", f"is not valid TOML: {error}") from error


class Table:
    """One TOML table. Keys are read one by one; :meth:`close` rejects keys that were never read."""

    def __init__(self, file: "Path | Traversable", path: str, data: dict) -> None:
        self.file, self.path, self._data = file, path, data
        self._taken: set[str] = set()

    def error(self, key: str, message: str) -> BoardError:
        """The error for ``key`` of this table (the empty key means the table itself)."""
        return BoardError(self.file, self._join(key) if key else self.path, message)

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def integer(
        self, key: str, low: int, high: int | None = None, power_of_two: bool = False, default: int | None = None
    ) -> int:
        """An integer in ``low..high``, a power of two if ``power_of_two``; a key with a ``default`` may be absent."""
        value = self._take(key, int, "an integer", default)
        self._check_range(key, value, low, high)
        if power_of_two and value & (value - 1):
            raise self.error(key, f"must be a power of two, not {value}")
        return value

    def number(self, key: str, low: float, high: float | None = None, default: float | None = None) -> float:
        """A finite number in ``low..high``, as a float; a key with a ``default`` may be absent."""
        value = float(self._take(key, (int, float), "a number", default))
        self._check_range(key, value, low, high)
        return value

    def text(self, key: str, choices: tuple[str, ...] = (), default: str | None = None) -> str:
        """A non-empty string, one of ``choices`` if there are any; a key with a ``default`` may be absent."""
        value = self._take(key, str, "a string", default)
        if choices and value not in choices:
            raise self.error(key, f"must be one of {', '.join(choices)}, not {value!r}")
        if not value:
            raise self.error(key, "must not be empty")
        return value

    def boolean(self, key: str) -> bool:
        """True or false."""
        self._taken.add(key)
        if key not in self._data:
            raise self.error(key, "is missing; expected true or false")
        if not isinstance(value := self._data[key], bool):
            raise self.error(key, f"must be true or false, not {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings with at least one element."""
        values = self._take(key, list, "a list of strings")
        if not values or not all(isinstance(value, str) and value for value in values):
            raise self.error(key, "must be a list of non-empty strings with at least one element")
        return tuple(values)

    def table(self, key: str) -> "Table":
        """The table under ``key``."""
        return Table(self.file, self._join(key), self._take(key, dict, f"a table [{self._join(key)}]"))

    def tables(self, key: str) -> tuple["Table", ...]:
        """The array of tables under ``key``, at least one."""
        kind = f"an array of tables [[{self._join(key)}]]"
        items = self._take(key, list, kind)
        if not items or not all(isinstance(item, dict) for item in items):
            raise self.error(key, f"must be {kind} with at least one element")
        return tuple(Table(self.file, f"{self._join(key)}[{i}]", item) for i, item in enumerate(items))

    def close(self) -> None:
        """Reject keys that were never read: a misspelt optional key must not be ignored."""
        for key in self._data:
            if key not in self._taken:
                near = difflib.get_close_matches(key, self._taken, 1)
                hint = f"; did you mean {near[0]}?" if near else f"; known here: {', '.join(sorted(self._taken))}"
                raise self.error(key, f"is not a known key{hint}")

    def _join(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _take(self, key, kinds, expected, default=None):
        self._taken.add(key)
        if key not in self._data and default is not None:
            return default
        if key not in self._data:
            raise self.error(key, f"is missing; expected {expected}")
        value = self._data[key]
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise self.error(key, f"must be {expected}, not {value!r}")
        return value

    def _check_range(self, key, value, low, high) -> None:
        if not (low <= value and value != float("inf")) or (high is not None and value > high):
            bound = f"at least {low}" if high is None else f"between {low} and {high}"
            raise self.error(key, f"must be {bound}, not {value}")
