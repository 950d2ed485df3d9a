# tailback trace without MPI: a script stands for mpirun and leaves the files of ranks. The
# command's exit code, what it leaves behind, and what it reports are those of the run.
set -euo pipefail
tracer=$(dirname "$TAILBACK")/tailback-trace-mpich.so
[[ -e $tracer ]] || {
	echo "skipped: no tracer for MPICH (Debian: libmpich-dev)"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND"; cat said' ERR
cd "$work"
: >said

# rank N STATE: a rank of 2 that sends 100 bytes to the other, or receives them, and ends by STATE.
rank() {
	local file=rank-$1.tbr kind=$((3 + $1)) # SEND or RECV
	{
		printf "TBRANK1\n\\00$1"'\0\0\0\002\0\0\0\002\0\0\0'"\\00$2"'\0\0\0'
		printf '\0\0\0\0\0\0\0\0\0\312\232\073\0\0\0\0\0\312\232\073\0\0\0\0' # 1 s, at the begin
		printf '\0\224\065\167\0\0\0\0\0\224\065\167\0\0\0\0\001\0x'     # 2 s, at the end; clock
	} >"$file"
	truncate -s 128 "$file"
	printf '\001\0h' >>"$file"
	truncate -s 384 "$file"
	printf '\003\0004.0' >>"$file"
	truncate -s 4096 "$file"
	{
		printf 'TBLK\0\0\0\0\0\0\0\0\0\0\0\0\001\0\312\232\073\0\0\0\0'
		printf '\017\0\0\0\0\0\0\002\002\002\0\002' # COMM: 2 members from rank 0 on
		printf "\\00$kind"'\012\012\0'"\\00$((1 - $1))"'\007\144' # by comm 0, peer, tag 7
		printf '\024\012\012' # FINALIZE
	} >>"$file"
	truncate -s 266240 "$file"
}
rank 0 1
rank 1 1
is() {
	[[ $1 == "$2" ]] || {
		echo "line ${BASH_LINENO[0]}: '$1', expected '$2'"
		cat said
		exit 1
	}
}
trace() { # COMMAND: by a shell in which $T is the folder of the ranks
	local code=0
	"$TAILBACK" trace --mpi mpich "${options[@]}" -o job.tbt -- bash -c "T=\$TAILBACK_TRACE_FOLDER; $1" \
		>out 2>said || code=$?
	echo $code
}

options=()
is "$(trace 'cp rank-?.tbr $T')" 0
is "$(cat said)" '2 ranks, 6 records in job.tbt'
is "$(ls -d job*)" job.tbt
"$TAILBACK" info job.tbt >info
grep -q '^  ranks  *2, 1 ordered pair$' info
grep -q '^  sends  *1 of 100 B in all$' info
"$TAILBACK" trace --merge . -o merged.tbt 2>/dev/null
cmp merged.tbt job.tbt

# The command's code is the program's; so is a signal's; -q is silent.
is "$(trace 'cp rank-?.tbr $T; exit 3')" 3
is "$(trace 'cp rank-?.tbr $T; kill -USR1 $$')" 138
options=(-q)
is "$(trace 'cp rank-?.tbr $T; echo hello')" 0
is "$(cat said)" ''
is "$(cat out)" hello
options=()

# A rank that is missing, one that was killed, and none at all.
is "$(trace 'cp rank-0.tbr $T')" 0
is "$(sed 1d said)" '1 rank left no trace: they ended before they returned from MPI_Init'
rank 1 0
is "$(trace 'cp rank-?.tbr $T')" 0
is "$(sed 1d said)" '1 rank ended early, rank 1 first, signal unknown, as of SIGKILL: the trace has what they did until then'
rm job.tbt
is "$(trace true)" 1
is "$(cat said)" 'tailback: bash: no process came through MPI_Init under the tracer of mpich'
is "$(trace 'exit 5')" 5
[[ ! -e job.tbt ]]

# --keep leaves the ranks' files, beside the output and for this user alone.
options=(--keep)
is "$(trace 'cp rank-?.tbr $T')" 0
kept=$(sed -n "s/^The ranks' files are in //p" said)
is "$(dirname "$kept")" "$PWD"
# shellcheck disable=SC2011
is "$(ls "$kept" | xargs)" 'rank-0.tbr rank-1.tbr'
is "$(stat -c %a "$kept")" 700
rm -r "$kept"

# Several worlds: a trace each, in the order in which they began, and who spawned whom.
options=()
world() { # FILE WORLD SECONDS JOB PARENT: the file's, of a world of 16 digits that began then
	local file=rank-$1-$2.tbr at=0 digits=$2
	cp "rank-$1.tbr" "$file"
	poke() { printf "$2" | dd of="$file" bs=1 seek="$1" conv=notrunc status=none; }
	for ((i = 14; i >= 0; i -= 2)); do
		poke $((640 + at++)) "\\x${digits:i:2}"
	done
	poke 40 "\\0\\0\\0\\0\\x0$3" # its time of day
	poke 704 "\\x0${#4}\\000$4"
	[[ ! $5 ]] || poke 648 '\001'
	poke 768 "\\x0${#5}\\000$5"
}
rank 1 1
for r in 0 1; do
	world $r 00000000000000aa 2 22 11
	world $r 00000000000000bb 1 11 ''
	world $r 00000000000000cc 3 33 44
done
rm -f job*.tbt
is "$(trace 'cp rank-?-*.tbr $T')" 0
is "$(sed 's/, from [^,]*//' said)" '2 ranks, 6 records in job.tbt
2 ranks, 6 records in job-2.tbt, spawned by that of job.tbt
2 ranks, 6 records in job-3.tbt, spawned by a world that is not known'
grep -q ' in job-2.tbt, from 4.295 s on for 1 s, ' said
# shellcheck disable=SC2011
is "$(ls job*.tbt | xargs)" 'job-2.tbt job-3.tbt job.tbt'
"$TAILBACK" info job-2.tbt >info
grep -q '^  the ranks were started by MPI_Comm_spawn in world 00000000000000bb; they are world 00000000000000aa$' info
"$TAILBACK" info job.tbt >info
! grep -q MPI_Comm_spawn info
# One that is damaged keeps none of the others from being merged, and what it left is kept.
rm -f job*.tbt
code=0
is "$(trace 'cp rank-?-*.tbr $T; printf "\003" | dd of=$T/rank-1-00000000000000bb.tbr bs=1 seek=12 conv=notrunc status=none')" 1
[[ ! -e job.tbt && -e job-2.tbt && -e job-3.tbt ]]
grep -q '^tailback: .*holds ranks of different programs' said
rm -r job*.ranks-*
rm -f job*.tbt rank-?-*.tbr

# What cannot be merged is kept, too, and where.
options=()
is "$(trace 'cp rank-?.tbr $T; printf "\003" | dd of=$T/rank-1.tbr bs=1 seek=12 conv=notrunc status=none')" 1
kept=$(sed -n "s/^The ranks' files are in \(.*\): 'tailback trace --merge' makes a trace of them$/\1/p" said)
[[ -e $kept/rank-1.tbr ]]
rm -r "$kept"

# A signal reaches the command, and what its ranks left is merged.
"$TAILBACK" trace --mpi mpich -o job.tbt -- bash -c \
	'trap "cp rank-?.tbr $TAILBACK_TRACE_FOLDER; exit 7" TERM; : >ready; while :; do sleep 0.05; done' 2>said &
pid=$!
until [[ -e ready ]]; do sleep 0.05; done
kill -TERM $pid
code=0
wait $pid || code=$?
is "$code" 7
[[ -e job.tbt ]]

# Wrong usage.
usage() { # SENTENCE ARGUMENTS...
	local sentence=$1 code=0
	shift
	"$TAILBACK" trace "$@" 2>said || code=$?
	is "$code" 2
	grep -qF -- "$sentence" said || { cat said; exit 1; }
}
usage 'an output is missing' -- true
usage 'a trace is a file, not standard output' -o - -- true
usage '--merge runs no command' -o a.tbt --merge . -- true
usage 'a command is missing' -o a.tbt
usage "--mpi takes no 'lam'; expected openmpi or mpich" -o a.tbt --mpi lam -- true
usage 'is not found, or is no program that may be run' -o a.tbt -- ./nowhere
code=0
"$TAILBACK" trace -o a.tbt -- true 2>said || code=$?
is "$code" 1
grep -q '^tailback: true: no process came through MPI_Init under a tracer: .* give --mpi openmpi or --mpi mpich$' said
code=0
"$TAILBACK" trace --mpi mpich -o a.tbt -- ./nowhere 2>said || code=$?
is "$code" 127
grep -q 'nowhere: cannot be run: No such file or directory' said
[[ ! -e a.tbt ]]
