"""The page as a reader uses it: by mouse, by keys, and by its address."""

import json
import time
from urllib.parse import urlencode

__all__ = ["PROFILE_VIEWS", "VIEWS", "Page"]

VIEWS = (
    "summary",
    "bottlenecks",
    "loops",
    "area-system",
    "area-source",
    "system",
    "memories",
    "schedule",
    "deadlock",
    "synthesis",
)
#: those of a run, in the page of a profile
PROFILE_VIEWS = ("verdict", "cycles", "lines", "execution", "memory", "channels", "paces", "roofline")
#: What a page may load without a network: itself, and what it makes.
OWN = ("file:", "blob:", "data:")


class Page:
    """A report in a browser. ``driver`` is selenium's."""

    def __init__(self, driver, files):
        self.driver, self.files = driver, files

    def open(self, report: str = "sample", **selected) -> "Page":
        """Load a report anew, with what is selected in its address."""
        self.driver.get("about:blank")
        self.driver.get(self.files[report].as_uri() + ("#" + urlencode(selected) if selected else ""))
        self.wait("return document.documentElement.dataset.ready === 'yes'")
        return self

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str, seconds: float = 60):
        """Until the script returns something true, which is the result."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if found := self.run(script):
                return found
            time.sleep(0.05)
        raise TimeoutError(f"never true: {script}")

    def all(self, selector: str) -> list:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str):
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        return self.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)", selector)

    def texts_of(self, selector: str) -> list[str]:
        """The same of parts of a drawing, which have no inner text."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def click(self, selector: str) -> None:
        self.run("document.querySelector(arguments[0]).click()", selector)
        self.settle()

    def press(self, *keys: str) -> None:
        """Press keys where the focus is, one after the other."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()
        self.settle()

    def settle(self) -> None:
        """Until what the last event changed is drawn."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))")

    def cpu(self) -> float:
        """Milliseconds of CPU time that the page's main thread has used: scripts, styles, layout and painting. Other
        programs on the machine do not add to it."""
        self.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return 1000 * {one["name"]: one["value"] for one in metrics}["TaskDuration"]

    def drawn(self) -> None:
        """Until a graph is laid out."""
        self.wait("return document.querySelector('svg.graph .node') !== null")
        self.settle()

    @property
    def view(self) -> str:
        return self.run("return document.querySelector('.viewbody').dataset.view")

    @property
    def details(self) -> str:
        return self.run("return document.getElementById('details').innerText")

    @property
    def hash(self) -> dict[str, str]:
        return self.run("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    @property
    def marked(self) -> list[int]:
        """Numbers of the marked lines of the source."""
        return [int(number) for number in self.texts(".line.marked .lineno")]

    def complaints(self) -> list[str]:
        """What the console says, and what was asked of a network, since the last call."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        for entry in self.driver.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith(OWN):
                    said.append(f"request of {url}")
        return [one for one in said if "about:blank" not in one]
