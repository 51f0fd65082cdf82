"""Carry-over: a row whose inputs are equal to those of a stored one is that row, and no code runs for it.

`inputs` is the one place that says what a row follows from, and so what invalidates what. `reads` notes which
documents and fixtures a run looked at; `stored_rows` finds rows in the partitions of the warehouse; `traces`
and `checks` put the two tables together from rows carried over and rows just made.
"""
