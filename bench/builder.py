"""How fast the builder answers: ``python -m bench.builder``.

- A session alone: an edit of a value and a refit of 6 ms at most, over random edits (bar: 16 ms at
  the 95th percentile), and the frame that is drawn then. Structure: a law is put on and taken away.
- In Chromium, where it is there with playwright: from the move of the pointer on a handle to the
  end of drawing, without and with a refit for each step (bars: 16 and 33 ms, median and 95th
  percentile; 33 and 60 with).

Milliseconds of the wall clock and, of the session, of the processor, as other work on the machine
delays the one and not the other.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from argparse import SUPPRESS
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import arguments_of, finish, print_rows
from pyspec import File, load_model
from pyspec.build.desk import Desk
from pyspec.build.server import serve
from pyspec.workflow.session.edits import DropLaw, Law, Set
from pyspec.workflow.session.session import Session

#: Times and energies; one spectrum where there is one time.
SHAPES = ((440, 400), (212, 1131), (150, 2000), (1, 400), (1000, 1000))

TEXT = """\
doublet:
  Offset: {y0: [5, True, 0, 50]}
  Shirley: {pShirley: [2.0e-4, True, 0, 0.1]}
  GLP: {A: [30, True, 0, 200], x0: [84, True, 80, 90], F: [1.2, True, 0.1, 5], m: [0.4, True, 0, 1]}
  GLP:
    A: ["3/4 * GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
shift:
  gaussIRF: {SD: [0.3, True, 0.01, 2]}
  expFun: {A: [0.8, True, -3, 3], tau: [4, True, 0.1, 50], t0: [0, True, -2, 2]}
attached: {doublet: {GLP_01_x0: {dynamics: [shift]}}}
"""


#: What changes the structure of the model.
LAW = Law("GLP_01_A", "expFun")


def session_of(shape: tuple[int, int]) -> Session:
    """A doublet that moves, with noise, over data of this shape."""
    n_time, n_energy = shape
    text = TEXT if n_time > 1 else TEXT.partition("shift:")[0]
    model = load_model(text, "doublet")
    energy = np.linspace(92.0, 78.0, n_energy)
    time_axis = np.linspace(-3.0, 20.0, n_time) if n_time > 1 else None
    model.set_axes(energy=energy, time=time_axis)
    clean = model.evaluate()
    data = clean + np.random.default_rng(3).normal(0.0, 0.5, clean.shape)
    return Session(File(data=data, energy=energy, time=time_axis, name="simulated"), text)


def percentiles(found: Sequence[float]) -> tuple[float, float, float]:
    """Median, 95th percentile and maximum."""
    return tuple(float(one) for one in np.percentile(found, (50, 95, 100)))  # type: ignore[return-value]


def timed(jobs: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """Milliseconds of the wall clock and of this thread for some calls in a row."""
    wall, own = time.perf_counter(), time.thread_time()
    for job in jobs:
        job()
    return 1e3 * (time.perf_counter() - wall), 1e3 * (time.thread_time() - own)


def session_rows(shape: tuple[int, int], edits: int) -> list[dict[str, Any]]:
    """Random edits of values with a refit each, frames, and changes of structure."""
    session, rng = session_of(shape), np.random.default_rng(7)
    assert session.fit()
    model = session.model
    assert model is not None
    names, best = model.opt_param_names, dict(model.values)
    taken: dict[str, list[tuple[float, float]]] = {"edit + refit": [], "frame": [], "structure": []}
    for k in range(edits):
        name = str(rng.choice(names))
        par = model.parameters[name]
        value = best[name] + 0.02 * rng.normal() * (abs(best[name]) or 0.1)
        edit = Set(name, "value", float(np.clip(value, par.min, par.max)))
        done = [partial(session.edit, edit), session.refit]
        taken["edit + refit"].append(timed(done))
        taken["frame"].append(timed([session.frame]))
        if shape[0] > 1 and k % 50 == 0:
            steps = [partial(session.edit, LAW), partial(session.edit, DropLaw("GLP_01_A"))]
            taken["structure"].append(timed([*steps, session.undo, session.undo]))
    rows = []
    for what, found in taken.items():
        if found:
            wall, own = (percentiles(one) for one in zip(*found, strict=True))
            rows.append({"shape": shape, "what": what, "wall": wall, "processor": own})
    return rows


def browser_rows(shape: tuple[int, int], drags: int) -> list[dict[str, Any]]:
    """Steps of drags of a handle in Chromium, without and with a refit each."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        return []
    rows = []
    with served_apart(shape) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.locator(".handle.top").first.wait_for()
        for live in (False, True):
            if live:
                page.keyboard.press("l")
            rows.append({"shape": shape, "what": f"drag{' + refit' * live}",
                         "wall": dragged(page, drags), "processor": None})  # fmt: skip
        browser.close()
    return rows


@contextmanager
def served_apart(shape: tuple[int, int]) -> Iterator[str]:
    """The address of a server in a process of its own, as it has where people use it: what drives
    the browser does not take time from it."""
    command = [sys.executable, "-m", "bench.builder", "--serve", "--shape", *map(str, shape)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()  # at which it ends
        process.wait(20)
        process.stdout.close()


def serve_until_closed(shape: tuple[int, int]) -> None:
    """Serves a fitted session, and prints the address, until the input is closed."""
    session = session_of(shape)
    assert session.fit()
    with tempfile.TemporaryDirectory() as folder:
        server = serve(Desk(session, Path(folder) / "out"))
        thread = threading.Thread(target=server.run)
        thread.start()
        print(server.address, flush=True)
        sys.stdin.read()
        server.stop()
        thread.join()


def dragged(page: Any, drags: int) -> tuple[float, float, float]:
    """Percentiles of the steps of one long drag, back and forth by a few pixels."""
    timings = "document.querySelector('.pyspec-builder').link.timings"
    handle = page.locator(".handle.top").first
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(f"() => {{ {timings}.length = 0; }}")
    for k in range(drags):
        page.mouse.move(x + 20 * np.sin(k / 15), y + 10 * np.cos(k / 10))
        page.wait_for_timeout(10)
    page.mouse.up()
    page.wait_for_timeout(300)
    return percentiles(page.evaluate(f"() => {timings}.slice()"))


def main() -> None:
    """Prints the table."""
    parser = arguments_of("builder", __doc__)
    parser.add_argument("--edits", type=int, default=1000, help="random edits of a session")
    parser.add_argument("--drags", type=int, default=300, help="moves of the pointer")
    parser.add_argument("--shape", type=int, nargs=2, help="times and energies, one shape alone")
    parser.add_argument("--serve", action="store_true", help=SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve_until_closed(tuple(given.shape))
        return
    rows: list[dict[str, Any]] = []
    for shape in [tuple(given.shape)] if given.shape else SHAPES:
        few = max(given.edits // (1 if shape[0] * shape[1] < 1e6 else 20), 1)
        rows += session_rows(shape, few)
        if shape[0] > 1:
            rows += browser_rows(shape, given.drags)
    table = []
    for row in rows:
        own = row["processor"]
        cells = [f"{one:.1f}" for one in row["wall"]]
        cells += ["", ""] if own is None else [f"{one:.1f}" for one in own[:2]]
        table.append([" × ".join(map(str, row["shape"])), row["what"], *cells])
    head = ["times × energies", "what", "median", "95 %", "most", "processor: median", "95 %"]
    print_rows(head, table)
    finish(given.json, {"rows": rows})


if __name__ == "__main__":
    main()
