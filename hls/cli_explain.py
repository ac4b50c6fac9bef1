"""`sluice explain`: what the number of a message stands for."""

import dataclasses
import json
import re

import click

from .diag.explain import explain, nearest

__all__ = ["explain_command"]


@click.command(short_help="Explain the number of a message.")
@click.argument("number")
@click.option("--json", "as_json", is_flag=True, help="The explanation as JSON.")
def explain_command(number: str, as_json: bool) -> None:
    """Explain NUMBER, as it stands in a message: error[E0201]. Says why it is a problem and what to do, with an example
    where a few lines of source have it."""
    written = re.search(r"\b[a-z]?\d{1,4}\b", number, re.IGNORECASE)
    found = explain(written[0] if written else number)
    if found is None:
        near = nearest(written[0] if written else number)
        hint = f"similar ones are {', '.join(near)}" if near else "docs/messages.md lists them"
        raise click.BadParameter(f"no message has the number {number}; {hint}", param_hint="NUMBER")
    if as_json:
        record = dataclasses.asdict(found) | {"code": found.code.number, "title": found.code.title}
        click.echo(json.dumps(record, indent=1))
    else:
        click.echo(found.text())
