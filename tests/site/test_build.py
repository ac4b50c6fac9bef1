"""The documentation as a site: no dead link, every page in the navigation, and every command, option and message."""

import html
import re
from pathlib import Path

import click
import pytest

pytest.importorskip("mkdocs", reason="the extra `test` brings it")

from mkdocs.exceptions import Abort

from hls.cli import main as commands
from hls.diag import Code

from . import build as site


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    site.build(folder)
    return folder


def test_a_relative_folder_is_one_of_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = []
    monkeypatch.setattr("mkdocs.commands.build.build", lambda config: asked.append(config["site_dir"]))
    site.build(Path("out/site"))
    assert asked == [str(tmp_path / "out/site")]


def text_of(page):
    """What a reader sees of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", page.read_text())).split())


def test_every_page_of_the_documentation_is_there(built):
    for page in site.DOCS.rglob("*.md"):
        name = page.relative_to(site.DOCS)
        folder = name.parent if name.stem in ("index", "README") else name.with_suffix("")
        assert (built / folder / "index.html").is_file(), name
    assert (built / "search/search_index.json").stat().st_size > 100_000


def test_every_command_and_option_is_there(built):
    shown = text_of(built / "reference/commands/index.html")
    with click.Context(commands) as context:
        for name in commands.list_commands(context):
            assert f"sluice {name} [OPTIONS]" in shown
            for parameter in commands.get_command(context, name).params:
                if isinstance(parameter, click.Option) and not parameter.hidden:
                    assert parameter.opts[0] in shown, f"{name} {parameter.opts}"


def test_every_message_is_explained(built):
    shown = text_of(built / "reference/explanations/index.html")
    assert not [code for code in Code if f"{code.number}: {' '.join(code.title.split())}" not in shown]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[a](nowhere.md)", "nowhere.md"),
        ("[a](machine.md#no-such-heading)", "no-such-heading"),
        ("![a](../tests/browser/screenshots/none.webp)", "none.webp"),
    ],
)
def test_a_dead_link_ends_the_build(text, told, tmp_path, monkeypatch, caplog):
    whole = site.assemble

    def with_dead_link(folder):
        extra = whole(folder)
        page = folder / "security.md"
        page.write_text(page.read_text() + site.on_the_site(f"\n\n{text}\n", site.DOCS / "security.md"))
        return extra

    monkeypatch.setattr(site, "assemble", with_dead_link)
    with pytest.raises(Abort):
        site.build(tmp_path)
    assert told in caplog.text


def test_links_to_files_beside_the_pages_become_their_names():
    page = site.DOCS / "howto/ii.md"
    assert site.on_the_site("see [a](../machine.md#x) and [b](../../hls/cli.py)", page) == (
        "see [a](../machine.md#x) and b (`hls/cli.py`)"
    )
    assert site.on_the_site("[sum](docs/tuning.md), [s](https://x.org)", site.ROOT / "README.md") == (
        "[sum](tuning.md), [s](https://x.org)"
    )
    assert site.on_the_site("```c\n[a](b.md)\n```\n```console board\n$ x\n```", page) == (
        "```c\n[a](b.md)\n```\n```console\n$ x\n```"
    )
