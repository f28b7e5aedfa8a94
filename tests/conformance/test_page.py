"""The matrix' page in headless Chromium: it draws, filters, opens cells, takes the keyboard."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from typing import Any
from urllib import request

import pytest
from arrayport_conformance import pages
from arrayport_conformance.catalogue import ROWS
from arrayport_conformance.cells import COLUMNS, FAILS, NONE, PASSES, REFUSED, Cell
from arrayport_conformance.matrix import Change, Matrix

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
BACKENDS = ("numpy", "jax", "cupy-sim")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's key of a reference to an element
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014"}
KEYS |= {"Down": "\ue015"}
FAILING = ("numpy.tanh", "jax", "vjp")

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="Chromium and its driver are not installed here"
)


def whole() -> Matrix:
    """Make a matrix of the catalogue's size, with a cell of each state."""
    rows = {}
    for row in ROWS:
        rows[row.function] = {
            backend: {
                column: Cell(NONE, "it is <b>not</b> differentiable")
                if row.not_differentiable and column in {"jvp", "vjp"}
                else Cell(PASSES, f"2 calls (float32), within {row.ulps:g} ulp")
                for column in COLUMNS
            }
            for backend in BACKENDS
        }
    function, backend, column = FAILING
    rows[function][backend][column] = Cell(FAILS, "AssertionError: 3 > 2\n</script>", "hold(1)\n")
    rows["numpy.sin"]["cupy-sim"]["special"] = Cell(REFUSED, "no such kernel")
    about = {
        "arrayport": {"version": "9.9", "commit": "c0ffee"},
        "backends": list(BACKENDS),
        "columns": COLUMNS,
        "max_examples": 2,
        "only": [],
        "python": "3.13.0",
        "platform": "here",
        "libraries": {"numpy": "2.5"},
    }
    return Matrix(about, rows, (Change("numpy.cos", "numpy", "jit", FAILS, PASSES),))


class Browser:
    """A session of WebDriver: commands are JSON over HTTP."""

    address = ""  # of the page

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}/session"
        options = {
            "binary": BROWSER,
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"],
        }
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        self.root += f"/{self.send('', wanted)['sessionId']}"

    def send(self, path: str, body: Any) -> Any:
        data = json.dumps(body).encode()
        asked = request.Request(self.root + path, data, {"Content-Type": "application/json"})  # noqa: S310 - as below
        with request.urlopen(asked, timeout=60) as answer:  # noqa: S310 - this machine's driver
            return json.load(answer)["value"]

    def run(self, script: str) -> Any:
        return self.send("/execute/sync", {"script": script, "args": []})

    def press(self, *keys: str) -> None:
        made = [KEYS.get(key, key) for key in keys]
        actions = [{"type": t, "value": k} for k in made for t in ("keyDown", "keyUp")]
        self.send("/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def click(self, selector: str) -> None:
        found = self.send("/element", {"using": "css selector", "value": selector})
        self.send(f"/element/{found[ELEMENT]}/click", {})

    def text(self, selector: str) -> str:
        return str(self.run(f"return document.querySelector({selector!r}).innerText"))

    def shown(self) -> list[str]:
        return list(
            self.run(
                "return [...document.querySelectorAll('[data-row]:not([hidden]) .name')]"
                ".map((x) => x.textContent)"
            )
        )

    def focused(self) -> list[Any]:
        return list(
            self.run(
                "const x = document.activeElement;"
                "return [x.parentElement.firstElementChild.textContent, placeOf(x)]"
            )
        )


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = subprocess.Popen([str(DRIVER), f"--port={port}"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        made = Browser(port)
        path = tmp_path_factory.mktemp("page") / "matrix.html"
        path.write_text(pages.page(whole()), "utf-8")
        made.address = path.as_uri()
        yield made
        request.urlopen(request.Request(made.root, method="DELETE"), timeout=20).close()  # noqa: S310 - as above
    finally:
        driver.terminate()
        driver.wait(10)


@pytest.fixture
def page(browser: Browser) -> Browser:
    browser.send("/url", {"url": "about:blank"})
    browser.send("/url", {"url": browser.address})
    return browser


def test_it_draws_the_whole_catalogue_quickly(page: Browser) -> None:
    assert len(page.shown()) == len(ROWS)
    assert page.run("return document.querySelectorAll('#matrix i').length") == len(ROWS) * 21
    assert page.run(
        "return [...document.querySelectorAll('#matrix i')].every((x) => x.textContent)"
    )
    drawing = "const t = performance.now(); {}; document.body.offsetHeight;"
    for what, limit in (("drawTable()", 3000), ("wanted.text = 'fft'; applyFilter()", 500)):
        took = page.run(drawing.format(what) + "return performance.now() - t")
        assert took < limit, f"{what}: {took} ms"
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")


def test_heads_count(page: Browser) -> None:
    assert "1 of " in page.text("#summary section:nth-child(2)")
    assert "none fails" in page.text("#summary section:nth-child(1)")
    assert f"{len(ROWS)} functions" in page.text("#about")
    assert "3 backends" in page.text("#about")


def test_the_filter(page: Browser) -> None:
    page.press("/", *"fft ihf")
    assert page.shown() == ["numpy.fft.ihfft"]
    assert page.text("#shown") == f"1 of {len(ROWS)} functions"
    page.press("Down")
    assert page.focused() == ["numpy.fft.ihfft", 0]
    page.press("/", *"nonsense")
    assert page.shown() == []
    page.click("#clear")
    assert len(page.shown()) == len(ROWS)
    page.click('[data-state="1"]')
    assert page.shown() == [FAILING[0]]
    page.click('[data-backend="1"]')  # the one backend with a failure is hidden
    assert page.shown() == []
    page.click('[data-backend="1"]')
    page.click('[data-state="changed"]')
    assert page.shown() == ["numpy.cos"]


def test_cells_open_their_evidence(page: Browser) -> None:
    page.press("n")
    function, backend, column = FAILING
    text = page.text("#panel")
    for words in (function, f"{column} on {backend}", "fails", "3 > 2", "</script>", "hold(1)"):
        assert words in text
    assert page.run("return location.hash") == f"#{function}/{backend}/{column}"
    page.press("Escape")
    assert page.run("return document.getElementById('panel').hidden")
    page.press("Enter", "Left")
    assert f"jvp on {backend}" in page.text("#panel")
    assert "matrix --only numpy.tanh --backends jax" in page.text("#panel pre")
    page.click("#panel .close")
    assert page.focused() == [function, 7 + 3]


def test_a_reason_is_text(page: Browser) -> None:
    page.press("/", *"argmax", "Down", "Right", "Right", "Right", "Enter")
    assert "it is <b>not</b> differentiable" in page.text("#panel .detail")


def test_arrows_go_past_what_is_hidden(page: Browser) -> None:
    page.click('[data-backend="1"]')
    page.press("/", *"numpy.linalg.sv", "Down", *(["Right"] * 7))
    assert page.focused() == ["numpy.linalg.svd", 14]
    page.press("Down")
    assert page.focused() == ["numpy.linalg.svdvals", 14]
    page.press("Down", "Up", "Left")
    assert page.focused() == ["numpy.linalg.svd", 6]


def test_an_address_opens_a_cell(page: Browser) -> None:
    page.send("/url", {"url": "about:blank"})
    page.send("/url", {"url": f"{page.address}#numpy.sin/cupy-sim/special"})
    assert "no such kernel" in page.text("#panel")
    assert page.focused() == ["numpy.sin", 20]


def test_light_and_dark(page: Browser) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    first = page.run(colour)
    page.click("#theme")
    second = page.run(colour)
    assert first != second
    page.click("#theme")
    assert page.run(colour) == first
