# A trace is opened in the viewer: a form asks for network, nodes and time scale, the replay runs beside
# the window, which shows how far it is and what it has so far; what goes wrong is told there, and
# nothing is left behind.
set -eu
export SDL_VIDEODRIVER=dummy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir tmp
export TMPDIR=$scratch/tmp
"$TAILBACK" synth bit-reversal --nodes 64 --message 64K --messages 2 -o job.goal

# waits N: steps that let the replay go on, by the clock, as long as it runs.
waits() {
	local i
	for ((i = 0; i < $1; i++)); do
		echo 'wait 100'
	done
}

{
	cat <<'END'
expect job.goal is a trace
expect qsnet
expect 64
refuse Hot links
END
	waits 300
	cat <<'END'
expect the trace has 64
refuse Time scale
key Return
expect Replaying job.goal
expect on qsnet; 
END
	waits 3000
	cat <<'END'
expect Hot links by wait
expect job.goal on qsnet, 64 nodes
refuse not ended
key .
refuse (whole run)
screenshot run.png
END
} >steps
timeout 120 "$TAILBACK" view job.goal --script steps
[[ -s run.png ]]

# A network that is too small: told, and another can be chosen, here with a click.
{
	waits 300
	printf 'key Down\nkey Left\nexpect the trace has 64: too few\nkey Return\n'
	waits 300
	printf 'expect 64 ranks\nexpect is a trace\nclick 637 329\nrefuse too few\nclick 420 370\nexpect Replaying\n'
	waits 300
	printf 'expect Hot links by wait\nexpect on qsnet, 64 nodes\n'
} >steps
timeout 120 "$TAILBACK" view job.goal --script steps

# A capture, by its first bytes; one that is none; one that is cut short.
cp "$TB_SOURCE/tests/data/alltoall16.pcap.zst" capture.pcap.zst
printf 'expect is a trace\n' | timeout 60 "$TAILBACK" view capture.pcap.zst --script -
# It has a time scale: by steps, typed, or the one to try where the capture asks for little. Another
# network is another load.
"$TAILBACK" info --json capture.pcap.zst | sed -n 's/.*"half_scale": \([0-9.]*\).*/\1/p' >half
try=$(printf '%.3g' "$(cat half)")
{
	waits 300
	cat <<END
expect the trace has 16
expect Time scale
key Down
key Down
key Left
expect 0.5
key Right
key Right
expect 2
expect asks for 4.94 % of what its link carries
refuse nothing to speak of
type 50
expect 50_
expect At this scale the busiest node asks for 0.198 %
expect That shows nothing to speak of
expect Use $try (h)
type h
expect $try
expect asks for 49.9 %
refuse nothing to speak of
key Up
key Up
key Right
expect qsnet2
END
	waits 300
	cat <<END
refuse asks for 49.9 %
key Left
key Return
expect Replaying
END
	waits 300
	printf 'expect Hot links\nexpect on qsnet, 16 nodes\ndump replayed\n'
} >steps
timeout 120 "$TAILBACK" view capture.pcap.zst --script steps
"$TAILBACK" replay capture.pcap.zst -q --time-scale "$try" -o same.db
took=$("$TAILBACK" info same.db | sed -n 's/ *simulated *\(.*\) in .*/\1/p')
grep -q "$took" replayed
# What is given on the command line stands in the form; what has no row there is passed on.
{
	printf 'expect as given\nexpect qsnet,levels=2,ascent=deterministic\nexpect closed loop\n'
	printf 'expect also --dedup=no\nkey Return\nexpect Replaying\n'
	waits 3000
	printf 'expect on qsnet, 16 nodes\nkey F9\nexpect were inferred from packets\n'
} >steps
timeout 120 "$TAILBACK" view capture.pcap.zst --closed-loop --dedup=no -n qsnet,levels=2,ascent=deterministic \
	--script steps
code=0
"$TAILBACK" view same.db --from 1s --script /dev/null 2>err || code=$?
[[ $code == 1 ]] && grep -q 'same.db: is no trace: --from=1s' err
# A trace of calls has other rows. What a look into it finds missing is told, and can be typed.
cp "$TB_SOURCE/tests/fuzz/corpus/capture_kineto/overlap.json" rank0.json
{
	waits 300
	printf 'expect Library\nrefuse Time scale\nexpect there is no profile of 1\n'
	printf 'key Up\nkey Up\nkey 2\n'
	waits 300
	printf 'expect 2_\nrefuse there is no profile\nexpect the trace has 2\nkey Return\n'
	waits 300
	printf 'key F9\nexpect do what the others do\n'
} >steps
timeout 120 "$TAILBACK" view rank0.json --script steps
printf 'num_ranks 2\nrank 0 {\nl1: send 5b to 7\n}\n' >broken
{
	printf 'expect broken is a trace\nkey Return\n'
	waits 300
	echo 'expect broken'
	echo 'refuse Replaying'
} >steps
timeout 60 "$TAILBACK" view broken --script steps
echo 'just a letter' >letter
code=0
"$TAILBACK" view letter --script /dev/null 2>err || code=$?
[[ $code == 1 ]] && grep -q 'is no Tailback store' err

# The window is closed in the middle of a long replay.
"$TAILBACK" synth bit-reversal --nodes 64 --message 256K --messages 500 -o long.goal
{
	waits 20
	echo 'key Return'
	waits 30
	cat <<'END'
expect replaying: 
expect  left
expect (not ended)
key q
END
} | timeout 60 "$TAILBACK" view long.goal --script -
[[ -z $(ls tmp) ]] || {
	echo "left behind: $(ls -R tmp)"
	exit 1
}

# What is called .bin may be anything: its first bytes tell. A flow list goes by its name.
printf 'expect is a trace\n' | timeout 60 "$TAILBACK" view "$TB_SOURCE/tests/data/binary_tree_32.bin" --script -
printf 'Nodes 2\nConnections 1\n0->1 id 1 start 0 size 1000\n' >list.cm
printf 'expect list.cm is a trace\n' | timeout 60 "$TAILBACK" view list.cm --script -
printf 'no trace at all\n' >junk.bin
if timeout 60 "$TAILBACK" view junk.bin --screenshot junk.png 2>said; then
	echo 'junk was taken for a trace'
	exit 1
fi
grep -q 'junk.bin: is no Tailback store' said

# A folder may be a trace, too: of what a program's ranks called.
cp -r "$TB_SOURCE/tests/data/ring8" ring8
{
	echo 'expect ring8 is a trace'
	waits 300
	printf 'expect the trace has 8\nkey Return\n'
	waits 3000
	printf 'expect Hot links by wait\nexpect ring8 on qsnet\n'
} >steps
timeout 120 "$TAILBACK" view ring8 --script steps
mkdir empty
if timeout 60 "$TAILBACK" view empty --screenshot junk.png 2>said; then
	echo 'an empty folder was taken for a trace'
	exit 1
fi
grep -q 'empty: is a folder, no Tailback store' said
