# From a hot link to who waits there, to a flow, to its messages, and back, as a user would by keys.
set -eu
export SDL_VIDEODRIVER=dummy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$TAILBACK" replay "$TB_SOURCE/tests/data/bit_reversal_64.goal" -n qsnet,levels=3,ascent=deterministic -o run.db -q

cat >steps <<'END_OF_STEPS'
resize 1280 1400
# the hottest link, and who waits there
key n
expect who waited here, and for whom
expect it, by bytes
# the last row: a flow that crosses it
key k
key Return
expect messages: payload, latency
expect < link
# its first message: from, to and job come before
key j
key j
key j
key j
key Return
refuse (whole run)
key Escape
key Escape
expect Throughput
key Escape
expect Click a switch or a link
key Escape
expect (whole run)
# a switch lists who waited there too
key /
type switch 0.5
key Return
expect who waited here, and for whom
key Escape
# who waits for whom, in the run and in a window
key F7
expect arrived over
key .
key ]
expect the slices of time that the window touches
refuse arrived over
key 0
expect arrived over
key F2
# routes between two nodes
key /
type node 5
key Return
key x
key /
type node 40
key Return
expect node 5 > node 40
key Escape
key Escape
# a brush
key F10
key Right
expect Brushed links by wait
expect switches sum all links
key F6
expect Brushed roots by what they hold up
key u
expect Hot links by wait
END_OF_STEPS
"$TAILBACK" view run.db --scale 1 --script steps
