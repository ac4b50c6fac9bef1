"""docs/guides.md is complete and up to date, and every test that it names exists."""

from tests.guides import document


def test_every_option_attribute_and_pragma_has_a_test():
    assert document.missing() == []


def test_every_row_names_a_test_that_exists():
    rows = [row for _, rows in document.chapters() for row in rows]
    assert len(rows) > 60
    for says, here, test in rows:
        assert says and here and (document.ROOT / "tests" / test).is_file(), (says, test)


def test_page_is_up_to_date(request):
    if request.config.getoption("--refresh"):
        document.PAGE.write_text(document.page())
    assert document.PAGE.read_text() == document.page(), "python -m tests.guides.document writes it"


def test_an_option_without_a_test_is_noticed():
    assert document.tests_of("--no-such-" + "option") == []
    assert document.tests_of("--strict-fit")
