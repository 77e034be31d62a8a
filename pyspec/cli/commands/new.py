"""``pyspec new``: a commented job and model to start from, with data so that it runs at once."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import numpy as np

from pyspec.cli.commands.new_files import command_of, options_of, write_folder
from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.shell import word
from pyspec.cli.syntax_hints import READING
from pyspec.model import load_dynamics, load_model
from pyspec.simulate import Simulator
from pyspec.simulate.save import csv_text

JOB = """\
# What to fit, and how. Run it with:   pyspec fit job.yaml
# Paths are relative to the folder of this file. Lines that begin with # are further options.

name: my first fit                # the title of the report

data:
  path: data.csv                  # or NeXus, VAMAS, HDF5, .ibw, .xy …: 'pyspec show' reads it
  # format: text                  # recognised by the content; 'pyspec show data.csv' prints it
  # energy: energy.csv            # an axis that lies in another file (time: the same)
  # columns: [BE, counts]         # of a table: x and y, by name or number from 0
  # block: C 1s                   # one spectrum of a file of several, by name or number
  # energy_scale: binding         # or kinetic; photon_energy: 1486.6 where the file lacks it
  # to: eV                        # the unit of the energy axis: eV, meV, nm or cm-1
  # transpose: true               # exchange time and energy
  # units: {energy: eV, time: ps}
  # shift: {energy: -0.32}        # calibrate: added to the values of an axis
  # select: {x: 0.09, energy: [281.0, 292.0]}   # a place, or a range, on an axis
  # at: {x: 10, y: 12}            # positions on axes, counted from 0
  # mean: [x, y]                  # average over axes
  # rename: {y: time}             # fit a line of a map as a series
  # mask: nan                     # leave out values that are NaN

models: models.yaml               # the file of the models
model: doublet                    # which of them

# For one spectrum without times: leave out dynamics and baseline, and set type: spectrum below.
dynamics:                         # what moves in time
  - {parameter: GLP_01_A, model: fade}
  # - {parameter: GLP_01_x0, model: [irf, up, down], frequency: 0.25}   # sub-cycles

# profiles:                       # what differs along an auxiliary axis, such as depth
#   - {parameter: GLP_01_x0, model: depth}
# auxiliary: {range: [0, 5], points: 20}

limits:                           # fit only this; both ends count
  energy: [1.0, 19.0]
  # time: [-5, 40]
  # exclude: [[4.0, 4.5], [18, null]]   # energies that are left out; null is open

baseline: [-10, -1]               # these times are averaged and fitted first, as the start

# noise: {type: gaussian, sigma: 0.4}   # known noise: chi² is absolute. Or {type: poisson}

fit:
  type: 2d                        # 2d, spectrum, baseline, slices (one by one) or trace
  # spectrum: 3.0                 # for type spectrum of a series: a time, or [from, to]
  method: native                  # or leastsq, nelder, powell, …; in turn: [nelder, native]
  # backend: compiled             # or interpreted, tree, compare
  # max_evaluations: 5000

output: results                   # report.html, parameters.csv and .json, fit.png, fits.h5

# plot:                           # labels are those of the file; here others, or any field of
#   e_label: binding energy (eV)  # PlotConfig
#   t_label: delay (ps)
#   z_label: counts
#   x_dir: rev                    # energies run from high to low
"""

MODELS = """\
# Models: a name, below it functions, below them parameters. 'pyspec ops' lists the functions,
# 'pyspec explain models.yaml' says what a model means.
#
#   [value, vary, min, max]   or   [value, vary]   or   ["expression"]

doublet:
  Offset:
    y0: [3.0, True, 0, 100]
  Shirley:                        # reads what stands below it
    pShirley: [0.002, True, 0, 0.1]
  GLP:                            # GLP_01: a peak between Gauss (m = 0) and Lorentz (m = 1)
    A: [16, True, 0, 100]         # height
    x0: [7.6, True, 0, 20]        # position
    F: [2.0, True, 0.2, 8]        # full width at half maximum
    m: [0.3, True, 0, 1]
  GLP:                            # GLP_02: follows the first one
    A: ["ratio * GLP_01_A"]
    x0: ["GLP_01_x0 + split"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]

parameters:                       # quantities of their own
  ratio: [0.7, True, 0.2, 2]
  split: [4.0, True, 1, 10]

# How a parameter moves in time: p(t) = p + D(t).
fade:
  expFun:                         # A exp(-(t - t0)/tau) from t0 on
    A: [-5, True, -50, 50]
    tau: [10, True, 0.1, 500]
    t0: [0, False]
"""

#: What the data of a new folder are made of.
TRUTH = {
    "Offset_y0": 4.0,
    "Shirley_pShirley": 0.004,
    "GLP_01_A": 20.0,
    "GLP_01_x0": 7.0,
    "GLP_01_F": 1.6,
    "GLP_01_m": 0.35,
    "ratio": 0.6,
    "split": 4.6,
    "GLP_01_A_expFun_01_A": -8.0,
    "GLP_01_A_expFun_01_tau": 12.0,
}
NOISE_SD = 0.4


def run(args: Namespace) -> int:
    """Writes the files of a new job and says what to do next; returns the exit code."""
    folder, paths = args.folder, args.data_paths
    if any(not path.strip() for path in paths):
        raise FlagError("DATA is empty; name a file, or leave it out for an example")
    if not paths:
        _refuse_idle(args)
    if folder.is_file():
        raise FlagError(
            f"{folder}: is a file, and the job needs a folder; write: pyspec new my_fit "
            f"{word(folder)}"
        )
    if not paths:
        return _example(args)
    from pyspec.cli.commands.new_many import files_of, run_many, run_survey

    files = files_of(paths)
    if len(files) > 1 or Path(paths[0]).is_dir():
        return run_many(args, files)
    args.data_path = str(files[0])
    if args.survey:
        return run_survey(args)
    from pyspec.cli.commands.new_from_data import begin
    from pyspec.cli.commands.new_summary import seen_facts, seen_text, windows_text

    begun = begin(args, command_of(args))
    write_folder(folder, begun.texts, args.force)
    args.facts.update(
        folder=folder, written=tuple(begun.texts), notes=tuple(begun.notes), **seen_facts(begun)
    )
    print(seen_text(begun))
    print(f"\nWritten to {folder}: {', '.join(begun.texts)}")
    print(f"The start values in {folder / 'models.yaml'} were read off the data.")
    print("".join(f"{note}.\n" for note in begun.notes) + windows_text(begun, args) + "Next:\n")
    _print_next(args, args.data_path)
    return 0


def _example(args: Namespace) -> int:
    """A job with simulated data."""
    folder, texts = args.folder, example_texts()
    write_folder(folder, texts, args.force)
    args.facts.update(folder=folder, written=tuple(texts), notes=())
    print(f"Written to {folder}: {', '.join(texts)}")
    print("data.csv is simulated: 60 spectra of 160 energies. Next:\n")
    _print_next(args, folder / "data.csv")
    job = folder / "job.yaml"
    print(f"\nThen put your own file into {job} (data: path:), and your peaks into models.yaml.")
    return 0


def _print_next(args: Namespace, data: object) -> None:
    folder = args.folder
    for command, purpose in (
        (
            f"pyspec fit {word(folder / 'job.yaml')}",
            f"fit it; the report is {folder / 'results' / 'report.html'}",
        ),
        (" ".join(["pyspec show", word(data), *options_of(args)]), "see the data"),
        (f"pyspec explain {word(folder / 'models.yaml')}", "see what the model means"),
    ):
        print(f"  {command}\n      {purpose}")  # no comment behind it: zsh has none in a prompt


def _refuse_idle(args: Namespace) -> None:
    """Refuses how to read a file where none is named."""
    own = ["peaks", "decays", "kind", "survey", "one", "select", "at", "rename", "mean", "units"]
    idle = [name for name in (*own, *READING) if vars(args)[name]]
    if idle:
        data = args.data if args.data and Path(args.data).is_file() else "DATA"
        flag = f"--{idle[0].replace('_', '-')}"
        raise FlagError(
            f"{flag} is for data that are read; name their file: "
            f"pyspec new {word(args.folder)} {data if data == 'DATA' else word(data)}"
        )


def example_texts() -> dict[str, str]:
    """The files of the example, by name."""
    return {"job.yaml": JOB, "models.yaml": MODELS, "data.csv": example_data()}


def example_data() -> str:
    """The CSV text of the example: a doublet that fades and recovers."""
    model = load_model(MODELS, "doublet")
    model.add_dynamics("GLP_01_A", load_dynamics(MODELS, "fade", "GLP_01_A"))
    time = np.concatenate([np.linspace(-10.0, 0.0, 15), np.geomspace(0.25, 60.0, 45)])
    model.set_axes(energy=np.linspace(0.0, 20.0, 160), time=time)
    model.set_values(TRUTH)
    level = NOISE_SD / float(np.abs(model.evaluate()).max())
    data = Simulator(model, noise_level=level, noise_type="gaussian", seed=11).simulate()[1]
    return csv_text(np.round(data, 4), model.energy, np.round(time, 4))
