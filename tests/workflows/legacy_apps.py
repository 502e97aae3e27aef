"""Apps as others wrote them: those of Agenta's SDK up to 0.95, and plain ones without a flag."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, FastAPI
from pydantic import BaseModel


class Config(BaseModel):
    tone: str = "kind"


DEFAULTS = Config()


def old_agenta_app(flags: dict[str, Any] | None = None) -> FastAPI:
    """Flags in the OpenAPI document, /test with a configuration, /run with a stored one only."""
    app = FastAPI()
    extra: dict[str, Any] = {"x-agenta": {"flags": flags or {}}}

    @app.post("/test", openapi_extra=extra)
    async def test(
        messages: Annotated[list[dict[str, Any]], Body()],
        inputs: Annotated[dict[str, str] | None, Body()] = None,
        ag_config: Annotated[Config, Body()] = DEFAULTS,
    ) -> dict[str, Any]:
        who = (inputs or {}).get("name", "you")
        text = f"{ag_config.tone}: {messages[-1]['content']}, {who}"
        return _old_answer({"role": "assistant", "content": text})

    @app.post("/run", openapi_extra=extra)
    async def run(
        messages: Annotated[list[dict[str, Any]], Body()],
        inputs: Annotated[dict[str, str] | None, Body()] = None,
    ) -> dict[str, Any]:
        del messages, inputs
        raise RuntimeError("there is no stored configuration")

    return app


def old_completion_app() -> FastAPI:
    """The arguments of a function lie at the top of the body."""
    app = FastAPI(title="Capitals")

    @app.post("/run", openapi_extra={"x-agenta": {"flags": {}}})
    async def run(country: Annotated[str, Body(embed=True)]) -> dict[str, Any]:
        return _old_answer(f"the capital of {country}")

    return app


class Question(BaseModel):
    messages: list[dict[str, Any]]
    inputs: dict[str, Any] | None = None


def shaped_app(route: str = "/run", prefix: str = "") -> FastAPI:
    """No flag, no envelope: `messages` in the body, and a bare message in the answer."""
    app = FastAPI()

    @app.post(f"{prefix}{route}")
    async def answer(question: Question) -> dict[str, Any]:
        who = (question.inputs or {}).get("name", "you")
        return {"role": "assistant", "content": f"{question.messages[-1]['content']}, {who}"}

    return app


def _old_answer(data: Any) -> dict[str, Any]:
    return {"version": "3.0", "data": data, "content_type": "application/json", "trace_id": "f00"}
