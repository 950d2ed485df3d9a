# What docs/validation.md reports of the policies for rails holds: where a bus turns, reserving both
# ends of a rail carries tens of per cent more of long messages than rails in turn or a local choice,
# and less of short ones; static allocation carries the least of the others.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$TAILBACK" sweep "$TB_SOURCE/schemas/sweeps/rails.ini" --set 'message=16K, 256K' --set seed=1 \
	--set warm=10ms --set window=20ms -q -o rails.db

# accepted POLICY MESSAGE: MB/s of a node.
accepted() {
	sqlite3 rails.db "SELECT accepted FROM sweep WHERE message = $2 AND settings LIKE '%$1%'"
}

# expect MESSAGE POLICY LEAST MOST OTHER: POLICY carries from LEAST to MOST per cent of OTHER.
expect() {
	local percent
	percent=$(sqlite3 :memory: "SELECT round(100.0 * $(accepted "$2" "$1") / $(accepted "$5" "$1"), 1)")
	echo "$1 bytes: $2 carries $percent % of $5"
	[[ $(sqlite3 :memory: "SELECT $percent BETWEEN $3 AND $4") == 1 ]] || {
		echo "expected $3 to $4"
		exit 1
	}
}
expect 262144 reserve 145 170 round-robin
expect 262144 reserve 145 170 local
expect 16384 reserve 60 92 round-robin
expect 262144 local 95 105 round-robin
expect 262144 striping 95 105 round-robin
expect 262144 static 90 98 round-robin
