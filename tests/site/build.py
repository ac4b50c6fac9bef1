"""The documentation as a site: ``python -m tests.site.build [FOLDER]``, or ``make docs``.

The pages of docs/ are copied, with README.md as the first; the reference of the command line is generated from the
commands, and that of the messages from their explanations. A link to a file that is not on the site becomes its name.
mkdocs then reports every dead link and anchor, and the build fails.
"""

import argparse
import inspect
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import yaml

from hls.cli import main as commands
from hls.diag import Code
from hls.diag.explain import explain

__all__ = ["assemble", "build"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONFIG = DOCS / "mkdocs.yml"
PICTURES = ROOT / "tests/browser/screenshots"

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s#]*)(?P<anchor>#[^)\s]*)?\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def assemble(folder: Path) -> dict[str, Any]:
    """Write the pages of the site into ``folder``, and return the navigation with its folders listed."""
    for page in sorted(DOCS.rglob("*")):
        if page.is_file() and page != CONFIG:
            target = folder / page.relative_to(DOCS)
            target.parent.mkdir(parents=True, exist_ok=True)
            if page.suffix == ".md":
                target.write_text(on_the_site(page.read_text(), page))
            else:
                shutil.copy(page, target)
    (folder / "index.md").write_text(on_the_site((ROOT / "README.md").read_text(), ROOT / "README.md"))
    shutil.copytree(PICTURES, folder / "pictures", ignore=shutil.ignore_patterns("*.txt"))
    (folder / "reference").mkdir()
    (folder / "reference/commands.md").write_text("\n".join(command_reference()))
    (folder / "reference/explanations.md").write_text("\n".join(explanations()))
    return {"nav": [listed(one) for one in yaml.safe_load(CONFIG.read_text())["nav"]]}


def listed(entry: Any) -> Any:
    """An entry of the navigation; a list of one folder's name becomes that of its pages."""
    if not isinstance(entry, dict):
        return entry
    ((title, inside),) = entry.items()
    if inside == [folder := inside[0]] and isinstance(folder, str) and (DOCS / folder).is_dir():
        first = [f"{folder}.md"] if (DOCS / f"{folder}.md").is_file() else []
        return {title: first + [str(page.relative_to(DOCS)) for page in sorted((DOCS / folder).glob("*.md"))]}
    return {title: [listed(one) for one in inside] if isinstance(inside, list) else inside}


def on_the_site(text: str, page: Path) -> str:
    """The text of a page with its links as they are on the site, and without the options of code blocks that only
    :mod:`tests.site.pages` knows."""
    here = DOCS if page == ROOT / "README.md" else page.parent

    def link(found: re.Match[str]) -> str:
        target, anchor = found["target"], found["anchor"] or ""
        if not target or re.match(r"\w+:", target):
            return found[0]
        meant = (page.parent / target).resolve()
        if meant.is_relative_to(PICTURES):
            return f"{found['picture']}[{found['text']}]({relative(DOCS / 'pictures' / meant.name, here)})"
        if meant == ROOT / "README.md":
            return f"[{found['text']}]({relative(DOCS / 'index.md', here)}{anchor})"
        if meant.is_relative_to(DOCS) and not meant.is_dir():
            return f"{found['picture']}[{found['text']}]({relative(meant, here)}{anchor})"
        if not meant.exists():
            return found[0]  # mkdocs reports it
        name = str(meant.relative_to(ROOT))
        return f"{found['text']}" if name in found["text"] else f"{found['text']} (`{name}`)"

    out, end = [], 0
    for fence in _FENCE.finditer(text):
        out += [_LINK.sub(link, text[end : fence.start()]), re.sub(r"^```(\w+) board\b", r"```\1", fence[0])]
        end = fence.end()
    return "".join([*out, _LINK.sub(link, text[end:])])


def relative(target: Path, folder: Path) -> str:
    """The path from ``folder`` to ``target``."""
    common = next(one for one in (folder, *folder.parents) if target.is_relative_to(one))
    return "/".join([*[".."] * len(folder.relative_to(common).parts), str(target.relative_to(common))])


def command_reference() -> Iterator[str]:
    """All commands, with their arguments and options, from the definitions that the program itself uses."""
    yield "# Command line\n\n`sluice COMMAND --help` prints the same.\n"
    with click.Context(commands, info_name="sluice") as whole:
        for name in commands.list_commands(whole):
            command = commands.get_command(whole, name)
            assert command is not None, name
            with click.Context(command, info_name=f"sluice {name}", parent=None) as context:
                usage = " ".join(command.collect_usage_pieces(context))
                yield f"## sluice {name}\n\n```text\nsluice {name} {usage}\n```\n"
                yield f"{_escaped_lines(inspect.cleandoc(command.help or ''))}\n"
                yield from options(command, context)


def options(command: click.Command, context: click.Context) -> Iterator[str]:
    """A table of the options of a command."""
    records = [record for one in command.get_params(context) if (record := one.get_help_record(context))]
    records = [record for record in records if record[1]]
    if records:
        yield "| option | meaning |\n| --- | --- |"
        for name, meaning in records:
            yield f"| `{name.replace('|', chr(92) + '|')}` | {_escaped(meaning)} |"
        yield ""


def explanations() -> Iterator[str]:
    """Every message with its explanation, under its number."""
    yield "# Messages explained\n\n`sluice explain NUMBER` prints the same for one message.\n"
    for code in Code:
        found = explain(code.number)
        assert found is not None, code
        yield f"## {code.number}: {_escaped(code.title)}\n\n{_escaped(found.why)}\n\n**What to do:** {_escaped(found.fix)}\n"
        if found.example:
            yield f"```c\n{found.example.rstrip()}\n```\n"


def _escaped(text: str) -> str:
    """Text of a program as one line of Markdown that shows it."""
    return _escaped_lines(" ".join(text.split()))


def _escaped_lines(text: str) -> str:
    return re.sub(r"([|*_\[\]`])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))


def build(site: Path) -> None:
    """Build the site into ``site``; an error if there is a dead link, a page without a place or a warning.

    mkdocs takes a relative folder as one beside its configuration, in docs/; here it is one of the working directory.
    """
    from mkdocs.commands.build import build as build_site  # in the extra `docs`
    from mkdocs.config import load_config

    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "docs"
        pages.mkdir()
        extra = assemble(pages)
        config = load_config(str(CONFIG), docs_dir=str(pages), site_dir=str(site.resolve()), strict=True, **extra)
        build_site(config)


def main() -> None:
    """Build the documentation as a site."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "out/site")
    site = parser.parse_args().folder
    build(site)
    print(f"{site / 'index.html'}: {sum(1 for _ in site.rglob('*.html'))} pages")
    print(f"the search needs a server: python3 -m http.server -d {site}, then http://localhost:8000")


if __name__ == "__main__":
    main()
