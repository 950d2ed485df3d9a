#!/usr/bin/env bash
# Other simulators beside 'tailback replay': the same tree (4-ary, three tiers, 64 hosts, 100 Gbit/s,
# 500 ns per cable), on which host i sends one message to host 63 - i, in packets of 4 KiB. A table
# goes to stderr. Processor time is compared, of one thread each, with start and end of the program.
# What is not there is skipped:
#   HTSIM=DIR     csg-htsim, as cloned, with sim/datacenter/htsim_ndp and htsim_roce built
#   BOOKSIM=DIR   BookSim2, as cloned, with src/booksim built
#   SimGrid       as a library, with a compiler of C++ (Debian: libsimgrid-dev), beside the fluid
#   peers.sh          messages of 8 MiB
#   peers.sh --smoke  the test: messages of 64 KiB
set -euo pipefail
shopt -s inherit_errexit
tailback=${TAILBACK:-$TB_BENCH_BIN/../tailback}
htsim=${HTSIM:+$(realpath "$HTSIM")/sim/datacenter}
booksim=${BOOKSIM:+$(realpath "$BOOKSIM")/src/booksim}
hosts=64 packet=4096 size=$((8 << 20))
[[ ${1-} != --smoke ]] || size=$((64 << 10))
packets=$((hosts * size / packet))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# PEER;TAILBACK'S RUN BESIDE IT;WHAT DIFFERS.
peers=(
	"htsim_ndp;random;sprays in turns; trims and resends where we stop the sender"
	"booksim;random;flits of 512 B, cycles of 41 ns; 1 cycle per cable"
	"htsim_roce;ecmp;other hashes; acknowledgements; no congestion control"
)

write_tree() {
	printf 'Nodes %d\nTiers 3\nPodsize 16\n' "$hosts"
	for tier in 0 1 2; do
		printf '\nTier %d\nDownlink_speed_Gbps 100\nRadix_Down 4\n' "$tier"
		[[ $tier == 2 ]] || echo 'Radix_Up 4'
		echo 'Downlink_Latency_ns 500'
	done
}

write_flows() {
	printf 'Nodes %d\nConnections %d\n' "$hosts" "$hosts"
	for ((i = 0; i < hosts; i++)); do
		echo "$i->$((hosts - 1 - i)) id $((i + 1)) start 0 size $size"
	done
}

# timed COMMAND...: its output goes to out; prints 'WALL PROCESSOR', in seconds.
timed() {
	local TIMEFORMAT='%R %U %S'
	{ time "$@" >out 2>&1; } 2>taken || {
		tail -n 5 out >&2
		return 1
	}
	awk '{ print $1, $2 + $3 }' taken
}

# The functions below print 'WALL PROCESSOR MICROSECONDS', the last of the simulated traffic.

# run_tailback KIND
run_tailback() {
	local network=tree.topo,preset=roce-100 seconds
	network+=,ascent=$1
	rm -f run.db
	seconds=$(timed "$tailback" replay flows.cm -n "$network" -q -o run.db)
	echo "$seconds" "$(sqlite3 run.db 'SELECT simulated_ps / 1e6 FROM run')"
}

# run_htsim PROGRAM OPTION...
run_htsim() {
	local program=$htsim/$1 seconds
	shift
	seconds=$(timed "$program" -topo tree.topo -tm flows.cm -nodes "$hosts" -linkspeed 100000 \
		-mtu "$packet" -end 1000000 -paths 16 -o log "$@")
	echo "$seconds" "$(awk '/^Flow .* finished at / { sub(/.* finished at /, "")
		if ($1 + 0 > last) last = $1 + 0
		n++ }
		END { print last; exit n != hosts }' hosts="$hosts" out)"
}

run_htsim_ndp() { run_htsim htsim_ndp -strat perm; }
run_htsim_roce() { run_htsim htsim_roce -strat ecmp_host -queue_type lossless_input; }

run_booksim() {
	local flits=8 seconds
	cat >booksim.cfg <<-END
		topology = fattree; k = 4; n = 3; routing_function = nca;
		num_vcs = 4; vc_buf_size = 32; routing_delay = 0;
		sim_type = batch; batch_size = $((size / packet)); packet_size = $flits;
		traffic = bitcomp; injection_rate = 1.0;
	END
	# The program ends with 255 when all is well; the inner shell expands.
	# shellcheck disable=SC2016
	seconds=$(timed bash -c '"$1" booksim.cfg || [[ $? == 255 ]]' - "$booksim")
	echo "$seconds" "$(awk -v flit="$((packet / flits))" '
		/^Average batch duration = / { print $NF * flit / 12500; n++ } END { exit n != 1 }' out)"
}

# SimGrid beside the fluid of Ethernet, whose rates are max-min fair like SimGrid's where all windows are
# as large: all flows begin at once, between random pairs of hosts, over the same routes. Neither counts headers or time of hosts;
# SimGrid's flows take nothing of the link back.
# It records nothing, so that ours is measured with one time bin, too: bins are most of its cost.

# write_simgrid makes a program of SimGrid that reads the same list of flows.
write_simgrid() {
	cat >simgrid.cpp <<-'END'
		#include <cstdio>
		#include <simgrid/s4u.hpp>
		#include <string>
		#include <vector>
		using namespace simgrid::s4u;
		static Host *host(unsigned i) { return Host::by_name("node-" + std::to_string(i)); }
		int main(int argc, char **argv)
		{
			Engine engine(&argc, argv);
			engine.load_platform(argv[1]);
			Actor::create("all", host(0), [argv] {
				std::vector<CommPtr> flows;
				FILE *list = fopen(argv[2], "r");
				char line[128];
				unsigned from, to;
				unsigned long long bytes;
				while (list && fgets(line, sizeof line, list))
					if (sscanf(line, "%u->%u id %*u start 0 size %llu", &from, &to, &bytes) == 3)
						flows.push_back(Comm::sendto_async(host(from), host(to), bytes));
				for (const CommPtr &flow : flows)
					flow->wait();
			});
			engine.run();
			printf("%.3f\n", Engine::get_clock() * 1e6);
		}
	END
	c++ -O2 -o simgrid simgrid.cpp -lsimgrid
}

# write_random ARITY COUNT: a tree of three levels, and as many flows from each host.
write_random() {
	local n=$(($1 * $1 * $1))
	cat >platform.xml <<-END
		<?xml version='1.0'?>
		<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
		<platform version="4.1">
		<cluster id="tree" prefix="node-" suffix="" radical="0-$((n - 1))" speed="1Gf"
		bw="12.5GBps" lat="500ns" sharing_policy="SPLITDUPLEX"
		topology="FAT_TREE" topo_parameters="3;$1,$1,$1;1,$1,$1;1,1,1"/>
		</platform>
	END
	awk -v n="$n" -v count="$2" -v size="$size" 'BEGIN {
		srand(1)
		print "Nodes " n "\nConnections " n * count
		for (i = 0; i < n * count; i++) {
			do to = int(rand() * n); while (to == i % n || (i % n, to) in taken)
			taken[i % n, to] = 1
			print i % n "->" to " id " i + 1 " start 0 size " size
		}
	}' >random.cm
}

run_simgrid() {
	local seconds
	seconds=$(timed ./simgrid platform.xml random.cm --cfg=network/model:CM02 \
		--cfg=network/bandwidth-factor:1 --cfg=network/latency-factor:1 \
		--cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:0)
	echo "$seconds" "$(grep -E '^[0-9.]+$' out)"
}

# run_flows ARITY OPTION...
run_flows() {
	local network=ethernet,arity=$1,levels=3,switching=fluid,ascent=deterministic seconds
	shift
	network+=,rate=100Gbit/s,payload=4096,overhead=0,hop_latency=500ns
	network+=,send_overhead=0,receive_overhead=0,initial_window=10000
	rm -f run.db
	seconds=$(timed "$tailback" replay random.cm -n "$network" --no-bounds -q -o run.db "$@")
	echo "$seconds" "$(sqlite3 run.db 'SELECT simulated_ps / 1e6 FROM run')"
}

# compare_flows ARITY COUNT: fails where run times of long messages are 2 % apart.
compare_flows() {
	local theirs ours one_bin
	write_random "$1" "$2"
	theirs=$(run_simgrid)
	ours=$(run_flows "$1")
	one_bin=$(run_flows "$1" --bin=100ms)
	echo "$theirs $ours $one_bin" | awk -v hosts="$(($1 * $1 * $1))" -v count="$2" -v size="$size" '{
		apart = ($6 / $3 - 1) * 100
		printf "%6d %6d %10.1f us %+6.2f %% %9.2f %9.2f %9.2f\n", hosts, hosts * count, $6,
			apart, $2, $5, $8 > "/dev/stderr"
		printf "peers_simgrid_%d,%.2f,s\npeers_fluid_%d,%.2f,s\n", hosts, $2, hosts, $5
		exit size > 1000000 && (apart > 2 || apart < -2) # short ones are latency
	}'
}

# missing PEER: says what is not there, or nothing.
missing() {
	case $1 in
	htsim_*)
		if [[ -z $htsim ]]; then
			echo "HTSIM is not set"
		elif [[ ! -x $htsim/$1 ]]; then
			echo "HTSIM has no sim/datacenter/$1"
		fi
		;;
	booksim)
		if [[ -z $booksim ]]; then
			echo "BOOKSIM is not set"
		elif [[ ! -x $booksim ]]; then
			echo "BOOKSIM has no src/booksim"
		fi
		;;
	esac
}

# row PROGRAM KIND WALL PROCESSOR MICROSECONDS [TAILBACK'S PROCESSOR TIME [DIFFERENCES]]
row() {
	local count=$packets unit=packets
	awk -v program="$1" -v count="$count" -v unit="$unit" -v wall="$3" -v took="$4" -v us="$5" \
		-v ours="${6-}" -v differs="${7-}" 'BEGIN {
			took = took > 0.001 ? took : 0.001 # what bash resolves
			printf "%-20s %8d %-7s %9.1f us %8.2f %8.2f %9.0f/s ", program, count, unit, us, wall,
				took, count / took > "/dev/stderr"
			printf ours ? "%6.2f  %s\n" : "%6s\n", ours ? took / ours : "", differs > "/dev/stderr"
			sub(/ /, "_", program)
			printf "peers_%s,%.0f,%s/s\n", program, count / took, unit
		}'
}

command -v sqlite3 >/dev/null || {
	echo "skipped: sqlite3 is not installed"
	exit 77
}
write_tree >tree.topo
write_flows >flows.cm
printf '%-20s %16s %12s %8s %8s %11s %6s  %s\n' program traffic 'takes' 'wall s' 'cpu s' \
	'per cpu s' ratio 'differs from the run of tailback above it' >&2
declare -A ours=()
for peer in "${peers[@]}"; do
	IFS=';' read -r name kind differs <<<"$peer"
	lacks=$(missing "$name")
	if [[ -n $lacks ]]; then
		printf '%-20s skipped: %s\n' "$name" "$lacks" >&2
		continue
	fi
	if [[ -z ${ours[$kind]-} ]]; then
		figures=$(run_tailback "$kind")
		read -r wall took us <<<"$figures"
		ours[$kind]=$took
		row "tailback $kind" "$kind" "$wall" "$took" "$us"
	fi
	figures=$("run_$name")
	read -r wall took us <<<"$figures"
	row "$name" "$kind" "$wall" "$took" "$us" "${ours[$kind]}" "$differs"
done
sizes=("4 1" "8 4" "16 1")
[[ ${1-} != --smoke ]] || sizes=("4 1")
if command -v c++ >/dev/null && write_simgrid 2>out; then
	printf '%6s %6s %13s %8s %9s %9s %9s  %s\n' hosts flows takes simgrid 'theirs s' 'ours s' \
		'one bin' '(processor time)' >&2
	for of_size in "${sizes[@]}"; do
		read -r arity count <<<"$of_size"
		compare_flows "$arity" "$count"
	done
	ours[simgrid]=1
else
	printf '%-20s skipped: libsimgrid-dev or a compiler of C++ is not installed\n' simgrid >&2
fi
[[ ${#ours[@]} != 0 ]] || {
	echo "skipped: no other simulator is there"
	exit 77
}
