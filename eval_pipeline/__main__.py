"""`python -m eval_pipeline` is the command `eval-pipeline`."""

from eval_pipeline.cli import main

main()
