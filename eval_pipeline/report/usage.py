"""What the system's calls of a report's rows took, as its outcomes tell it."""

from __future__ import annotations

from dataclasses import dataclass, field

from eval_pipeline.gating.outcomes import RunUsage
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.tallies import ExactSum


@dataclass
class UsageTally:
    """What the system's calls took when they were made, a row of a report after the other.

    Its own running time is left out: another run of equal content takes another.
    """

    offered: dict[str, str] = field(default_factory=dict)
    """Hash of the schema of each tool that its models were offered, by name."""
    rows: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    latencies: ExactSum = field(default_factory=ExactSum)
    """Milliseconds of each row with calls."""
    costs: ExactSum = field(default_factory=ExactSum)
    """US dollars of each of these whose price is known."""

    def add(self, row: CaseReport) -> None:
        """The next row."""
        usage = row.trace.usage
        self.rows += 1
        self.offered |= row.trace.tool_schemas
        self.calls += usage.calls
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        if usage.calls:
            self.latencies.add(row.trace.latency_ms)
            if usage.cost is not None:
                self.costs.add(usage.cost)

    def merge(self, other: UsageTally) -> None:
        """The rows after these."""
        self.rows += other.rows
        self.offered |= other.offered
        self.calls += other.calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.latencies.merge(other.latencies)
        self.costs.merge(other.costs)

    def shorten(self) -> None:
        """Hold all numbers as short as they can be."""
        self.latencies.shorten()
        self.costs.shorten()

    def usage(self) -> RunUsage | None:
        """What all calls took; None of a system that made none."""
        if not self.latencies.count:
            return None
        priced = self.costs.count == self.latencies.count
        return RunUsage(
            calls=self.calls,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.costs.value if priced else None,
            latency_ms=round(self.latencies.value / self.rows, 3),
        )
