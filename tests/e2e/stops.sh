# Ctrl-C is honoured within a second of the processor, whatever the program is doing and however
# large its input is: most inputs here have no end. It says so, and leaves nothing behind.
set -um
. "$TB_SOURCE/tests/support/strikes.sh"
scratch=$(mktemp -d)
trap 'kill "$(cat feeder)" 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir out
export TMPDIR=$scratch/out
failed=0
most=1000
grep -q __asan_init "$TAILBACK" && most=4000 # with sanitizers all takes longer

# stops WHAT SENTENCE COMMAND...: the command gets SIGINT once it has worked for 0.3 s. One whose input
# has an end may have come to it on a busy machine: it gets another chance.
stops() {
	local what=$1 sentence=$2 chance
	shift 2
	for chance in 1 2 3; do
		"$@" </dev/null >/dev/null 2>err &
		while look $! && ((ticks < 300)); do pause; done
		strike INT $! && break
		[[ $code == 0 ]] || break
		rm -rf out/*
	done
	((took < most)) || { echo "$what: took $took ms"; failed=1; }
	((code == 1 || code == 130)) || { echo "$what: exit $code, chance $chance"; failed=1; }
	grep -q "$sentence" err || { echo "$what: says '$(cat err)', not '$sentence'"; failed=1; }
	[[ -z $(ls -A out) ]] || { echo "$what: left $(ls -A out)"; failed=1; }
	rm -rf out/*
}

# feed FIFO COMMAND...: what the command prints goes into a new fifo, until nobody reads it. It is no
# child of this shell, whose `times` would count it.
feed() {
	local fifo=$1
	shift
	rm -f "$fifo"
	mkfifo "$fifo"
	("$@" >"$fifo" 2>/dev/null & echo $! >feeder)
}

endless_job() { printf 'num_ranks 1\nrank 0 {\n' && yes 'calc 5'; }
endless_gzip() { endless_job | gzip -1; }
endless_flows() { printf 'Nodes 2\n' && yes '0->1 start 0 size 100'; }
zstd -dqc "$TB_SOURCE/tests/data/alltoall16.pcap.zst" >some.pcap
endless_capture() { cat some.pcap && while tail -c +25 some.pcap; do :; done; }

feed input endless_job
stops "a job that is read" "stopped by a signal" "$TAILBACK" replay input -o out/run.db
feed input endless_gzip
stops "a compressed job" "stopped by a signal" "$TAILBACK" replay input -o out/run.db
feed input endless_job
stops "info" "stopped by a signal" bash -c 'exec "$0" info --stdin job - <input' "$TAILBACK"
feed input endless_capture
stops "info of a capture" "stopped by a signal" bash -c 'exec "$0" info - <input' "$TAILBACK"
feed input endless_flows
stops "a flow list" "stopped by a signal" "$TAILBACK" replay input -o out/run.db
printf 'num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n' >small.goal
feed input yes '# a route file'
stops "routes" "stopped by a signal" "$TAILBACK" replay small.goal --routes input -o out/run.db
stops "a large network" "stopped" "$TAILBACK" replay small.goal -n qsnet,levels=8 -o out/run.db
stops "a large job" "stopped by a signal" "$TAILBACK" synth uniform --nodes 65536 --message 1K \
	--messages 500 -o out/big.goal

# Of several replays those that are done are kept: here none is.
feed input endless_job
feed other endless_job
stops "replays of two jobs" "stopped early: 0 of 2 runs" "$TAILBACK" replay --each --jobs 2 input other \
	-o out/run.db

# What waits for bytes that do not come, in any thread, ends with the signal: at a pipe that nobody has
# opened for writing, one that is silent from the start, and one that falls silent.
waits() {
	local what=$1
	shift
	"$@" 2>err >/dev/null &
	pid=$!
	for _ in $(seq 500); do # it sleeps
		look $pid && [[ $state == S ]] && break
		pause
	done
	for _ in $(seq 30); do pause; done
	kill -INT $pid 2>/dev/null
	for _ in $(seq 1000); do
		look $pid || break
		pause
	done
	look $pid && { echo "$what: waits on"; kill -KILL $pid; failed=1; }
	code=0
	wait $pid 2>/dev/null || code=$?
	((code == 1 || code == 130)) || { echo "$what: exit $code, says '$(cat err)'"; failed=1; }
	grep -q 'stopped' err || { echo "$what: says '$(cat err)'"; failed=1; }
	rm -rf out/*
}
mkfifo nobody silent
exec 8<>silent
waits "a pipe without a writer" "$TAILBACK" info nobody
waits "a silent pipe" "$TAILBACK" info silent
waits "standard input" bash -c 'exec "$0" info --stdin job - <silent' "$TAILBACK"
waits "packets on standard input" bash -c 'exec "$0" info - <silent' "$TAILBACK"
waits "several replays" "$TAILBACK" replay --each --jobs 2 nobody silent -o out/run.db
waits "a replay" "$TAILBACK" replay silent -o out/run.db
waits "routes" "$TAILBACK" replay small.goal --routes nobody -o out/run.db
waits "routes of several replays" "$TAILBACK" replay small.goal --seed 1..2 --routes silent -o out/run.db
waits "a fabric" "$TAILBACK" network -n nobody
waits "counters" "$TAILBACK" counters -n "$TB_SOURCE/tests/data/two_leaves.ibnetdiscover" silent -o out/run.db
waits "a sweep" "$TAILBACK" sweep nobody -o out/run.db
waits "a capture that falls silent" bash -c 'exec "$0" replay - -o out/run.db < <(cat some.pcap; exec sleep 30)' "$TAILBACK"

# The viewer removes the folder in which it has a trace replayed, and ends the replay.
"$TAILBACK" synth uniform --nodes 64 --message 1M --messages 2000 -o long.goal
printf 'key Return\nawait what never comes\n' >steps
SDL_VIDEODRIVER=dummy "$TAILBACK" view long.goal --script steps 2>err &
pid=$!
until compgen -G 'out/*/run.db' >/dev/null || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
strike INT $pid || { echo "the viewer: ends by itself"; failed=1; }
grep -q 'stopped by a signal' err || { echo "the viewer: says '$(cat err)'"; failed=1; }
[[ -z $(ls -A out) ]] || { echo "the viewer: left $(ls -A out)"; failed=1; }
exit "$failed"
