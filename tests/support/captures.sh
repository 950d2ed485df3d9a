# For e2e tests with the shared captures: replays one, and queries what happened in the phases
# that its phase file lists. Source it; it skips the test if all captures or sqlite3 are absent.
# shellcheck source=tests/support/real_input.sh
. "$TB_SOURCE/tests/support/real_input.sh"
captures=$TB_SHARED/data/captures
[[ -d $captures ]] && command -v sqlite3 >/dev/null || {
	echo "skipped: no shared/data/captures, or no sqlite3"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
store=$scratch/run.db

# replay NAME [OPTION...] replays the capture into a new store, at captured speed, in bins of 1 ms.
replay() {
	local name=$1
	shift
	rm -f "$store" "$scratch/phases.db"
	"$TAILBACK" replay -q "$captures/$name" --bin 1ms "$@" -o "$store"
}

# read_phases FILE makes two tables for `ask`. `phase`: the lines of the file that have a begin and
# an end, both in seconds of simulated time. `moment`: the time of each bin, the bytes of frames
# injected in it, and the wait in it.
read_phases() {
	local first
	first=$(sed -n '1s/.*first packet \([0-9]*\) ns.*/\1/p' "$captures/$1")
	sqlite3 "$scratch/phases.db" <<-END
		ATTACH '$store' AS store;
		CREATE TABLE phase (name TEXT, begin_s REAL, end_s REAL);
		CREATE TABLE moment AS SELECT b.bin * r.bin_ps / 1e12 AS at_s,
		  sum(iif(l.kind = 'injection', b.bytes - p.value * b.packets, 0)) AS bytes,
		  sum(b.came_by_ps) / 1e6 AS wait_us
		FROM store.run AS r JOIN store.link_bin AS b USING (run) JOIN store.link AS l USING (run, link)
		  JOIN store.run_parameter AS p USING (run)
		WHERE p.key = 'overhead'
		GROUP BY b.bin;
		$(sed -n "s/^\([0-9.]*\) \([0-9.]*\) \(.*\)/INSERT INTO phase VALUES ('\3', \1, \2);/p" "$captures/$1")
		UPDATE phase SET begin_s = begin_s - late, end_s = end_s - late
		FROM (SELECT (json_extract(input_summary, '\$.first_at_ns') - $first) / 1e9 AS late FROM store.run);
	END
}

# ask SQL queries the store, with the tables of read_phases.
ask() {
	sqlite3 -cmd "ATTACH '$scratch/phases.db' AS phases" "$store" "$1"
}

# The phase files have the times of one rank. Others begin up to 5 ms earlier, and frames that are
# injected slower than captured go on after the end; phases are at least 15 ms apart.
in_phase="at_s BETWEEN begin_s - 0.006 AND end_s + 0.006"

# bytes_in PATTERN and wait_in PATTERN print the bytes and the wait in phases of that name.
bytes_in() {
	ask "SELECT coalesce(sum(bytes), 0) FROM moment JOIN phase ON $in_phase WHERE name LIKE '$1'"
}
wait_in() {
	ask "SELECT coalesce(round(sum(wait_us)), 0) FROM moment JOIN phase ON $in_phase WHERE name LIKE '$1'"
}

# is WHAT GOT WANTED and within WHAT GOT LEAST MOST fail unless the value is as expected.
is() {
	[[ $2 == "$3" ]] || {
		echo "$1: $2, expected $3"
		exit 1
	}
}
within() {
	awk -v got="$2" -v least="$3" -v most="$4" 'BEGIN { exit !(got >= least && got <= most) }' || {
		echo "$1: $2, expected $3 to $4"
		exit 1
	}
}

# size NODES PAIRS checks how many nodes and pairs took part.
size() {
	is "nodes" "$(ask "SELECT count(*) FROM node WHERE name <> ''")" "$1"
	is "pairs" "$(ask "SELECT count(*) FROM (SELECT DISTINCT source, destination FROM flow)")" "$2"
	is "complete" "$(ask "SELECT complete FROM run")" 1
}
