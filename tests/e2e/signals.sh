# A signal leaves nothing half written, and is honoured at once.
set -um
. "$TB_SOURCE/tests/support/stores.sh"
. "$TB_SOURCE/tests/support/strikes.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir out
failed=0

# began PID: it has the file open that it writes, which has no name yet or that of a part.
began() {
	find "/proc/$1/fd" -lname "$scratch/out/*" 2>/dev/null | grep -q .
}

# ended_by SIGNAL COMMAND...: the command, which writes into out/, gets the signal while it
# does so; nothing may be left there. On a busy machine it may be ready before: it gets other chances.
ended_by() {
	local signal=$1 chance
	shift
	for chance in 1 2 3 4 5; do
		"$@" >/dev/null 2>&1 &
		until began $! || ! look $!; do pause; done
		strike "$signal" $! && break
		rm -f out/*
	done
	[[ $code -gt 128 ]] || { echo "$*: exit $code on SIG$signal, chance $chance"; failed=1; }
	[[ -z $(ls -A out) ]] || { echo "$*: SIG$signal left $(ls -A out)"; failed=1; }
	rm -rf out/*
}

for signal in INT TERM HUP KILL; do
	ended_by $signal "$TAILBACK" synth complement --nodes 4096 --message 1K --messages 1000 -o out/big.goal
done

# A network of 65,536 nodes takes seconds to build and to store. Whatever comes meanwhile is
# honoured within a second of the processor, however busy the machine is; no store is left,
# and what a kill leaves is no empty one.
printf 'num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n' >small.goal
for struck in '50 INT' '50 HUP' '400 TERM' '400 KILL' '1000 INT' '1000 KILL' '1300 TERM' '1300 HUP'; do
	read -r delay signal <<<"$struck"
	"$TAILBACK" replay small.goal -n qsnet,levels=8 -q -o out/run.db 2>err &
	while look $! && ((ticks < delay)); do pause; done
	strike $signal $! || echo "over before SIG$signal after $delay ms"
	((took < 1000)) || { echo "SIG$signal after $delay ms took $took ms"; failed=1; }
	if [[ -e out/run.db ]]; then
		"$TAILBACK" info out/run.db >/dev/null 2>err || {
			echo "SIG$signal after $delay ms left a store of $(stat -c %s out/run.db) bytes:"
			cat err
			failed=1
		}
	fi
	rm -f out/*
done

# begun PID: waits until its run is in the store.
begun() {
	until [[ $(store_count out/run.db run) -ge 1 ]] || ! kill -0 "$1" 2>/dev/null; do pause; done
}

# Once it simulates, what there is stays, on SIGHUP too; nohup makes it deaf to that.
"$TAILBACK" synth uniform --nodes 64 --message 1M --messages 2000 -o long.goal
for signal in INT TERM HUP; do
	"$TAILBACK" replay long.goal -n qsnet -q -o out/run.db 2>err &
	pid=$!
	begun $pid
	kill -$signal $pid
	wait $pid
	code=$?
	if [[ $code != 1 ]] || ! grep -q 'stopped early: what was simulated so far' err ||
		! "$TAILBACK" info out/run.db | grep -q incomplete; then
		echo "SIG$signal: exit $code, $(cat err)"
		failed=1
	fi
	rm -f out/*
done
nohup "$TAILBACK" replay long.goal -n qsnet -q -o out/run.db >/dev/null 2>err &
pid=$!
begun $pid
kill -HUP $pid
sleep 0.3
kill -INT $pid || { echo "under nohup SIGHUP ended it: $(cat err)"; failed=1; }
wait $pid
exit "$failed"
