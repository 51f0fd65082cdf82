"""DeepEval's prompt templates: rendered as it renders them, and hashed without importing it."""

from __future__ import annotations

import functools
import importlib.util
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import ScorerError
from eval_pipeline.judges import JudgePrompt

BUNDLE = "templates/metrics/templates.json"
_OURS = {
    "input": "question",
    "actual_output": "answer",
    "expected_output": "reference answer",
    "retrieval_context": "retrieved context",
    "context_to_display": "retrieved context",
    "evaluation_steps": "rubric",
    "parameters": "what the judge is shown",
    "test_case_content": "what is judged",
}
"""DeepEval's names for what a template takes, in the words of our errors."""
_NOT_CONTENT = ("multimodal", "strict")


class RenderedPrompt(str):
    """A prompt that remembers what it was made of, on its way through DeepEval's code."""

    prompt: JudgePrompt
    items: int | None
    """How many verdicts its reply must have."""


@functools.cache
def bundle() -> Mapping[str, Mapping[str, str]]:
    """The templates that DeepEval ships, by metric class and step; its file is read, nothing imported."""
    found = importlib.util.find_spec("deepeval")
    if found is None or not found.submodule_search_locations:
        raise ScorerError("deepeval", "DeepEval is not installed; pip install deepeval")
    path = Path(found.submodule_search_locations[0]) / BUNDLE
    read: Mapping[str, Mapping[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return read


def template_hashes(metric_class: str) -> Mapping[str, str]:
    """Hash of each template of a metric, by step, with the shared pieces that it uses."""
    steps = bundle()[metric_class]
    return {
        step: _template_hash(metric_class, step) for step in sorted(steps) if step.startswith("generate_")
    }


def _template_hash(metric_class: str, step: str) -> str:
    text = bundle()[metric_class][step]
    shared = bundle().get("_fragments", {})
    used = sorted(set(re.findall(r"_fragments\.(\w+)", text)))
    return _text_hash(text, tuple((name, shared[name]) for name in used))


@functools.lru_cache(maxsize=256)
def _text_hash(text: str, shared: tuple[tuple[str, str], ...]) -> str:
    return content_hash([text, dict(shared)])


@dataclass
class Templates:
    """Passed to a metric as its `evaluation_template`: each step is a method that renders its prompt."""

    metric_class: str
    metric: str
    """The metric in our words, for errors."""
    count_items: Mapping[str, Callable[[Mapping[str, Any]], int]] = field(default_factory=dict)
    """By step: how many verdicts the reply must have, from what the template takes."""
    names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Words for what a step takes, where they differ from the usual ones."""
    _render: dict[str, Callable[..., RenderedPrompt]] = field(default_factory=dict, repr=False)

    def __getattr__(self, step: str) -> Callable[..., RenderedPrompt]:
        """The method that renders a step.

        Raises:
            AttributeError: when DeepEval has no such template.
        """
        if step.startswith("_") or step not in bundle().get(self.metric_class, {}):
            raise AttributeError(step)
        if step not in self._render:
            self._render[step] = self._renderer(step)
        return self._render[step]

    def _renderer(self, step: str) -> Callable[..., RenderedPrompt]:
        template = _compiled(bundle()[self.metric_class][step])
        fragments = bundle().get("_fragments", {})
        sha = _template_hash(self.metric_class, step)
        count = self.count_items.get(step)

        def render(**values: Any) -> RenderedPrompt:
            rendered = RenderedPrompt(template.render(_fragments=fragments, **values))
            told = {name: value for name, value in values.items() if _tells(name) and value is not None}
            inputs = {self._name(step, name): _words(value) for name, value in told.items()}
            rendered.prompt = JudgePrompt(str(rendered), self.metric, step, sha, inputs)
            rendered.items = None if count is None else count(values)
            return rendered

        return render

    def _name(self, step: str, name: str) -> str:
        return self.names.get((step, name)) or _OURS.get(name, name.replace("_", " "))


@functools.cache
def _compiled(text: str) -> jinja2.Template:
    return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text)


def _tells(name: str) -> bool:
    return name not in _NOT_CONTENT and not name.endswith("instruction")


def _words(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
