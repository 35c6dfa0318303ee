"""Clusters: where joblib runs chunks of work instead of on this machine, by its own back ends for Dask and Ray."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...workloads import Fault, InputError

CONNECT = 5  # seconds to reach a scheduler
APPEAR = 10  # seconds for a first worker
KINDS = "dask://HOST:PORT, or ray (for the Ray cluster that this machine belongs to)"

Dead = type[Exception] | tuple[()]


@dataclass(frozen=True)
class SharedContent:
    """The content that all chunks share: in the file `key`, in bytes at hand, or in an object of Ray."""

    key: str  # differs from run to run
    bytes_: bytes | None = field(default=None, compare=False, repr=False)
    ray: Any = field(default=None, compare=False, repr=False)

    @property
    def local(self) -> bool:
        """Whether it is a file, for processes of this machine."""
        return self.bytes_ is None and self.ray is None

    def content(self) -> bytes:
        """Read the pickle, wherever it is."""
        if self.ray is not None:
            import ray

            content: bytes = ray.get(self.ray)
            return content
        return Path(self.key).read_bytes() if self.bytes_ is None else self.bytes_


def cluster_faults(cluster: str | None) -> list[Fault]:
    """Check the name of a cluster, without connecting to it."""
    if cluster is None or cluster == "ray":
        return []
    if not cluster:
        return [_fault(f"must be {KINDS}; got nothing")]
    host, _, port = cluster.removeprefix("dask://").rpartition(":")
    if cluster.startswith("dask://") and host and port.isdecimal():
        return []
    return [_fault(f"must be {KINDS}; got {cluster!r}")]


@contextmanager
def on_cluster(cluster: str, shared: SharedContent) -> Iterator[tuple[Any, SharedContent, Dead]]:
    """Open joblib's Parallel on a cluster, with `shared` in the form that tasks there receive.

    Last comes what is raised once every worker that a task was given to has died. Raises InputError where the package
    is missing, nothing answers, or the workers have other versions.
    """
    yield from _on_ray(shared) if cluster == "ray" else _on_dask(cluster.removeprefix("dask://"), shared)


def check_cluster(cluster: str | None) -> None:
    """Raise InputError where a cluster does not answer, or cannot run the same code; None: there is none."""
    if cluster is not None:
        with on_cluster(cluster, SharedContent("", b"")):
            pass


def versions() -> dict[str, str]:
    """The versions that all workers must share to give the same answer."""
    return {name: version(name) for name in ("ruby-map", "numpy")}


def _on_dask(address: str, shared: SharedContent) -> Generator[tuple[Any, SharedContent, Dead]]:
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise InputError(_fault("dask needs the package distributed: pip install 'ruby-map[dask]'")) from None
    from joblib import Parallel, parallel_config

    try:
        client = Client(f"tcp://{address}", timeout=CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(_fault(f"no Dask scheduler answers at {address} within {CONNECT} s ({error})")) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=APPEAR)
        except TimeoutError:
            raise InputError(_fault(f"the scheduler at {address} has had no worker for {APPEAR} s")) from None
        _check_workers(client)
        with parallel_config("dask", client=client, scatter=[shared]):
            parallel = Parallel(return_as="generator", batch_size=1, pre_dispatch="2*n_jobs")
        yield parallel, shared, KilledWorker


def _check_workers(client: Any) -> None:
    """Raise InputError where workers lack the package, or have versions that may count differently."""
    try:
        by_worker = client.run(versions)
    except Exception as error:  # whatever a worker raises on reading a function that it cannot import
        raise InputError(_fault(f"its workers cannot run ruby-map: {type(error).__name__}: {error}")) from None
    for worker, theirs in by_worker.items():
        if theirs != versions():
            raise InputError(_fault(f"the worker {worker} has {_shown(theirs)}, this machine {_shown(versions())}"))


def _shown(numbers: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def _on_ray(shared: SharedContent) -> Generator[tuple[Any, SharedContent, Dead]]:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        raise InputError(_fault("ray needs its package: pip install 'ruby-map[ray]'")) from None
    from joblib import Parallel, parallel_config

    if not ray.is_initialized():
        try:
            ray.init(address="auto", log_to_driver=False)
        except ConnectionError as error:
            raise InputError(_fault(f"no Ray cluster found on this machine ({error})")) from None
    register_ray()
    with parallel_config("ray"):
        parallel = Parallel(n_jobs=-1, batch_size=1)
    yield parallel, SharedContent(shared.key, None, ray.put(shared.bytes_)), ()


def _fault(message: str) -> Fault:
    return Fault("cluster", None, "", message)
