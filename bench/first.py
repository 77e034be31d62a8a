"""What ``pyspec new`` and ``pyspec fit`` make of files: ``python -m bench.first [PART ...]``.

Those of simulated data take ``--seed 5000 --sets 0 10``.

Parts: files (a table of thirty files: those of ../shared/data and some that other programs wrote),
absorption (40 simulated sets of transient absorption), moving (20 series of moving lines), folder
(200 spectra from ``new`` to one page).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.problems.cases import SHARED
from bench.problems.first_data import DELAYS, ENERGIES, TIMES, WAVELENGTHS, absorption, moving
from bench.problems.first_files import written_files
from pyspec import read
from pyspec.cli import main
from pyspec.fit import fit_model
from pyspec.fit.findings.verdict import missed
from pyspec.model import Measurement, load_model
from pyspec.model.guess.look import DECAYS, PEAKS, Scan, Wanted, first_model

DATA = SHARED / "data"


def answer(*words: str) -> dict[str, Any]:
    """What a command says to programs."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        main([*words, "--json"])
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def shared_files() -> Iterator[tuple[str, str, list[str]]]:
    """(name, the kind that a practitioner would name, words of ``new``)."""
    if not DATA.is_dir():
        print(f"skipped: no data in {DATA}; set PYSPEC_SHARED to the folder that has them")
        return
    real, forms = DATA / "xps_real", DATA / "formats"
    yield "FermiEdge.csv", "an edge", [str(real / "FermiEdge.csv")]
    yield "clean_Au_4f.csv", "a spectrum", [str(real / "clean_Au_4f.csv")]
    yield "PET_C1s.csv", "a spectrum", [str(real / "PET_C1s.csv")]
    for name in ("regular.vms", "irregular.vms"):
        yield name, "a survey", [str(real / name)]
    for name in ("Cu-HHTP_0001.ibw", "Cu-HHTP_0001.txt", "SnO2_10nm.spe", "SnO2_10nm.spe.nxs",
                 "regular.vms.nxs"):  # fmt: skip
        yield name, "a survey", [str(forms / name)]
    yield "SPECS .xy, block 2", "a survey", [str(forms / "SPECS_three_blocks.xy"), "--block", "2"]
    yield "nano_xps.nc, mean", "a spectrum", [str(DATA / "xps_map/nano_xps.nc"), "--mean", "y", "x"]
    yield "TA_Ru-dppz.SIA", "a series of spectra that decay", [
        str(next((DATA / "pump_probe").glob("*.SIA")))
    ]  # fmt: skip
    for k in (1, 2, 3):
        name = f"simData0{k}.ascii"
        yield name, "a series of spectra that decay", [str(DATA / "spectrotemporal" / name)]
    for folder in sorted((DATA / "trspecfit_examples").iterdir()):
        words = [str(folder / "data.csv"), "--energy", "energy.csv", "--time", "time.csv"]
        yield folder.name[:18], "a series of lines that move", words


def files() -> None:
    """The table of files: what ``new`` saw, and what the fit left."""
    home = Path(tempfile.mkdtemp())
    rows = right = 0
    given = [*shared_files(), *written_files(home / "data")]
    print(f"{'file':22}  {'seen as':32}  {'':5}  {'redchi':>10}  {'alike':>5}  fit")
    for name, expected, words in given:
        folder = home / "jobs" / f"{rows:02}"
        rows += 1
        new = answer("new", str(folder / "a"), *words)
        if "error" in new:
            print(f"{name:22}  {new['error'][:100]}")
            continue
        fit = answer("fit", str(folder), "-o", str(folder / "results"))
        done = fit.get("results", [{}])[0]
        result = done.get("result", {})
        ok = new["kind"] == expected and result.get("success", False)
        right += ok
        redchi = result.get("redchi")
        shown = "" if redchi is None else f"{redchi:.4g}"
        seen = "; ".join(new["seen"])
        alike = done.get("alike")
        print(
            f"{name:22}  {new['kind']:32}  {'right' if ok else 'WRONG':5}  {shown:>10}  "
            f"{'' if alike is None else f'{alike:.2f}':>5}  {done.get('state')}  {seen[:110]}",
            flush=True,
        )
    print(f"right: {right} of {rows}")
    shutil.rmtree(home)


def absorption_sets(numbers: range, seed: int) -> None:
    """Decays, and whether the fit from the first model ends at the best optimum."""
    counts = best_counts = 0
    for number in numbers:
        made = absorption(number, seed)
        scan = Scan(made.data, WAVELENGTHS, DELAYS, {"energy": "wavelength"}, {"energy": "nm"})
        begun = time.process_time()
        first = first_model(scan, Wanted())
        seconds = time.process_time() - begun
        result = _fitted(first.text, first.name, made.data, WAVELENGTHS, DELAYS)
        taus = [v for k, v in result.values.items() if k.endswith("_tau")]
        right = len(taus) == len(made.taus) and first.name == DECAYS and "stepFun" not in first.text
        truth = result
        if right:  # the same model from the true values
            start = {f"expFun_{k:02}_tau": tau for k, tau in enumerate(made.taus, 1)}
            start |= {"gaussIRF_01_SD": made.sd, "onset": made.zero, "chirp": made.chirp}
            start |= {"bend": 0.0, "twist": 0.0}
            start |= {k: made.zero for k in result.values if k.endswith("_01_t0")}
            truth = _fitted(first.text, first.name, made.data, WAVELENGTHS, DELAYS, start)
        is_best = right and result.success and result.chisqr <= truth.chisqr * (1 + 1e-6)
        counts, best_counts = counts + right, best_counts + is_best
        print(
            f"{number:2}  true {np.round(made.taus, 2)}  found {np.round(sorted(taus), 2)}  "
            f"chirp {made.has_chirp:d} artifact {made.has_artifact:d} noise {made.noise}  "
            f"{'right' if right else 'WRONG'}  {'best' if is_best else 'NOT BEST'}  "
            f"{seconds:.1f} s",
            flush=True,
        )
    n = len(numbers)
    print(f"decays right: {counts} of {n}; at the best optimum: {best_counts} of {n}")


def moving_series(numbers: range, seed: int) -> None:
    """Laws of lines that move, and whether the fit describes the data."""
    counts = 0
    for number in numbers:
        made = moving(number, seed)
        scan = Scan(made.data, ENERGIES, TIMES, {"energy": "energy"}, {"energy": "eV"})
        first = first_model(scan, Wanted())
        right, said = bool(first.dynamics), first.kind
        if right:
            result = _fitted(first.text, first.name, made.data, ENERGIES, TIMES, {}, first.dynamics)
            ratio = result.redchi / made.noise**2
            right = result.success and ratio < 1.1 and missed(result.diagnose()) is None
            said = f"redchi / noise² {ratio:.3f}"
        counts += right
        print(f"{number:2}  {made.law:24}  {'right' if right else 'WRONG'}  {said}  "
              f"{'; '.join(first.seen)[:120]}", flush=True)  # fmt: skip
    print(f"right: {counts} of {len(numbers)}")


def _fitted(
    text: str,
    name: str,
    data: Any,
    energy: Any,
    times: Any,
    start: dict[str, float] | None = None,
    dynamics: tuple[tuple[str, str], ...] = (),
) -> Any:
    """The fit of a first model."""
    from pyspec.model import load_dynamics, load_time_model

    model = load_model(text, name) if name == PEAKS else load_time_model(text, name)
    for parameter, law in dynamics:
        model.add_dynamics(parameter, load_dynamics(text, law, parameter))
    model.set_axes(energy=energy, time=times)
    if start:
        model.set_values({name: start[name] for name in start if name in _free(model)})
    return fit_model(model, Measurement(data))


def _free(model: Any) -> set[str]:
    return {name for name, par in model.parameters.items() if par.expr is None}


def folder() -> None:
    """200 spectra, from ``new`` to one page; the time beside that of reading."""
    home = Path(tempfile.mkdtemp())
    (home / "scans").mkdir()
    rng, x = np.random.default_rng(1), np.linspace(95.0, 80.0, 301)
    for k in range(200):
        y = 50 + sum(
            a * np.exp(-4 * np.log(2) * ((x - x0) / 1.2) ** 2)
            for a, x0 in ((400, 84 + 0.2 * rng.normal()), (300, 87.7))
        )
        table = np.c_[x, y + rng.normal(0, 3, x.size)]
        np.savetxt(home / "scans" / f"{k:03}.csv", table, "%.4f", ",", header="BE (eV),counts")
    clock = time.process_time
    begun = clock()
    for path in (home / "scans").iterdir():
        read(path)
    reading, begun = clock() - begun, clock()
    new = answer("new", str(home / "all"), str(home / "scans"))
    made, begun = clock() - begun, clock()
    fit = answer("fit", str(home / "all"), "--quiet")
    fitted = clock() - begun
    states = [one["state"] for one in fit["results"]]
    print(
        f"200 spectra: {states.count('converged')} converged, {new['failed']} failed; processor "
        f"seconds: reading once {reading:.1f}, new {made:.1f}, fit to page {fitted:.1f}; beside "
        f"reading twice {made + fitted - 2 * reading:.1f}"
    )
    shutil.rmtree(home)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="files, absorption, moving, folder; else all")
    parser.add_argument("--seed", type=int, help="of the first set, of absorption and moving")
    parser.add_argument("--sets", type=int, nargs=2, help="from one set to another, not included")
    given = parser.parse_args()
    for part in given.parts or ("files", "absorption", "moving", "folder"):
        if part == "absorption":
            absorption_sets(range(*(given.sets or (0, 40))), given.seed or 1000)
        elif part == "moving":
            moving_series(range(*(given.sets or (0, 20))), given.seed or 2000)
        else:
            {"files": files, "folder": folder}[part]()
