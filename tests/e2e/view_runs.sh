# The runs of a store within the window: the list by words, the keys, what stays from one run to the
# next, and a second run to compare with. The points of a sweep stand there by their settings.
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
