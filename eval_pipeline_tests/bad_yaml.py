"""What any YAML file of ours may have wrong, with the words that say so: rows for the tests of each kind."""

from __future__ import annotations

NO_MAPPING = [
    ("", "the file is empty"),
    ("# to do\n", "the file is empty"),
    ("- a: b\n", "the file: input should be a mapping, found a list"),
    ("text\n", "the file: input should be a mapping, found 'text'"),
]
"""Files that hold no mapping; each problem is one of line 1."""

NO_TEXT = [
    ("1", "`1` is a number to YAML; quote it"),
    ("1.5", "`1.5` is a number to YAML; quote it"),
    ("true", "`true` is a boolean to YAML; quote it"),
    ("", "input should be a valid string, found nothing"),
    ("[a]", "input should be a valid string, found a list"),
]
"""Values written where text is due; each problem follows the name of the field."""
