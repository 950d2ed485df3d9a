# LAMMPS and HPC Challenge, captured: sizes as the README says, and traffic and waiting in the
# sections in which the programs communicate.
set -eu
# shellcheck source=tests/support/captures.sh
. "$TB_SOURCE/tests/support/captures.sh"

# The melt computes and exchanges from 0.5 s to its end at 2.5 s; before, it is only launched.
if there captures/lmp16_melt_mtu.pcap.zst; then
	replay lmp16_melt_mtu.pcap.zst
	read_phases lmp16_melt_mtu.phases.txt
	size 16 114
	within "payload" "$(ask "SELECT json_extract(input_summary, '\$.payload_bytes') / 1e6 FROM run")" 280.0 280.2
	within "duration" "$(ask "SELECT simulated_ps / 1e12 FROM run")" 2.4 2.554
	is "wait before the melt" "$(ask "SELECT sum(wait_us) FROM moment WHERE at_s < 0.5")" 0.0
	is "quarters of a second with wait and 40 MB" "$(ask "SELECT count(*) FROM (SELECT cast(at_s * 4 AS INTEGER) AS quarter
		FROM moment WHERE at_s BETWEEN 0.75 AND 2.2499 GROUP BY 1 HAVING sum(wait_us) > 100 AND sum(bytes) > 3e7)")" 6
fi

if there captures/lmp64_melt_mtu.pcap.zst; then
	replay lmp64_melt_mtu.pcap.zst
	read_phases lmp64_melt_mtu.phases.txt
	size 64 868
	within "duration" "$(ask "SELECT simulated_ps / 1e12 FROM run")" 6.3 6.469
	within "bytes of the melt" "$(ask "SELECT 100 * (SELECT sum(bytes) FROM moment WHERE at_s BETWEEN 4.2 AND 5.6) / sum(bytes)
		FROM moment")" 93 100
	is "wait outside" "$(ask "SELECT sum(wait_us) FROM moment WHERE at_s NOT BETWEEN 4.2 AND 5.6")" 0.0
	within "wait of the melt" "$(ask "SELECT sum(wait_us) FROM moment")" 500 5000
fi

# The sections of HPC Challenge: those whose names begin with Star or Single do not communicate.
if there captures/hpcc16_mtu_kernels.pcap.zst; then
	replay hpcc16_mtu_kernels.pcap.zst
	read_phases hpcc16_mtu_kernels.phases.txt
	size 16 240
	sections=$(awk '/Begin of/ { begin[$5] = $1 } /End of/ { printf "%s(%s, %s, %s)", n++ ? ", " : "",
		"\047" $5 "\047", begin[$5], $1 }' "$captures/hpcc16_mtu_kernels.phases.txt")
	sqlite3 "$scratch/phases.db" "INSERT INTO phase VALUES $sections"
	is "sections" "$(ask "SELECT count(*) FROM phase")" 14
	share() { ask "SELECT 100.0 * sum($2) / (SELECT sum($2) FROM moment) FROM moment WHERE EXISTS
		(SELECT 1 FROM phase WHERE at_s >= begin_s AND at_s < end_s AND name $1)"; }
	within "bytes of those that communicate" "$(share "NOT LIKE 'S%'" bytes)" 92 100
	within "wait of those that communicate" "$(share "NOT LIKE 'S%'" wait_us)" 92 100
	within "bytes of the others" "$(share "LIKE 'S%'" bytes)" 0 3
	is "wait of the others" "$(share "LIKE 'S%'" wait_us)" 0.0
fi

# Four nodes and a launcher, a file each with frames of up to 64 KB; 2.4 million packets when cut. The
# first 8000 records of each are enough.
if there captures/hpcc4; then
	for i in 0 1 2 3; do
		"$TAILBACK" capture -r "$captures/hpcc4/h$i.pcap.gz" -w "$scratch/h$i.pcap" -c 8000 2>/dev/null
	done
	"$TAILBACK" replay -q "$scratch"/h[0-3].pcap -o "$scratch/hpcc4.db"
	store=$scratch/hpcc4.db
	is "nodes" "$(sqlite3 "$store" "SELECT group_concat(name) FROM node WHERE name LIKE '10.9.0._'")" \
		"10.9.0.1,10.9.0.2,10.9.0.3,10.9.0.4"
	is "pairs among them" "$(sqlite3 "$store" "SELECT count(*) FROM flow WHERE source < 4 AND destination < 4")" 12
	is "seen twice" "$(sqlite3 "$store" "SELECT json_extract(input_summary, '\$.n_duplicates') * 2 > json_extract(input_summary, '\$.n_records') * 0.8
		FROM run")" 1
	is "cut" "$(sqlite3 "$store" "SELECT json_extract(input_summary, '\$.n_offloaded') > 1000 FROM run")" 1
fi
