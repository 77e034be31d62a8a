"""The page of what many points cost: constants that were measured, and what follows from them."""

from __future__ import annotations

from bench.on_paper import (
    CHECK_HEAD,
    HEAD,
    Constants,
    Site,
    best_workers,
    check_rows,
    load,
)
from bench.on_paper import table as costs
from docs.pages.markdown import table


def pages() -> dict[str, str]:
    """The page, by its path in docs/."""
    known, checks = load()
    site = Site()
    return {
        "inside/billion_points.md": _PAGE.format(
            constants=table(["constant", "", "measured as"], _constants(known)),
            machine=known.machine,
            checks=table(CHECK_HEAD, check_rows(checks)),
            costs=table(HEAD, costs(known, site)),
            network=f"{8 * site.network / 1e9:.0f}",
            cores=site.cores,
            n_energy=site.n_energy,
            evaluations=site.evaluations,
            best_9=f"{best_workers(1e9, known, site):,.0f}",
            best_12=f"{best_workers(1e12, known, site):,.0f}",
            axis_9=f"{1e9 / site.n_energy * known.bytes_per_time / 1e9:.1f}",
            axis_12=f"{1e12 / site.n_energy * known.bytes_per_time / 1e9:,.0f}",
        )
    }


def _constants(known: Constants) -> list[list[str]]:
    return [
        ["sums of a point", f"{1e9 * known.seconds_per_point:.2g} ns",
         "normal equations, two lines one of which moves, one core, data in memory"],
        ["the same, only a height moves", f"{1e9 * known.seconds_apart:.2g} ns",
         "shapes and times are summed apart"],
        ["bytes of a point", f"{known.bytes_per_point:.0f}", "float64; uint16 has 2"],
        ["reading, from memory", f"{known.cached / 1e9:.2g} GB/s",
         "contiguous HDF5, cached by the system, one thread"],
        ["reading, from disk", f"{known.disk / 1e9:.2g} GB/s",
         "the same, dropped from memory before"],
        ["latency of an evaluation", f"{1e3 * known.latency:.2g} ms",
         "outside of the sums, with one worker, less the next line"],
        ["each worker", f"{1e3 * known.seconds_per_worker:.2g} ms",
         "a task that sends 30 nodes and sums nothing, of 10,000 by 4 workers"],
        ["a stub task", f"{1e3 * known.task_seconds:.2g} ms",
         "a task that does nothing, of 10,000 sent together to 4 workers: the engine alone"],
        ["a node of the tree", f"{known.bytes_per_node:.0f} bytes, "
         f"{1e6 * known.seconds_per_node:.2g} µs", "10 free parameters; joined in one process"],
        ["a time of the axis", f"{known.bytes_per_time:.0f} bytes",
         "memory of every process, whatever rows it sums"],
    ]  # fmt: skip


_PAGE = """\
# What a billion points cost

A fit asks for its sums about {evaluations} times. The cost of such an evaluation follows from a
few constants. This command measures and checks them; without `--measure` it prints the constants
of this page and the tables below:

```sh
python -m bench.on_paper --measure
```

{constants}

Measured on {machine} (its average over 1, 5 and 15 minutes, this command included).

## How the time is derived

N points are summed by W workers, each a core; C of them share a machine and its disk.

```text
sums       N × time of a point / W
reading    N × bytes of a point / (W / C × speed of a disk), while the sums run
messages   latency + W × time of a worker
network    W × nodes × bytes of a node / speed of the network
tree       W × nodes × time of a node
evaluation the longer of sums and reading, and the three others
```

A worker's rows are at most 2 log₂(rows) nodes of the tree over the row number, which is what it
answers, however many points they are. The sums fall with the workers; messages, network and tree
grow with them, because one process asks all workers and joins what they answer.

Checked by sums in memory with 1 and 2 workers, on the same machine. The sums were measured without
workers, and the latency with 1, so that the line of 2 is the check. A ratio below 1 is what the
derivation does not know: here the workers share their cores with the scheduler, with the process
that fits, and with other work.

{checks}

## What it comes to

{n_energy} energies, 10 free parameters, {evaluations} evaluations. Assumed, not measured: {cores}
cores to a machine, each machine with a disk of its own, a network of {network} Gbit/s.

{costs}

- **The disk** is the first limit of data by reference: a machine of {cores} cores sums faster
  than its disk reads. Arrays of dask stay in the memory of the workers, and `uint16` takes a
  quarter of the bytes. Compressed data are read faster if the disk is slower than the cores that
  decode them.
- **Messages** are the next one. More workers than √(sums / time of a worker and its answer) make
  an evaluation longer: {best_9} for 1e9 points, {best_12} for 1e12.
- **The tree and the network** come after them: their share for each worker is smaller than that
  of its messages.
- **The time axis**, with everything that moves along it, lies in the memory of every process. One
  series with {n_energy} energies needs {axis_9} GB for 1e9 points and {axis_12} GB for 1e12. So
  fit 1e12 points as many files with shared parameters ([share a
  parameter](../howto/share_a_parameter.md)), not as one series. Each worker then holds few files.

See [fit on a cluster](../howto/cluster.md), [data larger than memory](../howto/large_data.md) and
the [benchmarks](../benchmarks.md).
"""
