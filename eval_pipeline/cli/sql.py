"""`eval-pipeline sql`: a query over everything stored."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """How rows are written."""

    table = "table"
    csv = "csv"
    json = "json"


def command(
    query: Annotated[str, typer.Argument(help="SQL over the views, such as 'from current_stage_scores'.")],
    format: Annotated[Format, typer.Option(help="How rows are written.")] = Format.table,
) -> None:
    """Run a DuckDB query; `show tables` lists the views."""
    from eval_pipeline.cli.printing import say
    from eval_pipeline.evaluation import Evaluation

    frame = Evaluation(run_id="").warehouse.query(query).to_pandas()
    if format is Format.csv:
        say(frame.to_csv(index=False).rstrip("\n"))
    elif format is Format.json:
        say(frame.to_json(orient="records", force_ascii=False, date_format="iso"))
    else:
        say(frame.to_string(index=False, max_colwidth=80) if len(frame) else "no rows")
