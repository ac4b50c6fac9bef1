"""How the C++ of a design is divided among compilers, and with which settings Verilator runs."""

import pytest

from sim import build
from sim.build import HASTY, QUICK, STARTUP


@pytest.fixture
def generated(tmp_path):
    for name, size in {"top.cpp": 9, "top__Slow.cpp": 5, "part.cpp": 7, "part__Slow.cpp": 3, "binding.cpp": 1}.items():
        (tmp_path / name).write_text("/" * size)
    return tmp_path


def units(generated, flags):
    """The files of each unit, with its flags."""
    return [
        (sorted(line.split('"')[1] for line in unit.read_text().splitlines()), chosen)
        for unit, chosen in build._units(generated, flags).items()
    ]


def test_what_runs_once_is_compiled_without_optimization(generated, monkeypatch):
    monkeypatch.setenv("SLUICE_JOBS", "2")
    slow = ["binding.cpp", "part__Slow.cpp", "top__Slow.cpp"]
    assert units(generated, QUICK) == [(slow, STARTUP), (["top.cpp"], QUICK), (["part.cpp"], QUICK)]


def test_a_hasty_build_is_one_unit_for_each_job(generated, monkeypatch):
    monkeypatch.setenv("SLUICE_JOBS", "1")
    assert units(generated, HASTY) == [(sorted(path.name for path in generated.glob("*.cpp")), HASTY)]


def test_units_are_of_limited_size(generated, monkeypatch):
    monkeypatch.setenv("SLUICE_JOBS", "1")
    monkeypatch.setattr(build, "MOST_TOGETHER", 13)
    assert [names for names, _ in units(generated, HASTY)] == [
        ["binding.cpp", "part__Slow.cpp", "top.cpp"],
        ["part.cpp", "top__Slow.cpp"],
    ]


def test_settings_of_the_user_stay(monkeypatch):
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0:glibc.malloc.check=3")
    settings = build._tunables().split(":")
    assert settings[:2] == ["glibc.malloc.hugetlb=0", "glibc.malloc.check=3"]
    assert len(settings) == 1 + len(build.ALLOCATE) and "glibc.malloc.hugetlb=1" not in settings
    monkeypatch.delenv("GLIBC_TUNABLES")
    assert build._tunables().split(":") == [f"{name}={value}" for name, value in build.ALLOCATE.items()]
