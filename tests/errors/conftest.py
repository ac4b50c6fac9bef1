"""`--refresh` rewrites the expected messages; look at the diff before committing it."""


def pytest_addoption(parser):
    parser.addoption("--refresh", action="store_true", help="rewrite tests/errors/*.expect")
