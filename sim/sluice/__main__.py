"""``python -m sluice`` is the command ``sluice``."""

from hls.signals import exit_on_signals

__all__ = ["main"]


def main() -> None:
    """The command line, which is imported when signals are taken care of: that takes a while."""
    exit_on_signals()
    from hls.cli import main

    main(prog_name="sluice")


if __name__ == "__main__":
    main()
