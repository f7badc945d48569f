"""Work that is shared: the same answers from one process, two processes and a cluster that loses a worker."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import LocalCluster

from codegen import CompileError, api
from codegen.errors import ModelRejected, NoKernel, ToolFailed
from codegen.spread import HERE, kept, local_cluster, spread_over
from tests.random_networks.proof import Proving, prove, prove_each, seeds
from tests.support.shared import ROOT

DIGITS = ROOT / "examples" / "digits"
MODEL, DATA = DIGITS / "digits_qdq.onnx", DIGITS / "digits_test.npz"


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two processes of this machine, whose dead are replaced."""
    made = local_cluster(2)
    yield made
    made.close()


def kill_one(cluster: LocalCluster) -> int:
    """End a worker's process at once; its number."""
    victim = next(iter(cluster.workers.values())).pid
    os.kill(victim, signal.SIGKILL)
    return int(victim)


def slowly(number: int) -> int:
    time.sleep(0.05)
    return number * number


def allocation(number: int) -> tuple[str | None, str | None]:
    return os.environ.get("MALLOC_TRIM_THRESHOLD_"), os.environ.get("OMP_NUM_THREADS")


def test_workers_keep_their_memory_and_share_the_cores(cluster: LocalCluster) -> None:
    with spread_over(cluster.scheduler_address) as spread:
        assert set(spread.each(allocation, [1, 2, 3, 4])) == {(os.environ.get("MALLOC_TRIM_THRESHOLD_"), "1")}


def test_pieces_come_back_in_their_order_though_a_worker_is_killed(cluster: LocalCluster) -> None:
    killed: list[int] = []

    def told(done: int) -> None:
        if not killed:
            killed.append(kill_one(cluster))

    with spread_over(cluster.scheduler_address) as spread:
        assert spread.each(slowly, list(range(60)), told) == [n * n for n in range(60)]
    assert killed
    assert killed[0] not in {worker.pid for worker in cluster.workers.values()}


def test_one_process_two_processes_and_a_cluster_that_loses_a_worker_answer_alike(cluster: LocalCluster) -> None:
    alone = api.evaluate(MODEL, DATA, engine="c,golden")
    two = api.evaluate(MODEL, DATA, engine="c,golden", scheduler="local:2")
    done: list[int] = []
    killer = threading.Timer(1.0, lambda: done.append(kill_one(cluster)))
    killer.start()
    shared = api.evaluate(MODEL, DATA, engine="c,golden", scheduler=cluster.scheduler_address)
    killer.join()
    assert done, "no worker was killed"

    def answers(found: api.Evaluation) -> list[tuple[object, ...]]:
        return [(e.engine, e.value, e.right, e.count, e.outputs_sha256) for e in found.engines]

    assert answers(alone) == answers(two) == answers(shared)
    assert alone.engines[0].outputs_sha256 == alone.engines[1].outputs_sha256


@pytest.mark.slow
def test_mixed_bits_are_the_same_from_a_cluster_that_loses_a_worker(cluster: LocalCluster, tmp_path: Path) -> None:
    """What layers lose, the candidates, and the scores of both networks."""
    words: dict[str, Any] = {
        "calib": DIGITS / "digits_calib.npz",
        "samples": 20,
        "activations": "mixed",
        "recipe": "fast",
        "eval_data": DATA,
    }
    killed: list[int] = []

    def told(done: int, count: int) -> None:
        if not killed and count < 30:
            killed.append(kill_one(cluster))

    float_model = DIGITS / "digits.onnx"
    alone = api.quantize(float_model, **words)
    shared = api.quantize(float_model, **words, scheduler=cluster.scheduler_address, progress=told)
    assert killed, "no worker was killed"
    assert shared.model == alone.model
    assert shared.report == alone.report
    assert alone.report.mixed is not None
    assert alone.report.scored is not None


@pytest.mark.slow
def test_a_refusal_of_a_worker_is_the_refusal_of_this_process(cluster: LocalCluster, tmp_path: Path) -> None:
    with np.load(DATA) as file:
        np.savez(tmp_path / "bad.npz", x=file["x"], y=np.where(np.arange(len(file["y"])) == 200, 99, file["y"]))
    told = []
    for scheduler in (None, cluster.scheduler_address):
        with pytest.raises(CompileError) as refused:
            api.evaluate(MODEL, tmp_path / "bad.npz", scheduler=scheduler)
        told.append((refused.value.code, refused.value.text()))
    assert told[0] == told[1]
    assert told[0][0] == "LAM-API-005"


def test_sensitivity_and_chips_are_the_same_whoever_looks(cluster: LocalCluster) -> None:
    model, calib = DIGITS / "digits.onnx", DIGITS / "digits_calib.npz"
    where = cluster.scheduler_address
    assert api.sensitivity(model, calib, samples=40) == api.sensitivity(model, calib, samples=40, scheduler=where)
    alone = (api.fits(MODEL, "rp2040"), api.fits(MODEL, "stm32f407vg"))
    assert alone == (api.fits(MODEL, "rp2040", scheduler=where), api.fits(MODEL, "stm32f407vg", scheduler=where))


@pytest.mark.slow
def test_random_networks_are_proved_by_workers_too(cluster: LocalCluster) -> None:
    numbers = seeds(7, 12)
    alone = prove(numbers, plan_only=True)
    with spread_over(cluster.scheduler_address) as spread:
        shared = prove_each(numbers, Proving(plan_only=True), spread, lambda line: None)
    assert alone.coverage == shared.coverage
    assert alone.faults == shared.faults


@pytest.mark.parametrize(
    "name", ["", "remote", "local:", "local:0", "local:-1", "local:x", "tcp://", "tcp://host", "http://host:80", "8786"]
)
def test_a_name_of_nobody_is_refused(name: str) -> None:
    with pytest.raises(CompileError, match=r"^LAM-CLUSTER-001 "), spread_over(name):
        pass


def test_a_scheduler_that_does_not_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.spread._WAIT_S", "1s")
    with pytest.raises(CompileError, match=r"^LAM-CLUSTER-002 tcp://127\.0\.0\.1:9"), spread_over("tcp://127.0.0.1:9"):
        pass


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(CompileError, match=r"^LAM-API-002 distributed: .*lamina\[dask\]"), spread_over("local"):
        pass


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.slow
def test_a_piece_that_ends_every_worker_is_told() -> None:
    with pytest.raises(CompileError, match=r"^LAM-CLUSTER-002 "), spread_over("local:1") as spread:
        spread.each(die, [1])


def test_refusals_travel_whole() -> None:
    for error in (
        NoKernel("no such", where="node 3", hint="another"),
        ToolFailed("cc", 1, b"a\nb"),
        ModelRejected([NoKernel("x", where="n"), ToolFailed("cc", -9, b"")], where="m.onnx"),
    ):
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is type(error)
        assert (back.text(), back.where, str(back)) == (error.text(), error.where, str(error))
        assert [p.text() for p in back.problems()] == [p.text() for p in error.problems()]


class Closing:
    """Something that is closed."""

    closed = False

    def close(self) -> None:
        self.closed = True


def test_a_process_keeps_the_things_of_one_job() -> None:
    first = kept("a", Closing)
    assert kept("a", Closing) is first
    assert isinstance(kept("b", Closing), Closing)
    assert first.closed
    assert HERE.width == 1
