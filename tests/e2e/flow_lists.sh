# The flow lists of the shared data are read as jobs, and replay as their lines say.
set -eu
flows=$TB_SHARED/data/flows
[[ -d $flows ]] && command -v sqlite3 >/dev/null || {
	echo "skipped: no shared/data/flows, or no sqlite3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
store=$scratch/run.db
ask() { sqlite3 "$store" "$1"; }
is() {
	[[ $1 == "$2" ]] || {
		echo "$3: $1, expected $2"
		exit 1
	}
}

for list in "$flows"/*.cm; do
	"$TAILBACK" info --json "$list" >"$scratch/info"
	for pair in nodes:Nodes messages:Connections; do
		is "$(sed -n "s/^  \"${pair%:*}\": \([0-9]*\).*/\1/p" "$scratch/info")" \
			"$(sed -n "s/^${pair#*:} //p" "$list")" "$list: ${pair%:*}"
	done
done

# 16 nodes serve 15 others each, one after the other: no two flows of a node overlap.
"$TAILBACK" replay -q "$flows/uet-alltoall_serial_16n.cm" -o "$store"
is "$(ask "SELECT count(*) || ' ' || sum(bytes) || ' ' || sum(messages) FROM flow")" "240 480000000 240" "all-to-all"
is "$(ask "SELECT count(*) FROM flow AS a JOIN flow AS b ON a.source = b.source
	WHERE b.first_ps > a.first_ps AND b.first_ps < a.last_ps - 2000000")" 0 "flows that begin too soon"

# 1023 nodes send to node 0 at once: its link is the root that most waiting has, and busy all the time where many
# partners do not make it release circuits later.
rm "$store"
"$TAILBACK" replay -q --nodes 1024 -n qsnet,partners=0 "$flows/uet-incast_1024_100K.cm" -o "$store"
is "$(ask "SELECT count(*) || ' ' || min(destination) || ' ' || max(destination) FROM flow")" "1023 0 0" "incast"
is "$(ask "SELECT root FROM congestion_roots LIMIT 1")" "0.0 > node 0" "the root"
is "$(ask "SELECT busy_ps > 0.97 * simulated_ps FROM link_total JOIN link USING (run, link) JOIN run USING (run)
	WHERE kind = 'ejection' AND to_node = 0")" 1 "busy"
is "$(ask "SELECT max(first_ps) FROM flow")" 0 "the start"
