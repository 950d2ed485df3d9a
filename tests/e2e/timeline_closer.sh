#!/bin/bash
# A closer look at a window has the links and ranks of a replay that had such fine bins
# from the start, and refuses what it cannot replay.
set -euo pipefail

cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

fail()
{
	printf 'FAIL: %s\n' "$1" >&2
	exit 1
}

events() # what a timeline has of links and ranks, without its run and its path
{
	python3 - "$1" <<'END'
import json, sys
for event in json.load(open(sys.argv[1]))["traceEvents"]:
	if event["ph"] in "CX" and event.get("cat") != "critical path":
		print(json.dumps(event, sort_keys=True))
END
}

check() # network, from, to
{
	rm -f coarse.db fine.db
	"$TAILBACK" replay -q job.goal -n "$1" -o coarse.db
	"$TAILBACK" replay -q job.goal -n "$1" --bin 1ns --no-bounds --no-blame -o fine.db
	"$TAILBACK" timeline fine.db --from "$2" --to "$3" -o fine.json
	"$TAILBACK" timeline coarse.db --from "$2" --to "$3" --closer -o closer.json
	"$TAILBACK" timeline coarse.db --from "$2" --to "$3" -o coarse.json
	[ "$(grep -c '"ph": "C"' closer.json)" -gt "$(grep -c '"ph": "C"' coarse.json)" ] ||
		fail "$1: the closer look has no more of the links"
	cmp <(events fine.json) <(events closer.json) ||
		fail "$1: the closer look is not what fine bins show"
}

"$TAILBACK" synth bit-reversal --nodes 64 --message 16K --messages 2 -o job.goal
check ib-hdr 4us 4.9us
check ib-hdr 800ns 1.8us
# A short run: all of it in bins of 1 ns is what this test costs.
"$TAILBACK" synth bit-reversal --nodes 64 --message 4K --messages 1 -o job.goal
check qsnet,levels=3 10us 10.9us

# What held a message up is that of the window: each wait lies in it.
"$TAILBACK" timeline coarse.db --from 10us --to 20us --closer -o again.json
"$TAILBACK" timeline coarse.db --from 10us --to 20us --closer -o twice.json
cmp again.json twice.json || fail "two closer looks differ"

cp job.goal kept.goal
"$TAILBACK" synth bit-reversal --nodes 64 --message 8K --messages 2 -o job.goal
"$TAILBACK" timeline coarse.db --from 1us --to 2us --closer 2>said && fail "another input was taken"
grep -q 'is not the file that run' said || fail "another input: $(cat said)"
rm job.goal
"$TAILBACK" timeline coarse.db --from 1us --to 2us --closer 2>said && fail "no input was needed"
grep -q 'the window cannot be replayed: job.goal' said || fail "no input: $(cat said)"
"$TAILBACK" replay -q - --stdin job -n ib-hdr -o piped.db <kept.goal
"$TAILBACK" timeline piped.db --from 1us --to 2us --closer 2>said && fail "standard input was read again"
grep -q 'standard input' said || fail "piped: $(cat said)"
