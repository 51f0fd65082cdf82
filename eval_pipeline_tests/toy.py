"""A toy suite in a temporary folder: its own system and scorer, no model framework, four small files."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.errors import InputError
from eval_pipeline.suite_reading import read_suite

_NUMBERS = itertools.count(1)

SYSTEM = '''"""A system that looks up a page by a word of the question and answers with its first line."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import AgentTrace, RetrievedDocument, ToolCall

TOOLS = ("look_up",)


class Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid")

    shout: bool = False


@dataclass(frozen=True)
class Toy:
    pages: dict[str, str]
    shout: bool

    async def run(self, case: Case) -> AgentTrace:
        words = case.question.lower().strip("?!.").split()
        found = [page for page in self.pages if page in words]
        if not found:
            return AgentTrace(case.id, answer="You are welcome.")
        text = self.pages[found[0]]
        answer = text.splitlines()[0]
        return AgentTrace(
            case.id,
            answer=answer.upper() if self.shout else answer,
            tool_calls=(ToolCall("look_up", {"page": found[0]}, text),),
            retrieved=(RetrievedDocument(found[0], 1, 1.0, text, 0),),
            context=(text,),
        )


def build(context: SystemContext) -> Toy:
    return Toy({page.id: page.text for page in context.documents}, context.parameters.shout)
'''

SCORER = '''"""A scorer: the share of expected words that the answer holds."""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class SaysWords:
    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    ignore_case: bool = False
    also: tuple[str, ...] = ()

    class Expected(BaseModel):
        model_config = ConfigDict(extra="forbid")

        words: list[str] = []

    def problems(self, case: Case, known: Known) -> list[str]:
        return []

    def applies(self, case: Case) -> bool:
        return bool(case.expected["words"])

    def score(self, case: Case, trace: AgentTrace) -> Score:
        answer = trace.answer or ""
        words = [*case.expected["words"], *self.also]
        if self.ignore_case:
            answer, words = answer.lower(), [word.lower() for word in words]
        said = [word for word in words if word in answer]
        return Score(len(said) / len(words), f"said {', '.join(said) or 'none'} of {', '.join(words)}")
'''

SUITE = """\
description: A toy that looks pages up.
system: toy_system_{number}
stages:
  - name: tools
    scorer: eval_pipeline.scorers.tools:ToolCalls
  - name: retrieval
    scorer: eval_pipeline.scorers.retrieval:RetrievalById
  - name: words
    scorer: toy_scorer_{number}:SaysWords
    threshold: 0.5
candidates:
  calm:
    model: ollama:toy
    prompt: v1
  loud:
    model: ollama:toy
    prompt: v1
    parameters: {{shout: true}}
"""
"""`calm` passes everything; `loud` says RED, which the scorer does not take for red."""

DATASET = """\
version: 1
cases:
  - id: apple
    input: What colour is an apple?
    reference: An apple is red.
    expected:
      pages: [apple]
      tools: [look_up]
      words: [red]
  - id: thanks
    input: Thank you!
    expected:
      tools: []
"""

FILES = {
    "datasets/small.yaml": DATASET,
    "documents/apple.md": "An apple is red.\n",
    "documents/pear.md": "A pear is green.\n",
    "fixtures/prices.yaml": "apple: 3\npear: 4\n",
    "prompts/v1.md": "Look the page up.\n",
}


@dataclass(frozen=True)
class ToyFiles:
    """The files of one toy project; its modules' names are its own, as a process keeps what it imports."""

    root: Path
    number: int

    @property
    def data(self) -> Path:
        """What EVAL_DATA is set to."""
        return self.root / "data"

    @property
    def suite(self) -> Path:
        """The suite's folder."""
        return self.data / "toy"

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the suite."""
        path = self.suite / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace the one place of a file that says `old`."""
        text = (self.suite / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        self.write(name, text.replace(old, new))

    def edit_module(self, kind: str, old: str, new: str) -> Path:
        """Edit the module of the `system` or the `scorer` before anything imports it."""
        path = self.root / f"toy_{kind}_{self.number}.py"
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}"
        path.write_text(text.replace(old, new), encoding="utf-8")
        return path

    def problems(self) -> list[str]:
        """What is wrong with the suite, paths as from its folder."""
        try:
            read_suite(self.suite)
        except InputError as error:
            return [problem.replace(f"{self.suite}/", "") for problem in error.problems]
        return []


def line_of(text: str, module: str) -> int:
    """The line of SYSTEM or SCORER in which `text` begins."""
    return module[: module.index(text)].count("\n") + 1


def write_toy(root: Path) -> ToyFiles:
    """Write the toy project below `root`: its modules there, its suite in `data/toy/`."""
    toy = ToyFiles(root, next(_NUMBERS))
    for name, content in {**FILES, "suite.yaml": SUITE.format(number=toy.number)}.items():
        toy.write(name, content)
    (root / f"toy_system_{toy.number}.py").write_text(SYSTEM, encoding="utf-8")
    (root / f"toy_scorer_{toy.number}.py").write_text(SCORER, encoding="utf-8")
    return toy
