"""Pictures of one file of every format: ``python tests/draw_formats.py FOLDER``.

Draws the samples of support/files/samples.py, and the measured files beside the golden numbers
where they are there (PYSPEC_SHARED).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import matplotlib
from support.files.samples import SAMPLES
from support.shared import SHARED

from pyspec.io import READERS, read
from pyspec.plot import plot_overview

#: Measured files, and how they are read.
MEASURED: dict[str, dict[str, object]] = {
    "formats/Cu-HHTP_0001.ibw": {},
    "formats/Cu-HHTP_0001.txt": {"energy_scale": "kinetic"},
    "formats/SPECS_three_blocks.xy": {"block": "Survey"},
    "formats/SnO2_10nm.spe": {},
    "formats/SnO2_10nm.spe.nxs": {},
    "formats/regular.vms.nxs": {"energy_scale": "binding"},
    "xps_real/irregular.vms": {},
    "xps_map/nano_xps.nc": {},
    "pump_probe/TA_Ru-dppz_400nm_ACN.SIA": {"units": {"energy": "nm"}, "to": "eV"},
    "spectrotemporal/simData02.ascii": {"units": {"energy": "nm", "time": "ps"}, "to": "cm-1"},
}


def draw(folder: Path) -> list[Path]:
    """One picture for each file; returns their paths."""
    matplotlib.use("agg")
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    with tempfile.TemporaryDirectory() as home:
        for name in READERS:
            for k, sample in enumerate(SAMPLES[name]):
                target = folder / f"{name}_{k}.png"
                found = read(sample.make(Path(home)), **sample.read)
                plot_overview(found, save_path=target, dpi_save=60)
                pictures.append(target)
    data = SHARED / "data"
    for file, how in MEASURED.items():
        if (data / file).exists():
            target = folder / f"measured_{Path(file).name}.png"
            plot_overview(read(data / file, **how), save_path=target, dpi_save=60)  # type: ignore[arg-type]
            pictures.append(target)
    return pictures


if __name__ == "__main__":
    print("\n".join(map(str, draw(Path(sys.argv[1])))))
