"""Saves archives in forked children, kills each at a random moment, and reads what is there.

    python saver.py FOLDER N_KILLS

Every child appends fits or replaces the archive until it is killed. Afterwards the archive must
be readable and be one that was saved as a whole: each fit holds arrays that agree with its
number. Prints how many kills hit a save, and how many saves were seen.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from pyspec.io import digest, load_archive, save_archive

SIZE = 20_000


def contents(number: int) -> dict[str, object]:
    values = np.full(SIZE, float(number)) + np.arange(SIZE)
    return {"number": number, "values": values, "text": f"fit {number}\n" * 50}


def shared(number: int) -> dict[str, np.ndarray]:
    array = np.arange(50.0) + number
    return {digest(array): array}


def keep_saving(path: Path, first: int, announce: int) -> None:
    number = first
    while True:
        number += 1
        os.write(announce, b".")
        mode = "replace" if number % 5 == 0 else "append"
        save_archive(path, contents(number), arrays=shared(number), mode=mode)


def check(path: Path) -> int:
    """The number of the last fit; raises where anything is not as it was saved."""
    fits, arrays, _ = load_archive(path)
    numbers = [fit["number"] for fit in fits]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers
    for fit in fits:
        np.testing.assert_array_equal(fit["values"], contents(fit["number"])["values"])
        assert fit["text"] == contents(fit["number"])["text"]
        assert set(shared(fit["number"])) <= set(arrays)
    return int(numbers[-1])


def main(folder: Path, n_kills: int) -> None:
    path = folder / "fits.h5"
    draw = random.Random(20)
    begin = time.perf_counter()
    for number in range(5):
        save_archive(path, contents(number), arrays=shared(number))
    # The moments are drawn over the length of a save on this machine.
    duration = min((time.perf_counter() - begin) / 5, 0.2)
    last, hits = 4, 0
    for _ in range(n_kills):
        inlet, outlet = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(inlet)
            keep_saving(path, last, outlet)
        os.close(outlet)
        for _ in range(draw.randint(1, 2)):
            os.read(inlet, 1)  # a save begins: at the second mark the first is done
        time.sleep(draw.uniform(0.0, duration))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(inlet)
        hits += any(name.endswith(".part") for name in os.listdir(folder))
        now = check(path)
        assert now >= last, (now, last)
        last = now
    save_archive(path, contents(last + 1), arrays=shared(last + 1))
    check(path)
    left = sorted(os.listdir(folder))
    assert left == ["fits.h5"], left
    print(f"{n_kills} kills, {hits} in the middle of a save, {last} fits saved")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
