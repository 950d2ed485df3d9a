# Whatever prints JSON obeys its published schema, schemas/*.schema.json: reports, comparisons and networks of every
# preset, captures, traces of every format, jobs side by side, sweeps, and stores that are not whole. Schemas that
# the program gives are those. Each schema refuses a document that is spoiled in one place.
set -eu
command -v python3 >/dev/null || {
	echo "skipped: no python3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
data=$TB_SOURCE/tests/data
corpus=$TB_SOURCE/tests/fuzz/corpus
fail() {
	echo "$*"
	exit 1
}

# check SCHEMA DOCUMENT...
check() {
	python3 "$TB_SOURCE/tests/support/schema.py" "$TB_SOURCE/schemas/$1.schema.json" "${@:2}" || fail "against $1"
	touch "checked.$1"
}

# spoil SCHEMA DOCUMENT STATEMENT...: the schema takes the document, but not after any of these.
spoil() {
	python3 "$TB_SOURCE/tests/support/schema.py" --spoil "$TB_SOURCE/schemas/$1.schema.json" "${@:2}" ||
		fail "against $1"
	touch "checked.$1" "spoiled.$1"
}

# sql STORE STATEMENTS
sql() { python3 -c "import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store: store.executescript(sys.argv[2])" "$@"; }

for command in report compare advise counters expect timeline info matrix network plot sweep validate; do
	"$TAILBACK" "$command" --schema >"$command.json"
	diff "$TB_SOURCE/schemas/$command.schema.json" "$command.json" ||
		fail "schemas/$command.schema.json is not what 'tailback $command --schema' prints"
done

"$TAILBACK" synth alltoall --nodes 16 --size 8K -o job.goal
for preset in "$TB_SOURCE"/schemas/*.ini; do
	name=$(basename "$preset" .ini)
	"$TAILBACK" replay -q job.goal -n "$name" -o "$name.db"
	"$TAILBACK" network -n "$name" --shifts 4 --bisections 4 -f json >"network.$name.json"
	"$TAILBACK" network -n "$name" -f graph >"graph.$name.json"
	"$TAILBACK" network -n "$name" --from 'node 0' --to 'node 9' -f json >"paths.$name.json"
done
# Several jobs; one that lost messages; a capture; one beside a job; one without blame; one in which nothing waits;
# several runs; the loads of routes; points of a sweep, and a shard of it.
"$TAILBACK" replay -q --job job.goal,name=one --job job.goal,name=two --alone -n ib-hdr -o two.db
"$TAILBACK" replay -q job.goal -n qsnet --fault 'link=node 3@20us' -o lost.db
"$TAILBACK" replay -q "$data/alltoall16.pcap.zst" --time-scale 0.1 -o packets.db
"$TAILBACK" replay -q --job "$data/alltoall16.pcap.zst" --job job.goal -n ib-hdr -o mixed.db
"$TAILBACK" replay -q job.goal -n ib-ndr --no-blame -o unblamed.db
printf 'num_ranks 2\nrank 0 {\na: calc 5\n}\nrank 1 {\n}\n' >idle.goal
"$TAILBACK" replay -q idle.goal -o idle.db
for network in qsnet qsnet2,rails=2; do "$TAILBACK" replay -q job.goal -n $network -o runs.db; done
"$TAILBACK" network -n qsnet --store routes.db >/dev/null
printf '[sweep]\nexperiment = uniform, shuffle\nnodes = 4\nmessage = 4K\nload = 0.5, 1\nwarm = 100us\nwindow = 300us
seed = 1..2\n[plot]\nx = offered\n' >sweep.ini
"$TAILBACK" sweep sweep.ini -q -o sweep.db
"$TAILBACK" sweep sweep.ini -q --shard 1/2 -o shard.db
for store in *.db; do
	"$TAILBACK" report "$store" -f json --top 0 >"report.$store.json"
	"$TAILBACK" compare "$store" two.db -f json --top 0 >"compare.$store.json"
	"$TAILBACK" matrix "$store" -f json >"matrix.$store.json"
done
for store in two lost packets mixed unblamed; do
	"$TAILBACK" timeline "$store.db" -f json >"timeline.$store.json"
done
# Calls that only start something overlap.
{
	printf '#Paraver (01/01/2026 at 00:00):90000_ns:2(1,1):1:2(1:1,1:2),1\nc:1:1:2:1:2\n'
	for rank in 1 2; do
		for at in 1000 1200 1400; do
			printf "2:$rank:1:$rank:1:%d:50000002:%d:50100001:65536:50100002:65536:50100004:1\n" $at 155
			printf "2:$rank:1:$rank:1:%d:50000002:0\n" $((at + 50))
		done
	done
} >calls.prv
"$TAILBACK" replay -q calls.prv -n ib-hdr -o calls.store
"$TAILBACK" timeline calls.store -f json >timeline.calls.json
[[ $(grep -c '"rank [01] calls"' timeline.calls.json) -eq 6 && $(grep -c '"call": "iallreduce"' timeline.calls.json) -eq 6 ]] ||
	fail "three calls of two ranks at once are not in threads of their own"
check timeline timeline.*.json
spoil timeline timeline.two.json "it['traceEvents'][0]['ph'] = 'B'" "it['displayTimeUnit'] = 'ps'" \
	"next(e for e in it['traceEvents'] if e['ph'] == 'X')['dur'] = 0" \
	"next(e for e in it['traceEvents'] if e['ph'] == 's')['id'] = 0"
spoil timeline timeline.calls.json "next(e for e in it['traceEvents'] if e.get('cat') == 'call')['args']['bytes'] = -1"
python3 - timeline.*.json <<'END' || fail "a timeline is not what Perfetto expects"
import collections, json, sys
for name in sys.argv[1:]:
    events = json.load(open(name))["traceEvents"]
    labels = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    ends = collections.defaultdict(float)
    for e in (e for e in events if e["ph"] == "X"):  # slices of a thread follow each other
        thread = e["pid"], e["tid"]
        assert thread in labels, (name, thread, "has no name")
        assert e["ts"] >= ends[thread] - 1e-7, (name, e, "overlaps the slice before it")
        ends[thread] = e["ts"] + e["dur"]
    arrows = {phase: {e["id"]: e for e in events if e["ph"] == phase} for phase in "sf"}
    assert arrows["s"].keys() == arrows["f"].keys(), (name, "an arrow has one end")
    for number, begin in arrows["s"].items():
        end = arrows["f"][number]
        assert begin["ts"] <= end["ts"], (name, begin, end)
        for e in begin, end:  # each end is within a slice of its rank
            assert any(x["ph"] == "X" and (x["pid"], x["tid"]) == (e["pid"], e["tid"])
                       and x["ts"] - 1e-7 <= e["ts"] <= x["ts"] + x["dur"] for x in events), (name, e)
END
check report report.*.db.json
check compare compare.*.db.json
"$TAILBACK" advise lost.db -q --seeds 2 --tries 3 -f json >advise.lost.json
"$TAILBACK" advise ib-ndr.db -q --seeds 1 --tries 2 -f json >advise.ib-ndr.json
check advise advise.*.json
# shellcheck source=/dev/null
. "$TB_SOURCE/tests/support/counter_dumps.sh"
"$TAILBACK" network -n ib-ndr -f ibnetdiscover -o live.fabric
"$TAILBACK" replay -q job.goal -n live.fabric -o fabric.db
dump_counters fabric.db 0 perfquery >dump
"$TAILBACK" counters -q dump -n live.fabric --interval 1ms -o live.db --beside fabric.db -f json >counters.live.json
check counters counters.live.json
"$TAILBACK" report live.db -f json >report.counters.json
check report report.counters.json
spoil counters counters.live.json "it['stall_rank_correlation'] = 2" "del it['links']" "it['measured']['run'] = 0"
spoil advise advise.lost.json "it['changes'][0]['verdict'] = 'maybe'" "del it['answer']" "it['seeds'] = 0"
spoil report report.two.db.json "del it['hot_links'][0]['rank']" "it['hot_links'][0]['wait_ps'] = -1" \
	"it['hot_links'][0]['more'] = 1" "it['run']['id'] = 'one'" "it['blame'][0]['victim']['job'] = None" \
	"it['version'] = 4"
spoil compare compare.lost.db.json "it['a']['run'] = None" "it['same_work'] = 'no'"

metrics=$("$TAILBACK" matrix --help | tr -s ' \n' ' ' | sed 's/.*--metric=METRIC //; s/ (.*//; s/ or /, /; s/,//g')
for metric in $metrics; do
	"$TAILBACK" matrix lost.db -m "$metric" --from 5us -f json >"matrix.$metric.json"
done
check matrix matrix.*.json
spoil matrix matrix.wait.json "it['metric'] = 'weight'" "it['cells'][0]['percent'] = 101" "it['cells'][0]['port'] = '1'"

# A store of which nothing is done yet, one whose last run was stopped, and one whose texts are no UTF-8.
cp sweep.db begun.db
sql begun.db 'DELETE FROM sweep_result; DELETE FROM run'
cp runs.db stopped.db
sql stopped.db 'UPDATE run SET complete = 0 WHERE run = 2'
cp idle.db bytes.db
sql bytes.db "UPDATE run SET input_name = CAST(x'ff' AS TEXT);
	UPDATE run_environment SET started_at = CAST(x'c328' AS TEXT)"
sql plot.db "$(cat "$TB_SOURCE/schemas/results.sql" "$data/small_sweep.sql")"
for store in *.db; do "$TAILBACK" info --json "$store" >"info.$store.json"; done
grep -q '"runs": \[\]' info.begun.db.json || fail "a sweep that has just begun has runs"

# Traces of every format, with what their readers note; sums that 63 bits do not hold; a network with a name in Latin-1.
printf 'num_ranks 2\nrank 0 {\na: calc 9223372036854775807\nb: calc 9223372036854775807\n}\nrank 1 {\n}\n' >huge.goal
sed 's/^name *=.*/name = caf\xe9/' "$TB_SOURCE/schemas/qsnet.ini" >latin.ini
"$TAILBACK" info --json -n latin.ini "$data/types.pcapng" >info.latin.json
for trace in huge.goal job.goal "$data"/{alltoall16.pcap.zst,types.pcapng,binary_tree_32.goal,binary_tree_32.bin} \
	"$data"/{bit_reversal_64.goal,ring8} "$corpus"/capture_flow_list/{chain,ns3} "$corpus"/capture_paraver/message \
	"$data"/nccl/node.xml "$data"/recorders/{flight,inspector} "$data"/workloads/{simai.txt,ti/list,dumpi,allprof} \
	"$data"/nccl/two-hosts.log "$corpus"/capture_nccl_log/old "$corpus"/capture_nsys/two_ranks \
	"$corpus"/capture_tbt/{messages,windows,collectives}.tbt "$TB_SOURCE"/tests/real/data/otf2/*/traces.otf2; do
	n=$((${n:-0} + 1))
	"$TAILBACK" info --json "$trace" >"info.$n.json" || fail "info $trace"
done
for trace in overlap graph; do
	"$TAILBACK" info --json --clone-ranks 2 "$corpus/capture_kineto/$trace.json" >"info.$trace.json"
done
"$TAILBACK" info --json --clone-ranks 16 "$corpus/capture_nccl_records/deepspeed" >info.deepspeed.json
formats=$("$TAILBACK" info --help | tr -s ' \n' ' ' | sed 's/.*or a trace (//; s/).*//; s/ or /, /; s/, /\n/g')
while read -r format; do
	case $format in pcap*) format='"kind": "packets"' ;; *) format='"format": "'$format'"' ;; esac
	grep -q "$format" info.*.json || fail "no trace with $format was summarized"
done <<<"$formats"
check info info.*.json
spoil info info.two.db.json "it['wall_s'] = 'soon'" "it['runs'][0]['notes'] = None" "it['runs'] = []" "del it['kind']"
spoil info info.sweep.db.json "del it['runs'][0]['run']" "it['points'] = 0"
spoil info info.latin.json "it['types']['control'][0]['records'] = 0" "it['load']['more'] = 1"
spoil info info.1.json "it['calc_ns'] = -2" "it['kind'] = 'store'"

# Networks: every choice of links, small and irregular ones, tables of routes.
"$TAILBACK" network --list -f json >list.json
for ascent in $(python3 -c "import json
keys = json.load(open('list.json'))['keys']
print(next(key['values'] for key in keys if key['name'] == 'ascent').replace(',', ' ').replace(' or ', ' '))"); do
	"$TAILBACK" network -n "qsnet,arity=2,levels=2,ascent=$ascent" -f json >"network.$ascent.json"
done
"$TAILBACK" network -n qsnet,arity=2,levels=1 -f json >network.two.json
"$TAILBACK" network -n 'ib-hdr,shape=xgft(2; 4,4; 1,2)' -f json >network.tapered.json
"$TAILBACK" network -n qsnet2,rails=2 -f json >network.rails.json
cp "$data/two_leaves.ibnetdiscover" leaves
"$TAILBACK" network -n leaves -f json >network.leaves.json 2>/dev/null
"$TAILBACK" network -n leaves -f graph >graph.leaves.json 2>/dev/null
"$TAILBACK" network -n "$data/dgx-ndr.ibnetdiscover.zst" --routes "$data/dgx-ndr.lfts.zst" --shifts 1 \
	--bisections 1 -f json >network.dgx.json 2>/dev/null
"$TAILBACK" network -n "$data/dgx-ndr.ibnetdiscover.zst" -f graph >graph.dgx.json 2>/dev/null
check network network.*.json
check network-graph graph.*.json
check network-paths paths.*.json
spoil network network.leaves.json "it['levels'][0]['taper'] = 'none'" "it['bisection']['more'] = 1" \
	"it['ascent'] = 'any'" "del it['shifts']['of']"
spoil network-graph graph.leaves.json "it['nodes'][0]['guid'] = '0x12'" "it['cables'][0]['port'] = None"
spoil network-paths paths.qsnet.json "it['paths'][0]['links'] = []" "it['paths'][0]['links'][0]['bytes_per_s'] = 0"
spoil network-list list.json "it['keys'][0]['switching'] = 'none'" "it['networks'][0]['name'] = 1"

"$TAILBACK" plot sweep.db -f json >plot.sweep.json
"$TAILBACK" plot plot.db -f json >plot.small.json
check plot plot.*.json
spoil plot plot.sweep.json "it['curves'][0]['points'][0]['y'] = None" "it['x'] = 'offered'"

# Rows that hold and fail, with and without an interval; one that the model does not cover.
"$TAILBACK" validate --only 'ping.uni.lat*' --seeds 1 -f json >validate.pings.json
"$TAILBACK" validate --only 'ping.uni.bw*' -n ib-hdr --seeds 2 -f json >validate.other.json || true
"$TAILBACK" validate --only pvfs.btio.tcp -f json >validate.outside.json
check validate validate.*.json
spoil validate validate.pings.json "it['rows'][0]['verdict'] = 'right'" "it['sums'][0]['outside'] = 0"

"$TAILBACK" sweep --list --json >list.sweep.json
spoil sweep list.sweep.json "it['experiments'][0]['nodes'] = '64'" "it['keys'] = []"
if "$TAILBACK" capture -D --json >list.capture.json; then
	check capture list.capture.json
fi
"$TAILBACK" expect "$data/benchmarks/nccl-two-hosts.txt" -n ib-ndr,rails=8 -q --no-why -f json >expect.nccl.json
"$TAILBACK" expect "$data/benchmarks/perftest.txt" -n ib-hdr -q -f json >expect.perftest.json
check expect expect.*.json
spoil expect expect.nccl.json "it['rows'][0]['verdict'] = 'fine'" "it['rows'][0]['measured_ps'] = 'x'" "del it['reasons']"
printf '[{"number": 1, "name": "lo", "description": "", "up": true, "running": true, "loopback": true,
	"wireless": false, "connected": false}]' >one.json
spoil capture one.json "it[0]['number'] = 0" "it[0]['up'] = 1" "del it[0]['name']"

# Every command that has JSON has a schema; every schema was held to something.
for command in $("$TAILBACK" --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Za-z].*/\1/p'); do
	"$TAILBACK" "$command" --help | grep -qE -- '--json|(^|[ ,])json( |,|$)' || continue
	[[ -e $TB_SOURCE/schemas/$command.schema.json ]] || fail "the JSON of '$command' has no schema"
done
for schema in "$TB_SOURCE"/schemas/*.schema.json; do
	name=$(basename "$schema" .schema.json)
	[[ -e checked.$name && -e spoiled.$name ]] || fail "schemas/$name.schema.json was held to nothing"
done
