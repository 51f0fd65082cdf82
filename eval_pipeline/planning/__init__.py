"""Plans: what a run would carry over, replay and call, and why, before anything is paid.

`cell_plan` tries a cell on replay and notes what misses; `typical_calls` says what such runs took so far;
`plan_text` shows plans, and afterwards what was planned beside what was called.
"""
