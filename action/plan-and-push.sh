#!/usr/bin/env bash
# Writes the plan of a push into the summary of a run of GitHub Actions and a comment of its pull request, and pushes it on
# one branch.
# Ends with the exit code of the plan or the push, such as 3 for a clash.
set -euo pipefail

if [ -z "${PAS_TOKEN:-}" ]; then
  if [ "${GITHUB_EVENT_NAME:-}" = pull_request ]; then
    echo '::notice::No plan: pull requests of forks get no secrets.'
    exit 0
  fi
  echo '::error::The input token is empty: store an API token as a secret, and pass it as with: { token: … }.'
  exit 4
fi
# At events such as pull_request_target a stranger's commit may be checked out, and pas.yaml says where the token is sent to.
case "${GITHUB_EVENT_NAME:-}" in
  push | pull_request | workflow_dispatch | schedule) ;;
  *)
    if [ "$(git rev-parse HEAD)" != "${GITHUB_SHA:-}" ]; then
      echo "::error::No plan: at ${GITHUB_EVENT_NAME:-this event} the token goes nowhere but where ${GITHUB_SHA:-the commit of the event} says, which is not checked out. Plan pull requests at pull_request."
      exit 1
    fi
    ;;
esac
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
  echo '::warning::The checkout is shallow, so clashes can be told that are none: give actions/checkout fetch-depth: 0.'
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
plan=$folder/plan.json
options=(--out "$plan" --markdown)
if [ "${PRUNE:-false}" = true ]; then options+=(--prune); fi

# PAS is a command with its arguments.
# shellcheck disable=SC2206
pas=(${PAS:-npx --yes @process-automation/cli})

code=0
"${pas[@]}" plan "${options[@]}" > "$folder/plan.md" || code=$?
cat "$folder/plan.md" >> "$GITHUB_STEP_SUMMARY"
if [ "${GITHUB_EVENT_NAME:-}" = pull_request ] && [ "${COMMENT:-true}" = true ] && [ -s "$folder/plan.md" ]; then
  node "$GITHUB_ACTION_PATH/comment-plan.mjs" "$folder/plan.md"
fi
changes=0
if [ -f "$plan" ]; then
  changes=$(node -p 'JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8")).items.filter(({ action }) => ["create", "update", "delete"].includes(action)).length' "$plan")
fi
echo "changes=$changes" >> "$GITHUB_OUTPUT"
if [ "$code" -ne 0 ]; then
  echo '::error::Nothing was pushed; the summary and the log say why.'
  exit "$code"
fi

if [ -z "${PUSH_BRANCH:-}" ] || [ "${GITHUB_REF:-}" != "refs/heads/$PUSH_BRANCH" ]; then exit 0; fi
# At other events, such as pull_request_target, the branch is named while something else may be checked out.
case "${GITHUB_EVENT_NAME:-}" in
  push | workflow_dispatch | schedule) ;;
  *)
    echo "::notice::Nothing was pushed: the event is ${GITHUB_EVENT_NAME:-unknown}, and only push, workflow_dispatch and schedule push."
    exit 0
    ;;
esac
if [ "$(git rev-parse HEAD)" != "${GITHUB_SHA:-}" ]; then
  echo "::notice::Nothing was pushed: the checkout is not ${GITHUB_SHA:-the commit} of $PUSH_BRANCH, which the event is about."
  exit 0
fi
if [ "$changes" -gt 0 ]; then
  "${pas[@]}" push "$plan" --yes
  echo 'pushed=true' >> "$GITHUB_OUTPUT"
fi
