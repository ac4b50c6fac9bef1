"""docs/guides.md: every option, attribute and pragma, and what the vendor's guides say, each with its tests.

    python -m tests.guides.document

Options come from the commands, attributes and pragmas from the front end's tables, and the rest from ``rows.toml``.
The tests of an option, attribute or pragma are those whose text has it.
"""

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from hls.cli import main as cli
from hls.frontend.attributes import HINTS, OWNERS
from hls.frontend.pragmas import LOOP_PRAGMAS
from hls.ir.attributes import ATTRIBUTES

__all__ = ["PAGE", "chapters", "commands", "missing", "page"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guides.md"
ROWS = Path(__file__).parent / "rows.toml"
#: the tests that only collect what there is do not show what it does
NO_TESTS = ("test_messages.py", "test_lazy.py", "test_guides.py", "test_guide.py")

#: by the key of an attribute in the IR
MEANINGS = {row.key: row.meaning for row in ATTRIBUTES.values()}

HEAD = """# The vendor's guides, row by row

What the best practices guides of the vendor's discontinued compiler name: options, attributes, pragmas, messages, and advice; what each is here, and a test that shows it. `python -m tests.guides.document`
writes this page from the commands, from the front end's tables and from `tests/guides/rows.toml`; a test fails for an option, attribute or pragma that no test uses. *Pairs* are kernels before and
after a change that a guide advises (`tests/guides/pairs.cl`): `make bench` prints cycles, II and area of both.
"""


@functools.cache
def _words_of_tests() -> dict[str, list[str]]:
    """The files in tests/ that have a word, an option (`--fit`), a pragma (`pragma unroll`) or a word in quotation marks,
    tests before kernels."""
    tests = ROOT / "tests"
    found: dict[str, list[str]] = {}
    files = [one for kind in ("*.py", "*.cl") for one in sorted(tests.rglob(kind)) if one.parent != ROWS.parent]
    for file in sorted(files, key=lambda one: not one.name.startswith("test_")):
        if file.name in NO_TESTS:
            continue
        text = file.read_text()
        words = {word for form in (r"[\w-]+", r"pragma \w+", r'"\w+"') for word in re.findall(form, text)}
        for word in words:
            found.setdefault(word, []).append(str(file.relative_to(tests)))
    return found


def tests_of(*words: str, with_word: str = "", most: int = 2) -> list[str]:
    """The first files whose text has one of the words, and also ``with_word``; of options, which have one, only
    tests."""
    index = _words_of_tests()
    found = dict.fromkeys(file for word in words for file in index.get(word, ()))
    if with_word:
        beside = set(index.get(with_word, ()))
        found = dict.fromkeys(file for file in found if file in beside and file.endswith(".py"))
    return sorted(found, key=lambda name: not Path(name).name.startswith("test_"))[:most]


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands with their names, those of groups of commands as well."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield before + name, command
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")


def _options() -> Iterator[tuple[str, str, str, list[str]]]:
    """(command, option, meaning, tests). Commands that share an option share its tests."""
    found, shared = [], {}
    for name, command in commands(cli):
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                spelled = sorted({*option.opts, *option.secondary_opts}, key=len)
                key = ", ".join(f"`{one}`" for one in spelled), option.help or ""
                tests = tests_of(*spelled, with_word=f'"{name.split()[-1]}"')
                shared[key] = shared.get(key) or tests
                found.append((name, key, tests))
    for name, key, tests in found:
        yield name, *key, tests or shared[key]


def _words(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    for name in names:
        yield name, tests_of(name, f"__{name}", f"__{name}__")


def _attributes() -> Iterator[tuple[str, str, str, list[str]]]:
    """(attribute, holder, meaning, tests)."""
    for holder, forms in OWNERS:
        for name, tests in _words(forms):
            form = forms[name]
            info = MEANINGS.get(form.name or name)
            yield (name, holder, info if info and form.kept else _without_key(name), tests)


def _without_key(name: str) -> str:
    """The meaning of an attribute that the IR has no key for."""
    return f"no effect, warned of: {HINTS[name]}" if name in HINTS else "an integer of exactly so many bits"


def _pragmas() -> Iterator[tuple[str, str, list[str]]]:
    for name in sorted(LOOP_PRAGMAS):
        form = LOOP_PRAGMAS[name]
        yield name, MEANINGS[form.attr], tests_of(f"pragma {name}")


def chapters() -> list[tuple[str, list[tuple[str, str, str]]]]:
    """The chapters of the guides: title, and rows of what the guide says, what is here, and the test."""
    data = tomllib.loads(ROWS.read_text())
    return [(chapter["title"], [tuple(row) for row in chapter["rows"]]) for chapter in data["chapter"]]


def missing() -> list[str]:
    """Options, attributes and pragmas that no test uses."""
    return [
        *(f"{command} {option}" for command, option, _, tests in _options() if not tests),
        *(f"attribute {name} of {holder}" for name, holder, _, tests in _attributes() if not tests),
        *(f"#pragma {name}" for name, _, tests in _pragmas() if not tests),
    ]


def _cells(*cells: str) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [_cells(*heads), "| " + " | ".join("---" for _ in heads) + " |", *(_cells(*row) for row in rows), ""]


def _linked(tests: Iterable[str]) -> str:
    return ", ".join(f"[{Path(one).name}](../tests/{one})" for one in tests)


def page() -> str:
    """The text of docs/guides.md."""
    lines = [HEAD]
    for title, rows in chapters():
        lines += [f"## {title}", ""]
        lines += _table(("guide", "here", "test"), ((says, here, _linked([test])) for says, here, test in rows))
    lines += ["## Options", ""]
    options = (
        (f"`sluice {command}`", option, meaning, _linked(tests)) for command, option, meaning, tests in _options()
    )
    lines += _table(("command", "option", "meaning", "test"), options)
    lines += ["## Attributes", ""]
    attributes = ((f"`{name}`", holder, meaning, _linked(tests)) for name, holder, meaning, tests in _attributes())
    lines += _table(("attribute", "of", "meaning", "test"), attributes)
    lines += ["## Pragmas of loops", ""]
    lines += _table(
        ("pragma", "meaning", "test"), ((f"`{name}`", meaning, _linked(tests)) for name, meaning, tests in _pragmas())
    )
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
