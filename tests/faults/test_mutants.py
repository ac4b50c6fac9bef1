"""A slice of the campaign of mutants; it finds faults and reduces them."""

import re

import pytest

from tests.faults import mutants


@pytest.fixture
def campaign(tmp_path):
    return mutants.Campaign(tmp_path, limit=60, shrink=20)


def test_a_slice(campaign):
    for number in range(20_000, 20_060):
        campaign.attempt(1, number)
    assert not campaign.faults
    assert campaign.ends["refused by the frontend"] > 10 and sum(campaign.ends.values()) == 60


def test_a_mutant_is_known_by_its_seed_and_number():
    assert mutants.mutant(1, 7) == mutants.mutant(1, 7) != mutants.mutant(2, 7)


def test_a_fault_is_saved_and_made_small(campaign, monkeypatch):
    text = "int a; int b; int c; /* here */ int poison; int d; int e;"
    monkeypatch.setattr(mutants, "mutant", lambda seed, number: (text, True))
    parse = mutants.parse_source

    def broken(text, file):
        if "poison" in text:
            raise KeyError("poison")
        return parse(text, file)

    monkeypatch.setattr(mutants, "parse_source", broken)
    campaign.attempt(5, 6)
    assert len(campaign.faults) == 1 and "KeyError" in campaign.faults[0] and "1 faults" in campaign.summary()
    assert (campaign.save / "5_6.cl").read_text() == text
    assert (campaign.save / "5_6.small.cl").read_text() == "poison"


def test_what_takes_too_long_is_a_fault(campaign, monkeypatch):
    campaign.limit = 1
    monkeypatch.setattr(mutants, "mutant", lambda seed, number: ("x", True))

    def endless(text, file):
        while True:
            re.match("x", text)

    monkeypatch.setattr(mutants, "parse_source", endless)
    campaign.attempt(1, 1)
    assert "TimeOut" in campaign.faults[0]


def test_a_message_without_a_place_is_a_fault(campaign, monkeypatch):
    monkeypatch.setattr(mutants, "mutant", lambda seed, number: ("x", True))

    def placeless(text, file):
        raise mutants.CompileError.at(None, "wrong", code=mutants.Code.SYNTAX)

    monkeypatch.setattr(mutants, "parse_source", placeless)
    campaign.attempt(1, 1)
    assert "no place: wrong" in campaign.faults[0]
