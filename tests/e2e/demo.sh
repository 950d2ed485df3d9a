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
"$TAILBACK" matrix run.db --run 1 >/dev/null || fail "the capture's run is not there"
"$TAILBACK" matrix run.db --run 2 >/dev/null || fail "the job's run is not there"
