"""Watching a suite, so that each edit is run and compared with what was stored before it.

`watched_files` says which files count and what changed in them; `loop` makes a turn after each change, in a
process of its own so that edited modules take effect. What a turn does is `cli.watch_turn`.
"""
