"""Finds a Chromium with its driver, and starts it headless with nothing but files to read."""

import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FOLDER", "Chromium", "find", "started"]

#: where :mod:`tests.browser.install` unpacks it
FOLDER = Path(sys.prefix) / "chromium"
#: the fonts that it knows
FONTS = Path(__file__).with_name("fonts.conf")
WIDTH, HEIGHT = 1280, 900


@dataclass(frozen=True)
class Chromium:
    """A browser, its driver, and the variables that both need in their environment."""

    binary: Path
    driver: Path
    env: dict[str, str]


def find() -> Chromium | None:
    """The unpacked Chromium, or else the system's; None if there is neither."""
    unpacked = Chromium(FOLDER / "usr/lib/chromium/chromium", FOLDER / "usr/bin/chromedriver", _unpacked_env())
    if unpacked.binary.exists() and unpacked.driver.exists():
        return unpacked
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    return Chromium(Path(binary), Path(driver), {}) if binary and driver else None


def _unpacked_env() -> dict[str, str]:
    libraries = FOLDER / "usr/lib/x86_64-linux-gnu"
    folders = [libraries, FOLDER / "lib/x86_64-linux-gnu", libraries / "pulseaudio", FOLDER / "usr/lib/chromium"]
    return {"LD_LIBRARY_PATH": os.pathsep.join(map(str, folders))}


@contextmanager
def started(chromium: Chromium, dark: bool = False, width: int = WIDTH, height: int = HEIGHT):
    """A running browser whose window is ``width`` x ``height`` CSS pixels, as a driver of selenium. No host name
    resolves in it, so whatever it shows comes from files."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(chromium.binary)
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-extensions",
        "--disable-background-networking",
        "--hide-scrollbars",
        "--font-render-hinting=none",
        "--force-device-scale-factor=1",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--window-size={width},{height}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    env = {**os.environ, **chromium.env, "FONTCONFIG_FILE": str(FONTS)}
    driver = webdriver.Chrome(options, Service(str(chromium.driver), env=env))
    try:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, motion]})
        yield driver
    finally:
        driver.quit()
