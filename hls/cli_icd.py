"""The command ``sluice icd``."""

import subprocess
import sys

import click

__all__ = ["icd_command"]


@click.command("icd", short_help="Build the OpenCL driver, and print how hosts find it.")
@click.option(
    "--install",
    is_flag=True,
    help="Write /etc/OpenCL/vendors/sluice.icd instead, by which every OpenCL program of the system finds the driver.",
)
def icd_command(install: bool) -> None:
    """Build libsluice.so, and print the setting by which OpenCL's loader finds it.

    In a shell: eval $(sluice icd). Host programs in C, C++ or any other language then run on the simulated boards.
    """
    # the driver belongs to the simulation package, which this package must not import
    command = [sys.executable, "-P", "-m", "sluice.icd", *(["--install"] if install else [])]
    sys.exit(subprocess.run(command, check=False).returncode)
