#!/bin/bash
# What a report says that slow cables cost is what mending them gains: on three fat trees, of eight jobs, with static and adaptive
# routes and TCP, in 95 % of the runs, and half of the ranges reach over less than a factor of two.
# tests/support/judge_cables.py replays each run mended.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 "$TB_SOURCE/tests/support/judge_cables.py" "$TAILBACK" "$work" | tee "$work/said"
tail -n 1 "$work/said" | awk '$2 < 150 || $4 < 0.95 * $2 || $9 < 60 || $11 >= 2 { exit 1 }'
