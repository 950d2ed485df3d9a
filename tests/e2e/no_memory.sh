#!/bin/bash
# Whichever allocation fails, alone or with all behind it, a command ends by itself: with an exit code
# and a sentence, or with all of its output.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
if ! cc -shared -fPIC -O1 -o fail.so "$TB_SOURCE/tests/e2e/no_memory/fail.c"; then
	echo "skipped: no compiler"
	exit 77
fi

# bears LEAST COMMAND...: every allocation fails in turn, of which there are LEAST or more.
bears() {
	local least=$1 n at code all
	shift
	n=$(FAIL_COUNT=1 LD_PRELOAD=$PWD/fail.so "$TAILBACK" "$@" 2>&1 >whole | sed -n 's/ allocations$//p')
	((n >= least)) || {
		echo "tailback $*: $n allocations, expected $least or more"
		exit 1
	}
	# Those at the beginning and at the end: in between all do alike.
	for ((at = 1; at <= n; at += at < 150 || at > n - 60 ? 1 : n > 5000 ? 501 : 37)); do
		for all in '' 1; do
			code=0
			env FAIL_AT="$at" ${all:+FAIL_ALL=1} LD_PRELOAD="$PWD/fail.so" "$TAILBACK" "$@" >out 2>err || code=$?
			if ((code > 2)) || { ((code)) && [[ ! -s err ]]; } || { ((!code)) && ! cmp -s out whole; }; then
				echo "tailback $*: allocation $at of $n ${all:+and all behind it }fails: exit $code, '$(cat err)'"
				exit 1
			fi
		done
	done
}
bears 100 convert "$TB_SOURCE/tests/data/recorded/job.tbt" -o job.goal
bears 100 convert "$TB_SOURCE/tests/data/recorded/two_tasks.prv" -o job.goal
bears 100 convert "$TB_SOURCE/tests/data/recorded/messages.pcap" --closed-loop -o job.goal
"$TAILBACK" replay -q "$TB_SOURCE/tests/data/binary_tree_32.goal" -n qsnet -o run.db
bears 5000 info run.db
bears 100 synth stencil --nodes 8 --message 3K --messages 3 -o job.goal
bears 500 network "$TB_SOURCE/tests/data/fabrics/two_leaves.net"
