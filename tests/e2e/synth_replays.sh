# Every collective by every algorithm, and every I/O benchmark by every protocol, replays to its
# end: on two rails by RDMA, and over TCP.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# replays NETWORK WORD...: makes the job and replays it.
replays() {
	local network=$1
	shift
	"$TAILBACK" synth "$@" -o job.goal
	"$TAILBACK" replay job.goal -q -n "$network" -o run.db || {
		echo "does not replay: $*"
		exit 1
	}
}

"$TAILBACK" synth --help | awk '
	/^Collectives/ { inside = 1 }
	/^$/ { inside = 0 }
	inside && /^  [a-z]/ { collective = $1 }
	inside && /^    [a-z]/ { print collective, $1 }' >algorithms
[[ $(wc -l <algorithms) == 28 ]]
while read -r collective algorithm; do
	size=(--size 3K)
	[[ $collective == barrier ]] && size=()
	replays qsnet2,arity=4,levels=2,rails=2 "$collective" --algorithm "$algorithm" -n 7 --ports 2 \
		"${size[@]}" --repeat 2
done <algorithms

for benchmark in write read tile-write tile-read bt resize; do
	block=()
	[[ $benchmark == write || $benchmark == read ]] && block=(--block 100K)
	io=(io "$benchmark" --clients 4 --servers 3 --repeat 1 "${block[@]}")
	replays qsnet2,arity=8,levels=1 "${io[@]}" --rendezvous read --completion control --outstanding 2
	replays qsnet2,arity=8,levels=1 "${io[@]}" --rendezvous write --service 1us --storage 1GB/s
	[[ $benchmark == resize ]] || replays qsnet2,arity=8,levels=1 "${io[@]}" --aggregate 512K
	replays qsnet2,arity=8,levels=1,host=tcp "${io[@]}" --transport tcp --pack 1GB/s
done
