#!/usr/bin/env bash
# Gates candidates in mode none against the baselines and policies of the target branch.
#
# GATES  one gate a line: suite candidate dataset
# BASE   the revision whose baselines and policies count (origin/main)
# OUT    folder for decisions, reports, outcomes, JUnit files and comment.md (eval-gate)
#
# Exits with the first of 4, 2, 1, 3 that any gate exits with, else 0.
set -euo pipefail
base=${BASE:-origin/main}
out=${OUT:-eval-gate}
data=${EVAL_DATA:-data}
comment_bytes=65000 # below GitHub's 65,536 characters
forked=$(git merge-base "$base" HEAD)
rm -rf "$out"
mkdir -p "$out"
codes=" "

# The file $1 as the target branch has it, at $2; or the word $3 where it has none.
take() {
  if git cat-file -e "$base:$1" 2>/dev/null; then
    git show "$base:$1" >"$2"
    echo "$2"
  else
    echo "$3"
  fi
}

while read -r suite candidate dataset; do
  [ -n "$suite" ] || continue
  folder="$out/$suite.$candidate.$dataset"
  mkdir -p "$folder"
  baseline=$(take "$data/$suite/baselines/$dataset.json" "$folder/baseline.json" none)
  policy=$(take "$data/$suite/policy.yaml" "$folder/policy.yaml" default)
  notes=()
  for file in "$data/$suite/baselines/$dataset.json" "$data/$suite/policy.yaml"; do
    if [ -n "$(git status --porcelain -- "$file")" ] || ! git diff --quiet "$forked" HEAD -- "$file"; then
      notes+=(--note "$file is edited in this branch; that of $base was used")
    fi
  done
  code=0
  eval-pipeline gate "$suite" --candidate "$candidate" --dataset "$dataset" \
    --baseline "$baseline" --policy "$policy" ${notes[@]+"${notes[@]}"} \
    --out "$folder/decision.json" --out "$folder/decision.md" --out "$folder/junit.xml" \
    2>"$folder/stderr.txt" || code=$?
  codes+="$code "
  cat "$folder/stderr.txt" >&2
  if [ -f "$folder/decision.json" ]; then
    for format in json outcomes; do
      eval-pipeline report "$suite" --candidate "$candidate" --dataset "$dataset" --format "$format" \
        >"$folder/$format.tmp"
    done
    mv "$folder/json.tmp" "$folder/report.json"
    mv "$folder/outcomes.tmp" "$folder/outcomes.json"
    verdict=$(sed -n 's/^  "decision": "\(.*\)",$/\1/p' "$folder/decision.json")
  else
    verdict="no decision"
    { echo "**decision: none**" && echo && sed 's/^/    /' "$folder/stderr.txt"; } >"$folder/decision.md"
  fi
  echo "| $suite | $candidate | $dataset | **$verdict** |" >>"$out/table.md"
  { echo "### $suite: $candidate on $dataset" && echo && cat "$folder/decision.md" && echo; } >>"$out/details.md"
done <<<"${GATES:?one gate a line: suite candidate dataset}"

eval-pipeline recordings edited --against "$base" >"$out/edited.txt"
{
  echo "<!-- eval-gate -->"
  echo "| suite | candidate | dataset | decision |"
  echo "|---|---|---|---|"
  cat "$out/table.md"
  echo
  if [ -s "$out/edited.txt" ]; then
    echo "**Recorded answers edited in this branch**, under keys that $base has:"
    echo
    sed 's/^/    /' "$out/edited.txt" | head -c 15000 | iconv -c -f utf-8 -t utf-8
    echo
    echo
  fi
  cat "$out/details.md"
} >"$out/whole.md"
head -c "$comment_bytes" "$out/whole.md" | iconv -c -f utf-8 -t utf-8 >"$out/comment.md"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat "$out/comment.md" >>"$GITHUB_STEP_SUMMARY"
fi
for code in 4 2 1 3; do
  case $codes in *" $code "*) exit "$code" ;; esac
done
case $codes in *[5-9]*) exit 4 ;; esac
