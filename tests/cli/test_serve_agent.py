"""`greenroom serve --agent`: a benchmark agent behind an address, for anybody's client."""

from __future__ import annotations

import json

import pytest
from openai import OpenAI

from greenroom.domains.domain import Domain
from greenroom.model_server import running_server
from tests.cli.running import Greenroom
from tests.cli.test_serve import started


@pytest.mark.slow
def test_an_agent_is_served_to_openais_client(retail: Domain):
    opening = retail.task(1, "test").instruction
    with (
        running_server(retail) as server,
        started(
            *("--agent", "tool-calling", "--model", "oracle", "--api-base", server.api_base),
            *("--port", "0", "--json"),
        ) as process,
    ):
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        (served,) = ready["workflows"]
        assert served["is_chat"]
        client = OpenAI(base_url=f"{ready['address']}/v1", api_key="none", max_retries=0)
        (model,) = client.models.list().data
        answer = client.chat.completions.create(
            model=model.id, messages=[{"role": "user", "content": opening}]
        )
        assert answer.choices[0].message.content == "All done."
        assert answer.usage is not None
        assert answer.usage.prompt_tokens > 0
        process.terminate()
        assert process.wait(timeout=20) == 0


def test_an_agent_that_needs_a_model_is_refused_without(greenroom: Greenroom):
    result = greenroom("serve", "--agent", "tool-calling")
    assert result.status == 2
    assert "name it by --model" in result.err


@pytest.mark.parametrize("agent", ["oracle", "synthetic"])
def test_an_agent_that_knows_the_answers_is_refused(greenroom: Greenroom, agent: str):
    result = greenroom("serve", "--agent", agent)
    assert result.status == 2
    assert "cannot be talked to" in result.err
