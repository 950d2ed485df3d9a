# ./dev demo shows a matrix and leaves a store, a report and pictures that are what they say.
set -eu
fail() {
	echo "$*"
	cat "$scratch/out"
	exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset DISPLAY WAYLAND_DISPLAY
"$TB_SOURCE/dev" demo "$scratch/demo" >"$scratch/out" 2>&1 || fail "it failed"
grep -q 'Congestion matrix' "$scratch/out" || fail "no matrix was shown"
cd "$scratch/demo"
[[ $(head -c 15 run.db) == 'SQLite format 3' ]] || fail "run.db is no store"
[[ $(head -c 4 matrix.png | tail -c 3) == PNG ]] || fail "matrix.png is no PNG"
grep -q '</svg>' matrix.svg || fail "matrix.svg is no SVG"
grep -q '</svg>' report.html || fail "the report has no matrix"
grep -q '</html>' report.html || fail "the report is cut"
! grep -qE '(src|href)="https?:|@import|url\(http' report.html || fail "the report needs a network"
tr '\n' ' ' <"$scratch/out" | grep -q 'times the mean load' || fail "the fabric was not described"
grep -qE 'MF0;[AB][0-9]+-P1-IB(LEAF|SPINE)-[-0-9]+:MQM9701/U1:[0-9]+ > ' "$scratch/out" ||
	fail "no cable of the fabric was named"
grep -q 'A09-P1-IBLEAF-01-01' fabric.svg || fail "the fabric's matrix does not name its switches"
# Another placement changes what it costs by a few percent, adaptive routing by a third.
cost() { "$TAILBACK" info fabric.db | awk -v run="$1" '/^Run / { r = $2 } r == run && $1 == "simulated" { print $2 * ($3 == "ms" ? 1000 : 1) }'; }
awk -v order="$(cost 4)" -v random="$(cost 5)" -v adaptive="$(cost 6)" 'BEGIN {
	exit !(order > 1000 && random > 0.9 * order && adaptive < 0.75 * order) }' ||
	fail "the ring took $(cost 4), $(cost 5) and $(cost 6) us"
# What the tour states and shows of it is what came out.
says() {
	local told
	told=$(sqlite3 fabric.db "SELECT printf('$1', simulated_ps / $2) FROM run WHERE run = $3")
	tr '\n' ' ' <"$TB_SOURCE/docs/tour.md" | grep -qF -- "$4$told$5" || fail "docs/tour.md does not say '$4$told$5'"
}
says '%.0f us' 1e6 1 'An all-to-all takes ' ' in order'
says '%.0f us' 1e6 2 ' and ' ' at random'
says '%.0f us' 1e6 3 'With adaptive routing they take ' ''
says '%.2f ms' 1e9 4 'a ring all-reduce ' ' with either'
says '%.2f ms' 1e9 5 'a ring all-reduce ' ' with either'
says '%.2f ms' 1e9 6 ' and ' ': the tables cost'
[[ $(<report.html) == *"$(<"$TB_SOURCE/docs/pictures/matrix.svg")"* ]] ||
	fail "docs/pictures/matrix.svg is no longer the report's figure: CONTRIBUTING.md says how to renew the pictures"
"$TAILBACK" matrix run.db --run 1 >/dev/null || fail "the capture's run is not there"
"$TAILBACK" matrix run.db --run 2 >/dev/null || fail "the job's run is not there"
