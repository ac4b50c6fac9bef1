"""``python -m sluice`` is the command ``sluice``."""

from hls.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main(prog_name="sluice")
