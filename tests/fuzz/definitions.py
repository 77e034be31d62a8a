"""Functions by formula, random and changed, and their programs under the sanitizers.

    PYTHONPATH=tests python -m fuzz.definitions --runs 1000000

Each text is refused with one clear error, or defines a function: its program goes to
tests/c/random/fuzz_formulas.c, built with the sanitizers, which runs it and changes of it. At least
half of the texts must be accepted. Anything else is a defect; the command prints the text that
shows it.
"""

from __future__ import annotations

import argparse
import random
import re
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fuzz.guided import LIMIT, DefectError, HangError, at_most, change
from fuzz.plans import ROOT, build

from pyspec.errors import PyspecError
from pyspec.formula import AXES, FUNCTIONS
from pyspec.formula.definitions.formulas import DOMAINS
from pyspec.formula.definitions.function import Definition, define

#: Parameters of random functions.
NAMES = ("A", "b", "c", "w", "x0", "tau")

#: Inputs of some of them.
INPUTS = ("ref", "flux")

#: Operators between two values, and numbers.
OPERATORS = ("+", "-", "*", "/", "*", "+", "**", "<", ">=", "!=")
NUMBERS = ("1", "2", "0.5", "3e-4", "1e300", "pi", ".25", "0")

#: So many of the texts are changed ones.
CHANGED = 0.4


def grow(draw: random.Random, names: list[str], depth: int) -> str:
    """A random formula of these names."""
    kind = draw.random()
    if depth == 0 or kind < 0.15:
        return draw.choice(names) if draw.random() < 0.75 else draw.choice(NUMBERS)
    if kind < 0.55:
        left, right = (grow(draw, names, depth - 1) for _ in range(2))
        return f"({left} {draw.choice(OPERATORS)} {right})"
    if kind < 0.65:
        return f"-{grow(draw, names, depth - 1)}"
    function = draw.choice(sorted(FUNCTIONS))
    operands = (grow(draw, names, depth - 1) for _ in range(FUNCTIONS[function].arity))
    return f"{function}({', '.join(operands)})"


def random_text(draw: random.Random) -> str:
    """The text of a function, most of the time a sound one."""
    domain = draw.choice(list(DOMAINS))
    names, body = [DOMAINS[domain][2], *NAMES[: draw.randrange(1, 7)]], list[str]()
    may_read = domain in AXES and draw.random() < 0.4
    inputs = draw.sample(INPUTS, draw.randrange(1, 3)) if may_read else []
    names += inputs
    for k in range(draw.choice((0, 0, 1, 3))):
        body.append(f"u{k} = {grow(draw, names, 3)}")
        names.append(f"u{k}")
    lines = [name for name in names if re.fullmatch(r"u\d", name)]
    body.append(" + ".join([grow(draw, names, draw.randrange(1, 6)), *lines]))
    body[-1] += "".join(f" + {name}" for name in inputs)
    used = set(re.findall(r"[A-Za-z_]\w*", "; ".join(body)))
    params = [name + draw.choice(("", "", " > 0", " [eV]")) for name in NAMES if name in used]
    behind = f"; {', '.join(inputs)}" if inputs else ""
    return f"{domain} F({', '.join(params)}{behind}): {'; '.join(body)}"


def attack(runs: int, seed: int, take: Callable[[Definition], None]) -> Counter[str]:
    """Defines so many functions and hands over those that are accepted. Raises
    :class:`DefectError` at the first text that shows one."""
    draw, counts = random.Random(f"definitions {seed}"), Counter[str]()
    words = [word.encode() for word in (*FUNCTIONS, *NAMES, *NUMBERS, *OPERATORS, "(", ")", ",")]
    texts = [random_text(draw).encode() for _ in range(100)]
    for _ in range(runs):
        text = random_text(draw)
        if draw.random() < CHANGED:
            text = change(draw, text.encode(), texts, words).decode("utf-8", "surrogateescape")
        try:
            with at_most(LIMIT):
                own = define(text).own
                assert isinstance(own, Definition)
                take(own)
        except PyspecError:
            counts["refused"] += 1
            continue
        except BrokenPipeError:
            raise
        except (Exception, HangError) as error:
            raise DefectError(f"{error!r} for {text!r}") from error
        counts["accepted"] += 1
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "sanitize")
    given = parser.parse_args()
    program = build(given.build, "fuzz_formulas")
    command = [str(program), str(given.seed)]
    texts: dict[int, str] = {}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as machine:
        pipe, said = machine.stdin, machine.stdout

        def take(own: Definition) -> None:
            # Of a kernel: what it is before its masses.
            words = own.program(own.value)
            texts[len(texts) + 1] = own.text
            pipe.write(struct.pack("=qq", words.size, len(own.params)) + words.tobytes())

        try:
            counts = attack(given.runs, given.seed, take)
            pipe.close()
        except BrokenPipeError:  # it ended before the texts did, and says why
            counts = Counter()
        answer = said.read().decode()
        code = machine.wait()
    print(answer.strip())
    if code:
        number = re.search(r"program (\d+)", answer)
        print(f"for {texts[int(number[1])]!r}" if number else "the sanitizers say where")
        return code
    print(f"{given.runs} texts: {counts['accepted']} accepted, {counts['refused']} refused")
    return int(counts["accepted"] * 2 < given.runs)


if __name__ == "__main__":
    sys.exit(main())
