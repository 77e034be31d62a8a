"""What a client and its workers must agree on before they share work: the library and its build."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import cast

from pyspec._library import CONSTANTS, ISA, LIBRARY, supported_isas
from pyspec.errors import ClusterError
from pyspec.executor.cluster.engine import Client

#: What installs the engine.
INSTALL = "pip install 'pyspec-fit[distributed]'"


@dataclass(frozen=True)
class Build:
    """The library of one process.

    Attributes
    ----------
    fingerprint : of its sources and tables
    machine : architecture of the processor
    isas : builds of the kernels that the processor runs, the widest last
    isa : the one in use, which ``PYSPEC_ISA`` may choose
    """

    fingerprint: str
    machine: str
    isas: tuple[str, ...]
    isa: str


@dataclass(frozen=True)
class Agreement:
    """What the sums of one fit have in common; sums of another library or build never join them.

    Attributes
    ----------
    fingerprint : of the library
    isa : build of the kernels
    """

    fingerprint: str
    isa: str


def this_build() -> Build:
    """The library of this process."""
    return Build(LIBRARY.pyspec_fingerprint().decode(), platform.machine(), supported_isas(), ISA)


def need_client(client: object) -> Client:
    """The client, where work can be handed to it. Raises :class:`ClusterError`."""
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(
            f"client= needs dask and distributed, which are not here ({error}); {INSTALL}"
        ) from None
    if not isinstance(client, distributed.Client):
        raise ClusterError(
            f"client must be a dask.distributed.Client, not {type(client).__name__}; write "
            "client=Client('tcp://scheduler:8786'), or Client(n_workers=2) for this machine"
        )
    cluster = cast(Client, client)
    if cluster.asynchronous:
        raise ClusterError(
            "the client is asynchronous, a fit waits for its sums; give Client(...) without "
            "asynchronous=True"
        )
    if cluster.status != "running":
        raise ClusterError(f"the client is {cluster.status}; connect again: Client(address)")
    return cluster


def agree(client: Client) -> Agreement:
    """The narrowest build that all workers and this process use.

    Raises :class:`ClusterError` where there is no worker, or one that has another library or
    another processor.
    """
    own = this_build()
    builds = {"this process": own}
    for address, answer in client.run(this_build, on_error="return").items():
        if isinstance(answer, Build):
            if (answer.fingerprint, answer.machine) != (own.fingerprint, own.machine):
                raise ClusterError(
                    f"worker {address} has another pyspec ({answer.machine}, "
                    f"{answer.fingerprint[:12]}) than this process ({own.machine}, "
                    f"{own.fingerprint[:12]}); their sums would differ: install the same version "
                    "on all"
                )
            builds[f"worker {address}"] = answer
        elif not isinstance(answer, OSError):  # one whose process has just ended: it is no worker
            cause = answer if isinstance(answer, Exception) else None
            raise ClusterError(
                f"a worker cannot load this pyspec ({answer}); install the same version on all of "
                "them"
            ) from cause
    if len(builds) == 1:
        raise ClusterError("the cluster has no workers; start some, or wait for the first")
    isa = min((build.isa for build in builds.values()), key=lambda isa: CONSTANTS[f"ISA_{isa}"])
    for process, build in builds.items():
        if isa not in build.isas:
            raise ClusterError(
                f"{process} runs {', '.join(build.isas)}, not {isa}, which others are told to use; "
                "set the same PYSPEC_ISA everywhere"
            )
    return Agreement(own.fingerprint, isa)


def of_engine(error: BaseException) -> bool:
    """Whether the engine raised this, for a task that was lost, rather than the task."""
    module = type(error).__module__.split(".")[0]
    return module in ("distributed", "concurrent", "asyncio", "tornado")
