# For scripts that compare traces with an independent count (tests/e2e/tracer/count.c).

# build_count MPI: makes count.so, for programs of that MPI.
build_count()
{
	local null=-1 handle=int
	[[ $1 == openmpi ]] && null=-2 handle='void *'
	gcc -w -O2 -shared -fPIC -DPROC_NULL=$null -DHANDLE="$handle" -o count.so "$TB_SOURCE/tests/e2e/tracer/count.c" -ldl
}

# count_and_trace MPI COMMAND...: has the command traced, as job.tbt, and counted; "SENDS BYTES RECEIVES
# COLLECTIVES" of all ranks is then in $counted and $traced. A sanitized tailback refuses to start behind a
# preloaded library unless it is told not to look. The count sees the tracer's own broadcast, by
# which ranks of MPICH agree on their world; it is left out.
count_and_trace()
{
	local mpi=$1 own=0 ranks
	shift
	rm -rf counts job*.tbt
	mkdir counts
	COUNT_FOLDER=$PWD/counts LD_PRELOAD=$PWD/count.so \
		ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 timeout 900 "$TAILBACK" trace -q -o job.tbt -- "$@"
	ranks=$(find counts -type f | wc -l)
	[[ $mpi == mpich && $ranks -gt 1 ]] && own=$ranks
	# shellcheck disable=SC2034
	counted=$(cat counts/* | awk -v own=$own '{ s += $1; b += $2; r += $3; c += $4 } END { printf "%.0f %.0f %.0f %.0f", s, b, r, c - own }')
	"$TAILBACK" info job.tbt >job.info
	# shellcheck disable=SC2034
	traced=$(sed -nE 's/,//g; s/^  the ranks called //p' job.info | awk '{
		for (i = 1; i < NF; i++) {
			if ($(i + 1) ~ /^sends?$/) { s = $i; b = $(i + 3) }
			if ($(i + 1) ~ /^receives?$/) r = $i
			if ($(i + 1) ~ /^collective$/) c = $i
		}
		printf "%.0f %.0f %.0f %.0f", s, b, r, c
	}')
}
