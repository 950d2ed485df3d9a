# tailback trace: programs of Open MPI and of MPICH are traced with exactly the messages, sizes,
# communicators and hosts that they made, from C and Fortran, with threads and windows, and up to
# where a rank ends early. Then the trace is replayed.
set -euo pipefail
. "$TB_SOURCE/tests/support/mpi.sh"
find_mpis
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "line $LINENO: $BASH_COMMAND ($mpi)"; cat said' ERR
cd "$work"
: >said
use_mpi "$work"
failed=0
complain() {
	echo "$mpi: $*"
	failed=1
}

# run RANKS PROGRAM...: traces the program, as job.tbt; what it did is in job.info and job.goal.
launch() {
	local n=$1
	shift
	timeout 300 "$TAILBACK" trace -o job.tbt -- timeout 250 "mpirun.$mpi" "${options[@]}" -n "$n" "$@" >out 2>said
}
run() {
	launch "$@"
	"$TAILBACK" info --library openmpi job.tbt >job.info
	"$TAILBACK" convert -q job.tbt -o job.goal
}
compile() {
	"mpicc.$mpi" -w -pthread -o "$1" "$TB_SOURCE/tests/e2e/tracer/$1.c"
}
# sent RANK: the rank's sends, "BYTES TO" a line, sorted, but for those of 0 bytes: a rendezvous has them.
sent() {
	awk -v rank="$1" '/^rank / { at = $2 } at == rank && / send / {
		for (i = 1; i < NF; i++) if ($i == "send") { sub("b", "", $(i + 1))
			if ($(i + 1) > 0) print $(i + 1), $(i + 3) } }' \
		job.goal | sort -n
}
# has WHAT: a kind of collective call is in the trace, as info describes it.
has() {
	grep -qE "^  $1:" job.info || complain "no '$1' in: $(cat job.info)"
}
is() {
	[[ $1 == "$2" ]] || complain "$3 is '$1', not '$2'"
}

for mpi in "${mpis[@]}"; do
	options=()
	[[ $mpi == openmpi ]] && options=(--oversubscribe)
	compile messages
	run 4 ./messages
	newer=
	[[ $(sent 0 | grep -c '^77 1$') == 1 ]] && newer="77 100 "
	for r in 0 1 2 3; do
		wanted=$(for bytes in 70000 512 64 64 64 33 4096 11 12 $newer; do
			echo "$bytes $(((r + 1) % 4))"
		done | sort -n)
		[[ $r == 0 ]] && wanted=$(printf '%s\n1000 1\n' "$wanted" | sort -n)
		is "$(sent $r)" "$wanted" "what rank $r sends"
	done
	grep -qE '^  hosts +1$' job.info || complain "not one host: $(cat job.info)"
	grep -qE '^  9 receives had MPI_ANY_SOURCE, of [0-9]+, ' job.info || complain "no receives of any source: $(cat job.info)"
	"$TAILBACK" replay -q job.tbt -o run.db

	compile collectives
	run 4 ./collectives
	for call in 'barrier in 4 ranks, 2 calls' 'broadcast of 12.06 KiB in 4 ranks, 1 call' \
		'allreduce of 16 B to 128 B in 4 ranks, 2 calls' 'gather of 100 B in 4 ranks, 1 call' \
		'gather of 4 B in 4 ranks, 1 call' 'scatter of 50 B in 4 ranks, 1 call' \
		'scatter of 4 B in 4 ranks, 1 call' 'allgather of 8 B to 10 B in 4 ranks, 2 calls' \
		'reduce of 32 B in 4 ranks, 1 call' 'scan of 32 B in 4 ranks, 1 call' \
		'reduce-scatter of 128 B in 4 ranks, 1 call' 'allreduce of 8 B in 2 ranks, 2 calls' \
		'broadcast of 7 B to 9 B in 2 ranks, 3 calls' 'exchange of 62 B a rank in 4 ranks, 1 call'; do
		has "$call"
	done
	grep -q '4 collective calls with a root are left out: of inter-communicators' job.info ||
		complain "nothing is said of a broadcast between groups: $(cat job.info)"
	# All-to-all by sizes, the inter-communicator, and the neighbours of the ring.
	for line in '1002 2' '1003 3' '99 0'; do
		sent 1 | grep -qx "$line" || complain "rank 1 does not send $line"
	done
	is "$(sent 2 | grep '^31 ' | xargs)" '31 1 31 3' "what rank 2 sends to its neighbours"

	compile windows
	run 4 ./windows
	has 'exchange of 0 B to 600 B a rank in 4 ranks, 4 calls'
	sent 3 | grep -qx '600 0' || complain "rank 3 does not put 600 bytes at 0 between fences"
	sent 0 | grep -qx '41 3' || complain "rank 0 does not give 41 bytes to 3"
	sent 1 | grep -qx '333 0' || complain "rank 1 does not put 333 bytes at 0"
	sent 0 | grep -qx '222 1' || complain "rank 0 does not give 222 bytes to 1"
	sent 1 | grep -qx '777 0' || complain "rank 1 does not put 777 bytes at 0"
	"$TAILBACK" replay -q job.tbt -o run.db

	compile threads
	run 2 ./threads
	if ! grep -q 'no threads' out; then
		is "$(sent 0 | sort | uniq -c | xargs)" '100 10 1 100 11 1 100 12 1 100 13 1 1 51 1' "what four threads send"
		"$TAILBACK" replay -q job.tbt -o run.db
	fi

	# Files are kept, and their time is no computation.
	compile files
	rm -f some.data
	run 2 ./files some.data
	grep -q '^  MPI-IO, not replayed: some.data: 4 reads of 4.883 KiB and 8 writes of 6.352 KiB from byte 100 to 6100 by 2 ranks, ' job.info ||
		complain "reads and writes are not told: $(cat job.info)"

	# What MPI_Comm_spawn starts is a world of its own, which knows its parent. (Debian's MPICH starts
	# none.)
	if [[ $mpi == openmpi ]]; then
		compile spawn
		rm -f job*.tbt
		run 2 ./spawn
		is "$(sent 0 | xargs)" '500 1' "what rank 0 of the first world sends"
		grep -q '^  MPI_Comm_spawn is left out' job.info || complain "nothing is said of MPI_Comm_spawn: $(cat job.info)"
		grep -q ' left out: their communicators .* of another MPI_COMM_WORLD' job.info ||
			complain "messages between worlds are not counted: $(cat job.info)"
		grep -qE '^2 ranks, .* in job-2.tbt, .*, spawned by that of job.tbt$' said ||
			complain "the second world's parent is not told: $(cat said)"
		"$TAILBACK" info job-2.tbt >job.info
		grep -qE '^  the ranks were started by MPI_Comm_spawn in world [0-9a-f]{16}; ' job.info || complain "the parent is not in the trace: $(cat job.info)"
		"$TAILBACK" convert -q job-2.tbt -o job.goal
		is "$(sent 0 | xargs)" '300 1' "what rank 0 of the second world sends"
	fi

	# Steps of one command, at once and one after the other, are a trace each.
	rm -f job*.tbt
	cat >steps <<-END
		for n in 2 3; do mkdir -p tmp\$n; TMPDIR=\$PWD/tmp\$n mpirun.$mpi ${options[@]} -n \$n ./messages & done
		wait
		mpirun.$mpi ${options[@]} -n 4 ./messages
	END
	# A wrapper does not show its MPI: each process finds its own. Nor do spaces hurt.
	mkdir -p 'with space'
	cp "$TAILBACK" "$(dirname "$TAILBACK")"/tailback-trace-*.so 'with space'
	timeout 300 'with space/tailback' trace -o 'with space/job.tbt' -- bash steps >out 2>said
	mv 'with space'/job*.tbt .
	rm -r 'with space'
	# Folders of that name are made by other tests, too, at the same time.
	[[ -z $(find "$TMPDIR" /tmp -maxdepth 2 -user "$(id -un)" -path '*/tailback-??????/*' -type l -newer steps 2>/dev/null) ]] || complain "links are left behind"
	is "$(grep -oE '^[234] ranks|job[-0-9]*.tbt' said | sort | xargs)" '2 ranks 3 ranks 4 ranks job-2.tbt job-3.tbt job.tbt' "what is said of three steps"
	grep -qE '^4 ranks, .*job-3.tbt, from .* on for ' said || complain "the last step is not the last trace: $(cat said)"
	for trace in job.tbt job-2.tbt job-3.tbt; do "$TAILBACK" info $trace >>job.info; done

	# A program that nothing can be preloaded into is named, and so is a tracer that is missing.
	echo 'int main(void) { return 0; }' >static.c
	if gcc -static -o static static.c 2>said; then
		"$TAILBACK" trace -o no.tbt -- ./static >out 2>said && complain "a static program is traced"
		grep -q '^tailback: ./static: is linked statically: ' said || complain "a static program is not told: $(cat said)"
	fi
	mkdir -p some
	cp "$TAILBACK" "$(dirname "$TAILBACK")"/tailback-trace-any.so some
	timeout 300 some/tailback trace -o no.tbt -- bash steps >out 2>said && complain "without a tracer all is well"
	grep -q "^tailback: .* which is not installed: apt install tailback-trace-$mpi\$" said || complain "no command to install is told: $(cat said)"

	# A rank that aborts, and one that is killed: ten messages of each rank are there, or some less where
	# mpirun was quicker than they: two ranks can be behind the one that ends by one and by two.
	compile abort
	for how in '' killed fault; do
		code=0
		launch 3 ./abort $how || code=$?
		[[ $code != 0 ]] || complain "the program's failure is not passed on"
		cp said trace.said
		grep -q 'ended early' said || complain "nothing is said of ranks that ended early: $(cat said)"
		"$TAILBACK" info job.tbt >job.info 2>said || grep -qE '^tailback: job.tbt: rank .* ended early: .*--lenient' said ||
			complain "an early end is not blamed: $(cat said)"
		"$TAILBACK" info --lenient job.tbt >job.info
		grep -qE '^  sends +(2[4-9]|30) of [23]\.[0-9]* KiB' job.info || complain "not 30 messages: $(cat job.info)"
		case $how in
		killed) ending='before MPI_Finalize, signal unknown' ;;
		fault) ending='by SIGSEGV' ;;
		*) ending='by MPI_Abort' ;;
		esac
		[[ $how == killed ]] || grep -qE "^[123] ranks? ended early, rank 1 first, $ending: " trace.said || complain "the first end is not told: $(cat trace.said)"
		grep -qE "rank 1 ended early, $ending" job.info ||
			complain "rank 1's end is not told: $(cat job.info)"
	done

	for page in bindings bindings08; do
		command -v "mpifort.$mpi" >/dev/null && command -v gfortran >/dev/null || break
		options_of=$([[ $page == *08 ]] && echo -DMPI_F08 || :)
		"mpifort.$mpi" $options_of -o $page "$TB_SOURCE/tests/e2e/tracer/bindings.F90"
		run 4 ./$page
		for r in 0 1 2 3; do
			is "$(sent $r | grep -E '^(240|800) ' | xargs)" "240 $(((r + 1) % 4)) 800 $(((r + 1) % 4))" "what rank $r sends in $page"
		done
		has 'allreduce of 8 B in 4 ranks, 1 call'
	done

	# The files of the ranks can be kept and merged later; nothing else is left behind.
	rm -f job.tbt
	timeout 300 "$TAILBACK" trace --keep -o job.tbt -- "mpirun.$mpi" "${options[@]}" -n 4 ./messages >out 2>said
	"$TAILBACK" trace -q --merge job.tbt.ranks-* -o again.tbt
	cmp job.tbt again.tbt || complain "merged again the trace differs"
	cd job.tbt.ranks-*
	rm rank-1-*.tbr
	: >"$(echo rank-0-*.tbr)"
	head -c 9999 /dev/urandom >"$(echo rank-3-*.tbr)"
	cd ..
	"$TAILBACK" trace --merge job.tbt.ranks-* -o again.tbt 2>said
	for what in '0-[0-9a-f]*.tbr: is empty' '1-[0-9a-f]*.tbr: is not there' '3-[0-9a-f]*.tbr: is not what a rank of a traced program writes'; do
		grep -q "^job.tbt.ranks-.*/rank-$what" said || complain "nothing is said of rank-$what: $(cat said)"
	done
	grep -q '^3 ranks left no trace: the trace has the others' said || complain "not 3 ranks lack: $(cat said)"
	[[ $("$TAILBACK" convert -q --lenient again.tbt -o - | grep -c 'rank ') == 4 ]] || complain "ranks are not kept"
	rm -r job.tbt.ranks-*

	# A damaged trace is named, and whose records are broken.
	{
		head -c -50 job.tbt
		head -c 50 /dev/zero | tr '\0' '\377'
	} >broken.tbt
	"$TAILBACK" info broken.tbt >out 2>said && complain "a damaged trace is read"
	grep -q '^tailback: broken.tbt: rank 3, byte [0-9]* of a thread: ' said || complain "the damage is not told: $(cat said)"

	# Where no trace can be written, what the ranks wrote is not thrown away.
	mkdir no.tbt
	timeout 300 "$TAILBACK" trace -o no.tbt -- "mpirun.$mpi" "${options[@]}" -n 4 ./messages >out 2>said &&
		complain "a folder is overwritten by a trace"
	grep -q -- '--merge' said || complain "nothing is said of what is left: $(cat said)"
	"$TAILBACK" trace -q --merge no.tbt.ranks-* -o again.tbt
	rm -r no.tbt no.tbt.ranks-*

	# A program is not traced as one of another MPI, which it would not survive.
	other=mpich
	[[ $mpi == mpich ]] && other=openmpi
	"$TAILBACK" trace --mpi $other -o no.tbt -- "mpirun.$mpi" "${options[@]}" -n 2 ./messages >out 2>said &&
		complain "a program of $mpi is traced as one of $other"
	grep -qE "^tailback: ./messages: is a program of .* not of --mpi $other" said ||
		complain "the wrong --mpi is not told: $(cat said)"
	"$TAILBACK" trace -o no.tbt -- ./nonexist >out 2>said && complain "what does not exist is traced"
	grep -q '^tailback: ./nonexist: is not found' said || complain "a missing program is not told: $(cat said)"
done
[[ -z $(find . -name '*.ranks-*') ]] || complain "files of ranks are left behind"
exit "$failed"
