"""Published stage reports, such as one saved by another tool, imported as outcomes a gate can take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import InputError
from eval_pipeline.gating.json_files import parse_json
from eval_pipeline.gating.outcomes import (
    CheckOutcome,
    DeclaredStage,
    EvalBlock,
    ImportedReport,
    Outcomes,
    OutcomesError,
    node_id,
)
from eval_pipeline.gating.own_report_rows import is_own_row, read_own_row
from eval_pipeline.gating.published_rows import (
    MAPPED_METRICS,
    MAPPED_STAGES,
    ReportRow,
    Unit,
    read_published_row,
)

SUITE = "docs-stages"
PROTOCOL = "docs-stage-scores-v1"


Name = Annotated[str, Field(min_length=1)]
Pages = Annotated[int, Field(ge=1)]


class _Key(BaseModel):
    """What a report of our own says it was made with; null says that its suite has none."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    cases: Name
    cases_sha: Name
    docs_sha: Name
    prompt_sha: Name
    k: Pages | None
    model: Name | None
    embedder: Name | None
    judge: Name | None
    strict_faithfulness: bool | None


class _PublishedKey(_Key):
    """What a report from elsewhere says it was made with: it leaves nothing out."""

    k: Pages
    model: Name
    embedder: Name
    judge: Name
    strict_faithfulness: bool


class _Report(BaseModel):
    """A report but for its rows, which are read one by one so that each problem names its case."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    key: _Key
    k: Pages | None
    threshold: Unit | None
    """Null where no stage is judged, or where the judged stages have several."""
    rows: list[Any]


class _PublishedReport(_Report):
    """The same from elsewhere."""

    key: _PublishedKey
    k: Pages
    threshold: Unit


def read_published(data: Mapping[str, Any], place: str) -> Outcomes:
    """Import a stage report: every mapped stage of every case becomes a gating outcome.

    A tools stage passes by its own verdict, retrieval at recall 1.0, a judged metric at the report's
    threshold. Contextual precision is kept as a number and becomes no outcome. The `dataset_sha`
    hashes the contract: which cases, documents and retrieval, and which stages apply to which case.

    Args:
        data: the report.
        place: the file, to begin each problem with.

    Raises:
        OutcomesError: one problem a line, for a report that is incomplete or contradicts itself.
    """
    rows_given = data.get("rows")
    own = isinstance(rows_given, list) and bool(rows_given) and all(map(is_own_row, rows_given))
    report = parse_json(data, _Report if own else _PublishedReport, place, OutcomesError)
    problems = []
    if report.k != report.key.k:
        problems.append(f"{place}: k is {report.k}, and key.k is {report.key.k}; they must agree")
    if not report.rows:
        problems.append(f"{place}: rows is empty; a report of no case says nothing")
    rows, row_problems = _read_rows(report, place, own=own)
    if rows and not row_problems and not any(row.stages for row in rows):
        problems.append(
            f"{place}: none of its stages is {', '.join(MAPPED_STAGES)}; of a suite of your own, "
            "gate the outcomes: eval-pipeline report SUITE --candidate NAME --format outcomes"
        )
    if problems or row_problems:
        raise OutcomesError([*problems, *row_problems])
    try:
        digest = content_hash(data)
    except ValueError as failure:
        raise OutcomesError(f"{place}: holds NaN or an infinity, which JSON does not have") from failure
    contract = _contract(report.key, data, rows)
    return Outcomes(
        eval=_block(report, content_hash(contract), repeats=1 + max(row.repeat for row in rows)),
        tests=tuple(
            CheckOutcome(
                nodeid=node_id(SUITE, row.case, f"test_{stage.stage}"),
                case=row.case,
                check=f"test_{stage.stage}",
                outcome=stage.outcome,
                repeat=row.repeat,
                error_source=stage.source,
            )
            for row in rows
            for stage in row.stages
        ),
        imported=ImportedReport(
            digest=digest,
            contract=contract,
            unmapped={row.case: dict(row.unmapped) for row in rows if row.unmapped},
        ),
    )


def _read_rows(report: _Report, place: str, *, own: bool) -> tuple[list[ReportRow], list[str]]:
    rows: list[ReportRow] = []
    problems: list[str] = []
    first_at: dict[tuple[str, int], int] = {}
    for index, raw in enumerate(report.rows):
        at = ("rows", index)
        try:
            if own or report.threshold is None:
                row = read_own_row(raw, place, at, report.threshold)
            else:
                row = read_published_row(raw, place, at, report.threshold)
        except InputError as error:
            problems += error.problems
            continue
        where = f"{place}: rows[{index}] ({row.case})"
        first = first_at.setdefault((row.case, row.repeat), index)
        if first != index:
            problems.append(f"{where}: duplicate case id, first in rows[{first}]; ids are unique")
        if "::" in row.case:
            problems.append(f"{where}: the id holds '::', which parts a node id; rename the case")
        problems += [f"{where}: {problem}" for problem in row.problems]
        rows.append(row)
    return rows, problems


def _contract(key: _Key, data: Mapping[str, Any], rows: list[ReportRow]) -> dict[str, JsonValue]:
    """What `dataset_sha` hashes. The threshold stays as written: 1 and 1.0 are not the same JSON."""
    applicable: dict[str, set[str]] = {}
    for row in rows:
        applicable.setdefault(row.case, set()).update(stage.stage for stage in row.stages)
    return {
        "cases": key.cases,
        "cases_sha": key.cases_sha,
        "docs_sha": key.docs_sha,
        "embedder": key.embedder,
        "k": key.k,
        "strict_faithfulness": key.strict_faithfulness,
        "threshold": data["threshold"],
        "protocol": PROTOCOL,
        "applicability": {case: sorted(stages) for case, stages in applicable.items()},
    }


def _block(report: _Report, dataset_sha: str, repeats: int) -> EvalBlock:
    key = report.key
    return EvalBlock(
        suite=SUITE,
        dataset=key.cases,
        cases_sha=key.cases_sha,
        docs_sha=key.docs_sha,
        dataset_sha=dataset_sha,
        judge_model=key.judge,
        model=key.model,
        prompt_version=f"sha:{key.prompt_sha}",
        prompt_sha=key.prompt_sha,
        embedder=key.embedder,
        k=key.k,
        stages=_declared(report),
        repeats=repeats,
    )


def _declared(report: _Report) -> tuple[DeclaredStage, ...]:
    """The mapped stages, declared whether or not any case has them; without a threshold none is judged."""
    strict = report.key.strict_faithfulness
    parameters: dict[str, JsonValue] = {} if strict is None else {"strict": strict}
    metrics = () if report.threshold is None else MAPPED_METRICS
    return (
        DeclaredStage(name="test_tools", threshold=1.0, scorer="tools"),
        DeclaredStage(name="test_retrieval", threshold=1.0, scorer="recall"),
        *(
            DeclaredStage(
                name=f"test_{metric}",
                threshold=report.threshold or 0.0,
                scorer=metric,
                parameters=parameters if metric == "faithfulness" else {},
            )
            for metric in metrics
        ),
    )
