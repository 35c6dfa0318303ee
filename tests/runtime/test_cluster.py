"""Clusters: the same answer as on this machine, with a worker lost on the way, and a plain word where there is none."""

import json
import operator
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from itertools import islice

import pytest
from joblib import wrap_non_picklable_objects
from ruby_map.mapper import SearchOptions, explore, result_json
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.proof import keep_choice, policy, rounds
from ruby_map.mapper.runtime import cluster, in_order, parallel
from ruby_map.workloads import InputError, shaped
from typer.testing import CliRunner

from ..networks.test_commands import MACHINE, NETWORK
from ..searches import begin_poorly

TOY = ("toy_6pe", "rank1_100")
LAYER = ("eyeriss_like", "resnet50/conv4_x_3x3")
SMALL = ("eyeriss_like", shaped("conv2d", M=40, C=30, P=10, Q=14, R=1, S=1), "ruby")
OPTIONS = {"strategy": "random", "samples": 1_000_000, "victory": 10**9}


def in_short_turns(monkeypatch):
    """Proofs that open nodes in turns from the beginning, few nodes in each."""
    begin_poorly(monkeypatch)
    monkeypatch.setattr(policy, "ALONE", 0)
    monkeypatch.setattr(rounds, "NODES", 2**6)
    monkeypatch.setattr(rounds, "FEWEST", 2**3)


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@contextmanager
def process(*command):
    """A process that ends with the block."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


@contextmanager
def dask_cluster(workers):
    """A scheduler and workers on loopback: its address, the workers' processes, and its own."""
    port = free_port()
    module = (sys.executable, "-m", "distributed.cli.dask_scheduler")
    with ExitStack() as every:
        scheduler = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show")
        first = every.enter_context(process(*module, *scheduler))
        worker = (sys.executable, "-m", "distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--no-nanny")
        worker += ("--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
        yield f"dask://127.0.0.1:{port}", [every.enter_context(process(*worker)) for _ in range(workers)], first


def plain(result):
    found = result_json(result)
    del found["search"]["seconds"]
    return found


def test_a_dask_cluster_gives_the_same_answer_though_a_worker_is_killed():
    """Two workers on loopback, one killed in the middle: every chunk counts once, and the answer is that of one."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    killed_at = []
    with dask_cluster(workers=2) as (address, workers, _):
        from distributed import Client

        with Client(address.replace("dask", "tcp"), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)

        def kill_one(layer, recorder):
            if recorder.chunks >= 20 and not killed_at:
                workers[0].send_signal(signal.SIGKILL)
                killed_at.append(recorder.chunks)

        found = explore(*LAYER, options=SearchOptions(**OPTIONS, cluster=address), progress=kill_one)
        assert workers[0].poll() is not None
    assert killed_at[0] < found.statistics.evaluated / 8192 / 2
    assert plain(found) == plain(explore(*LAYER, options=SearchOptions(**OPTIONS)))


def test_a_proof_on_a_dask_cluster_gives_the_same_answer_though_a_worker_is_killed(monkeypatch):
    """Turns of a proof on two workers, one killed in the middle: the mapping, bound and counts of one process."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    in_short_turns(monkeypatch)
    monkeypatch.setattr(keep_choice.KeepChoice, "halves_next", False)  # or that ends the proof first
    turns = [0]
    real = rounds.Rounds._take

    def take(self, turn, searched):
        turns[0] += 1
        real(self, turn, searched)

    monkeypatch.setattr(rounds.Rounds, "_take", take)
    options = {"strategy": "optimal", "objective": "edp"}
    with dask_cluster(workers=2) as (address, workers, _):
        from distributed import Client

        with Client(address.replace("dask", "tcp"), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)

        def kill_one(layer, recorder):
            if turns[0] >= 3 and workers[0].poll() is None:
                workers[0].send_signal(signal.SIGKILL)

        found = explore(*SMALL, options=SearchOptions(**options, cluster=address), progress=kill_one)
        assert workers[0].poll() is not None
    assert turns[0] > 10
    assert plain(found) == plain(explore(*SMALL, options=SearchOptions(**options)))


def test_a_plan_is_the_same_on_a_dask_cluster(tmp_path):
    """Layers and prices of parts are searched there; plan, figures and bound are those of one process."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    arch, net = tmp_path / "arch.yaml", tmp_path / "net.yaml"
    arch.write_text(MACHINE)
    net.write_text(NETWORK)
    command = [str(arch), str(net), "--fuse", "auto", "--json"]
    with dask_cluster(workers=1) as (address, _, _):
        there = CliRunner().invoke(main, [*command, "--cluster", address])
    assert there.exit_code == 0, there.output
    both = [json.loads(done.stdout) for done in (there, CliRunner().invoke(main, command))]
    for said in both:
        assert said["plan"].pop("seconds") >= 0
    for key in ("plan", "edp", "lower_bound", "gap"):
        assert both[0][key] == both[1][key]


class Losing:
    """Stands for joblib on a cluster: the task of a call that `losses` names is lost with those handed out with it."""

    return_generator = True

    def __init__(self, losses, error=CancelledError):
        self.losses, self.error, self.calls = losses, error, 0

    def __call__(self, tasks):
        self.calls += 1
        call, handed_out = self.calls, deque()
        for number, task in enumerate(tasks):
            handed_out.append(task)
            if len(handed_out) < 3:
                continue  # ahead of the reader
            if self.losses.get(call, -1) == number - 2:
                raise self.error("already forgotten")
            work, arguments, _ = handed_out.popleft()
            yield work(*arguments)
        for work, arguments, _ in handed_out:
            yield work(*arguments)


@pytest.fixture
def losing(monkeypatch):
    """The function that puts a Losing in place of a cluster; returns how often it was connected to."""

    def put(joblib, dead=()):
        connected = []

        @contextmanager
        def on_cluster(name, shared):
            connected.append(name)
            yield joblib, shared, dead

        monkeypatch.setattr(parallel, "on_cluster", on_cluster)
        return connected

    return put


def test_lost_work_on_a_cluster_is_done_again(losing, capfd):
    """Each result once and in order, whichever tasks are lost; it connects anew, and says it."""
    connected = losing(Losing({1: 0, 2: 2, 3: 0, 4: 5}))
    assert list(in_order(operator.add, 100, range(200), jobs="dask://here:1")) == list(range(100, 300))
    assert connected == ["dask://here:1"] * 5
    assert capfd.readouterr().err.count("work was lost on the cluster (already forgotten)") == 4


def test_a_cluster_that_loses_all_work_is_a_fault(losing):
    """Three times in a row without a result between."""
    connected = losing(Losing({1: 3, 2: 0, 3: 0, 4: 0}))
    results = in_order(operator.add, 0, range(200), jobs="dask://here:1")
    assert list(islice(results, 3)) == [0, 1, 2]
    with pytest.raises(InputError, match=r"^cluster: work was lost on it 3 times in a row"):
        list(results)
    assert len(connected) == 3


def test_work_that_kills_its_workers_is_a_fault(losing):
    """No more workers are given to it."""
    connected = losing(Losing({1: 3}, error=MemoryError), dead=MemoryError)
    with pytest.raises(InputError, match=r"^cluster: its workers die of this work \(already forgotten\): perhaps"):
        list(in_order(operator.add, 0, range(200), jobs="dask://here:1"))
    assert len(connected) == 1


def test_a_scheduler_that_ends_is_told(monkeypatch):
    """In the middle of the work, with its workers: a plain word."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.setattr(cluster, "APPEAR", 300)  # however busy the machine is
    monkeypatch.setattr(cluster, "CONNECT", 300)

    def late(_, chunk):
        time.sleep(0.05)
        return chunk

    with dask_cluster(workers=2) as (address, workers, scheduler):  # joblib does the work of one worker itself
        results = in_order(wrap_non_picklable_objects(late), None, range(10_000), jobs=address)
        assert list(islice(results, 10)) == list(range(10))
        for each in (*workers, scheduler):
            each.kill()
        monkeypatch.setattr(cluster, "CONNECT", 1)  # nobody will answer
        with pytest.raises(InputError, match="no Dask scheduler answers at 127.0.0.1"):
            list(results)


@pytest.mark.parametrize("strategy", ["optimal", "auto"])
def test_a_proof_tells_an_unreachable_cluster_at_once(strategy, monkeypatch):
    """Status 2 within seconds, though a short proof would not need the cluster."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    found = CliRunner().invoke(main, [*TOY, "--search", strategy, "--cluster", f"dask://127.0.0.1:{free_port()}"])
    assert (found.exit_code, found.stdout) == (2, "")
    assert "no Dask scheduler answers at 127.0.0.1" in found.stderr


def test_a_scheduler_without_workers_is_told(monkeypatch):
    """Status 2 and what is missing, after the time that a first worker is given."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.setattr(cluster, "APPEAR", 0.5)
    monkeypatch.setattr(cluster, "CONNECT", 60)
    with dask_cluster(workers=0) as (address, _, _):
        found = CliRunner().invoke(main, [*TOY, "--search", "random", "--cluster", address])
    assert (found.exit_code, found.stdout) == (2, "")
    assert "has had no worker for 0.5 s" in found.stderr


def test_an_unreachable_cluster_is_told_quickly(tmp_path, monkeypatch):
    """Status 2 within seconds; no results, and a checkpoint that can go on without the cluster."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    began, patience = time.monotonic(), 4 * cluster.CONNECT
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    folder = tmp_path / "run"
    command = [*TOY, "--search", "random", "--cluster", f"dask://127.0.0.1:{free_port()}", "--out", str(folder)]
    found = CliRunner().invoke(main, command)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "no Dask scheduler answers at 127.0.0.1" in found.stderr
    assert time.monotonic() - began < patience
    assert (
        CliRunner().invoke(main, [*TOY, "--search", "random", "--out", str(folder), "--resume", "--json"]).exit_code
        == 0
    )


@pytest.mark.parametrize("name", ["dask", "dask://", "dask://here", "spark://here:1", "dask://here:port"])
def test_a_cluster_that_cannot_be_is_bad_input(name):
    """The name is checked with all other options, before anything is connected."""
    found = CliRunner().invoke(main, [*TOY, "--search", "random", "--cluster", name, "--jobs", "0"])
    assert found.exit_code == 2
    assert "cluster: must be dask://HOST:PORT, or ray" in found.stderr
    assert "jobs" in found.stderr


@pytest.mark.parametrize(("name", "package"), [("dask://127.0.0.1:1", "distributed"), ("ray", "ray")])
def test_a_cluster_without_its_package_names_the_extra(name, package, monkeypatch):
    """Status 2 and what to install."""
    monkeypatch.setitem(sys.modules, package, None)
    found = CliRunner().invoke(main, [*TOY, "--search", "random", "--cluster", name])
    assert found.exit_code == 2
    assert f"pip install 'ruby-map[{name[:4].rstrip(':')}]'" in found.stderr


@pytest.mark.parametrize("strategy", ["random", "optimal"])
def test_a_ray_cluster_gives_the_same_answer(strategy, monkeypatch):
    """The same search, or the same turns of a proof, by Ray's workers."""
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    if strategy == "random":
        layer, options = LAYER, {"strategy": "random", "samples": 100_000, "victory": 10**9}
    else:
        in_short_turns(monkeypatch)
        layer, options = SMALL, {"strategy": "optimal", "objective": "edp"}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        found = explore(*layer, options=SearchOptions(**options, cluster="ray"))
    finally:
        ray.shutdown()
    assert plain(found) == plain(explore(*layer, options=SearchOptions(**options)))
    assert json.dumps(plain(found))
