"""Damage to an entry of a cache: each function takes the entry's folder and the name of its product."""

import random
import shutil
from pathlib import Path

from sim.cache import SEAL


def _not_a_folder(entry: Path, _product: str) -> None:
    shutil.rmtree(entry)
    entry.write_text("")


def _only_the_lock(entry: Path, change) -> None:
    """Without the entry, as nobody looks at the lock of one that is whole."""
    shutil.rmtree(entry)
    lock = entry.with_name(f"{entry.name}.lock")
    lock.unlink()
    change(lock)


def _cut(path: Path, bytes: int) -> None:
    path.write_bytes(path.read_bytes()[:-bytes])


DAMAGE = {
    "empty product": lambda e, p: (e / p).write_text(""),
    "cut product": lambda e, p: _cut(e / p, 3),
    "other product": lambda e, p: (e / p).write_bytes((e / p).read_bytes()[:-1] + b"~"),
    "text": lambda e, p: (e / p).write_text("#!/bin/sh\necho damaged\n"),
    "not executable": lambda e, p: (e / p).chmod((e / p).stat().st_mode ^ 0o111),
    "no product": lambda e, p: (e / p).unlink(),
    "product is a folder": lambda e, p: ((e / p).unlink(), (e / p).mkdir()),
    "no seal": lambda e, p: (e / SEAL).unlink(),
    "other seal": lambda e, p: (e / SEAL).write_text("12 ab 1\n"),
    "seal is no text": lambda e, p: (e / SEAL).write_bytes(b"\xff\xfe\x00"),
    "empty folder": lambda e, p: (shutil.rmtree(e), e.mkdir()),
    "folder is a file": _not_a_folder,
    "folder is a dead link": lambda e, p: (shutil.rmtree(e), e.symlink_to("nowhere")),
    "lock is a folder": lambda e, p: _only_the_lock(e, Path.mkdir),
    "no lock": lambda e, p: _only_the_lock(e, lambda lock: None),
}


def change_bytes(entry: Path, product: str, rng: random.Random) -> None:
    """Change, cut off or add bytes anywhere in one of the two files that matter, or take it away."""
    path = entry / rng.choice([product, SEAL])
    data = bytearray(path.read_bytes())
    kind = rng.randrange(4)
    if kind == 0:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[rng.randrange(len(data)) :]
    elif kind == 2:
        data += bytes([rng.randrange(256)])
    path.unlink()  # a library that is loaded stays as it is
    if kind != 3:
        path.write_bytes(data)
        path.chmod(0o755)
