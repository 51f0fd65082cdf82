"""A decision as Markdown, for a pull request's comment, a step summary and Dagster's metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    return _join(_lines(decision), limit)


def _lines(decision: GateDecision) -> Iterator[str]:
    yield from (f"**decision: {decision.verdict.upper()}**", "")
    yield from (f"- **{reason.verdict}** {markdown_code(reason.text)}" for reason in decision.reasons)
    if not decision.reasons:
        yield "- no rule is broken"
    yield from (f"- note: {markdown_code(note)}" for note in decision.notes)
    yield from ("", f"- suite {markdown_code(decision.candidate.suite or 'not given')}")
    yield f"- baseline {markdown_code(describe_side(decision.baseline, decision.digests[0]))}"
    yield f"- candidate {markdown_code(describe_side(decision.candidate, decision.digests[1]))}"
    if decision.compared:
        yield f"- paired: {decision.odds}"
    yield from ("", "| pass rate | baseline | candidate |", "|---|---|---|")
    yield from (f"| {markdown_code(name)} | {old} | {new} |" for name, old, new in rate_rows(decision.rates))
    yield ""
    for section in list_sections(decision):
        if section.title == "notes":
            continue  # they stand beside the reasons
        if section.lines:
            yield from (f"**{section.title}** ({len(section.lines)})", "")
            yield from (f"- {markdown_code(line)}" for line in section.lines)
            yield ""
        else:
            yield from (f"**{section.title}**: {section.empty}", "")


def _join(lines: Iterable[str], limit: int | None) -> str:
    """The lines as one text, of which no more is made than the limit takes."""
    kept: list[str] = []
    size = 0
    for line in lines:
        kept.append(f"{line}\n")
        size += len(kept[-1].encode())
        if limit is not None and size > limit:
            while kept and size > limit - len(_CUT.encode()):
                size -= len(kept.pop().encode())
            return "".join(kept) + _CUT
    return "".join(kept)
