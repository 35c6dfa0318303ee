"""Sweeps on clusters: the answer of one process, though a worker is killed, or the whole cluster is."""

import signal

import pytest
from ruby_map.mapper import sweep
from ruby_map.mapper.commands.ruby_sweep import main
from ruby_map.mapper.runtime import cluster
from ruby_map.workloads import InputError
from typer.testing import CliRunner

from ..runtime.test_cluster import dask_cluster, free_port

GRID = {
    "architecture": "toy_6pe",
    "workloads": ["rank1_100"],
    "parameters": {"levels.GLB.capacity_bytes": [1024, 2048, 4096]},
    "mapspaces": ["pfm", "ruby-s"],
    "seeds": [0, 1],
}
DESIGNED = {
    "architecture": "eyeriss_like",
    "workloads": ["resnet50/conv4_x_3x3"],
    "parameters": {"rows": [4, 12], "columns": [7, 14], "glb_kib": [32, 128]},
    "minimize": "edp",
    "pareto": ["area", "edp"],
    "side_by_side": 2,
    "search": {"effort": "quick"},
}


def said(result):
    """All that a sweep says but for seconds."""
    rows = [
        {name: value for name, value in row.items() if name != "seconds"}
        for row in result.to_pandas().to_dict("records")
    ]
    return str(rows), result.answer.json()


@pytest.fixture
def workers():
    """A cluster of two workers: its address, their processes, and that of its scheduler."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    from distributed import Client

    with dask_cluster(workers=2) as (address, every, scheduler):
        with Client(address.replace("dask", "tcp"), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, every, scheduler


@pytest.mark.parametrize("given", [GRID, DESIGNED], ids=["grid", "designer"])
def test_a_sweep_on_a_dask_cluster_says_the_same_though_a_worker_is_killed(given, workers, tmp_path):
    """As with one process and two; what it keeps, a run without the cluster takes up."""
    address, every, _ = workers
    steps = []

    def kill_one(step):
        steps.append(step)
        every[0].send_signal(signal.SIGKILL)

    on_cluster = sweep(given, tmp_path / "out", jobs=address, progress=kill_one)
    assert every[0].wait() == -signal.SIGKILL
    assert len(steps) > 3
    assert said(on_cluster) == said(sweep(given)) == said(sweep(given, jobs=2))
    again = sweep(given, tmp_path / "out")
    assert said(again) == said(on_cluster)
    assert again.optimised is None or again.optimised.made == 0


@pytest.mark.parametrize("given", [GRID, DESIGNED], ids=["grid", "designer"])
def test_a_cluster_that_ends_loses_nothing_of_a_sweep(given, workers, tmp_path, monkeypatch):
    """A plain word; the points that were done are kept."""
    address, every, scheduler = workers
    done = []

    def end_all(step):
        done.append(step)
        if len(done) == 2:
            monkeypatch.setattr(cluster, "CONNECT", 1)  # nobody will answer
            for process in (*every, scheduler):
                process.kill()

    with pytest.raises(InputError, match="no Dask scheduler answers at|the scheduler at .* answers no more"):
        sweep(given, tmp_path / "out", jobs=address, progress=end_all)
    again = []
    result = sweep(given, tmp_path / "out", progress=again.append)
    assert not result.plan.grid or len(again) == result.plan.points - len(done)
    assert said(result) == said(sweep(given))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("spark://here:1", "cluster: must be dask://HOST:PORT, or ray"),
        ("", "cluster: must be dask://HOST:PORT, or ray"),
        (f"dask://127.0.0.1:{free_port()}", "no Dask scheduler answers at 127.0.0.1"),
    ],
    ids=["unknown", "empty", "silent"],
)
def test_a_cluster_that_is_none_is_told(name, message, tmp_path, monkeypatch):
    """Status 2, by the command's option."""
    if name.startswith("dask"):
        pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    (tmp_path / "sweep.yaml").write_text("architecture: toy_6pe\nworkloads: [rank1_100]\n")
    ended = CliRunner().invoke(main, [str(tmp_path / "sweep.yaml"), "--cluster", name])
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert message in ended.stderr


def test_a_sweep_on_a_ray_cluster_says_the_same():
    """Points, transfers and trials by Ray's workers."""
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        both = [said(sweep(given, jobs="ray")) for given in (GRID, DESIGNED)]
    finally:
        ray.shutdown()
    assert both == [said(sweep(given)) for given in (GRID, DESIGNED)]
