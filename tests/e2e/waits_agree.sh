# A run's wait is one sum, whichever table or view adds it up: by link, time bin, switch, flow, level, job and slices of
# congestion trees, to the picosecond; in the views, which round each row, to half a nanosecond a row.
set -eu
command -v sqlite3 >/dev/null || {
	echo "skipped: no sqlite3"
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

"$TAILBACK" synth uniform --nodes 64 --message 20K --messages 6 -o "$scratch/job.goal"
for network in qsnet qsnet,vcs=1,ascent=deterministic ib-hdr roce-100 ethernet ib-hdr,switching=fluid; do
	rm -f "$store"
	"$TAILBACK" replay -q "$scratch/job.goal" -n "$network" --bin 10us -o "$store"
	wait=$(ask "SELECT sum(wait_ps) FROM flow")
	[[ $wait -gt 0 ]]
	for table in link_total link_bin; do
		is "$(ask "SELECT sum(came_by_ps) FROM $table")" "$wait" "$network, $table, by links"
		is "$(ask "SELECT sum(wait_for_ps) FROM $table")" "$wait" "$network, $table, for links"
	done
	for table in level_bin root_total root_bin job_wait; do
		is "$(ask "SELECT sum(wait_ps) FROM $table")" "$wait" "$network, $table"
	done
	is "$(ask "SELECT sum(w) FROM (SELECT sum(came_by_ps) AS w FROM link_total JOIN link USING (run, link)
		GROUP BY to_switch)")" "$wait" "$network, by switch"
	for view in hot_links switch_wait flow_latency congestion_roots congestion_trees root_jobs link_jobs destination_wait \
		job_summary job_blame; do
		is "$(ask "SELECT abs(total(wait_us) - $wait / 1e6) <= count(*) * 5e-4 FROM $view")" 1 "$network, $view"
	done
	for side in "side = 'switch'" "side <> 'switch'"; do
		is "$(ask "SELECT abs(total(wait_us) - $wait / 1e6) <= count(*) * 5e-4 FROM congestion_matrix WHERE $side")" \
			1 "$network, congestion matrix, $side"
	done
done
