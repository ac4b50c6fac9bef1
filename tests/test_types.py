"""The type check of the product code, as pyproject.toml configures it.

The first run reads all modules and the libraries they import, about ten seconds; mypy keeps what it found in .mypy_cache, and a
later run looks at changed modules and their users only.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("hls", "rtl_lib", "sim", "boards")


def _check(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mypy", *args], cwd=ROOT, capture_output=True, text=True, check=False)


def test_no_type_errors():
    found = _check()
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_check_notices_an_error(tmp_path):
    """An operation that may be missing, an attribute of hardware that no part has, and a function without annotations."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from amaranth import Module\n"
        "from hls.ir import Value\n\n\n"
        "def name(value: Value) -> str:\n"
        "    return value.op.opcode\n\n\n"
        "def build(m: Module) -> None:\n"
        "    m.Iff(1)\n\n\n"
        "def unannotated(x):\n"
        "    return x\n"
    )
    found = _check(str(wrong))
    assert re.findall(r"wrong\.py:(\d+): error: .*\[([a-z-]+)\]", found.stdout) == [
        ("6", "union-attr"),
        ("10", "attr-defined"),
        ("13", "no-untyped-def"),
    ], found.stdout + found.stderr


def test_exceptions_exist():
    """Every module named in a list of exceptions exists, once: a list may only become shorter."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        overrides = tomllib.load(file)["tool"]["mypy"]["overrides"]
    for one in overrides:
        if "ignore_missing_imports" in one:
            continue
        names = one["module"]
        assert len(set(names)) == len(names)
        for name in names:
            place = ROOT / name.replace(".", "/")
            assert place.with_suffix(".py").exists() or (place / "__init__.py").exists(), f"{name} in pyproject.toml"


def test_every_ignore_says_which_and_why():
    """``# type: ignore`` names the error and is followed by the reason."""
    files = [
        path
        for folder in (*PRODUCT, "typings")
        for path in (ROOT / folder).rglob("*.py*")
        if path.suffix in (".py", ".pyi")
    ]
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if "type: ignore" in line:
                assert re.search(r"# type: ignore\[[a-z-]+(, [a-z-]+)*\]  # \w", line), f"{path}:{number}"
