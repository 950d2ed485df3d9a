# Two runs side by side in the viewer: of one shape with their difference, of two shapes with what
# differs, of one store, and one that ends earlier.
set -eu
export SDL_VIDEODRIVER=dummy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$TAILBACK" synth bit-reversal --nodes 64 --message 4K --messages 2 -o job.goal
"$TAILBACK" replay job.goal -q -o a.db
"$TAILBACK" replay job.goal -n qsnet,ascent=deterministic -q -o b.db
"$TAILBACK" replay job.goal -n qsnet,arity=2,levels=6 -q -o c.db

cat >steps <<'END'
expect Two runs
expect B − A
expect b.db, run 1
expect Links whose wait changed most
expect ascent: adaptive, then deterministic
# What changed in words, above all else; the two strips share their scales.
expect Headers wait 7.1 times as long (6.552 ms against 923.4 us) in B as in A
expect Job job.goal loses
expect headers wait at once
dump whole
# One zoom for all, and back.
wheel 150 250 4
drag 150 250 130 230
dump zoomed
key f
hover 2 300
dump again
# One window of time, and one metric.
key .
refuse (whole run)
key 4
expect Links whose bytes changed most
key 1
key 0
# What is selected among the movers is so everywhere.
click 60 510
expect Throughput
key Escape
# The other views are there, and this one again.
key F2
refuse B − A
key F8
expect B − A
key t
screenshot pair.png
key q
END
"$TAILBACK" view a.db b.db --script steps
cmp whole again
if cmp -s whole zoomed; then
	echo "the wheel did not zoom"
	exit 1
fi

# The longer run first: the other has ended before its last window.
printf 'key .\nkey End\nexpect ended before this window\n' | "$TAILBACK" view b.db a.db --script -
# Networks of two shapes have no difference of matrices.
printf 'expect arity: 4, then 2\nrefuse B − A\nwheel 150 250 4\nkey F8\nclick 500 150\n' |
	"$TAILBACK" view a.db c.db --script -
printf 'expect Headers wait 85.9 %% less\nexpect −\nrefuse -10\n' | "$TAILBACK" view b.db a.db --script -
# The longer run reaches the end of the strips, the shorter one does not: of A and B, as "x y width".
printf 'dump strips\n' | "$TAILBACK" view a.db b.db --script -
ends=$(awk '$1 == "rect" && $3 > 380 && $3 < 460 && $4 < 3 {row = $3 + $5 < 431 ? "A" : "B"; if ($2 > end[row]) end[row] = $2}
	END {print (end["A"] < 600 && end["B"] > 850)}' strips)
[[ $ends == 1 ]] || { echo "the strips of two runs do not share a scale of time"; exit 1; }
# Two runs of one store.
"$TAILBACK" replay job.goal -n qsnet,ascent=deterministic -q -o a.db
printf 'expect a.db, run 1\nexpect a.db, run 2\n' | "$TAILBACK" view a.db --run 1 --run 2 --script -
# Alone there is no such view.
printf 'refuse Two runs\nkey F8\nrefuse B − A\n' | "$TAILBACK" view a.db --script -

# What cannot be opened is told, with the exit code of a failure.
code=0
"$TAILBACK" view a.db nothing.db --script /dev/null 2>err || code=$?
[[ $code == 1 ]] && grep -q 'nothing.db: cannot be opened' err
