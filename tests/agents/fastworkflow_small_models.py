"""Writes a BERT and a DistilBERT that know nothing, for tests that train in seconds."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from greenroom.agents.fastworkflow.training_models import choose_models


def main(folder: Path) -> None:
    transformers: Any = importlib.import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(choose_models().tiny)
    words = tokenizer.vocab_size
    bert = transformers.BertConfig(
        vocab_size=words,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    distilbert = transformers.DistilBertConfig(
        vocab_size=words, dim=32, hidden_dim=64, n_layers=1, n_heads=2
    )
    for name, model in (
        ("tiny", transformers.BertModel(bert)),
        ("large", transformers.DistilBertModel(distilbert)),
    ):
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
