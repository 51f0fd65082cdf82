"""Whether two runs can be compared: component by component, of what they declare and never of what ran."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from eval_pipeline.gating.decision import Change, Effect, Reason
from eval_pipeline.gating.declared_differences import describe_stages, name_contract_parts
from eval_pipeline.gating.outcomes import EvalBlock, Outcomes
from eval_pipeline.gating.policy import Policy, Releasable


@dataclass(frozen=True)
class Comparability:
    """In what two runs differ, which of it makes them incomparable, and what nobody could compare."""

    changes: tuple[Change, ...]
    reasons: tuple[Reason, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Component:
    """One thing a run was made with."""

    name: str
    fields: tuple[str, ...]
    """Fields of the eval block that tell two of it apart: the first that both sides give decides."""
    show: Callable[[EvalBlock], str]
    release: Releasable | None = None
    free: bool = False
    """What a candidate is there to change: listed, and never in the way."""
    remedy: str = ""


@dataclass(frozen=True)
class _Difference:
    """A change, and what a user can do where it makes the sides incomparable."""

    change: Change
    remedies: tuple[str, ...] = ()


_RERUN = "rerun the baseline on the candidate's dataset, {dataset}, and promote it"


def _with_sha(name: str, field: str) -> Callable[[EvalBlock], str]:
    """Shows a component as its name with the hash that tells two of that name apart."""

    def show(block: EvalBlock) -> str:
        sha = getattr(block, field)
        shown = getattr(block, name) or "none"
        return shown if sha is None or sha in shown else f"{shown} ({field} {sha})"

    return show


def _plain(field: str) -> Callable[[EvalBlock], str]:
    return lambda block: str(getattr(block, field))


_COMPONENTS = (
    _Component("suite", ("suite",), _plain("suite"), remedy="give a baseline of the candidate's suite"),
    _Component("cases", ("cases_sha",), _with_sha("dataset", "cases_sha"), remedy=_RERUN),
    _Component("documents", ("docs_sha",), _with_sha("dataset", "docs_sha"), "index", remedy=_RERUN),
    _Component("model", ("model_sha", "model"), _with_sha("model", "model_sha"), "model"),
    _Component(
        "prompt", ("prompt_sha", "prompt_version"), _with_sha("prompt_version", "prompt_sha"), "prompt"
    ),
    _Component("embedder", ("embedder_sha", "embedder"), _with_sha("embedder", "embedder_sha"), "index"),
    _Component("k", ("k",), _plain("k"), "index"),
    _Component("parameters", ("parameters_sha",), _plain("parameters_sha"), free=True),
    _Component("tool schemas", ("tool_schemas_sha",), _plain("tool_schemas_sha"), free=True),
    _Component("system code", ("system_code_sha",), _plain("system_code_sha"), free=True),
    _Component("repeats", ("repeats",), _plain("repeats"), free=True),
    _Component(
        "judge",
        ("judge_id", "judge_model"),
        _with_sha("judge_model", "judge_id"),
        remedy="score both sides with one judge",
    ),
)


def compare_components(baseline: Outcomes, candidate: Outcomes, policy: Policy) -> Comparability:
    """Compare what two runs were made with, field by field.

    Cases, judge and declared stages must be equal; model, prompt and index may differ where
    `may_change` releases them; tool schemas, system code and repeats may always. A field that a
    side does not give is not compared, and a note says so.
    """
    left, right = baseline.eval, candidate.eval
    absent: dict[str, list[str]] = {}
    found = [d for part in _COMPONENTS for d in _compare(part, left, right, policy, absent)]
    found += _compare_stages(left, right, absent)
    found += _compare_datasets(baseline, candidate, policy, {d.change.component for d in found}, absent)
    return Comparability(
        changes=tuple(difference.change for difference in found),
        reasons=tuple(_reason(d) for d in found if d.change.effect == "incomparable"),
        notes=tuple(f"not compared, absent from {side}: {', '.join(n)}" for side, n in absent.items()),
    )


def _reason(difference: _Difference) -> Reason:
    change = difference.change
    verb = "differ" if change.component.endswith("s") else "differs"
    text = (
        f"{change.component} {verb}: baseline {change.baseline}, candidate {change.candidate}; "
        f"{', or '.join(difference.remedies)}"
    )
    return Reason("incomparable", "comparable", text)


def _both_give(field: str, left: EvalBlock, right: EvalBlock, absent: dict[str, list[str]]) -> bool:
    """Whether both sides give a field; else it is added to `absent` under the sides that do not."""
    sides = [side for side, block in (("baseline", left), ("candidate", right)) if not block.known(field)]
    if sides and field != "repeats":  # left out, repeats are one
        absent.setdefault(" and ".join(sides), []).append(field)
        return False
    return True


def _compare(
    part: _Component, left: EvalBlock, right: EvalBlock, policy: Policy, absent: dict[str, list[str]]
) -> Iterator[_Difference]:
    deciding = next((field for field in part.fields if _both_give(field, left, right, absent)), None)
    if deciding is None or getattr(left, deciding) == getattr(right, deciding):
        return
    released = part.release in policy.may_change
    effect: Effect = "noted" if part.free else "released" if released else "incomparable"
    remedies = [part.remedy.format(dataset=right.dataset)] if part.remedy else []
    if part.release:
        remedies.append(_release(part.release))
    yield _Difference(Change(part.name, part.show(left), part.show(right), effect), tuple(remedies))


def _release(name: Releasable) -> str:
    return f"let the policy's may_change release {name!r}"


def _compare_stages(left: EvalBlock, right: EvalBlock, absent: dict[str, list[str]]) -> Iterator[_Difference]:
    shown = describe_stages(left.stages, right.stages) if _both_give("stages", left, right, absent) else None
    if shown:
        remedy = "rerun the baseline with the candidate's stages and promote it"
        yield _Difference(Change("declared stages", *shown, effect="incomparable"), (remedy,))


def _compare_datasets(
    baseline: Outcomes, candidate: Outcomes, policy: Policy, changed: set[str], absent: dict[str, list[str]]
) -> Iterator[_Difference]:
    """Compare whole datasets: by hash, or by name where no hash of cases can be compared either.

    Of our own runs, a difference of cases or documents explains the hash and is told already; what
    remains is a fixture, which belongs to what the system reads, like the index. Imported reports
    hash their whole contract, which nothing releases.
    """
    left, right = baseline.eval, candidate.eval
    imported = baseline.imported or candidate.imported
    rerun = _RERUN.format(dataset=right.dataset)
    if not _both_give("dataset_sha", left, right, absent):
        cases_compared = left.known("cases_sha") and right.known("cases_sha")
        if not cases_compared and left.dataset != right.dataset:
            yield _Difference(Change("dataset", left.dataset, right.dataset, "incomparable"), (rerun,))
        return
    if left.dataset_sha == right.dataset_sha or (not imported and changed & {"cases", "documents"}):
        return
    show = _with_sha("dataset", "dataset_sha")
    released = not imported and "index" in policy.may_change
    change = Change("dataset", show(left), show(right), "released" if released else "incomparable")
    parts = name_contract_parts(baseline.imported, candidate.imported)
    why = f" (the contracts differ in {'; '.join(parts)})" if parts else ""
    yield _Difference(change, (rerun + why,) if imported else (rerun, _release("index")))
