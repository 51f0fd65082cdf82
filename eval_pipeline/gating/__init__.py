"""The regression gate: outcomes of two runs and a written policy in, one decision with its reasons out.

    read_outcomes(file) ─► baseline ──┐
    read_outcomes(file) ─► candidate ─┼─► decide ─► GateDecision ─► render_text | _json | _markdown | _junit
    read_policy(file) ───► policy ────┘

Nothing here runs a model or knows Dagster: the same decision comes from an asset and from two files.
"""
