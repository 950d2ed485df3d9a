#!/bin/bash
# A job that is converted and replayed gives the store of its trace replayed directly: every table but what the file
# recorded itself (calls and their times, notes, ranges) and the rows that name it. For the bundled traces, by options,
# and for random jobs; --no-range keeps the bounds of captures, which are no part of a job, out of both.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
data=$TB_SOURCE/tests/data
apart='run_environment note recorded_job recorded_kind recorded_rank call_span uncompared capture_check run_range run job'
apart+=' recorded_capture recorded_pair recorded_pause recorded_bin' # of a capture, before any replay
status=0

# columns TABLE: those that do not name the file. Of computing only calls of a trace tell what is the library's.
columns() {
	sqlite3 "$1" "SELECT group_concat(name) FROM pragma_table_info('$2') WHERE name NOT IN
		('input_name', 'input_bytes', 'input_digest', 'options', 'name', 'input', 'n_calls',
		'computed_ps')"
}

dump() {
	local table
	for table in $(sqlite3 "$1" "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"); do
		[[ " $apart " == *" $table "* && $table != run && $table != job ]] && continue
		echo "== $table"
		sqlite3 "$1" "SELECT $(columns "$1" "$table") FROM $table"
	done
}

# same NETWORK FORMAT OPTION... -- TRACE...: options of both.
same() {
	local network=$1 format=$2 both=() reading=()
	shift 2
	while [[ $1 != -- ]]; do
		both+=("$1")
		# GOAL has what --library, --closed-loop and the span made of the trace.
		[[ $1 == --per-node* ]] && reading+=("$1")
		shift
	done
	shift
	# A job that was converted does not say which library its trace was made with.
	[[ $network == *,host=* ]] || network+=,host=none
	rm -f direct.db converted.db "job.$format"
	"$TAILBACK" replay "$@" -n "$network" "${both[@]}" --no-range -q -o direct.db
	local about=()
	[[ $1 == *.goal || $1 == *.cm || $1 == *.pcap.zst ]] || about=(-n "$network")
	"$TAILBACK" convert "$@" "${about[@]}" "${both[@]}" -q -o "job.$format"
	"$TAILBACK" replay "job.$format" -n "$network" "${reading[@]}" --no-range -q -o converted.db
	dump direct.db > direct
	dump converted.db > converted
	cmp -s direct converted || {
		echo "$* on $network ${both[*]}: another store when it was converted to $format:"
		diff direct converted | head -n 8
		status=1
	}
	[[ $(sqlite3 direct.db 'SELECT n_messages > 0 FROM run') == 1 ]] || {
		echo "$*: nothing was replayed"
		status=1
	}
}

recorded=$data/recorded
for format in goal bin; do
	same ib-ndr $format -- "$data/ring8"
	same ib-hdr $format -- "$recorded/otf2/traces.otf2"
	same ib-hdr $format -- "$recorded/job.tbt"
	same ib-qdr $format -- "$recorded/two_tasks.prv"
	same ib-ndr $format -- "$recorded/kineto_rank0.json" "$recorded/kineto_rank1.json"
	same ethernet $format --from=10ms --to=60ms --closed-loop -- "$data/alltoall16.pcap.zst"
done
same ib-ndr goal --per-node=4 -- "$data/ring8"
same ib-ndr,host=nccl goal --library=nccl --per-node=2 -- "$data/ring8"
same ib-hdr goal --library=mpich -- "$recorded/otf2/traces.otf2"

for seed in 1 2 3; do
	"$TAILBACK" synth uniform -n 16 --message 20K --messages 5 --seed $seed -o "random$seed.goal"
	same qsnet bin -- "random$seed.goal"
	"$TAILBACK" synth allreduce -n 12 --size "${seed}0K" -o "reduce$seed.goal"
	same ib-hdr goal -- "reduce$seed.goal"
done
for flows in "$TB_SHARED"/data/flows/*_16n.cm; do
	[[ ! -e $flows ]] || same roce-400 cm -- "$flows"
done
exit $status
