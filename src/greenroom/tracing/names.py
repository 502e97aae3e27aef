"""The names of attributes and events.

Those that begin with `gen_ai` are OpenTelemetry's conventions for generative AI, in the revision
that SCHEMA_URL names; those that begin with `greenroom` are ours.
"""

from __future__ import annotations

SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
TEMPERATURE = "gen_ai.request.temperature"
MAX_TOKENS = "gen_ai.request.max_tokens"
SEED = "gen_ai.request.seed"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
PROVIDER_CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CONVERSATION = "gen_ai.conversation.id"
AGENT = "gen_ai.agent.name"
WORKFLOW = "gen_ai.workflow.name"
TOOL = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
EVALUATION_NAME = "gen_ai.evaluation.name"
SCORE = "gen_ai.evaluation.score.value"
SCORE_LABEL = "gen_ai.evaluation.score.label"

INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
EXPLANATION = "gen_ai.evaluation.explanation"
CONTENTS = frozenset({INPUT_MESSAGES, OUTPUT_MESSAGES, TOOL_ARGUMENTS, TOOL_RESULT, EXPLANATION})
"""What was said. It is left out unless it is asked for."""

ERROR = "error.type"
SERVER = "server.address"
PORT = "server.port"

JOB_ID = "greenroom.job.id"
JOB_NAME = "greenroom.job.name"
PLANNED = "greenroom.job.planned"
RESUMED = "greenroom.job.resumed"
DOMAIN = "greenroom.domain"
TASK = "greenroom.task"
TRIAL = "greenroom.trial"
ROW = "greenroom.row"
REPEAT = "greenroom.repeat"
ATTEMPT = "greenroom.attempt"
TURN = "greenroom.turn"
OUTCOME = "greenroom.outcome"
REWARD = "greenroom.reward"
PARTY = "greenroom.party"
TOOL_FAILED = "greenroom.tool.failed"
PURSE = "greenroom.purse"
COST = "greenroom.cost"
CACHE_HIT = "greenroom.cache.hit"
CACHED_INPUT_TOKENS = "greenroom.cached.input_tokens"
CACHED_OUTPUT_TOKENS = "greenroom.cached.output_tokens"
CACHED_COST = "greenroom.cached.cost"
RETRIES = "greenroom.retries"
LOST_CALLS = "greenroom.lost_calls"
FAULT_AUTHOR = "greenroom.fault.author"
FAULT_KIND = "greenroom.fault.kind"

EVALUATION_RESULT = "gen_ai.evaluation.result"
"""The event of a reward or a score."""
FAILED_ATTEMPT = "greenroom.model.failed_attempt"
"""The event of an attempt at an answer that gave none."""


def of_purse(purse: str, what: str) -> str:
    """The attribute of a cell for what one purse used, such as greenroom.agent.cost."""
    return f"greenroom.{purse}.{what}"
