"""Stage reports: which case fails at which stage first, and what that adds up to.

`stage_report` builds one; `json_form`, `text` and `markdown` write it, `rows` stores it.
"""
