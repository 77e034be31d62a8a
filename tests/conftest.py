"""Fixtures that every room shares; which tests are slow; what tests report at the end."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support.shared import SHARED

if "PYTEST_XDIST_WORKER" in os.environ:
    # One test process per core: threads of the linear algebra would only take turns.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

#: The property under which a test leaves lines for the end of the run.
CLOSING = "closing lines"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every", type=int, default=1, help="run every n-th of the chosen tests")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Modules and tests live to the end: the collector need not visit them, now or later. What
    tests leave it collects less often than a program that keeps its memory small."""
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Of a file that is marked ``sweep(n)`` every n-th case of a test is fast, the others slow.
    Of the tests that -m and -k leave, ``--every n`` keeps every n-th."""
    seen: dict[str, int] = {}
    for item in items:
        mark = item.get_closest_marker("sweep")
        if mark is not None:
            name = item.nodeid.split("[")[0]
            number = seen[name] = seen.get(name, -1) + 1
            if number % mark.args[0]:
                item.add_marker(pytest.mark.slow)
    yield
    step = config.getoption("--every")
    config.hook.pytest_deselected(items=[item for k, item in enumerate(items) if k % step])
    items[:] = items[::step]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Writes what tests have left, from this process and those of xdist."""
    reports = [r for reports in terminalreporter.stats.values() for r in reports]
    for report in reports:
        for name, text in getattr(report, "user_properties", ()):
            if name == CLOSING and report.when == "call":
                terminalreporter.section(report.nodeid.split("/")[-1].split("[")[0])
                terminalreporter.write_line(text)


@pytest.fixture(autouse=True)
def no_function_stays() -> Iterator[None]:
    """Functions that a test registers are gone after it: the next may list all that are there."""
    from pyspec.formula.definitions.traced import FORMULAS  # NumPy comes after the above
    from pyspec.functions.external import CALLABLES, forget_function

    before = {*FORMULAS, *CALLABLES}
    yield
    for name in FORMULAS.keys() - before:
        del FORMULAS[name]
    for name in CALLABLES.keys() - before:
        forget_function(name)


@pytest.fixture
def quick_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are drawn without their layout, which takes most of the time."""
    with suppress(ImportError):
        engine = "matplotlib.layout_engine.ConstrainedLayoutEngine"
        monkeypatch.setattr(f"{engine}.execute", lambda *_: None)


@pytest.fixture
def closing(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Writes lines at the end of the run: what a test has counted."""
    return lambda text: record_property(CLOSING, text)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the golden numbers: ../shared beside the source tree, or PYSPEC_SHARED."""
    if not (SHARED / "golden").is_dir():
        pytest.skip(f"no golden numbers in {SHARED}; set PYSPEC_SHARED to the folder that has them")
    return SHARED
