"""Sums as nodes of the tree over the row number. Sums from other threads, processes or machines
join to the bits of one pass over all rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec._library import LIBRARY, raise_status
from pyspec._library.memory import address, record
from pyspec.executor.normal import Sums, node_size, order_of, triangle_size
from pyspec.executor.protocol import Array


@dataclass(frozen=True)
class Nodes:
    """Sums over some rows of a problem.

    Attributes
    ----------
    places : (n, 2) level and index of each node; its rows are index · 2^level on, 2^level of them
    triangles : (n, size) the sums of each, be they a triangle or not
    """

    places: npt.NDArray[np.int64]
    triangles: Array


def take(sums: Sums) -> Nodes:
    """What has been summed; the sums are then empty again."""
    n, order, form = (int(sums.struct[name][0]) for name in ("n_nodes", "order", "form"))
    size = node_size(form, order)
    sums.struct["n_nodes"] = 0
    return Nodes(sums.places[:n].copy(), sums.nodes[: n * size].reshape(n, size).copy())


def all_nodes(parts: Iterable[Nodes]) -> Nodes:
    """The nodes of several parts in the order of their rows."""
    kept = list(parts)
    places = np.concatenate([nodes.places for nodes in kept])
    triangles = np.concatenate([nodes.triangles for nodes in kept])
    order = np.argsort(places[:, 1] << places[:, 0], kind="stable")
    return Nodes(np.ascontiguousarray(places[order]), np.ascontiguousarray(triangles[order]))


def join(total: Sums, nodes: Nodes) -> None:
    """Adds nodes of rows that follow those of the total, in the order of their rows."""
    more = record(
        "pyspec_normal",
        {
            "form": int(total.struct["form"][0]),
            "order": int(total.struct["order"][0]),
            "n_nodes": len(nodes.places),
            "capacity": len(nodes.places),
            "places": address(nodes.places),
            "nodes": address(nodes.triangles),
        },
    )
    raise_status(LIBRARY.pyspec_join(total.address, address(more)), "sums")


def collect(
    nodes: Nodes,
    n_free: int,
    form: str,
    into: Array | None = None,
    gather: npt.NDArray[np.int64] | None = None,
) -> Array:
    """The triangle that nodes of all rows add up to; `nodes` are in the order of their rows.

    `into` is the triangle of several files, to which it is added: parameter k of this file is
    parameter gather[k] there.
    """
    size = triangle_size(1 if form == "value" else n_free + 1)
    triangle = np.zeros(size) if into is None else into
    total_order = order_of(triangle)
    total = Sums(n_free, max(total_order - 1, n_free), form)
    join(total, nodes)
    columns = None if gather is None or form == "value" else address(gather)
    status = LIBRARY.pyspec_collect(total.address, columns, total_order, address(triangle))
    raise_status(status, "sums")
    return triangle


def collect_data(nodes: Nodes) -> Array:
    """(size,) what nodes of the form "data" add up to; `nodes` are in the order of their rows."""
    size = nodes.triangles.shape[1]
    total, collected = Sums(size, size, "data"), np.zeros(size)
    join(total, nodes)
    raise_status(LIBRARY.pyspec_collect(total.address, None, size, address(collected)), "sums")
    return collected
