# A session of the viewer as a user would have it, under SDL's dummy driver: keys and clicks pass
# through SDL's event queue, and what is undone leaves the same picture.
set -eu
export SDL_VIDEODRIVER=dummy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$TAILBACK" replay "$TB_SOURCE/tests/data/bit_reversal_64.goal" -o run.db -q

cat >steps <<'END'
expect bit_reversal_64.goal on qsnet, 64 nodes
expect (whole run)
dump first
# A tooltip goes away with its view, and comes when the pointer moves again.
hover 450 264
expect switch 1.3
key F4
refuse switch 1.3
key F2
refuse switch 1.3
hover 451 264
expect switch 1.3
hover 2 300
refuse switch 1.3
# zoom, pan, fit
wheel 400 300 5
drag 400 300 300 250
dump zoomed
key f
hover 2 300
dump fitted
# themes, metrics
key t
key t
key 4
expect Hot links by bytes
key 1
dump themed
# size
resize 1600 900
dump large
resize 1280 720
dump sized
# selection from the list, a window, play
click 1100 102
expect latency
key .
refuse (whole run)
key Space
expect Pause
wait 60000
expect Play
key ?
expect play or pause the window over time
key Escape
key Escape
key Escape
expect (whole run)
hover 2 300
dump last
# As soon as somebody has looked on, and in every screenshot, the panel says what the run comes to.
refuse The run took
screenshot end.png
expect The run took
key Ctrl+S
expect Save the picture as
key Return
expect saved tailback-wait-1.png
key q
expect not reached
END
"$TAILBACK" view run.db --script steps --screenshot after.png

for again in fitted themed sized last; do
	cmp first $again
done
for other in zoomed large; do
	if cmp -s first $other; then
		echo "$other does not differ from the first picture"
		exit 1
	fi
done
for picture in end.png after.png tailback-wait-1.png; do
	[[ $(head -c 4 $picture | tail -c 3) == PNG ]]
done

# At another scale the pointer still hits what it is on.
printf '%s\n' 'click 600 102' 'expect from' |
	"$TAILBACK" view run.db --scale 2 --size 1600x1000 --script -

# Another store opens with the same settings; a file that is no store is reported.
"$TAILBACK" replay "$TB_SOURCE/tests/data/binary_tree_32.goal" -o other.db -q
cat >steps <<'END'
key F6
key Ctrl+O
type nothing.db
key Return
expect not opened: nothing.db: cannot be opened
expect bit_reversal_64.goal on qsnet
key Ctrl+O
type other.db
key Return
expect binary_tree_32.goal on qsnet
refuse bit_reversal_64.goal
expect Nothing to show: no packet waited
key Ctrl+E
key Ctrl+U
type roots.csv
key Return
expect exported roots.csv
key F4
key Ctrl+E
expect tailback-links-1.csv
key Ctrl+U
type links.csv
key Return
expect exported links.csv
# What is there stays.
key Ctrl+E
key Ctrl+U
type roots.csv
key Return
expect not exported: roots.csv: there is such a file already
key Ctrl+S
key Ctrl+U
type picture.gif
key Return
expect a picture's name must end in .png, .svg or .pdf
END
"$TAILBACK" view run.db --script steps
[[ $(head -c 15 links.csv) == rank,link,kind, ]]
[[ $(<roots.csv) == rank,root,wait_ps,percent,waits,links ]]

# The store is only read.
before=$(sha256sum run.db)
chmod a-w run.db
echo 'wait 100' | "$TAILBACK" view run.db --script -
[[ $(sha256sum run.db) == "$before" ]]
[[ ! -e run.db-wal && ! -e run.db-journal ]]

# A store that is still there is not reported as gone.
cat >steps <<'END'
wait 10
refuse the store is gone
END
"$TAILBACK" view run.db --script steps

# Without any font the window opens too and reports what is missing.
mkdir no_fonts
cat >fonts.conf <<END
<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>$scratch/no_fonts</dir><cachedir>$scratch/no_fonts</cachedir></fontconfig>
END
mv run.db kept.db
echo 'expect no font was found' |
	FONTCONFIG_FILE=$scratch/fonts.conf "$TAILBACK" view kept.db --script - --screenshot strokes.png
[[ $(head -c 4 strokes.png | tail -c 3) == PNG ]]

# From a hot link to who waits there, to a flow, to its messages, and back, as a user would by keys.
"$TAILBACK" replay "$TB_SOURCE/tests/data/bit_reversal_64.goal" -n qsnet,levels=3,ascent=deterministic -o drill.db -q
cat >steps <<'END_OF_STEPS'
resize 1280 1400
# the hottest link, and who waits there
key n
expect who waited here, and for whom
expect it, by bytes
# the last row: a flow that crosses it
key k
key Return
expect messages: posted to delivered, time, of it waited
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
expect latency
key Escape
refuse latency
expect simulated
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
"$TAILBACK" view drill.db --scale 1 --script steps

# Where packets queue at outputs, who waits for whom is told where hot links are: at the link that was waited for.
"$TAILBACK" replay "$TB_SOURCE/tests/data/bit_reversal_64.goal" -n ib-hdr,arity=4,levels=3 -o credits.db -q
cat >steps <<'END_OF_STEPS'
key F7
expect 0.1:4 > 1.0:1
refuse arrived over
refuse node 7 > 0.1
END_OF_STEPS
"$TAILBACK" view credits.db --scale 1 --script steps
