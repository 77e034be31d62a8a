"""Fifty fits that four processes append to one archive at the same time: python appends.py."""

from __future__ import annotations

import os
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

from pyspec.io import load_archive, save_archive

N_FITS, N_PROCESSES = 50, 4


def append(path: Path, first: int) -> None:
    """The share of one process."""
    for number in range(first, N_FITS, N_PROCESSES):
        save_archive(path, {"number": number})


def main() -> None:
    """Appends and reads what is there."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fits.h5"
        context = get_context("spawn")
        processes = [context.Process(target=append, args=(path, k)) for k in range(N_PROCESSES)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        fits, _, _ = load_archive(path)
        numbers = sorted(fit["number"] for fit in fits)
        if numbers != list(range(N_FITS)) or os.listdir(folder) != ["fits.h5"]:
            sys.exit(f"{len(numbers)} of {N_FITS} fits; files: {os.listdir(folder)}")
    print(f"{N_FITS} fits appended by {N_PROCESSES} processes: all are there, the archive is whole")


if __name__ == "__main__":
    main()
