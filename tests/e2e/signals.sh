# A signal leaves nothing half written, and is honoured at once.
set -um # -m: what runs in the background is not deaf to SIGINT
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir out
failed=0

# began PID: it has the file open that it writes, which has no name yet or that of a part.
began() {
	ls -l "/proc/$1/fd" 2>/dev/null | grep -q "$scratch/out/"
}

# ended_by SIGNAL COMMAND...: the command, which writes into out/, gets the signal while it
# does so; nothing may be left there.
ended_by() {
	local signal=$1
	shift
	"$@" >/dev/null 2>&1 &
	local pid=$!
	until began $pid; do
		kill -0 $pid 2>/dev/null || {
			echo "$*: ended before it could be signalled"
			failed=1
			return
		}
		sleep 0.01
	done
	kill -"$signal" $pid
	wait $pid 2>/dev/null
	local code=$?
	[[ $code -gt 128 ]] || { echo "$*: exit $code on SIG$signal"; failed=1; }
	[[ -z $(ls -A out) ]] || { echo "$*: SIG$signal left $(ls -A out)"; failed=1; }
	rm -rf out/*
}

for signal in INT TERM HUP KILL; do
	ended_by $signal "$TAILBACK" synth complement --nodes 4096 --message 1K --messages 500 -o out/big.goal
done
exit "$failed"
