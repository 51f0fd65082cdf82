"""What a check can come to and when it gates, in words: what the gate needs of `scores`, which needs more."""

from __future__ import annotations

from typing import Literal

Outcome = Literal["passed", "failed", "error", "not_measured"]
Gating = Literal["always", "when_calibrated", "never"]
