"""Calls per second of our server beside the agenta SDK's, with the same handler, in one run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.workflows.agenta_env import running_agenta

from benchmarks.measures import Measure
from benchmarks.serving import CALL, CONNECTIONS, SECONDS, echo_server, requests_per_second

ROUNDS = 3  # in turn, so that whatever else the machine does meets both; the quickest count
LEAST = 25.0

ECHO = """
import agenta as ag

ag.init()

@ag.route("/", flags={"is_chat": True})
@ag.workflow()
async def chat(messages=None, parameters=None, session_id=None):
    return {"role": "assistant", "content": "echo: " + messages[-1]["content"]}

app = ag.app
"""


def calls_beside_agenta() -> Iterator[Measure]:
    """Calls of an echo chat workflow: our server, and the agenta SDK's."""
    ours, theirs = 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "echo_app.py").write_text(ECHO)
        with (
            echo_server() as our_address,
            running_agenta("echo_app:app", directory=Path(folder)) as their_address,
        ):
            for address in (our_address, their_address):  # what happens once stays outside
                _rate(address)
            for _ in range(ROUNDS):
                ours = max(ours, _rate(our_address))
                theirs = max(theirs, _rate(their_address))
    yield Measure(
        f"Calls of an echo chat workflow per second beside the agenta SDK's server, {CONNECTIONS} "
        "connections",
        f"{ours:,.0f}/s",
        f"{theirs:,.0f}/s",
        ours / theirs,
        "x",
        at_least=LEAST,
    )


def _rate(address: str) -> float:
    return requests_per_second(f"{address}/invoke", CALL, SECONDS, CONNECTIONS)


if __name__ == "__main__":
    for measure in calls_beside_agenta():
        print(measure.name, measure.ours, measure.naive, f"{measure.value:.1f}{measure.unit}")
