"""A decision as Markdown, for a pull request's comment, a step summary and Dagster's metadata."""

from __future__ import annotations

from eval_pipeline.gating.decision import GateDecision
from eval_pipeline.gating.sections import describe_side, list_sections, rate_rows
from eval_pipeline.report.inert_text import markdown_code

COMMENT_BYTES = 65_000
"""Below GitHub's limit of 65,536 characters for one comment."""
_CUT = "\n_Cut here: the whole decision is in `--format json`._\n"


def render_markdown(decision: GateDecision, limit: int | None = None) -> str:
    """The decision as Markdown: verdict and reasons first, details after.

    Names and labels are shown as they are and do nothing: no table breaks, no HTML, no mention.

    Args:
        decision: what to show.
        limit: bytes of UTF-8 it may take; whole lines are cut from the end and a last line says so.
    """
    lines = [
        f"**decision: {decision.verdict.upper()}**",
        "",
        *(f"- **{reason.verdict}** {markdown_code(reason.text)}" for reason in decision.reasons),
        *([] if decision.reasons else ["- no rule is broken"]),
        *(f"- note: {markdown_code(note)}" for note in decision.notes),
        "",
        f"- suite {markdown_code(decision.candidate.suite or 'not given')}",
        f"- baseline {markdown_code(describe_side(decision.baseline, decision.digests[0]))}",
        f"- candidate {markdown_code(describe_side(decision.candidate, decision.digests[1]))}",
        *([f"- paired: {decision.odds}"] if decision.compared else []),
        "",
        "| pass rate | baseline | candidate |",
        "|---|---|---|",
        *(f"| {markdown_code(name)} | {old} | {new} |" for name, old, new in rate_rows(decision.rates)),
        "",
    ]
    for section in list_sections(decision):
        if section.title == "notes":
            continue  # they stand beside the reasons
        if section.lines:
            lines += [f"**{section.title}** ({len(section.lines)})", ""]
            lines += [*(f"- {markdown_code(line)}" for line in section.lines), ""]
        else:
            lines += [f"**{section.title}**: {section.empty}", ""]
    return _cut("".join(f"{line}\n" for line in lines), limit)


def _cut(text: str, limit: int | None) -> str:
    if limit is None or len(text.encode()) <= limit:
        return text
    room = limit - len(_CUT.encode())
    kept = []
    for line in text.splitlines(keepends=True):
        room -= len(line.encode())
        if room < 0:
            break
        kept.append(line)
    return "".join(kept) + _CUT
