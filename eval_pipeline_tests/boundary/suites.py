"""The toy suite with another system in its place: a function, or an endpoint at a stub."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline.agent_runs import run_case
from eval_pipeline.cases import Case
from eval_pipeline.event_loop import run_async
from eval_pipeline.models import Models
from eval_pipeline.models.run_calls import Pools, RunCalls
from eval_pipeline.recordings import Mode, Recordings
from eval_pipeline.suite_reading import find_suite
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import AgentTrace
from eval_pipeline_tests.models.live_models import TurnedClock
from eval_pipeline_tests.toy import ToyFiles, write_toy

FUNCTION = '''"""Answers with the first line of a page that the question names."""

TOOLS = ("look_up",)


async def answer(question, context):
    words = question.lower().strip("?!.").split()
    pages = [page for page in context.documents if page.id in words]
    if not pages:
        return "You are welcome."
    text = pages[0].text.strip()
    return {
        "answer": text.upper() if context.parameters.get("shout") else text,
        "tool_calls": [{"name": "look_up", "arguments": {"page": pages[0].id}, "output": text}],
        "retrieved": [pages[0].id],
        "usage": {"input_tokens": 12, "output_tokens": 5},
    }
'''

ENDPOINT = """\
system:
  http:
    url: {url}/v1/chat/completions
    headers: {{Authorization: "Bearer ${{BOUNDARY_AUTH}}", X-Version: "2"}}
    request:
      model: m
      messages:
        - {{role: system, content: $prompt}}
        - {{role: user, content: $input}}
      shout: $parameters.shout
    answer: $.choices[0].message.content
    tool_calls: $.choices[0].message.tool_calls[*].function
    timeout_s: 5
"""
SECRET = "fake-boundary-secret-0001"
STAGES = """\
stages:
  - {{name: tools, scorer: "eval_pipeline.scorers.tools:ToolCalls"}}
  - {{name: retrieval, scorer: "eval_pipeline.scorers.retrieval:RetrievalById"}}
  - {{name: words, scorer: "toy_scorer_{number}:SaysWords", parameters: {{ignore_case: true}}}}
"""
CANDIDATES = """\
candidates:
  calm: {prompt: v1, parameters: {shout: false}}
"""


def write_function_suite(root: Path, source: str = FUNCTION) -> ToyFiles:
    """The toy whose system is the function of a module beside its data."""
    toy = write_toy(root)
    (root / f"toy_system_{toy.number}.py").write_text(source, encoding="utf-8")
    system = f"system: toy_system_{toy.number}:answer\n"
    toy.write("suite.yaml", system + STAGES.format(number=toy.number) + CANDIDATES)
    return toy


def write_endpoint_suite(root: Path, url: str) -> ToyFiles:
    """The toy whose system is a stub that speaks OpenAI's protocol."""
    toy = write_toy(root)
    toy.edit("datasets/small.yaml", "      pages: [apple]\n", "")
    toy.edit("datasets/small.yaml", "tools: [look_up]", "tools: []")
    toy.write("suite.yaml", ENDPOINT.format(url=url) + STAGES.format(number=toy.number) + CANDIDATES)
    return toy


class Asking:
    """Asks the one candidate of a suite single questions, with a clock that tests turn."""

    def __init__(self, toy: ToyFiles) -> None:
        self.toy = toy
        self.time = TurnedClock()
        self.calls = RunCalls(Pools(self.time.clock), self.time.clock)

    def ask(
        self,
        question: object = "An apple?",
        mode: Mode = "new_episodes",
        case: str = "c",
        repeat: int = 0,
    ) -> AgentTrace:
        """The trace of a question, asked by a run of its own."""
        suite = find_suite(self.toy.data, "toy")
        (cell,) = suite.cells
        recordings = Recordings(suite.recordings, mode)
        candidate, dataset = suite.candidates[cell.candidate], suite.datasets[cell.dataset]
        models = Models(candidate.model, candidate.embedder, recordings, calls=self.calls, asked_here=False)
        context = SystemContext(
            candidate.prompt, dict(candidate.parameters), dataset.documents, dataset.fixtures, models
        )
        try:
            return run_async(run_case(suite.system.build(context), Case(case, question), repeat)).trace
        finally:
            recordings.close()

    def recorded(self) -> str:
        """Everything that the suite's recordings hold, as text."""
        folder = self.toy.suite / "recordings"
        return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.jsonl")))
