"""Texts and files that learn: what reaches new lines of pyspec is kept and changed further.

    PYTHONPATH=tests python -m fuzz.guided formula --runs 1000000
    PYTHONPATH=tests python -m fuzz.guided yaml --runs 100000 --save
    PYTHONPATH=tests python -m fuzz.guided vamas igor_ibw --runs 10000

Targets are `formula`, `yaml`, every format that `read` knows, and `readers` for all of these. Each
text is refused with one clear error, or accepted and then used: formulas are evaluated in three
ways that must agree, models in two. Anything else is a defect, and so is an answer after `LIMIT`
seconds; the command prints the text that shows it and fails. `--save` keeps the texts that reached
new lines in tests/fuzz/corpus/, where the next run begins.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from support.files.samples import samples_of
from support.zoo import ZOO, make_model

import pyspec
from pyspec.errors import PyspecError
from pyspec.formula import FUNCTIONS, parse, run_rpn
from pyspec.io import READERS, read
from pyspec.model import load_models

PACKAGE = str(Path(pyspec.__file__).parent)
CORPUS = Path(__file__).parent / "corpus"

#: Seconds of the processor after which an answer counts as a hang, and so many times as long by the
#: clock: on a busy machine everybody waits.
LIMIT, ASLEEP = 30, 10

#: One run of so many is listened to, for that makes it slower.
LISTENS = 4

#: So often what is changed is a text that was accepted.
SOUND = 0.7

#: Texts that are kept at most.
MOST = 3000

#: What functions are called with, to begin with.
ARGUMENTS = ("a", "a, b", "a > b, a, 2 * b")

#: Longest text that is made.
LONGEST = 1 << 16

_TOKEN = re.compile(rb"[\w.]+|[^\w\s]|\s+")
_ODD = [b"0", b"-1", b"1e999", b"-1e-320", b"nan", b"inf", b"9" * 30, b"2147483648", b"\x00",
        b"\xff\xfe", b"\n", b" " * 40, b"(" * 60, b"[" * 60, "é×²".encode(), b"'", b'"', b":",
        b"&a", b"*a", b"!!python/object", b"%", b"#", b"-- ", b"\t"]  # fmt: skip


class HangError(BaseException):
    """No Exception: what takes those for signs of damage must not hide it."""


class DefectError(Exception):
    """An answer that is neither a clear error nor right."""


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Ends what takes so much of the processor, or waits for `ASLEEP` times as long, where the
    system has such alarms."""

    def stop(*_: Any) -> None:
        raise HangError(f"no answer after {seconds} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    alarms = [
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, ASLEEP * seconds),
    ]
    before = [signal.signal(number, stop) for _, number, _ in alarms]
    for timer, _, limit in alarms:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(alarms, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


@dataclass
class Target:
    """What is fed: `use` takes a text and says whether it was accepted; `seeds` begin."""

    name: str
    seeds: list[bytes]
    use: Callable[[bytes], bool]
    words: list[bytes] = field(default_factory=list)


def change(draw: random.Random, begin: bytes, texts: list[bytes], words: list[bytes]) -> bytes:
    """A text, changed at one to four places; some with the end of one of the others."""
    text = bytearray(begin)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, length = draw.randrange(len(text) + 1), draw.choice((1, 1, 2, 8, 40))
        kind = draw.randrange(8)
        if kind == 0 and at < len(text):
            text[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del text[at : at + length]
        elif kind == 2:
            text[at:at] = text[at : at + length]
        elif kind == 3:
            text[at : at + length] = draw.choice(_ODD)
        elif kind == 4:
            other = draw.choice(texts)
            begin = draw.randrange(len(other) + 1)
            text[at:] = other[begin:]
        else:
            _change_word(draw, text, words, at, kind)
        del text[LONGEST:]
    return bytes(text)


def _change_word(
    draw: random.Random, text: bytearray, words: list[bytes], at: int, kind: int
) -> None:
    """Another word in place of one, before it, or the word left out."""
    found = _TOKEN.search(text, at)
    begin, end = found.span() if found else (at, at)
    if kind == 5:
        text[begin:end] = draw.choice(words)
    elif kind == 6:
        text[begin:begin] = draw.choice(words)
    else:
        del text[begin:end]


class Listener:
    """Which line followed which in pyspec, over all runs."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, int, int]] = set()
        self._new = False

    def hears(self, work: Callable[[], object]) -> bool:
        """Runs `work`; whether it went new ways, also where it raises."""
        self._new = False
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            work()
        finally:
            sys.settrace(before)
        return self._new

    @property
    def is_new(self) -> bool:
        """Whether the last run went new ways."""
        return self._new

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return None
        key, last, seen = id(code), 0, self.seen

        def step(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal last
            if event == "line":
                arc = (key, last, frame.f_lineno)
                last = frame.f_lineno
                if arc not in seen:
                    seen.add(arc)
                    self._new = True
            return step

        return step


def attack(target: Target, runs: int, seed: int = 1) -> tuple[Counter[str], list[bytes]]:
    """Feeds a target so many texts; the counts, and the texts that reached new lines.

    Raises :class:`DefectError` at the first text that shows one.
    """
    draw, listener = random.Random(f"{target.name} {seed}"), Listener()
    texts, sound, counts = list(target.seeds), list[bytes](), Counter[str]()
    words = sorted({word for text in texts for word in _TOKEN.findall(text)})[:5000]
    words += target.words
    for k in range(len(target.seeds) + runs):
        is_seed = k < len(target.seeds)
        begin = draw.choice(sound if sound and draw.random() < SOUND else texts)
        text = target.seeds[k] if is_seed else change(draw, begin, texts, words)
        listens = is_seed or k % LISTENS == 0
        answer = _judge(target, text, listener if listens else None)
        counts[answer] += 1
        is_kept = listens and listener.is_new and not is_seed and len(texts) < MOST
        if is_kept:
            texts.append(text)
        if answer == "accepted" and (is_seed or is_kept):
            sound.append(text)
    counts["lines"] = len(listener.seen)
    return counts, texts


def _judge(target: Target, text: bytes, listener: Listener | None) -> str:
    accepted = False

    def use() -> None:
        nonlocal accepted
        accepted = target.use(text)

    try:
        with at_most(LIMIT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if listener is None:
                use()
            else:
                listener.hears(use)
    except PyspecError as error:
        if len(str(error)) > 2500:
            raise DefectError(f"{target.name}: {len(str(error))} characters: {text!r}") from error
        return "refused"
    except (Exception, HangError) as error:
        raise DefectError(f"{target.name}: {error!r} for {text!r}") from error
    return "accepted" if accepted else "refused"


# the targets


def use_formula(text: bytes) -> bool:
    """Value, value with slopes, and the compiled program have the same bits."""
    formula = parse(text.decode("utf-8", "surrogateescape"))
    rows = {name: k for k, name in enumerate(formula.names)}
    values = np.array([[0.7 + 0.4 * k, -1.5, 2.0] for k in range(len(rows))]).reshape(-1, 3)
    given = {name: values[k] for name, k in rows.items()}
    value, (again, _) = formula.evaluate(given), formula.gradient(given)
    with np.errstate(all="ignore"):
        program = run_rpn(formula.rpn(rows), values)
    for other in (again, program):
        if not np.array_equal(np.broadcast_to(value, np.shape(other)), other, equal_nan=True):
            raise DefectError(f"{value!r} and {other!r}")
    parse(str(formula))
    return True


def use_yaml(text: bytes) -> bool:
    """Every model of a file gives the same spectrum by its plan and by the tree."""
    try:
        models = load_models(text.decode("utf-8", "surrogateescape"))
    except RecursionError as error:
        raise DefectError("recursion") from error
    for model in models.values():
        model.set_axes(energy=np.linspace(80.0, 92.0, 24), time=np.linspace(-1.0, 30.0, 5))
        compiled = model.evaluate()
        tree = model.evaluate(backend="tree")
        size = np.max(np.abs(tree), initial=0.0, where=np.isfinite(tree))
        same = np.isclose(compiled, tree, rtol=1e-9, atol=1e-9 * size, equal_nan=True)
        if not same.all():
            raise DefectError(f"{model.name}: compiled and tree differ")
    return True


def reader_target(name: str, folder: Path) -> Target:
    """A format of `read`, fed with changed samples of it."""
    sample = samples_of(name)[0]
    path = sample.make(folder)

    def use(text: bytes) -> bool:
        path.write_bytes(text)
        read(path, **sample.read).describe()
        return True

    return Target(name, [path.read_bytes()], use)


def target_of(name: str, folder: Path) -> Target:
    """A target with what its corpus holds."""
    if name in READERS:
        return reader_target(name, folder)
    if name == "formula":
        texts = ["A * exp(-((x - x0) / w) ** 2)", "1 + 2 ** -b / (c - 3e-4)", "-(a % 2) // b"]
        texts += [f"{function}({text}) * d" for function in FUNCTIONS for text in ARGUMENTS]
        words = [word.encode() for word in (*FUNCTIONS, "(", ")", ",", "**", "a", "b", "pi")]
        return Target(name, [*_kept(name), *(text.encode() for text in texts)], use_formula, words)
    texts = [make_model(key).to_yaml() for key in ZOO]
    return Target(name, [*_kept(name), *(text.encode() for text in texts)], use_yaml)


def _kept(name: str) -> list[bytes]:
    path = CORPUS / f"{name}.json"
    if not path.exists():
        return []
    return [text.encode("latin-1") for text in json.loads(path.read_text("utf-8"))]


def save(name: str, texts: list[bytes]) -> None:
    """Keeps texts for the next run, the shortest first."""
    CORPUS.mkdir(exist_ok=True)
    chosen = sorted((text.decode("latin-1") for text in set(texts) if len(text) < 1500), key=len)
    (CORPUS / f"{name}.json").write_text(json.dumps(chosen[:400], indent=0) + "\n", "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    names = [one for name in given.targets for one in (READERS if name == "readers" else [name])]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            begin = time.perf_counter()
            try:
                counts, texts = attack(target_of(name, Path(folder)), given.runs, given.seed)
            except DefectError as error:
                failed += 1
                print(f"{name:12} DEFECT {str(error)[:4000]}", flush=True)
                continue
            if given.save and name not in READERS:
                save(name, texts)
            print(
                f"{name:12} {sum(counts.values()) - counts['lines']} texts: {counts['accepted']} "
                f"accepted and used, {counts['refused']} refused; {len(texts)} kept for "
                f"{counts['lines']} pairs of lines; {time.perf_counter() - begin:.0f} s",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
