"""Files that other programs write, for :mod:`bench.first`: names, kinds and words of ``new``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.problems.first_data import DELAYS, ENERGIES, TIMES, WAVELENGTHS, absorption, moving


def _models() -> dict[str, Any]:
    """Spectra of lmfit's models."""
    from lmfit.models import LinearModel, PseudoVoigtModel, StepModel, VoigtModel

    x = np.linspace(0.0, 20.0, 401)
    line = LinearModel().eval(x=x, slope=0.3, intercept=5)
    voigt = VoigtModel().eval(x=x, amplitude=60, center=8.0, sigma=0.5, gamma=0.3)
    two = sum(PseudoVoigtModel().eval(x=x, amplitude=a, center=c, sigma=0.6, fraction=0.4)
              for a, c in ((50, 6.0), (30, 12.0)))  # fmt: skip
    step = StepModel(form="erf").eval(x=x, amplitude=40, center=11.0, sigma=0.5)
    return {"x": x, "voigt": line + voigt, "two": line + two, "step": 3 + step}


def written_files(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Fifteen files: (name, the kind that a practitioner would name, words of ``new``)."""
    folder.mkdir(parents=True)
    rng, made = np.random.default_rng(9), _models()
    x = made["x"]

    def path(name: str) -> str:
        return str(folder / name)

    spectrum, noise = "a spectrum", rng.normal(0, 0.5, x.size)
    np.savetxt(path("lmfit_voigt.dat"), np.c_[x, made["voigt"] + noise])
    yield "lmfit_voigt.dat", spectrum, [path("lmfit_voigt.dat")]
    table = np.c_[x, made["two"] + noise, np.full(x.size, 0.5)]
    np.savetxt(path("errors.csv"), table, "%.5g", ",", header="x,y,sigma", comments="")
    yield "errors.csv", spectrum, [path("errors.csv")]
    np.savetxt(path("lmfit_step.txt"), np.c_[x, made["step"] + noise], "%.5f")
    yield "lmfit_step.txt", "an edge", [path("lmfit_step.txt")]
    swapped = np.c_[made["two"] + noise, x][::-1]
    np.savetxt(path("intensity_first.csv"), swapped, "%.4f", ",", header="counts,KE (eV)",
               comments="")  # fmt: skip
    yield "intensity_first.csv", spectrum, [path("intensity_first.csv")]
    four = np.c_[x, made["two"] + noise, made["voigt"], x * 0]
    np.savetxt(path("four.csv"), four, "%.4f", ",", header="KE (eV),counts,fit,bg", comments="")
    yield "four.csv", spectrum, [path("four.csv")]
    np.savez(path("numpy_1d.npz"), data=made["voigt"] + noise, energy=x)
    yield "numpy_1d.npz", spectrum, [path("numpy_1d.npz")]
    for number in (5, 14):
        ta = absorption(number)
        name = f"ta_{number}.npz"
        np.savez(path(name), data=ta.data, wavelength=WAVELENGTHS, delay=DELAYS)
        yield name, "a series of spectra that decay", [path(name), "--energy", "wavelength",
                                                       "--time", "delay"]  # fmt: skip
    for number in (0, 3):
        name = f"moving_{number}.npz"
        np.savez(path(name), data=moving(number).data, energy=ENERGIES, time=TIMES)
        yield name, "a series of lines that move", [path(name)]
    trace = absorption(0).data[:, 40]
    np.savetxt(path("trace.csv"), np.c_[DELAYS, trace], "%.5g", ",", header="delay (ps),dA")
    yield "trace.csv", "a trace over time", [path("trace.csv")]
    yield from _of_libraries(folder, x, made, noise)


def _of_libraries(
    folder: Path, x: Any, made: dict[str, Any], noise: Any
) -> Iterator[tuple[str, str, list[str]]]:
    """Files of a spreadsheet, VAMAS, Igor and HDF5."""
    try:
        from igorwriter import IgorWave

        wave = IgorWave(made["two"] + noise, name="two")
        wave.set_dimscale("x", float(x[0]), float(x[1] - x[0]), "eV")
        wave.save(str(folder / "two.ibw"))
        yield "two.ibw", "a spectrum", [str(folder / "two.ibw")]
    except ImportError:
        print("igorwriter is not installed: no .ibw")
    import h5py

    with h5py.File(folder / "two.h5", "w") as file:
        file["energy"], file["data"] = x, made["two"] + noise
    yield "two.h5", "a spectrum", [str(folder / "two.h5")]
    text = "\n".join(f"{u:.2f};{v:.3f}".replace(".", ",") for u, v in
                     zip(x, made["two"] + noise, strict=True))  # fmt: skip
    (folder / "german.csv").write_text(f"Bindungsenergie (eV);Intensität\n{text}\n", "utf-8")
    yield "german.csv", "a spectrum", [str(folder / "german.csv")]
