#!/usr/bin/env bash
# Other simulators beside 'tailback replay': the same tree (4-ary, three tiers, 64 hosts, 100 Gbit/s,
# 500 ns per cable), on which host i sends one message to host 63 - i, in packets of 4 KiB. A table
# goes to stderr. Processor time is compared, of one thread each, with start and end of the program.
# What is not there is skipped:
#   HTSIM=DIR     csg-htsim, as cloned, with sim/datacenter/htsim_ndp and htsim_roce built
#   BOOKSIM=DIR   BookSim2, as cloned, with src/booksim built
#   SimGrid       its smpirun (Debian: libsimgrid-dev)
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
	"simgrid;fluid;flows, not packets; routes by destination; MPI on top"
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
	case $1 in
	fluid) network+=,switching=fluid,ascent=deterministic ;;
	*) network+=,ascent=$1 ;;
	esac
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

run_simgrid() {
	local seconds
	cat >platform.xml <<-END
		<?xml version='1.0'?>
		<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
		<platform version="4.1">
		<cluster id="tree" prefix="node-" suffix="" radical="0-$((hosts - 1))" speed="1Gf"
		bw="12.5GBps" lat="500ns" sharing_policy="SPLITDUPLEX"
		topology="FAT_TREE" topo_parameters="3;4,4,4;1,4,4;1,1,1"/>
		</platform>
	END
	for ((i = 0; i < hosts; i++)); do
		echo "node-$i" >&3
		printf '%d %s\n' "$i" init "$i" "irecv $((hosts - 1 - i)) 0 $size 6" \
			"$i" "isend $((hosts - 1 - i)) 0 $size 6" "$i" waitall "$i" finalize
	done 3>hosts >actions
	echo "$work/actions" >list
	seconds=$(timed smpirun -np "$hosts" -platform platform.xml -hostfile hosts -replay list \
		--cfg=network/model:CM02 --cfg=network/bandwidth-factor:1 \
		--cfg=network/latency-factor:1 --cfg=smpi/host-speed:1Gf)
	echo "$seconds" "$(awk '/Simulation time / { print $NF * 1e6; n++ } END { exit n != 1 }' out)"
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
	simgrid) command -v smpirun >/dev/null || echo "smpirun is not installed" ;;
	esac
}

# row PROGRAM KIND WALL PROCESSOR MICROSECONDS [TAILBACK'S PROCESSOR TIME [DIFFERENCES]]
row() {
	local count=$packets unit=packets
	[[ $2 != fluid ]] || count=$hosts unit=flows
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
declare -A ours
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
[[ ${#ours[@]} != 0 ]] || {
	echo "skipped: no other simulator is there"
	exit 77
}
