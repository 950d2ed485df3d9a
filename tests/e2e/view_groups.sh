# The matrix of a large network: groups of switches whose figures are those of SQL, opened by a click, the wheel or
# a selection, and closed again.
set -eu
export SDL_VIDEODRIVER=dummy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$TAILBACK" synth uniform --nodes 1024 --message 1K --messages 2 -o large.goal
"$TAILBACK" replay large.goal -n qsnet,levels=5 -q -o large.db

cat >steps <<'END_OF_STEPS'
resize 1280 900
expect the whole network: in a box left the worst, right the mean, of switches and their links; click opens it
expect 16 a box
# So many groups that they have their names and numbers; where even few have no room for these, four times as many.
# A name does not read as a range of what is no range.
expect 0.240
expect 4.15 +15
expect every 16th
refuse to 4.
resize 1280 500
refuse 16 a box
refuse 0.240
resize 1280 900
expect 0.240
hover 100 500
expect 16 switches: 1.0 to 1.15
hover 100 220
expect 16 switches: 4.0, 4.16, 4.32 and so on to 4.240
hover 100 500
expect switches: at most
expect on average
click 100 500
expect a subtree of level
expect Esc goes back
refuse the whole network
key Escape
expect the whole network
wheel 100 500 1
expect a subtree of level
wheel 100 500 -1
expect the whole network
# the top has no subtree of its own: its switches alone
click 100 220
expect switches of level 4
key Escape
expect the whole network
END_OF_STEPS
"$TAILBACK" view large.db --script steps

# The worst and the mean of the first group of leaves, as text and in SQL.
figures=$("$TAILBACK" matrix large.db | awk '/^level 0/ {at = NR} at && NR == at + 2 {print $1, $2}')
wanted=$(sqlite3 large.db "SELECT printf('%.0f %.0f', max(percent), avg(percent)) FROM congestion_matrix
	WHERE level = 0 AND side = 'switch' AND CAST(substr(switch, 3) AS INTEGER) < 16")
[[ $figures == "$wanted" ]] || {
	echo "the first group of leaves is $figures, in SQL $wanted"
	exit 1
}

# Two large runs side by side: groups, too, and a click selects the switch that changed most.
"$TAILBACK" replay large.goal -n qsnet,levels=5,ascent=random -q -o other.db
printf 'resize 1280 900\nexpect Two runs\nwheel 120 300 14\nclick 120 300\nexpect Switch\nkey Escape\nrefuse Switch\n' |
	"$TAILBACK" view large.db other.db --script -

# Of two shapes too: each has its groups.
"$TAILBACK" replay large.goal -n qsnet,levels=5,taper=2 -q -o tapered.db
printf 'resize 1280 900\nexpect a box\nrefuse loses\nclick 90 300\nexpect Switch\n' |
	"$TAILBACK" view large.db tapered.db --script -

# A job on a part of a network: a level of which it used half or less shows that part.
"$TAILBACK" synth uniform --nodes 16 --message 1K --messages 2 -o part.goal
"$TAILBACK" replay part.goal -n qsnet,levels=3 -q -o part.db
printf 'expect 4 of 16\nexpect the others carried nothing\n' | "$TAILBACK" view part.db --script -

# What a store lacks of congestion trees comes with the command that keeps it.
"$TAILBACK" replay part.goal -n qsnet,levels=3 --no-blame -q -o lacks.db
printf 'key F6\nexpect ran with --no-blame\nexpect tailback replay part.goal --network qsnet,levels=3 --seed 1 -o again.db\nkey F7\nexpect -o again.db\n' |
	"$TAILBACK" view lacks.db --script -
sqlite3 part.db 'DELETE FROM tree_bin'
printf 'key F6\nexpect The store has no link of this tree\nexpect tailback replay part.goal --network qsnet,levels=3 --seed 1 -o again.db\n' |
	"$TAILBACK" view part.db --script -

# The legends of tree and flows say what the full shade is; absolute numbers do so themselves.
"$TAILBACK" view part.db --script - <<'END_OF_STEPS'
key F3
expect shade: wait of a link, 100 % is
key F5
expect shade: bytes, 100 % is
key %
refuse 100 % is
key F3
refuse 100 % is
END_OF_STEPS

# Blame names hosts in full, at the sides of the square, too, where that leaves it wide enough.
"$TAILBACK" synth alltoall --nodes 64 --size 64K -o hosts.goal
"$TAILBACK" replay hosts.goal -n "$TB_SOURCE/tests/data/dgx-ndr.ibnetdiscover.zst" -q -o hosts.db 2>notes
"$TAILBACK" view hosts.db --script - <<'END_OF_STEPS'
resize 1280 720
key F7
expect dgx-01-c12 HCA-2 > dgx-01-c03 HCA-1
refuse HCA-2 > ..
dump broken
resize 1920 1080
expect dgx-02-c07 HCA-6 >
dump wide
resize 800 500
refuse HCA-2 >
expect at least
dump narrow
END_OF_STEPS
# Above a narrow column a name breaks at its blank.
if grep -q '"dgx.*HCA-[0-9] >"' narrow || ! grep -q 'sans 10.0c "dgx-01-c[0-9]*"' broken ||
	! grep -q 'sans 10.0c "HCA-[0-9] >"' broken; then
	echo "the square of blame has names where it has no room, or numbers where it has"
	exit 1
fi
# Own fabrics have their names: of switches above the boxes of the matrix, of hosts below the tree.
"$TAILBACK" view hosts.db --script - <<'END_OF_STEPS'
resize 1280 720
dump matrix
key F3
dump tree
END_OF_STEPS
if ! grep -q '"IBSPINE-02"$' matrix || ! grep -q '"dgx-[^"]* HCA-[0-9]"$' tree; then
	echo "switches or hosts of a fabric have no names"
	exit 1
fi

# In a terminal and on paper, too.
"$TAILBACK" matrix hosts.db --width 80 | grep -q '^IBSPINE-01 *IBSPINE-02 '
"$TAILBACK" matrix large.db --width 80 | grep -q '^4.0 +15 *4.4 +15 '
"$TAILBACK" matrix large.db --width 80 | grep -q '^level 4 (top): 16 switches a box, every 16th$'
"$TAILBACK" matrix large.db -f svg -o large.svg
grep -q '>4.16 +3<' large.svg
"$TAILBACK" report large.db -o large.html
grep -q '>4.16 +3<' large.html

# The links of a switch that has many are wrapped, so that they have numbers: in the matrix, beside another run, and in
# a terminal.
"$TAILBACK" synth uniform --nodes 64 --message 64K --messages 2 -o star.goal
"$TAILBACK" replay star.goal -n ib-ndr,arity=64,levels=1 -q -o star.db
"$TAILBACK" replay star.goal -n ib-hdr,arity=64,levels=1 -q -o star2.db
"$TAILBACK" view star.db star2.db --script - <<'END_OF_STEPS'
resize 1280 720
dump two
key F2
dump one
END_OF_STEPS
numbers() { grep -c '"[0-9<]*"$' "$1"; }
if (($(numbers one) < 128 || $(numbers two) < 384)) || [[ $("$TAILBACK" matrix star.db --width 80 | awk 'NF == 16' | wc -l) != 8 ]]; then
	echo "a switch of 64 nodes has no numbers"
	exit 1
fi

# Congestion trees list who waited with what is sure and what is not, as blame does; two bars say what the run time is
# made of: along the critical path, with the shares of the view of ranks, and by bounds.
"$TAILBACK" view hosts.db --script - <<'END_OF_STEPS'
key F6
expect at most
expect Who waited
refuse ≤
key F9
expect Along the critical path:
expect By bounds, whatever the path
expect crossing the network, as if it were idle
END_OF_STEPS

# A low window shows less instead of one thing over another, and the tab of the view with its neighbours.
"$TAILBACK" view large.db other.db --size 1280x720 --scale 2 --script - <<'END_OF_STEPS'
expect Pair
refuse wait of a link
refuse Links whose wait changed most
key F7
refuse Flow against flow
expect Who waited
key F11
expect Levels
refuse Matrix
END_OF_STEPS

# Blame says when it is but a sample of the wait, and a run without wait what else there is to see.
"$TAILBACK" synth uniform --nodes 1024 --message 4K --messages 6 -o busy.goal
"$TAILBACK" replay busy.goal -n qsnet,levels=5 -q -o busy.db
printf 'key F7\nexpect a sample: the store keeps 5.9 %% of the wait by flow\n' | "$TAILBACK" view busy.db --script -
"$TAILBACK" synth ping --nodes 16 --message 1K --messages 1 -o ping.goal
"$TAILBACK" replay ping.goal -n qsnet,levels=2 -q -o ping.db
printf 'expect 3 shows how busy\nkey 3\nrefuse 3 shows how busy\n' | "$TAILBACK" view ping.db --script -

# More ranks than have room are groups, of which a click shows each; they are scrolled to, by keys and by the wheel over
# their names; findings scroll, too. A key without a meaning in a view says what it is for.
"$TAILBACK" view hosts.db --script - <<'END_OF_STEPS'
resize 1280 720
key F11
expect Groups of 8 ranks
expect ranks 56 to 63
expect height: share of ranks
hover 400 250
expect a click shows each
click 400 300
expect of 64 ranks
expect rank 32
refuse rank 31
refuse rank 56
key f
expect ranks 56 to 63
key s
key s
key s
key s
expect rank 40
expect of 64 ranks
refuse Groups of
wheel 60 300 30
expect rank 0
refuse rank 40
key f
expect Groups of 8 ranks
key g
expect Rows by wait for others
key F9
expect Findings
key s
key s
refuse nothing to do here
key e
expect nothing to do here: tree: open or shut
END_OF_STEPS
