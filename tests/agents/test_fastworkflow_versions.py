"""FastWorkflow 3.x needs a newer Python: its entry points are read from its wheel."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.network, pytest.mark.slow]

VERSION = "3.6.0"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder: Path = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--disable-pip-version-check", "--only-binary=:all:", "--python-version", "3.13"),
            *("--dest", str(folder), f"fastworkflow=={VERSION}"),
        ],
        check=True,
        timeout=55,
    )
    (file,) = folder.glob("*.whl")
    return zipfile.ZipFile(file)


def functions(
    wheel: zipfile.ZipFile, module: str, owner: str | None = None
) -> dict[str, list[str]]:
    """The parameters of a module's functions, or of a class's methods, by name."""
    tree = ast.parse(wheel.read(f"fastworkflow/{module}.py"))
    body = tree.body
    if owner is not None:
        (body,) = (
            node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner
        )
    return {
        node.name: [argument.arg for argument in node.args.args]
        for node in body
        if isinstance(node, ast.FunctionDef)
    }


def text(wheel: zipfile.ZipFile, module: str) -> str:
    return wheel.read(f"fastworkflow/{module}.py").decode()


def test_the_entry_points_take_what_the_bridge_passes(wheel: zipfile.ZipFile):
    agent = functions(wheel, "workflow_agent")
    assert agent["_execute_workflow_query"] == ["command", "chat_session_obj"]
    executor = functions(wheel, "command_executor", "CommandExecutor")
    assert executor["invoke_command"] == ["cls", "chat_session", "command"]
    assert executor["perform_action"][:3] == ["cls", "workflow", "action"]


def test_a_session_has_what_the_worker_calls(wheel: zipfile.ZipFile):
    session = functions(wheel, "workflow_execution_context", "WorkflowExecutionContext")
    assert session["process_turn"][:2] == ["self", "message"]
    assert session["bind_app_workflow"][:2] == ["self", "workflow"]
    for name in ("cancel_pending", "close", "_ensure_agent_initialized", "get_active_workflow"):
        assert name in session
    for name in ("awaiting_user", "workflow_tool_agent", "cme_workflow", "app_workflow"):
        assert name in session


def test_an_output_has_one_response(wheel: zipfile.ZipFile):
    assert "command_response: CommandResponse" in text(wheel, "__init__")


def test_the_agent_keeps_its_trajectory_where_a_repeated_step_is_noticed(wheel: zipfile.ZipFile):
    react = text(wheel, "utils/react")
    assert "self.trajectory" in react
    assert 'f"tool_name_{' in react


def test_models_come_from_one_function_and_routers_from_one_cache(wheel: zipfile.ZipFile):
    assert "get_lm" in functions(wheel, "utils/dspy_utils")
    assert "_instances_cache" in text(wheel, "model_pipeline_training")
    assert "get_internal_workflow_path" in functions(wheel, "__init__")


def test_its_policy_has_to_go_with_the_messages(wheel: zipfile.ZipFile):
    assert "load_workflow_insights" not in text(wheel, "workflow_execution_context")


def test_its_retail_workflow_comes_along(wheel: zipfile.ZipFile):
    commands = [n for n in wheel.namelist() if "/retail_workflow/_commands/" in n]
    assert any(name.endswith("/get_order_details.py") for name in commands)
