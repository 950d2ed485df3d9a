# The runs of a store within the window: the list by words, the keys, what stays from one run to the
# next, and a second run to compare with. The points of a sweep stand there by their settings. Two runs side by
# side: of one shape with their difference, of two shapes with what differs, of one store, and one that ends earlier.
set -eu
export SDL_VIDEODRIVER=dummy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$TAILBACK" synth bit-reversal --nodes 64 --message 4K --messages 2 -o job.goal
"$TAILBACK" replay job.goal -q -o a.db
"$TAILBACK" replay job.goal -n qsnet,ascent=deterministic -q -o a.db
"$TAILBACK" synth uniform --nodes 16 --message 4K --messages 9 -o small.goal
"$TAILBACK" replay small.goal -n qsnet,levels=2 -q -o a.db
view() { "$TAILBACK" view "$@" --script -; }

view a.db <<'END'
expect run 3 of 3
expect small.goal on qsnet, 16 nodes
# The list, with what was recorded of each run; the one that is shown is chosen.
key Ctrl+R
expect Run to show
expect qsnet,ascent=deterministic --seed 1
expect 64 nodes, waited 
expect 3 runs
key Escape
refuse Run to show
key Ctrl+R
type JOB determ
refuse qsnet --seed 1
key Return
expect run 2 of 3
expect job.goal on qsnet, 64 nodes
# View, metric, window and selection stay, where the other run has them.
key F3
key 4
key /
type 2.13
key Return
key .
dump second
expect Hot links by bytes
expect Bytes, 1 us to 3 us
key (
expect run 1 of 3
expect Hot links by bytes
expect Bytes, 1 us to 3 us
expect Switch
expect 2.13
key (
expect run 1 is the first of this store
key )
wait 6000
dump again
key )
expect run 3 of 3
refuse 2.13
key )
expect run 3 is the last of this store
# By clicks: the button in the head, and the second offer.
click 50 38
expect Run to show
click 400 165
expect run 2 of 3
# Two runs are shown once the other one is chosen.
key F8
expect 'Two runs' is not shown: there is no second run (Ctrl+D chooses one)
expect Hot links by bytes
key o
expect Links by name
# Side by side with another run, while the first one changes.
key Ctrl+D
expect Run to compare with
type 1
key Return
expect a.db, run 1
expect B − A
key )
expect a.db, run 3
expect a.db, run 1
refuse B − A
key (
expect B − A
END
cmp second again

# A store with one run has no list to choose from in its head.
"$TAILBACK" replay small.goal -n qsnet,levels=2 -q -o one.db
printf 'refuse run 1 of 1\nkey )\nexpect run 1 is the only one of this store\n' | view one.db

# Points of a sweep: only what differs among them. More than fit are scrolled to.
"$TAILBACK" sweep uniform --set nodes=16 --set load=0.5,1 --set warm=1ms --set window=1ms --set seed=1..8 -q -o s.db
view s.db --run 2 <<'END'
expect run 2 of 16: load=0.5 seed=2
key Ctrl+R
expect load=0.5 seed=1
refuse io_load
refuse load=1 seed=8
wheel 600 300 -1
expect load=1 seed=7
key Escape
key Ctrl+R
key PageDown
expect load=1 seed=6
key Up
key Return
expect run 13 of 16: load=1 seed=5
key Ctrl+R
key Up
key Up
key Escape
expect run 13 of 16
key Ctrl+R
type nothing
key Return
expect run 13 of 16
END

# Of one that goes on, those points that are there.
sqlite3 s.db 'DELETE FROM run WHERE run > 14'
printf 'key Ctrl+R\nexpect 14 runs, and 2 points without one\n' | view s.db --run 1

# Another run is offered first: the next one, or of the last the one before.
printf '%s\n' 'key Ctrl+D' 'key Return' 'expect a.db, run 3' 'expect a.db, run 2' | "$TAILBACK" view a.db --script -
printf '%s\n' 'key Ctrl+D' 'key Return' 'expect a.db, run 1' 'expect a.db, run 2' |
	"$TAILBACK" view a.db --run 1 --script -

# Two runs side by side.
mkdir pair
cd pair
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
expect packets wait 7.1 times as long (6.552 ms against 923.4 us)
# Each has its own window, and the links of the run that waits more are listed.
expect A is run
expect Hot links of B by wait
expect The run takes 90.6 % longer
refuse loses: it takes
expect packets wait at once
# What the shades stand for, and those of the difference in its own unit.
expect wait of a link, 100 % is
refuse +100 %
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
expect latency
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
# levels PICTURE lists the levels that are named, at which x. One list serves three matrices of one shape.
levels() { sed -n 's/^text \([0-9]*\).* bold .*"level \([0-9]\)"$/\1:\2/p' "$1" | paste -sd' '; }
[[ $(levels whole) == "16:2 16:1 16:0" ]] || { echo "the levels are named as '$(levels whole)'"; exit 1; }
if cmp -s whole zoomed; then
	echo "the wheel did not zoom"
	exit 1
fi

# The longer run first: the other has ended before its last window.
printf 'key .\nkey End\nexpect ended before this window\n' | "$TAILBACK" view b.db a.db --script -
# Networks of two shapes have no difference of matrices.
printf 'expect arity: 4, then 2\nrefuse B − A\ndump shapes\nwheel 150 250 4\nkey F8\nclick 500 150\n' |
	"$TAILBACK" view a.db c.db --script -
# The levels of each are named, where there is room, and each fills its part.
[[ $(levels shapes) == "16:2 16:1 16:0 477:5 "*"477:2 477:1 477:0" ]] || {
	echo "the levels of two shapes are named as '$(levels shapes)'"
	exit 1
}
printf 'expect packets wait 85.9 %% less\nexpect Hot links of A by wait\nexpect −\nrefuse -10\n' | "$TAILBACK" view b.db a.db --script -
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
