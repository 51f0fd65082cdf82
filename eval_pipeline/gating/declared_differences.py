"""In what two runs differ by declaration: their ladders of stages, and the contracts of imported reports."""

from __future__ import annotations

from eval_pipeline.gating.outcomes import DeclaredStage, ImportedReport

_SHOWN_CASES = 5


def describe_stages(
    before: tuple[DeclaredStage, ...], after: tuple[DeclaredStage, ...]
) -> tuple[str, str] | None:
    """The differences as they stand on the one side and on the other; None when there are none."""
    if before == after:
        return None
    old, new = {stage.name: stage for stage in before}, {stage.name: stage for stage in after}
    left, right = [], []
    for name in dict.fromkeys([*old, *new]):
        if name not in old or name not in new:
            left.append(f"{name} {'declared' if name in old else 'not declared'}")
            right.append(f"{name} {'declared' if name in new else 'not declared'}")
        elif old[name] != new[name]:
            one, other = old[name].model_dump(), new[name].model_dump()
            parts = [part for part in one if one[part] != other[part]]
            left.append(" ".join([name, *(f"{part} {one[part]}" for part in parts)]))
            right.append(" ".join([name, *(f"{part} {other[part]}" for part in parts)]))
    if not left:
        left, right = ["in the order " + ", ".join(old)], ["in the order " + ", ".join(new)]
    return "; ".join(left), "; ".join(right)


def name_contract_parts(baseline: ImportedReport | None, candidate: ImportedReport | None) -> list[str]:
    """The parts in which two imported contracts differ, those of `applicability` by case."""
    if baseline is None or candidate is None:
        return []
    left, right = baseline.contract, candidate.contract
    parts = [key for key in sorted({*left, *right} - {"applicability"}) if left.get(key) != right.get(key)]
    old, new = left.get("applicability"), right.get("applicability")
    if isinstance(old, dict) and isinstance(new, dict):
        cases = [case for case in sorted({*old, *new}) if old.get(case) != new.get(case)]
        if cases:
            more = f" and {len(cases) - _SHOWN_CASES} more" if len(cases) > _SHOWN_CASES else ""
            parts.append(f"applicability of {', '.join(cases[:_SHOWN_CASES])}{more}")
    return parts
