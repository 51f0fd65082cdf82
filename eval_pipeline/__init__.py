"""Evaluate LLM agents stage by stage, as partitioned Dagster assets that replay offline.

How data flows, and where to look:

    data/<suite>/            suite.yaml, prompts, datasets, documents, fixtures, recordings
      │  suite_reading       files → Suite: stages, candidates and datasets under content-hashed keys
      ▼
    agent_runs               one System per cell (candidate × dataset), one run per case → AgentTrace
      │  models, recordings  every model call answered from the recording, or asked and recorded
      │  boundary            the same for a function's or an HTTP endpoint's whole answer
      ▼
    judge_runs, stages       each declared stage of each trace → CheckResult: passed, failed, error
      │  scorers, judges     in code, or by a recorded judge, which `calibration_runs` tries beforehand
      ▼
    report                   first failing stage of each case, rates with counts and intervals
      ▼
    warehouse                Parquet files, and DuckDB views over them

`evaluation` strings these together for one run; `assets` and `definitions` are its Dagster side, and
nothing else imports Dagster. `cli` is the command line. `carry_over` takes rows whose inputs are equal
from earlier runs, so that agents, judges and scorers run for the others alone; `planning` says beforehand
what that will be. `comparing` sets two stored cells side by side. `gating` turns the outcomes of two runs
into a decision. `watching` does plan, run and comparison again after each edit.
"""
