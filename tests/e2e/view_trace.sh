# A trace is opened in the viewer: networks are offered, the replay runs beside the window, its result
# is shown, what goes wrong is told there, and nothing is left behind.
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
expect qsnet,levels=4
refuse Hot links
key Return
expect Replaying job.goal
END
	waits 300
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
	printf 'key Up\nkey Return\n'
	waits 300
	printf 'expect 64 ranks\nexpect is a trace\nclick 500 260\nexpect Replaying\n'
	waits 300
	echo 'expect Hot links by wait'
} >steps
timeout 120 "$TAILBACK" view job.goal --script steps

# A capture, by its first bytes; one that is none; one that is cut short.
cp "$TB_SOURCE/tests/data/alltoall16.pcap.zst" capture.pcap.zst
printf 'expect is a trace\n' | timeout 60 "$TAILBACK" view capture.pcap.zst --script -
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
printf 'key Return\nwait 200\nkey q\n' | timeout 60 "$TAILBACK" view long.goal --script -
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
