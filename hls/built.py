"""Adds to a built package the commit that it was made from; named in pyproject.toml, and loaded by setuptools alone."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from setuptools.command.build_py import build_py

__all__ = ["BuildWithCommit"]


class BuildWithCommit(build_py):
    """Copies the package, and writes the commit beside it where the sources are a clone."""

    def run(self) -> None:
        """Write the commit into what is built, never into the sources."""
        super().run()
        name = Path(__file__).with_name("version.py")
        spec = spec_from_file_location("version", name)
        assert spec is not None and spec.loader is not None
        version = module_from_spec(spec)  # without the compiler around it, which needs packages that are not there yet
        spec.loader.exec_module(version)
        found = version.checked_out(name.parents[1])
        if found and not self.editable_mode:
            (Path(self.build_lib) / "hls" / version.COMMIT_FILE).write_text(f"{found}\n")
