#!/usr/bin/env bash
# Records what SUITE's CANDIDATE lacks, says which verdicts moved against the baseline of BASE (origin/main),
# and commits the recordings. Needs the keys of the models.
set -euo pipefail
base=${BASE:-origin/main}
data=${EVAL_DATA:-data}
folder=$(mktemp -d)
one=(--candidate "$CANDIDATE" --dataset "$DATASET")

eval-pipeline run "$SUITE" "${one[@]}" --record-mode new_episodes
baseline=none
if git show "$base:$data/$SUITE/baselines/$DATASET.json" >"$folder/baseline.json" 2>/dev/null; then
  baseline="$folder/baseline.json"
fi
code=0
eval-pipeline gate "$SUITE" "${one[@]}" --baseline "$baseline" --out "$folder/decision.md" || code=$?
[ "$code" -le 3 ]
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat "$folder/decision.md" >>"$GITHUB_STEP_SUMMARY"
fi
git add -- "$data/$SUITE/recordings"
if git diff --cached --quiet; then
  echo "nothing new was recorded"
else
  git commit --quiet --message "Record $CANDIDATE of $SUITE on $DATASET"
fi
