"""Files with trajectories of others: logs of Inspect, and ATIF."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile, ZipInfo
from zlib import crc32

from greenroom.errors import DataError
from greenroom.messages import text_of
from greenroom.reports.atif import FAMILY, read_atif
from greenroom.reports.inspect_samples import REWARD
from greenroom.reports.recorded_trajectories import (
    RecordedTrajectory,
    read_facts,
    user_messages,
)
from greenroom.util.files import PACK_LIMIT, read_regular
from greenroom.util.json_values import as_dict, as_list, decoded

_ZIP: Final = b"PK\x03\x04"
_HEAD: Final = 64 * 1024
_ZSTANDARD: Final = 93
"""The number of this way to pack in ZIP files; Python reads it from 3.14 on."""
_NAME_SIZE: Final = 26
"""Where the head of a member has the sizes of its name and of what follows the name."""
_HEAD_SIZE: Final = 30


def load_trajectories(path: Path) -> list[RecordedTrajectory] | None:
    """The trajectories of a file; None if it is neither a log of Inspect nor ATIF."""
    content = read_regular(path)
    if content.startswith(_ZIP):
        return _inspect_samples(_members(content, path), path)
    # Other result files are large, too: only what may be one of these is decoded.
    if b'"schema_version"' not in content and b'"eval"' not in content[:_HEAD]:
        return None
    values = _values(content)
    first = as_dict(values[0]) if values else {}
    if str(first.get("schema_version", "")).startswith(FAMILY):
        return [
            read_atif(as_dict(value), f"{path}, trajectory {number}")
            for number, value in enumerate(values, start=1)
        ]
    if len(values) == 1 and "eval" in first and isinstance(first.get("samples"), list):
        return _inspect_samples(first["samples"], path)
    return None


def _values(content: bytes) -> list[Any]:
    """The JSON value of a file, or those of its lines; nothing where it is neither."""
    try:
        return [decoded(content)]
    except ValueError:
        try:
            return [decoded(line) for line in content.splitlines() if line.strip()]
        except ValueError:
            return []


def _members(content: bytes, path: Path) -> Iterator[Any]:
    """The samples in a log's ZIP file."""
    try:
        with ZipFile(io.BytesIO(content)) as log:
            samples = [one for one in log.infolist() if one.filename.startswith("samples/")]
            if sum(one.file_size for one in samples) > PACK_LIMIT:
                raise DataError(f"{path} is larger than {PACK_LIMIT // 2**20} MB when unpacked.")
            for one in samples:
                zstandard = one.compress_type == _ZSTANDARD
                yield decoded(_unpacked(content, one, path) if zstandard else log.read(one))
    except NotImplementedError as error:
        raise DataError(
            f"{path} is packed in a way that this Python cannot read. Convert it first: "
            "inspect log convert --to json."
        ) from error
    except (BadZipFile, ValueError, OSError, struct.error) as error:
        raise DataError(f"{path} is not a log of Inspect: {error}.") from error


def _unpacked(content: bytes, member: ZipInfo, path: Path) -> bytes:
    """A member of a ZIP file that is packed with Zstandard, as Inspect packs."""
    try:
        arrow: Any = import_module("pyarrow")
    except ImportError as error:
        raise DataError(
            f"{path} is packed with Zstandard: pip install 'greenroom[parquet]' to read it, or "
            "convert it first: inspect log convert --to json."
        ) from error
    head = member.header_offset
    name, extra = struct.unpack("<HH", content[head + _NAME_SIZE : head + _HEAD_SIZE])
    start = head + _HEAD_SIZE + name + extra
    packed = content[start : start + member.compress_size]
    found: bytes = arrow.decompress(packed, member.file_size, codec="zstd", asbytes=True)
    if crc32(found) != member.CRC:
        raise BadZipFile(f"{member.filename} is damaged")
    return found


def _inspect_samples(samples: Iterable[Any], path: Path) -> list[RecordedTrajectory]:
    return [
        read_inspect(as_dict(sample), f"{path}, sample {number}")
        for number, sample in enumerate(samples, start=1)
    ]


def read_inspect(sample: Mapping[str, Any], place: str) -> RecordedTrajectory:
    """A sample of anybody's log; `place` says where it stands."""
    metadata = as_dict(sample.get("metadata"))
    epoch = sample.get("epoch")
    facts = read_facts(
        metadata,
        task=metadata.get("task_id", sample.get("id")),
        place=place,
        trial=epoch - 1 if isinstance(epoch, int) and epoch > 0 else 0,
        reward=_score(as_dict(sample.get("scores"))),
        broken=sample.get("error") is not None,
    )
    messages: list[dict[str, Any]] = []
    for one in map(as_dict, as_list(sample.get("messages"))):
        if one.get("role") == "user":
            messages += user_messages(text_of(one.get("content")), one.get("metadata"), place)
        else:
            messages.append(_completion_message(one))
    return RecordedTrajectory(facts, messages)


def _score(scores: Mapping[str, Any]) -> float | None:
    """The reward that a log has: the score of that name, or the only one."""
    found = scores.get(REWARD) or (next(iter(scores.values())) if len(scores) == 1 else None)
    value = as_dict(found).get("value")
    if isinstance(value, str):
        return {"C": 1.0, "I": 0.0}.get(value)
    return float(value) if isinstance(value, (int, float)) else None


def _completion_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of Inspect in the form of a chat completion."""
    found: dict[str, Any] = {
        "role": message.get("role"),
        "content": text_of(message.get("content")),
        "tool_call_id": message.get("tool_call_id"),
        "name": message.get("function"),
    }
    calls = [as_dict(call) for call in as_list(message.get("tool_calls"))]
    if calls:
        found["tool_calls"] = [
            {
                "id": str(call.get("id")),
                "type": "function",
                "function": {
                    "name": str(call.get("function")),
                    "arguments": json.dumps(call.get("arguments") or {}),
                },
            }
            for call in calls
        ]
    return found
