# What one event sets off is as long as a packet has bursts and hops: it must not need as much stack.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf 'num_ranks 64\nrank 0 {\nsend 3000000b to 63 tag 0\n}\nrank 63 {\nrecv 3000000b from 0 tag 0\n}\n' \
	>"$scratch/long.goal"
ulimit -s 256 || exit 1
for network in qsnet,payload=1M,fifo=257 qsnet,payload=1M,fifo=514,vcs=1; do
	if ! "$TAILBACK" replay -q "$scratch/long.goal" -n "$network" -o "$scratch/run.db"; then
		echo "$network: packets of thousands of bursts do not fit a stack of 256 KB"
		exit 1
	fi
	rm "$scratch/run.db"
done
