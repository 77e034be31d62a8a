"""Signals at random moments: ``python -m tests.campaign.signals --ints 1000 --terms 200``.

Eight kinds of call run in processes of their own; each call gets one SIGINT or SIGTERM from here,
half of them at moments that are uniform over 1.05 of the time that the call takes, the others in
the first tenth of that. No call that had an evaluation may be without its result: whole, marked
`interrupted`, with the handlers of before.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.campaign.kinds import EVALUATED, KINDS, PARTS, RELEASED, RETURNED

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

NAMES = tuple(KINDS)

#: Shares of the length of a call over which the moments are spread, in turn. `pyspec fit` spends
#: most of its time on pictures; its fits are in the first tenth.
SPREADS = (1.05, 0.105)

#: Where a signal met its call, the next is taken to last longer by this, until a signal comes late:
#: other work on the machine makes calls longer and shorter.
LONGER = 1.02


class Caller:
    """The process that makes calls of one kind; one that SIGTERM has ended is started again."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.start()

    def start(self) -> None:
        before = filter(None, [os.environ.get("PYTHONPATH")])
        paths = os.pathsep.join([str(ROOT), str(ROOT / "tests"), *before])
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "calls.py"), self.name, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
            bufsize=0,
        )
        self.seconds = [float(one) for one in json.loads(self.line())["seconds"]]

    def line(self) -> bytes:
        return self.process.stdout.readline()

    def send(self, byte: bytes) -> None:
        with suppress(BrokenPipeError):  # it has ended; the answer is empty
            self.process.stdin.write(byte)

    def attempt(self, number: int, turn: int, share: float) -> dict[str, Any]:
        """One call and one signal, after this share of its length; how it ended."""
        turn %= len(self.seconds)
        delay = share * self.seconds[turn]
        self.send(b"%d" % turn)
        if self.process.stdout.read(1) != b"s":
            raise RuntimeError(f"{self.name}: the process ended before its call")
        time.sleep(delay)
        self.process.send_signal(number)
        self.send(b"e")
        answer = self._answer(number)
        if answer["end"] == "late" and "seconds" in answer:
            self.seconds[turn] = answer["seconds"]
        else:
            self.seconds[turn] *= LONGER
        return {**answer, "delay": delay}

    def _answer(self, number: int) -> dict[str, Any]:
        """What the call has come to; a process that the signal has ended is started again."""
        answer = self.line()
        if answer:
            return dict(json.loads(answer))
        code = self.process.wait()
        state = (self.folder / "state").read_bytes()
        answer, seconds = self.ended(state), self.seconds
        self.close()
        self.start()
        self.seconds = seconds
        if code != -number:
            return {"end": "lost", "why": f"the process ended with {code}"}
        return answer

    def ended(self, state: bytes) -> dict[str, Any]:
        """What a process left that SIGTERM has ended."""
        if self.name == "sweep":
            return self.sweep_ended(state[PARTS])
        if state[RETURNED] or state[RELEASED]:  # see test_nothing_runs_after_the_handlers_are_back
            return {"end": "late", "why": ""}
        if self.name == "afterwards" or not state[EVALUATED]:
            return {"end": "before", "why": ""}
        return {"end": "lost", "why": "ended by the signal after an evaluation"}

    def sweep_ended(self, n_done: int) -> dict[str, Any]:
        """What is done of a sweep is whole, or can be continued."""
        import h5py

        if (self.folder / "sweep.h5").exists():
            return {"end": "kept", "why": ""}
        part, kept = self.folder / ".sweep.h5.part", 0
        if part.exists():
            with h5py.File(part, "r") as file:
                kept = int(file.attrs["done"]) if file.attrs["closed"] and n_done else 0
        if kept != n_done:
            return {"end": "lost", "why": f"{n_done} parts were done, {kept} are kept"}
        return {"end": "kept" if n_done else "before", "why": ""}

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def run(name: str, n_ints: int, n_terms: int, seed: int = 0) -> dict[str, Any]:
    """The numbers of one kind: of each signal, how the calls ended."""
    draw = random.Random(f"{name} {seed}")
    numbers = [signal.SIGINT] * n_ints + [signal.SIGTERM] * n_terms
    draw.shuffle(numbers)
    found: dict[str, Any] = {"kind": name, "why": []}
    counts: dict[int, Counter[str]] = {signal.SIGINT: Counter(), signal.SIGTERM: Counter()}
    with tempfile.TemporaryDirectory() as folder:
        caller = Caller(name, Path(folder))
        try:
            for k, number in enumerate(numbers):
                share = draw.uniform(0, SPREADS[k // 2 % 2])
                answer = caller.attempt(number, k, share)
                counts[number][answer["end"]] += 1
                if answer["why"]:
                    when = f"{number.name} after {answer['delay']:.4f} s"
                    found["why"].append(f"{when}: {answer['why']}")
            found["seconds"] = max(caller.seconds)
        finally:
            caller.close()
    found["SIGINT"], found["SIGTERM"] = (dict(counts[n]) for n in (signal.SIGINT, signal.SIGTERM))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ints", type=int, default=1000, help="SIGINT, over all kinds")
    parser.add_argument("--terms", type=int, default=200, help="SIGTERM, over all kinds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", default=NAMES, choices=NAMES)
    given = parser.parse_args()
    lost = 0
    print(f"{'kind':12}{'seconds':>9}  of SIGINT, of SIGTERM: kept, before, late, lost")
    for name in given.kinds:
        found = run(name, given.ints // len(NAMES), given.terms // len(NAMES), given.seed)
        shown = [
            "  ".join(f"{found[key].get(end, 0):4d}" for end in ("kept", "before", "late", "lost"))
            for key in ("SIGINT", "SIGTERM")
        ]
        print(f"{name:12}{found['seconds']:9.3f}  {shown[0]}   |{shown[1]}", flush=True)
        for line in found["why"]:
            print(f"    {line}", flush=True)
        lost += found["SIGINT"].get("lost", 0) + found["SIGTERM"].get("lost", 0)
    print(f"lost: {lost}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
