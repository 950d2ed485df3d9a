# Every collective by every algorithm, and every I/O benchmark by every protocol, replays to its
# end: side by side, on two rails by RDMA, and over TCP.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$TAILBACK" synth --help | awk '
	/^Collectives/ { inside = 1 }
	/^$/ { inside = 0 }
	inside && /^  [a-z]/ { collective = $1 }
	inside && /^    [a-z]/ { print collective, $1 }' >algorithms
[[ $(wc -l <algorithms) -ge 78 ]]
# Some algorithms want a power of two or two ranks, and some one port: each gets the first that it takes.
while read -r collective algorithm; do
	size=(--size 3K)
	[[ $collective == barrier ]] && size=()
	made=
	for ranks in '7 --ports 2' '8 --ports 2' 7 8 2; do
		# shellcheck disable=SC2086
		"$TAILBACK" synth "$collective" --algorithm "$algorithm" -n $ranks "${size[@]}" --repeat 2 \
			-o "$collective-$algorithm.goal" 2>refused && made=1 && break
	done
	[[ $made ]] || {
		echo "$collective $algorithm: $(cat refused)"
		exit 1
	}
done <algorithms
"$TAILBACK" replay -q ./*-*.goal -n qsnet2,levels=5,rails=2 -o collectives.db

for benchmark in write read tile-write tile-read bt resize; do
	block=()
	[[ $benchmark == write || $benchmark == read ]] && block=(--block 100K)
	io=(io "$benchmark" --clients 4 --servers 3 --repeat 1 "${block[@]}")
	"$TAILBACK" synth "${io[@]}" --rendezvous read --completion control --outstanding 2 \
		-o "$benchmark.read.rdma"
	"$TAILBACK" synth "${io[@]}" --rendezvous write --service 1us --storage 1GB/s \
		-o "$benchmark.write.rdma"
	[[ $benchmark == resize ]] || "$TAILBACK" synth "${io[@]}" --aggregate 512K -o "$benchmark.two.rdma"
	"$TAILBACK" synth "${io[@]}" --transport tcp --pack 1GB/s -o "$benchmark.sockets.tcp"
done
"$TAILBACK" replay -q ./*.rdma -n qsnet2,levels=4 -o rdma.db
"$TAILBACK" replay -q ./*.tcp -n qsnet2,levels=3 -H tcp -o tcp.db
