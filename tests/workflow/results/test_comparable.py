"""Which fits can be ranked: those to the same data, and of slices the same slices. What archives
keep of fits: their labels, and which slices were never fitted."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.later import later
from support.two_lines import ENERGY, MODELS, TIME

from pyspec import (
    File,
    FitError,
    FitResults,
    Measurement,
    Project,
    SliceResults,
    fit_model,
    fit_slices,
    load_fits,
    load_model,
    save_fit,
)
from pyspec.errors import ModelWarning
from pyspec.fit import SliceFit
from pyspec.fit.batch.batch import Batch
from pyspec.workflow.results.compare import METRICS
from pyspec.workflow.results.identity import handle_of

pandas = later("pandas")
pytest.importorskip("h5py")


@pytest.fixture
def file(tmp_path: Path) -> File:
    shape = np.exp(-(((ENERGY - 84.4) / 1.0) ** 2) / 2) * 20 + 1
    data = shape + np.random.default_rng(7).normal(0, 0.3, (TIME.size, ENERGY.size))
    file = File(Project(tmp_path, show_output=0), "scan", data=data, energy=ENERGY, time=TIME)
    for name in ("one", "two"):
        file.load_model(MODELS, name)
    return file


def interrupted(file: File, done: int) -> SliceResults:
    """Slices that Ctrl-C ended after so many."""

    def stop(n: int, total: int) -> None:
        if n == done:
            raise KeyboardInterrupt

    slices = file.fit_slice_by_slice("one", progress=stop)
    assert slices.status.count("not run") == TIME.size - done
    return slices


def test_a_fit_under_another_label_is_the_same_fit(file: File) -> None:
    """An archive held it twice: before it had a label, and with it; and slices that were fitted
    again as often as they were."""
    file.fit_slice_by_slice("one")
    file.fit_2d("one")
    path, made = file.project.path / "some.h5", file.project.results
    for slices, fit in ((None, None), ("by slices", None), ("second", "final"), ("second", "last")):
        for one, name in zip(made, (slices, fit), strict=True):
            if name:
                made.set_label(handle_of(one), name)
        file.save_fit(path)
        assert [one.label for one in load_fits(path)] == [slices, fit]
    again = copy.copy(made[0])
    del vars(again)["label"]
    vars(again)["timestamp"] = "2030-01-01T00:00:00+00:00"
    save_fit(path, again)
    loaded = load_fits(path)
    assert [one.label for one in loaded] == ["last", "second"]
    assert loaded[1].timestamp == made[0].timestamp
    file.save_fit(path)
    assert [one.label for one in load_fits(path)] == ["second", "last"]


def test_slices_that_only_one_model_has_count_in_no_sum(file: File) -> None:
    whole = file.fit_slice_by_slice("two")
    interrupted(file, 3)
    with pytest.warns(ModelWarning, match="3 of 12 have a result: all .* over the 3 that all have"):
        frame = file.compare_models(sbs_aggregation="sum", metrics=["chi2_raw", "r2"])
    frame = frame.set_index("model")
    expected = sum(one.result.statistics["chi2_raw"] for one in whole[:3])
    assert frame.loc["two", "chi2_raw"] == pytest.approx(expected, rel=1e-12)
    assert frame.loc["two", "chi2_raw"] < frame.loc["one", "chi2_raw"]
    alone = file.compare_models("two", sbs_aggregation="sum", metrics=["chi2_raw"])
    assert alone["chi2_raw"][0] == pytest.approx(np.sum(whole.residual**2), rel=1e-9)


def test_a_label_that_fits_of_two_sessions_have_names_none(file: File) -> None:
    """It was called the beginning of several handles."""
    path = file.project.path / "some.h5"
    for name in ("one", "two"):
        file.fit_2d(name)
        file.project.results.set_label(handle_of(file.results[-1]), "final")
        file.save_fit(path)
        file.results.clear()
    loaded = FitResults.load(path)
    with pytest.raises(FitError, match=r"'final' names several fits: .* the handle of"):
        loaded.get(handle="final")
    assert loaded.get(handle=handle_of(loaded[0])) is loaded[0]


def without(slices: SliceResults, lost: Iterable[int]) -> SliceResults:
    """Slices some of which failed."""
    found = slices.changed(lambda result: result)
    assert isinstance(slices.fits, Batch)
    found.fits = fits = replace(slices.fits)
    fits.others = {one.index: one for one in slices}
    fits.others |= {k: SliceFit(k, slices[k].row, "failed", "", None) for k in lost}
    return found


def test_slices_without_a_result_have_no_metrics(file: File) -> None:
    """The sum of none of them was a chi2_red_raw of 0, the lowest of all."""
    whole = file.fit_slice_by_slice("two")
    failed = without(file.fit_slice_by_slice("one"), range(TIME.size))
    file.results[:] = [whole, failed]
    frame = file.compare_models(sbs_aggregation="sum").set_index("model")
    assert np.isnan(frame.loc["one", "chi2_red_raw"])
    assert frame.loc["two", "chi2_red_raw"] > 0.0
    file.results[:] = [
        without(whole, [0, 1]),
        without(file.fit_slice_by_slice("one"), range(2, 12)),
    ]
    frame = file.compare_models(sbs_aggregation="sum")
    assert np.isnan(frame["chi2_red_raw"]).all()


def test_the_best_slices_are_judged_by_those_that_both_have(file: File) -> None:
    """Without the slice of most scatter a worse fit was the best."""
    data = np.array(file.data)
    data[4] += np.random.default_rng(3).normal(0, 3, ENERGY.size)
    file = File(file.project, "noisy", data=data, energy=ENERGY, time=TIME)
    file.load_model(MODELS, "one")
    good = without(file.fit_slice_by_slice("one"), [0])
    file.models["one"].set("Gauss_01_SD", value=1.1, vary=False)
    bad = without(file.fit_slice_by_slice("one"), [4])
    file.results[:] = [good, bad]
    (kept,) = load_fits(file.save_fit("best.h5", select="best", by="chi2_raw"))
    assert list(kept.status).index("failed") == 0


def test_the_r2_of_all_slices_is_that_of_one_fit(file: File) -> None:
    """It was the sum of those of the slices, such as 11.9."""
    slices = file.fit_slice_by_slice("one")
    (r2,) = file.compare_models(sbs_aggregation="sum")["r2"]
    apart = slices.data - slices.data.mean(axis=1, keepdims=True)
    assert r2 == pytest.approx(1 - np.sum(slices.residual**2) / np.sum(apart**2), abs=1e-12)


def test_there_is_no_best_of_fits_to_different_data(file: File) -> None:
    """That of more points, or of the quieter spectrum, has the lower AIC, whatever the model."""
    for when in (0.0, 5.0):
        file.fit_spectrum("one", time_point=when)
    with pytest.raises(FitError, match=r"different values of the data.*select='latest'"):
        file.save_fit("best.h5", select="best", fit_type="spectrum")
    file.fit_2d("one")
    file.set_fit_limits([82, 88])
    file.fit_2d("one")
    with pytest.raises(FitError, match=r"different windows.*select='latest'"):
        file.save_fit("best.h5", select="best", fit_type="2d")
    (kept,) = load_fits(file.save_fit("last.h5", select="latest", fit_type="2d"))
    assert kept.measurement.columns == file.results[-1].measurement.columns


def test_there_is_no_best_by_what_is_not_known(file: File) -> None:
    """Without declared noise chi² is not known: the first fit was taken."""
    file.fit_2d("one")
    file.fit_2d("one", max_nfev=3)
    with pytest.raises(FitError, match=r"chi2 is not known of the 2d fits of one.*by='aic'"):
        file.save_fit("best.h5", select="best", by="chi2")
    with pytest.raises(FitError, match=r"sigma_eff.*no measure of how good a fit is.*by='aic'"):
        file.save_fit("best.h5", select="best", by="sigma_eff")


def test_no_metrics_are_all_metrics(file: File) -> None:
    file.fit_2d("one")
    assert {*METRICS} <= {*file.compare_models(metrics=[])}
    with pytest.raises(FitError, match=r"no metric 'aik'.*'aic'"):
        file.compare_models(metrics=["aik"])


def test_slices_are_compared_without_their_data(file: File) -> None:
    """They were refused: the archive held neither R² nor the number of points of a slice."""
    file.set_noise("gaussian", sigma=np.full(ENERGY.size, 0.3))
    file.set_fit_limits([81, 89], time_limits=[-2, 8], exclude=[(86, 86.5)])
    for model in ("one", "two"):
        file.fit_slice_by_slice(model)
    kept = file.project.results
    path = file.project.path / "kept.h5"
    save_fit(path, list(kept), with_data=False)
    loaded = FitResults.load(path)
    for how in ("median", "mean", "sum", "long"):
        frame = kept.compare_models(sbs_aggregation=how)
        found = loaded.compare_models(sbs_aggregation=how)
        pandas.testing.assert_frame_equal(found, frame, check_exact=True)
    first = kept[0]
    assert loaded.variants(model="one").equals(kept.variants(model="one"))
    other = replace(first.series, data=first.series.data + 1.0)
    shifted = fit_slices(first.model, other, scale_covar=False)
    shifted.model_name, shifted.file_name = "two", first.file_name
    save_fit(path, [first, shifted], with_data=False, mode="replace")
    with pytest.raises(FitError, match="saw different values of the data"):
        FitResults.load(path).compare_models()


def test_variants_name_masks_and_starts_of_slices(file: File) -> None:
    """compare_models refused such fits as those of other masks, and variants found no difference
    between them."""
    file.set_fit_limits([80, 90])
    first = file.fit_slice_by_slice("one")
    file.set_fit_limits([80, 90], exclude=[(86, 86.5)])
    file.fit_slice_by_slice("one", seed_values=first)
    save_fit(file.project.path / "kept.h5", list(file.results), with_data=False)
    found = FitResults.load(file.project.path / "kept.h5")
    table = found.variants()
    assert list(table) == ["handle", "timestamp", "mask", "started_from"]
    assert table["mask"][0] == "none"
    assert table["mask"][1].startswith(f"{4 * TIME.size} of {61 * TIME.size} points, ")
    assert list(table["started_from"]) == ["the model's values", "seed_values"]
    named = found.diff(*table["handle"]).query("section == 'input'")["field"]
    assert list(named) == ["mask", "started_from"]


def test_without_data_other_data_are_known_by_their_digest(file: File) -> None:
    path = file.project.path / "kept.h5"
    model = load_model(MODELS, "one")
    model.set_axes(energy=ENERGY)
    data = np.array(file.data)[0]
    fits = [fit_model(model, Measurement(data)) for _ in range(2)]
    data += 1.0
    save_fit(path, fits, with_data=False, mode="replace")
    with pytest.raises(FitError, match="data of which one is not known"):
        FitResults.load(path).compare_models()


def test_slices_without_any_result_do_not_end_a_comparison_without_data(file: File) -> None:
    """It asked for the data, as of archives that hold no statistics of slices."""
    file.set_fit_limits([84, 84.7])  # five points, for six parameters with a second line
    fits = [file.fit_slice_by_slice(name) for name in ("one", "two")]
    assert set(fits[1].status) == {"failed"}
    save_fit(file.project.path / "kept.h5", fits, with_data=False)
    table = FitResults.load(file.project.path / "kept.h5").compare_models()
    pandas.testing.assert_frame_equal(table, FitResults(fits).compare_models())
    assert list(table["aic"].notna()) == [True, False]
