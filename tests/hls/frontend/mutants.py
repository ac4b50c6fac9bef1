"""Mutated programs: programs of the repository with tokens deleted, doubled, swapped, replaced or inserted, or
truncated; or with a few tokens replaced by others of their kind."""

import random
import re
from pathlib import Path

__all__ = ["BAD", "GOOD", "SMALL", "mutated", "varied"]

ROOT = Path(__file__).parents[3]


def _texts(*patterns: str) -> list[str]:
    return [path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


GOOD = _texts("examples/*/kernel.cl", "tests/kernels/*.cl")
BAD = _texts("tests/errors/*.cl")
#: few kernels each, so that a mutant that is still a program takes a second or two all the way to hardware
SMALL = _texts("examples/*/kernel.cl", "tests/hls/frontend/small/*.cl")
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_STRANGE = [
    "#",
    "##",
    "\\\n",
    '"',
    "'",
    "/*",
    "*/",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&",
    "::",
    "?",
    "0x",
    "1e",
    "__attribute__((",
    "__kernel",
    "double4",
    "struct",
    "#pragma unroll",
    "#if",
    "case",
    "\0",
    "é",
    "$",
    "...",
    "goto",
    "typedef",
    "sizeof",
    "->",
    "= {",
    "for (",
    "enum {",
    "1e99999",
    "0b2",
    "\t",
    "restrict",
    "0",
    "-1",
    "1UL",
    "i",
    "NULL",
    "float3",
    "bool",
    "__local",
    "const",
    "[2]",
    "return",
    "break;",
    "** ",
    "0.5",
]


def mutated(rng: random.Random, seeds: list[str]) -> str:
    """One of ``seeds`` with up to six changes, whatever they make of it."""
    tokens = _TOKEN.findall(rng.choice(seeds))
    for _ in range(rng.randint(1, 6)):
        k, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(6):
            case 0:
                del tokens[k : k + rng.randint(1, 4)]
            case 1:
                tokens.insert(k, tokens[k])
            case 2:
                tokens[k], tokens[j] = tokens[j], tokens[k]
            case 3:
                tokens[k] = tokens[j]
            case 4:
                tokens.insert(k, rng.choice(_STRANGE))
            case 5:
                del tokens[k + rng.randrange(200) :]
        if not tokens:
            break
    return "".join(tokens)


def varied(rng: random.Random, seeds: list[str]) -> str:
    """One of ``seeds`` in which up to three names, numbers or signs are others of their kind: often still a program."""
    tokens = _TOKEN.findall(rng.choice(seeds))
    places: dict[str, list[int]] = {}
    for k, token in enumerate(tokens):
        places.setdefault(_kind(token), []).append(k)
    del places["space"]
    for _ in range(rng.randint(1, 3)):
        kind, found = rng.choice(sorted(places.items()))
        tokens[rng.choice(found)] = rng.choice([*(tokens[k] for k in found), *_OTHERS[kind]])
    return "".join(tokens)


_OTHERS = {
    "name": [
        "int",
        "uint",
        "char",
        "long",
        "float",
        "double",
        "half",
        "bool",
        "if",
        "while",
        "float4",
        "get_global_id",
        "sizeof",
    ],
    "number": ["0", "1", "-1", "7", "31", "64", "1000000", "0xffffffff", "1L << 40"],
    "sign": ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">", "==", "=", "+=", "--", "!", "~", "?", ";"],
}


def _kind(token: str) -> str:
    if token.isspace():
        return "space"
    return "number" if token[0].isdigit() else "name" if token[0].isalpha() or token[0] == "_" else "sign"
