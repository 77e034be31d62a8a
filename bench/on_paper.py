"""What many points cost, derived from measured constants: ``python -m bench.on_paper``.

An evaluation of N points by W workers takes the longer of its sums and its reading, and then what
grows with the workers: messages, the bytes of their answers, and joining these in the tree::

    sums     = N seconds_per_point / W
    reading  = N bytes_per_point / (machines bytes_per_second)
    messages = latency + W seconds_per_worker
    network  = W nodes bytes_per_node / network
    tree     = W nodes seconds_per_node

A worker's rows are at most 2 log2(rows) nodes of the tree. ``--measure`` takes the constants on
this machine, and checks what is derived for 1 and 2 workers; ``--json`` writes both. Without it
they are those of docs/pages/on_paper.json.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.measure import arguments_of, print_rows, write_json

ROOT = Path(__file__).resolve().parents[1]

#: The constants that the page is made of.
KEPT = ROOT / "docs" / "pages" / "on_paper.json"

#: What the table is made for.
POINTS = (1e9, 1e12)
WORKERS = (1, 100, 10_000)


@dataclass(frozen=True)
class Constants:
    """What was measured, and on what.

    Attributes
    ----------
    seconds_per_point : normal equations of a line that moves, one core
    seconds_apart : the same where only a height moves
    bytes_per_point : as stored
    cached, disk : bytes/s of reading a contiguous file that is in memory, or is not
    latency, seconds_per_worker : outside of the sums, of an evaluation and of each worker more
    task_seconds : of a task that does nothing, of 10,000 together
    bytes_per_node, seconds_per_node : of the tree, in an answer and where answers are joined
    bytes_per_time : memory of a process for each point of the time axis
    machine : what it was measured on, with its load
    """

    seconds_per_point: float
    seconds_apart: float
    bytes_per_point: float
    cached: float
    disk: float
    latency: float
    seconds_per_worker: float
    task_seconds: float
    bytes_per_node: float
    seconds_per_node: float
    bytes_per_time: float
    machine: str


@dataclass(frozen=True)
class Site:
    """Where a fit runs: assumed, not measured.

    Attributes
    ----------
    cores : workers of a machine, each of one core; a machine reads at the speed of its own disk
    network : bytes/s into the process that fits
    n_energy : points of a spectrum
    evaluations : of a fit
    """

    cores: int = 32
    network: float = 1.25e9
    n_energy: int = 400
    evaluations: int = 10


@dataclass(frozen=True)
class Cost:
    """Seconds of one evaluation, by where they go."""

    sums: float
    reading: float
    messages: float
    network: float
    tree: float

    @property
    def total(self) -> float:
        """Seconds of an evaluation: reading goes on beside the sums."""
        return max(self.sums, self.reading) + self.messages + self.network + self.tree

    @property
    def limit(self) -> str:
        """Where most of it goes."""
        parts = asdict(self)
        return max(parts, key=parts.__getitem__)


def nodes_of(rows: float) -> float:
    """The most nodes of the tree that consecutive rows can be: two of each level."""
    return 2.0 * max(math.log2(rows), 1.0) if rows > 1 else 1.0


def cost(n: float, workers: int, known: Constants, site: Site, *, in_memory: bool = False) -> Cost:
    """One evaluation of n points by so many workers; `in_memory`: which hold their rows."""
    machines = -(-workers // site.cores)
    nodes = workers * nodes_of(n / site.n_energy / workers)
    shared = workers > 1
    return Cost(
        sums=n * known.seconds_per_point / workers,
        reading=0.0 if in_memory else n * known.bytes_per_point / (machines * known.disk),
        messages=known.latency + workers * known.seconds_per_worker if shared else 0.0,
        network=nodes * known.bytes_per_node / site.network if shared else 0.0,
        tree=nodes * known.seconds_per_node,
    )


def best_workers(n: float, known: Constants, site: Site) -> float:
    """How many workers make an evaluation in memory shortest: with more, each of them costs more
    than it saves. With sums S / W and c for each worker, sqrt(S / c)."""
    nodes = nodes_of(n / site.n_energy)
    each = nodes * (known.bytes_per_node / site.network + known.seconds_per_node)
    return math.sqrt(n * known.seconds_per_point / (known.seconds_per_worker + each))


def table(known: Constants, site: Site) -> list[list[str]]:
    """Points, workers, where their rows are, the parts of an evaluation, all of it, a fit, and
    where most of it goes."""
    rows = []
    for n in POINTS:
        for workers in WORKERS:
            for in_memory in (False, True):
                one = cost(n, workers, known, site, in_memory=in_memory)
                rows.append(
                    [
                        f"{n:.0e}".replace("e+", "e").replace("e0", "e"),
                        f"{workers:,}",
                        "memory" if in_memory else "disk",
                        *(in_words(value) for value in asdict(one).values()),
                        in_words(one.total),
                        in_words(site.evaluations * one.total),
                        one.limit,
                    ]
                )
    return rows


HEAD = [
    "points", "workers", "rows in", "sums", "reading", "messages", "network", "tree",
    "an evaluation", "a fit", "most of it",
]  # fmt: skip

CHECK_HEAD = ["workers", "points", "measured", "derived", "derived / measured"]


def in_words(seconds: float) -> str:
    """ "3.1 s", "12 min"; a dash for nothing."""
    if seconds == 0.0:
        return "–"
    units = ((86400, 2, "d"), (3600, 1.5, "h"), (60, 1.5, "min"), (1, 1, "s"), (1e-3, 1, "ms"))
    fitting = ((size, unit) for size, least, unit in units if seconds >= least * size)
    size, unit = next(fitting, (1e-6, "µs"))
    return f"{seconds / size:.{0 if seconds >= 9.95 * size else 1}f} {unit}"


@dataclass(frozen=True)
class Check:
    """Seconds of an evaluation of `points` in memory by so many workers, measured and derived."""

    workers: int
    points: int
    measured: float
    derived: float


def load(path: Path = KEPT) -> tuple[Constants, list[Check]]:
    """Constants and checks that were written."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return Constants(**found["constants"]), [Check(**one) for one in found["checks"]]


def check_rows(checks: list[Check]) -> list[list[str]]:
    """Workers, points, measured, derived, and the ratio of these."""
    return [
        [str(one.workers), f"{one.points:,}", in_words(one.measured), in_words(one.derived),
         f"{one.derived / one.measured:.2f}"]
        for one in checks
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Prints the constants and the table; writes the constants if asked to."""
    parser = arguments_of("on_paper", __doc__)
    parser.add_argument("--measure", action="store_true", help="on this machine, four minutes")
    parser.add_argument("--folder", type=Path, help="for a file of 0.8 GB, which is removed")
    given = parser.parse_args(arguments)
    if given.measure:
        from bench.inside.constants import measure

        known, checks = measure(given.folder)
    else:
        known, checks = load()
    for name, value in asdict(known).items():
        print(f"{name:20} {value if isinstance(value, str) else format(value, '.3g')}")
    print()
    print_rows(CHECK_HEAD, check_rows(checks))
    print()
    print_rows(HEAD, table(known, Site()))
    if given.json:
        kept = {"constants": asdict(known), "checks": [asdict(one) for one in checks]}
        write_json(given.json, kept)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
