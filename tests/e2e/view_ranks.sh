# The view of ranks, as a user would use it: the path and the ranks, a step that was held up selects its link, and the
# wheel zooms the axis itself, down to one bin.
set -eu
export SDL_VIDEODRIVER=dummy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$TAILBACK" replay "$TB_SOURCE/tests/data/bit_reversal_64.goal" -n ib-hdr -o run.db -q
"$TAILBACK" replay "$TB_SOURCE/tests/data/alltoall16.pcap.zst" -n ib-hdr -o packets.db -q

cat >steps <<'END_OF_STEPS'
resize 1280 900
key F11
# who held up whom is known of the links by which packets came
key b
expect Critical path of the run
expect 52.9 % held up in the network
expect rank 16
refuse rank 15
# each has its row
key w
expect rank 15
expect waits until the other sends
expect (whole run)
expect 75.46 us
# a step of rank 15 that was held up, and back from its link: the row of the link below the ranks
click 220 354
expect node 15 > 0.0
expect spans that it held up
key Escape
refuse spans that it held up
key n
expect spans that it held up
key Escape
hover 400 246
expect rank 5 sends to rank 40
# a span, the link that held it up, and back to a span of it, and all the way
click 400 246
expect links that held it up
key j
key Return
expect rank 5 sends to rank 40
expect spans that it held up
expect rank 40 receives from rank 5
key j
key j
key j
key Return
expect links that held it up
key Escape
expect spans that it held up
key Escape
expect links that held it up
key Escape
refuse links that held it up
# the order of the rows
expect Rows by job and rank
key g
expect rank 20, 551.9 ns
click 840 105
expect Rows by time of end
expect rank 15, 75.46 us
key g
refuse rank 15, 75.46 us
# the wheel, over the ranks
wheel 600 340 1
refuse (whole run)
key f
key 0
expect (whole run)
key =
refuse (whole run)
key Right
key Left
key -
expect (whole run)
# the link by which most came that waited is the one that held the path up: it has the lowest rows
key n
expect spans that it held up
key t
expect rank 16
END_OF_STEPS
"$TAILBACK" view run.db --script steps

# Along the top of the rows are the calls, where a job was made of calls.
"$TAILBACK" replay "$TB_SOURCE/tests/data/nccl/two-hosts.log" -n ib-ndr -o calls.db -q
printf 'resize 1280 900\nkey F11\nexpect allreduce\nhover 400 195\nexpect rank 0 calls allreduce (nccl-tree), 4 MiB\nclick 400 195\nexpect no link is known\n' |
	"$TAILBACK" view calls.db --script -
printf 'resize 1280 900\nkey F11\nexpect rank 16\nrefuse allreduce\n' | "$TAILBACK" view run.db --script -

# A picture of a view; one of which the run has nothing is refused.
"$TAILBACK" view run.db --view ranks --size 1280x900 --screenshot ranks.png
printf 'resize 1280 900\nkey F11\nscreenshot key.png\n' | "$TAILBACK" view run.db --script -
cmp ranks.png key.png
if "$TAILBACK" view packets.db --view ranks --screenshot none.png 2>said; then exit 1; fi
grep -q "the view 'ranks' has nothing to show: the run has no ranks" said
[[ ! -e none.png ]]

printf 'key F11\nrefuse Critical path\nexpect the run has no ranks\n' | "$TAILBACK" view packets.db --script -
# what ranks of a capture did between its messages is not known to be computation
"$TAILBACK" replay "$TB_SOURCE/tests/data/alltoall16.pcap.zst" --closed-loop -n ib-hdr -o loop.db -q
printf 'key F11\nexpect own time\nrefuse computes\nexpect on Ethernet: -n recorded\n' | "$TAILBACK" view loop.db --script -
