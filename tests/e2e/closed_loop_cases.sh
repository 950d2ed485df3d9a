#!/bin/bash
# Jobs of captures from public reports: where the time of a program went is told right.
set -euo pipefail

cases=$TB_SHARED/data/cases
if [[ ! -d $cases ]]; then
	echo "skipped: $cases is not here, with captures that came out wrong"
	exit 77
fi
. "$TB_SOURCE/tests/support/real_input.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Answers may leave before the requests of their round, which then do not wait for them.
if there cases/closed-loop-cycle/train8_100m.pcap.zst; then
	"$TAILBACK" replay -q "$cases/closed-loop-cycle/train8_100m.pcap.zst" --closed-loop -n ethernet-shaped,rate=50Mbit/s \
		-o train.db
fi
