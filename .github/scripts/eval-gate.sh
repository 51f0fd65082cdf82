#!/usr/bin/env bash
# Gates candidates in mode none against the baselines and policies of the target branch.
#
# GATES  one gate a line: suite candidate dataset
# BASE   the revision whose baselines and policies count (origin/main)
# OUT    folder for decisions, reports, outcomes, JUnit files and comment.md (eval-gate)
# BYTES  what comment.md may take (65000, below GitHub's 65,536 characters)
#
# Exits with the first of 4, 2, 1, 3 that any gate exits with, else 0.
set -euo pipefail
base=${BASE:-origin/main}
out=${OUT:-eval-gate}
data=${EVAL_DATA:-data}
forked=$(git merge-base "$base" HEAD)
rm -rf "$out"
mkdir -p "$out"
codes=" "

# What comes in, in at most $1 bytes: whole lines are cut from the end, and a last line says so.
shorten() {
  LC_ALL=C awk -v room="$1" -v last="_Cut here: the artifact eval-gate holds the whole._" '
    { lines[NR] = $0; size += length($0) + 1 }
    END {
      kept = NR
      if (size > room) for (size += length(last) + 2; size > room && kept > 0; kept--) size -= length(lines[kept]) + 1
      for (n = 1; n <= kept; n++) print lines[n]
      if (kept < NR) printf "\n%s\n", last
    }'
}

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
    sed 's/^/    /' "$out/edited.txt" | shorten 15000
    echo
  fi
  cat "$out/details.md"
} >"$out/whole.md"
shorten "${BYTES:-65000}" <"$out/whole.md" >"$out/comment.md"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat "$out/comment.md" >>"$GITHUB_STEP_SUMMARY"
fi
for code in 4 2 1 3; do
  case $codes in *" $code "*) exit "$code" ;; esac
done
case $codes in *[5-9]*) exit 4 ;; esac
