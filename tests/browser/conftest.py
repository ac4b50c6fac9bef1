"""A Chromium for the tests of the page, started once; tests are skipped, and say why, where there is none."""

import pytest

from hls.report import html, profile_page
from tests.browser.chromium import find, started
from tests.browser.page import Page
from tests.browser.profile_sample import sample_profile
from tests.browser.sample import large, sample


def browser(dark: bool):
    pytest.importorskip("selenium", reason="selenium is not installed: pip install 'sluice-hls[test]'")
    chromium = find()
    if chromium is None:
        pytest.skip("no Chromium with its driver here: `make browser` unpacks Debian's into .venv/chromium")
    return started(chromium, dark)


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """The pages of the two sample reports and of the sample profile, by name."""
    folder = tmp_path_factory.mktemp("pages")
    pages = {"sample": html.render(sample()), "large": html.render(large())}
    pages["profile"] = profile_page.render(sample_profile(), {0: sample()})
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in pages}


@pytest.fixture(scope="module")
def light(files):
    with browser(dark=False) as driver:
        yield Page(driver, files)


@pytest.fixture(scope="module")
def dark(files):
    with browser(dark=True) as driver:
        yield Page(driver, files)
