"""A small suite built in memory, and shorthand for the traces and outcomes of its cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from eval_pipeline.cases import Case, Known
from eval_pipeline.datasets import Dataset
from eval_pipeline.documents import Document
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.report.stage_report import StageReport, build_report
from eval_pipeline.scores import CheckResult, Score, Stage
from eval_pipeline.suites import Candidate, Cell, Suite
from eval_pipeline.system_spec import SystemSpec
from eval_pipeline.traces import AgentTrace, ToolCall, TraceError


@dataclass(frozen=True)
class Check:
    """Applies to the cases that expect something under its key; its scores are given by the tests."""

    key: str

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    class Expected(BaseModel):
        tools: list[str] | None = None

    def problems(self, case: Case, known: Known) -> list[str]:
        return []

    def applies(self, case: Case) -> bool:
        return self.key in case.expected

    def score(self, case: Case, trace: AgentTrace) -> Score:
        raise NotImplementedError


@dataclass(frozen=True)
class Judge(Check):
    judged: ClassVar[bool] = True


@dataclass(frozen=True)
class Pages(Check):
    metric_labels: ClassVar[Mapping[str, str]] = {
        "hit": "hit@k",
        "recall": "recall@k",
        "reciprocal_rank": "MRR",
    }
    columns: ClassVar[Mapping[str, str]] = {"hit": "hit@k", "recall": "recall@k", "reciprocal_rank": "RR"}


TOOLS = Stage("tools", Check("tools"))
RETRIEVAL = Stage("retrieval", Pages("pages"))
GROUNDING = Stage("grounding", Check("tools"), threshold=0.9, gating="never")
RELEVANCY = Stage("relevancy", Judge("tools"), threshold=0.7, gating="when_calibrated")


def make_suite(
    cases: Mapping[str, list[str]],
    stages: tuple[Stage, ...] = (TOOLS, RETRIEVAL, GROUNDING),
    k: int | None = 3,
    repeats: int = 1,
) -> Suite:
    """A suite of one cell; `cases` says under which keys each case expects something."""
    candidate = Candidate(
        name="gemma",
        model=ModelSettings(name="ollama:gemma4:e2b", weights="a1b2c3"),
        prompt_version="v2",
        prompt="Answer from the pages.",
        embedder=EmbedderSettings(name="ollama:qwen3-embedding:0.6b"),
        parameters={} if k is None else {"k": k},
    )
    dataset = Dataset(
        name="docs",
        version=2,
        cases=tuple(Case(i, f"{i}?", expected={key: [] for key in keys}) for i, keys in cases.items()),
        documents=(Document("storage", "One file."),),
        fixtures={"issues": []},
        repeats=repeats,
    )
    return Suite(
        name="assistant",
        folder=Path("assistant"),
        description="",
        system=SystemSpec("my.system", lambda context: None, frozenset(), None, None, "c0de" * 16),  # type: ignore[arg-type, return-value]
        stages=stages,
        candidates={"gemma@573cd471224c": candidate},
        datasets={"docs@98b0e5bca6c8": dataset},
        cells=(Cell("assistant", "gemma@573cd471224c", "docs@98b0e5bca6c8"),),
    )


def trace_of(case_id: str, *calls: str, repeat: int = 0, error: TraceError | None = None) -> AgentTrace:
    tool_calls = tuple(ToolCall(name, {}, "") for name in calls)
    return AgentTrace(case_id, repeat, answer=f"About {case_id}.", tool_calls=tool_calls, error=error)


def check(
    case_id: str, stage: Stage, value: float | None, reason: str = "", *, repeat: int = 0, **fields: Any
) -> CheckResult:
    """An outcome of a scored check; of an unmeasured one when the value is None."""
    details = fields.pop("details", {})
    metrics = fields.pop("metrics", {})
    score = None if value is None else Score(value, reason, None, metrics, details)
    passed = value is not None and value >= stage.threshold
    defaults: dict[str, Any] = {
        "outcome": "error" if value is None else "passed" if passed else "failed",
        "gating": stage.gating == "always",
    }
    return CheckResult(
        case_id=case_id,
        repeat=repeat,
        stage=stage.name,
        threshold=stage.threshold,
        reason=reason,
        score=score,
        **defaults | fields,
    )


def pages(case_id: str, recall: float, rank: int | None) -> CheckResult:
    """A retrieval outcome: the share of pages found, and the place of the first."""
    reciprocal = 1 / rank if rank else 0.0
    details = {"hit": rank is not None, "recall": recall, "reciprocal_rank": reciprocal}
    metrics = {"hit": float(rank is not None), "reciprocal_rank": reciprocal}
    return check(case_id, RETRIEVAL, recall, "as found", details=details, metrics=metrics)


def sample_report() -> StageReport:
    """Five cases: all passed; a page missed; a run that broke off; a judge-less error; nothing expected.

    tools: 3 of 4 (the broken run is measured: its system's doing); retrieval: 1 of 3, recall (1 + .5) / 2,
    reciprocal rank (1 + .5) / 2; grounding, never gating: mean (1 + .8 + 1) / 3, 2 of 3 and one scorer error.
    """
    suite = make_suite(
        {
            "backup": ["tools", "pages"],
            "pipe|colors": ["tools", "pages"],
            "restore": ["tools", "pages"],
            "token-leak": ["tools"],
            "thanks": [],
        }
    )
    loop = TraceError("system", "tool_loop", "more than 5 tool rounds")
    broken = {"error_source": "system", "reason": "tool_loop: more than 5 tool rounds"}
    traces = [
        trace_of("backup", "search_docs"),
        trace_of("pipe|colors", "search_docs", "search_docs"),
        trace_of("restore", "search_docs", error=loop),
        trace_of("token-leak", "get_issue", "search_docs"),
        trace_of("thanks"),
    ]
    checks = [
        check("backup", TOOLS, 1.0, "all expected calls made", details={"unexpected": [], "missing": []}),
        pages("backup", 1.0, 1),
        check("backup", GROUNDING, 1.0, "all supported"),
        check(
            "pipe|colors", TOOLS, 1.0, "all expected calls made", details={"unexpected": [], "missing": []}
        ),
        pages("pipe|colors", 0.5, 2),
        check("pipe|colors", GROUNDING, 0.8, "one sentence lacks support"),
        check("restore", TOOLS, None, **broken),
        check("restore", RETRIEVAL, None, **broken),
        check("restore", GROUNDING, None, **broken),
        check("token-leak", TOOLS, 1.0, "all expected calls made", details={"unexpected": [], "missing": []}),
        check("token-leak", GROUNDING, None, "the scorer raised", error_source="scorer"),
    ]
    return build_report(suite, suite.cells[0], traces, checks)
