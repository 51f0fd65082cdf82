"""The scorers that ship; a suite names them by import path.

In code: `tools:ToolCalls`, `retrieval:RetrievalById`, `grounding:Grounding` for agents that call tools;
`structured:MatchesSchema`, `structured:FieldEquals` for structured answers; `wording:ShortAndSpecific` for
the length and the terms of any text. By a judge: those of `deepeval`.
"""
