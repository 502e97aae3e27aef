"""The manifests that start workers: they parse, and the commands in them exist."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from greenroom.cli.app import load_command

SCALE = Path(__file__).parents[1] / "examples" / "scale"


def _check_command(words: list[str]) -> None:
    """The command takes these arguments, without being run."""
    assert words[:2] == ["greenroom", "worker"]
    command: Any = load_command("worker")
    parsed = command.make_context("worker", words[2:])
    assert parsed.params["run"]


def test_the_kubernetes_job_starts_workers() -> None:
    job: dict[str, Any] = yaml.safe_load((SCALE / "kubernetes.yaml").read_text(encoding="utf-8"))
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    spec = job["spec"]
    assert spec["parallelism"] <= spec["completions"], "each worker ends by itself, once"
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] == "OnFailure"
    (container,) = pod["containers"]
    _check_command(container["command"])
    # A worker that is stopped says good-bye before it is killed.
    assert pod["terminationGracePeriodSeconds"] >= 60
    assert "secretRef" in container["envFrom"][0]
    assert "env" not in container, "no secret stands in the file"


def test_the_slurm_array_starts_workers() -> None:
    script = SCALE / "slurm.sh"
    subprocess.run(["bash", "-n", script], check=True)
    lines = script.read_text(encoding="utf-8").splitlines()
    options = [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")]
    assert {option.split("=")[0] for option in options} >= {"--time", "--mem", "--signal"}
    # Without B:, Slurm tells the steps of a job alone, and a worker is no step.
    assert "--signal=B:TERM@60" in options
    (command,) = (line for line in lines if line.startswith("exec "))
    _check_command(shlex.split(command.removeprefix("exec ").replace("$1", "nightly")))


@pytest.mark.parametrize("name", ["slurm.sh", "kubernetes.yaml"])
def test_the_page_names_them(name: str) -> None:
    page = SCALE.parents[1] / "docs" / "scale.md"
    assert f"examples/scale/{name}" in page.read_text(encoding="utf-8")
