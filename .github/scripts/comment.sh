#!/usr/bin/env bash
# Writes the file $1 as the pull request's one comment of the gate, replacing the one before.
# Needs gh with GH_TOKEN, GITHUB_REPOSITORY and PULL_REQUEST, the number.
set -euo pipefail
comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
ours='.[] | select(.body | startswith("<!-- eval-gate -->")) | .id'
earlier=$(gh api --paginate "$comments" --jq "$ours" | head -n 1)
if [ -n "$earlier" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$earlier" -F "body=@$1"
else
  gh api --silent --method POST "$comments" -F "body=@$1"
fi
