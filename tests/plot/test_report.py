"""The report: one file, everything in it, written as a whole."""

from __future__ import annotations

import os
import re
import signal
import weakref
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from support.pictures import FALLING, PAIR, of_states, pair

from pyspec.fit import fit_slices, fit_trace
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.model import Measurement, load_model
from pyspec.plot import PlotError, report
from pyspec.plot.reports import fit_report as fitreport

pytest.importorskip("matplotlib")

VOID = {"meta", "img", "br"}


class Balanced(HTMLParser):
    """Fails on a tag that is not closed, and on anything that would be loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "iframe")
        for name, value in attrs:
            if name in ("src", "href"):
                assert value.startswith("data:image/png;base64,")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def no_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitreport, "image", lambda figure, alt: alt)


def page(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    assert not parser.open
    return re.sub(r'"data:image[^"]*"', '""', text)


@pytest.mark.slow
@pytest.mark.parametrize("two", [False, True])
def test_everything_is_in_one_file(two: bool, tmp_path: Path) -> None:
    result = pair(two)
    result.file_name, result.fit_type = "scan <7> & more", "2d" if two else "spectrum"
    path = report(result, tmp_path / "r.html", notes=["read as text"], e_label="E (eV)")
    assert list(tmp_path.iterdir()) == [path]
    text = page(path)
    assert "scan &lt;7&gt; &amp; more" in text
    assert "://" not in text
    for name in result.values:
        assert name in text
    for part in ("converged", "Correlations above 0.5", "SHA-256", "native on the compiled",
                 "x0: [13.0, True]", "read as text", "NumPy", "AIC"):  # fmt: skip
        assert part in text
    assert text.count("<img") == (5 if two else 2)
    assert ("tau: [5, True, 0.1, 50]" in text) == two


@pytest.mark.usefixtures("no_images")
def test_what_went_wrong_stands_at_the_top(tmp_path: Path) -> None:
    text = page(report(pair(max_nfev=4), tmp_path / "r.html", title="my title"))
    assert "not converged" in text
    assert "max_nfev = 4" in text
    assert "<title>my title</title>" in text


@pytest.mark.usefixtures("no_images")
def test_a_parameter_without_effect_is_no_failure_to_converge(tmp_path: Path) -> None:
    result = pair()
    place = result.free_names.index("GLP_01_F")
    result.success, result.ending = False, replace(result.ending, lost=(place,))
    text = page(report(result, tmp_path / "r.html"))
    assert "not determined" in text
    assert "The data do not determine GLP_01_F." in text
    assert "not converge" not in text


@pytest.mark.slow
def test_slices_and_traces(tmp_path: Path) -> None:
    model = load_model(PAIR, "pair")
    model.set_axes(energy=FALLING)
    data = model.evaluate() + np.random.default_rng(0).normal(0, 0.3, (5, 60))
    data[3] = 1e300  # this one fails
    slices = fit_slices(model, Measurement(data=data), times=np.arange(5.0))
    text = page(report(slices, tmp_path / "s.html"))
    assert "of 5 converged" in text
    assert f"{slices.time[3]:g}: " in text
    time = np.linspace(0, 20, 40)
    noise = np.random.default_rng(0).normal(0, 0.01, 40)
    result = fit_trace(PAIR, "law", time, 2 * np.exp(-time / 5) + noise, 0.01 + 0 * time)
    assert "expFun_01_tau" in page(report(result, tmp_path / "t.html"))


@pytest.mark.usefixtures("no_images")
def test_unwritable_report(tmp_path: Path) -> None:
    with pytest.raises(PlotError, match="cannot write the report"):
        report(pair(), tmp_path / "nowhere" / "r.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_while_a_weak_reference_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python ignores what is raised there, and Ctrl-C had no effect; now it comes at the end."""

    class Dropped:
        pass

    def image(figure: object, alt: str) -> str:
        one = Dropped()
        kept = weakref.ref(one, lambda _: signal.raise_signal(signal.SIGINT))
        monkeypatch.setattr(fitreport, "image", lambda figure, alt: alt)
        del one
        assert kept() is None
        return alt

    result, path = pair(), tmp_path / "r.html"
    monkeypatch.setattr(fitreport, "image", image)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            report(result, path)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert "GLP_01_x0" in page(path)


@pytest.mark.usefixtures("no_images")
def test_cautions_and_where_a_fit_began_are_on_the_page(tmp_path: Path) -> None:
    result = pair(n_starts=2)
    result._tell(
        [
            Finding(
                Kind.AMPLITUDES_UNDETERMINED,
                ("the width <doubtful>",),
                {"count": 2, "axis": "times"},
            )
        ]
    )
    result.started_from = "the baseline fit"
    text = page(report(result, tmp_path / "r.html"))
    assert "the width &lt;doubtful&gt; is not" in text
    assert "the baseline fit" in text
    assert "of 2 agree" in text


@pytest.mark.slow
def test_a_report_shows_spectra_that_were_free_and_those_of_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = report(of_states("parallel"), tmp_path / "fit.html").read_text(encoding="utf-8")
    assert "Free spectra, with one standard error" in text
    assert "Singular vectors" in text
    assert "of the evolution" not in text
    monkeypatch.setattr(fitreport, "MOST_DECOMPOSED", 100)  # a large map: no singular vectors
    text = report(of_states("states"), tmp_path / "fit.html").read_text(encoding="utf-8")
    assert "chain: spectra of the states, of the decays and of the evolution" in text
    assert "Singular vectors" not in text
