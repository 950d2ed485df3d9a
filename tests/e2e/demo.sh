# ./dev demo shows what runs come to and leaves stores, a report and pictures that are what they say.
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
sed -n 4p "$scratch/out" | grep -q '^The run took .*: .* ms held up\|^The run took .*: [0-9]' || fail "the first thing said is not what the run comes to"
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
# Adaptive routing takes less than two thirds, as the tour says.
says() {
	local told
	told=$(sqlite3 fabric.db "SELECT printf('$1', simulated_ps / $2) FROM run WHERE run = $3")
	tr '\n' ' ' <"$TB_SOURCE/docs/tour.md" | grep -qF -- "$4$told$5" || fail "docs/tour.md does not say '$4$told$5'"
}
says '%.2f ms' 1e9 1 'A ring all-reduce of 64 ranks takes ' ', with'
says '%.2f ms' 1e9 2 'with adaptive routing ' ': the tables cost it 40 %'
[[ $(<report.html) == *"$(<"$TB_SOURCE/docs/pictures/matrix.svg")"* ]] ||
	fail "docs/pictures/matrix.svg is no longer the report's figure: CONTRIBUTING.md says how to renew the pictures"
"$TAILBACK" matrix run.db >/dev/null || fail "the job's run is not there"
"$TAILBACK" report capture.db >/dev/null || fail "the capture's run is not there"
