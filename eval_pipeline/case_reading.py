"""From one dataset file to its cases."""

from __future__ import annotations

from array import array
from pathlib import Path

from eval_pipeline import windows
from eval_pipeline.cases import CaseFile, DatasetFields, id_problems, make_cases
from eval_pipeline.errors import CaseError
from eval_pipeline.jsonl_datasets import CaseLines, read_jsonl, read_jsonl_parts
from eval_pipeline.kept_cases import KeptCases
from eval_pipeline.validation import validate
from eval_pipeline.yaml_data import YamlFile
from eval_pipeline.yaml_files import read_yaml


def read_cases(path: Path, fields: type[DatasetFields]) -> CaseFile:
    """Read one dataset file; `fields` says which keys a case may have.

    Raises:
        CaseError: one problem a line, for anything malformed, a bad or duplicate id, or no case at all.
    """
    if path.suffix != ".jsonl":
        return _take(read_yaml(path, CaseError), fields)
    # Of a large file, whatever is wrong with it is told by who sees it whole.
    return _read_many(path, fields) or _take(read_jsonl(path, CaseError), fields)


def _take(file: YamlFile, fields: type[DatasetFields]) -> CaseFile:
    parsed = validate(file, fields, error=CaseError)
    problems = id_problems(file, parsed)
    if not parsed.cases:
        problems.append(f"{file.where(('cases',))}: no cases; a dataset without cases measures nothing")
    if problems:
        raise CaseError(problems)
    return CaseFile(
        file,
        parsed.version,
        parsed.includes,
        parsed.documents,
        parsed.fixtures,
        parsed.repeats,
        make_cases(parsed),
    )


def _read_many(path: Path, fields: type[DatasetFields]) -> CaseFile | None:
    """A file of more cases than a window, read in parts; None of a smaller one, or one with problems."""
    kept = KeptCases()
    lines = array("l")
    read: CaseFile | None = None
    try:
        for part, numbers in read_jsonl_parts(path, CaseError, windows.SIZE):
            read = _take(part, fields)
            if any(case.id in kept.places for case in read.cases):
                return None
            kept.extend(read.cases)
            lines.extend(numbers if not lines else numbers[1:])
    except CaseError:
        return None
    if read is None or len(kept) <= windows.SIZE:
        return None
    settings = {key: value for key, value in read.file.data.items() if key != "cases"}
    file = YamlFile(path, settings, CaseLines(lines), {})
    return CaseFile(file, read.version, read.includes, read.documents, read.fixtures, read.repeats, kept)
