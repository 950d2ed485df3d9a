# tailback trace --sockets: every way to send and receive is seen to the byte, in processes, forks and
# threads; what a killed process wrote stays; a static program shows nothing, and that is said. A kept
# folder is merged again to the same.
set -euo pipefail
[[ -e $(dirname "$TAILBACK")/tailback-trace-sockets.so ]] || {
	echo "no tailback-trace-sockets.so beside the program"
	exit 1
}
command -v cc >/dev/null || {
	echo "skipped: no C compiler"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said' ERR
cd "$work"
: >said
cc -O1 -w -pthread -o calls "$TB_SOURCE/tests/e2e/sockets/calls.c"
cc -O1 -w -pthread -static -o static "$TB_SOURCE/tests/e2e/sockets/calls.c" 2>/dev/null || rm -f static
./calls >out
said_bytes() {
	"$TAILBACK" info "$1" | sed -n 's/^  the ranks called .* of \([0-9,]*\) B and .*/\1/p' | tr -d ,
}
traced=$("$TAILBACK" trace --sockets --keep -o job.tbt -- ./calls 2>said)
[[ $traced == "$(said_bytes job.tbt)" ]]
grep -q '^3 ranks, ' said
grep -q '^1 rank ended early, rank 2 first, by SIGTERM' said
[[ $(ls job.tbt.ranks-*/*.tbr | wc -l) == 3 ]]
"$TAILBACK" info job.tbt >info
grep -q '4 connections of TCP: ' info
! grep -q 'not traced' info
"$TAILBACK" replay job.tbt -n ethernet -o run.db 2>out
grep -q '^simulated ' out
"$TAILBACK" trace -q --merge job.tbt.ranks-* -o again.tbt
cmp job.tbt again.tbt
code=0
"$TAILBACK" trace --sockets -o killed.tbt -- ./calls x >out 2>said || code=$?
[[ $code == 137 ]]
grep -q '^2 ranks ended early, rank 0 first, signal unknown' said
"$TAILBACK" info killed.tbt | grep -q '^  rank 0 was ended by an unknown signal, as of SIGKILL, after [0-9]* calls of the job$'
[[ $(said_bytes killed.tbt) == "$(cat out)" ]]
# However a process ends by itself, it was not killed.
for way in execl execlp execle _Exit quick_exit; do
	"$TAILBACK" trace --sockets -o ends.tbt -- ./calls $way >out 2>said
	grep -q "^$way" out
	[[ $way != exec* || $(cat out) == "$way 2" ]]
	grep -q '^1 rank, ' said
	! grep early said
done
# What a wrapper ran before it became the program is not of the job.
printf '#!/bin/bash\nx=$(echo b | sort | cat)\nx=$(echo $x | cat)\nexec ./calls\n' >wrapped
chmod +x wrapped
"$TAILBACK" trace --sockets -o wrapped.tbt -- ./wrapped >out 2>said
grep -q '^3 ranks, ' said
grep -q '^[1-9][0-9]* processes without a socket of TCP left out: ' said
# A program that closes all descriptors is traced on, and gets the lowest numbers.
"$TAILBACK" trace --sockets -o bare.tbt -- ./calls bare 3>&- 2>said
[[ $(said_bytes bare.tbt) == 20000 ]]
# However a thread waits for another, that is no computation: only who asks computes, for most of the run.
cc -O1 -w -pthread -o pool "$TB_SOURCE/tests/e2e/sockets/pool.c"
for way in 1 2 3 4 5 6; do
	"$TAILBACK" trace -q --sockets -o pool.tbt -- ./pool $way 2>said
	"$TAILBACK" convert -q pool.tbt -o pool.goal 2>said
	awk '$2 == "calc" { ns += $3 } END { exit ns < 400e6 || ns > 700e6 }' pool.goal
done
# Where a thread has no more room, what others do is kept.
(
	trap '' XFSZ
	ulimit -f 400
	"$TAILBACK" trace --sockets -o full.tbt -- ./calls full 2>said
)
grep -q '^1 rank found the disk full' said
[[ $(said_bytes full.tbt) == 5 ]]
# Where nothing can be written that is said, but not to the connection that has the number of standard error.
export TAILBACK_TRACE_FOLDER=$work/none
preload=$(dirname "$TAILBACK")/tailback-trace-sockets.so
LD_PRELOAD=$preload ./calls closed 2>said
[[ ! -s said ]]
LD_PRELOAD=$preload ./calls >out 2>said
grep -q 'cannot be written, so rank 0 is not traced' said
unset TAILBACK_TRACE_FOLDER
none() { # COMMAND SENTENCE
	local code=0
	"$TAILBACK" trace --sockets -o none.tbt -- "$1" >out 2>said || code=$?
	[[ $code == 1 && $(cat said) == "tailback: $1: $2" && ! -e none.tbt ]]
	[[ -z $(ls -d none.tbt.* 2>/dev/null) ]]
}
none true 'no process used a socket of TCP through libc: programs that call the system themselves (Go) or are static show none'
[[ -e static ]] && none ./static 'is linked statically: the tracer cannot be loaded into it, and no other process used a '\
'socket of TCP through libc'
exit 0
