"""The page of the archive format names every entry that an archive holds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project

h5py = pytest.importorskip("h5py")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "archive_format.md"

MODELS = """
functions:
  Reference: {formula: A * ref, inputs: ref}
peak:
  Offset: {y0: [3, True, 0, 100]}
  Gauss: {A: [18, True, 0, 1000], x0: [84, True, 82, 86], SD: [0.5, True, 0.1, 5]}
  Reference: {A: [0.2, True]}
decay:
  expFun: {A: [-5, True], tau: [5, True, 0.5, 50], t0: [-1.5, False]}
"""

KINDS = {b"fit", b"slices", b"joint"}


def documented(page: str) -> set[str]:
    """Entries of a fit as paths; one of a group with any members ends in /…"""
    found = set()
    for row in re.findall(r"^\| (`[^|]*?) \|", page, re.M):
        room = ""
        for name in re.findall(r"`([^`]+)`", row):
            path = name if "/" in name else room + name
            room = path.rpartition("/")[0] + "/" if "/" in path else ""
            found.add(path)
    return found


def test_every_entry_of_an_archive_is_on_its_page(tmp_path: Path) -> None:
    """Inputs of formulas, labels and units were not."""
    energy, time = np.linspace(80.0, 88.0, 41), np.arange(-4.0, 9.0)
    rng, shape = np.random.default_rng(0), np.exp(-(((energy - 84) / 0.5) ** 2) / 2)
    mask = np.zeros((13, 41), np.bool_)
    mask[3, 5] = True
    file = File(
        Project(tmp_path, show_output=0),
        name="scan",
        data=3 + 18 * shape + rng.normal(0, 0.3, (13, 41)),
        energy=energy,
        time=time,
        mask=mask,
        labels={"energy": "binding energy"},
        units={"energy": "eV"},
        inputs={"ref": np.cos(3 * energy)},
    )
    file.set_noise("gaussian", sigma=0.3)
    file.load_model(MODELS, "peak")
    file.set_fit_limits([81, 87])
    file.fit_slice_by_slice("peak")
    file.add_time_dependence("peak", "Gauss_01_A", MODELS, "decay")
    file.fit_2d("peak")
    for par in file.models["peak"].parameters.values():
        par.scope = "project"
    file.project.fit_2d(model_name="peak")
    known, entries = documented(PAGE.read_text(encoding="utf-8")), set[str]()
    with h5py.File(file.project.save_fits("fits.h5")) as archive:
        assert {bytes(fit["kind"][()]) for fit in archive["fits"].values()} == KINDS
        for fit in archive["fits"].values():
            fit.visit(entries.add)
    open_groups = {path.removesuffix("/…") for path in known if path.endswith("/…")}
    missing = {
        name
        for name in entries
        if name not in known
        and not any(name == room or name.startswith(room + "/") for room in open_groups)
        and not any(path.startswith(name + "/") for path in known)
    }
    assert missing == set()
