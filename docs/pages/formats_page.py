"""The page of file formats: prose around a table of the readers that the package has."""

from __future__ import annotations

from docs.pages.markdown import table

LEAD = """
# Read my file

You have a file of data and want its axes, data and units in Python:

```python
from pyspec import read

scan = read("scan.csv")
print(scan)  # what was found, and how to say it otherwise
```

No `scan.csv` at hand? [This makes one](fit_2d.md#no-file-at-hand).

`read` looks at the content, not at the name, and returns a Dataset: `data`, `errors` (or None),
`axes`, and `units`, `labels` and `meta` as far as the file has them.

## Formats
"""

AFTER_FORMATS = """
Formats that need a library beyond NumPy and SciPy come with
`pip install '.[io]'`, in the folder of the clone. Keywords
that a format does not take are refused with those that it takes. Spreadsheets (`.xlsx`), pictures
and pickles are recognised and refused: export the table as CSV. Nothing in a file is ever
executed.

Files of HDF5, NetCDF and NeXus, and MATLAB 7.3, may say that numbers stand for others. `read`
decodes `_FillValue`, `missing_value` (both become NaN), `scale_factor`, `add_offset`, and the
`scaling_factor` and `offset` of NXdata: (value + offset) × factor. Such files can refer to other
files. External storage is refused. Virtual data sets and external links are read if the other
files lie in the folder of the file or below it; a note names them.

## Several spectra in one file

VAMAS, SPECS, Scienta, PHI, Igor text, JCAMP-DX and OPUS files hold blocks: regions, cycles, scans
or waves. Blocks that all have the same axes are stacked; otherwise an error lists them, and
`block="Survey"` or `block=2` chooses one. A name that several blocks share gives all of them,
stacked.

A table whose axis starts again holds blocks too: `read("scans.txt", block=1)`. Such data are
separate spectra; they are never sorted or averaged into each other. Tables below each other, each
with a heading and the names of its columns, as CasaXPS exports regions, are blocks by their
headings: `read("regions.txt", block="O 1s", columns=("B.E.", "CPS"))`.

## One row for each point

A table of time, energy and value may have its rows in any order. It is recognised by its names,
or if the first two columns form a grid. A fourth column called err, sigma or std holds standard
errors. Elsewhere give `layout="points"` and the columns, `columns=("delay", "energy", "counts")`.
Pairs of time and energy without a row are left out of fits.

## Units, and binding or kinetic energies

- `units={"energy": "nm", "time": "ps"}`: units that the file does not have.
- `to="eV"` (also meV, nm, cm-1, keV, µm, Å, THz): the energy axis in that unit, E = hc/λ.
- `to="eV", jacobian=True`: values and errors are multiplied by |dx_old/dx_new|, so that areas are
  kept: counts per nm become counts per eV. Leave it out for a transmission or a difference of
  absorbances, which are no densities.
- `energy_scale="binding"` or `"kinetic"`: E_binding = hν - φ - E_kinetic, with hν of the file.
- `photon_energy=1486.6`, `work_function=4.2`: hν and φ in eV. φ is 0 without, because analysers
  write kinetic energies that count from the Fermi level.

If a file does not say binding or kinetic, `energy_scale=` needs `photon_energy=` too. The
energies are then taken to be on the other scale, and are converted.

## Calibrate the energies

`shift` adds to the values of an axis, so that a line stands where it has to, or time zero at 0.
In a job it is `shift: {energy: -0.32}` below `data:`. Where CasaXPS
calibrated a VAMAS file, the energies are read as measured, and a note says the shift.

```python
calibrated = scan.shift(energy=84.0 - 84.02, time=-0.15)  # 84.02 was fitted, 84.0 it is
print(calibrated)  # says so
```

## Parts, means, differences

A Dataset is cut and averaged along its axes by their names; errors, units and labels go along. A
table of several columns has an axis `column`, counted from 1.

```python
early = scan.select(time=(-5, -2)).mean("time")
late = scan.select(time=5)  # the nearest delay
```

What is computed from the arrays, such as laser on minus laser off, is put back with its errors:

```python
from dataclasses import replace

import numpy as np

sigma = 0.3 * np.sqrt(1 + 1 / 4)  # one spectrum less the mean of four, 0.3 each
errors = np.full(late.shape, sigma)
change = replace(late, data=late.data - early.data, errors=errors, name="at 5")
```

A difference of counts has the σ `np.sqrt(on + off)`: it is not a count itself. Of counts that were
divided by the beam intensity it is `np.sqrt(on / i0_on**2 + off / i0_off**2)`.

## When it guesses wrong

- `layout="matrix"` (or `"columns"`, `"points"`, `"data"`) says how a table is arranged.
- `columns=["energy", "counts"]` chooses its columns, by name or number from 0. Of regions that
  stand side by side, each with an energy of its own, `columns=(2, 3)` reads the second one.
- `errors="sigma"` names the column of standard errors. A third column called err, sigma or std, or
  counts_err beside counts, is taken as such without it.
- `decimal=","` is the decimal sign.
- `energy="energy.txt"` takes an axis from another file, seen from here or beside the data; `print`
  says from which. Where both are there and differ, give the whole path.
- `transpose=True` exchanges time and energy. A matrix may have no word in its corner. Its first
  column is then time. Files of Surface Xplorer are the exception: their first row rises from
  below 0 to far above it in uneven steps, like delays. Lines such as `Averages: 3` below the
  numbers go to `meta`.
- `sort=True` sorts the axes with the data and averages points with equal values. Energies that
  mostly fall in the file are sorted from high to low. What was measured beside them, such as I0 of
  each delay, needs the same order: `read("run.h5", data="I0", sort=True).data`.

Thousands separators, as in 1.050,5 or 1,050.5, are refused: export the table without them.

```python
from pyspec import File, Project

file = File.from_dataset(scan, Project("."))
file.describe()
```

`File.from_xarray(array)` takes a labelled array. Standard errors that were read weight the fits of
the file, unless you give `from_dataset(scan, errors=False)`. NaN are left out of fits.
`pyspec show scan.csv` prints and draws the same from the command line.

A trace, one signal over delays, has no energy axis. `File.from_dataset(trace)` makes its file; fit
it with [fit_trace](pump_probe/transient_absorption.md).

From any other file make arrays yourself: `data` of shape `(n_time, n_energy)` or `(n_energy,)`,
`energy` and `time` of one dimension. `float64`, `float32` and `uint16` are used without a copy.

To add a format that is missing, write a reader for it: `CONTRIBUTING.md` says how.
"""


def pages() -> dict[str, str]:
    """howto/read_my_file.md."""
    from pyspec.io import READERS

    head = ("`format=`", "what", "endings", "example", "tested with", "library")
    rows = [
        (
            f"`{name}`",
            reader.what,
            " ".join(f"`.{ending}`" for ending in reader.endings),
            f"`{reader.example}`",
            reader.checked,
            ", ".join(reader.libraries),
        )
        for name, reader in sorted(READERS.items(), key=lambda item: item[1].what.lower())
    ]
    parts = (LEAD.strip(), table(head, rows), AFTER_FORMATS.strip())
    return {"howto/read_my_file.md": "\n\n".join(parts)}
