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
view() { timeout 300 "$TAILBACK" view "$@"; }
"$TAILBACK" synth bit-reversal --nodes 64 --message 64K --messages 2 -o job.goal

cat >steps <<'END'
expect job.goal is a trace
expect qsnet
expect 64
refuse Hot links
await the trace has 64
refuse Time scale
key Return
expect Replaying job.goal
expect on qsnet; 
await Hot links by wait
outlast not ended
refuse replaying
expect job.goal on qsnet, 64 nodes
key .
refuse (whole run)
screenshot run.png
END
view job.goal --script steps
[[ -s run.png ]]

# A network that is too small: told, and another can be chosen, here with a click.
cat >steps <<'END'
await the trace has 64
key Down
key Left
expect the trace has 64: too few
key Return
await 64 ranks
expect is a trace
click 637 329
refuse too few
click 420 370
expect Replaying
await Hot links by wait
expect on qsnet, 64 nodes
END
view job.goal --script steps

# A capture, by its first bytes; one that is none; one that is cut short.
cp "$TB_SOURCE/tests/data/alltoall16.pcap.zst" capture.pcap.zst
# The network that was recorded comes first.
printf 'expect is a trace\nawait as recorded\nexpect ethernet,rate=\nkey Left\nrefuse as recorded\n' |
	view capture.pcap.zst --script -
# It has a time scale: by steps, typed, or the one to try where the capture asks for little. Another
# network is another load.
"$TAILBACK" info --json capture.pcap.zst | sed -n 's/.*"half_scale": \([0-9.]*\).*/\1/p' >half
try=$(printf '%.3g' "$(cat half)")
cat >steps <<END
await the trace has 16
expect Time scale
key Down
key Down
key Left
expect 0.5
key Right
key Right
expect 2
expect asks for 4.94 % of what its link carries
refuse little of this network
type 50
expect 50_
expect At this scale the busiest node asks for 0.198 %
expect That is little of this network
expect Use $try (h)
type h
expect $try
expect asks for 49.9 %
refuse little of this network
key Up
key Up
key Right
expect qsnet2
outlast asks for 49.9 %
key Left
key Return
expect Replaying
await Hot links
outlast not ended
expect on qsnet, 16 nodes
dump replayed
END
view capture.pcap.zst -n qsnet --script steps
"$TAILBACK" replay capture.pcap.zst -q --time-scale "$try" -o same.db
took=$("$TAILBACK" info same.db | sed -n 's/ *simulated *\(.*\) in .*/\1/p')
grep -q "$took" replayed
# What is given on the command line stands in the form; what has no row there is passed on.
cat >steps <<'END'
expect as given
expect qsnet,levels=2,ascent=deterministic
expect closed loop
expect also --dedup=no
key Return
expect Replaying
await on qsnet, 16 nodes
outlast not ended
key F9
expect were inferred from packets
END
view capture.pcap.zst --closed-loop --dedup=no -n qsnet,levels=2,ascent=deterministic --script steps
code=0
view same.db --from 1s --script /dev/null 2>err || code=$?
[[ $code == 1 ]] && grep -q 'same.db: is no trace: --from=1s' err
# A trace of calls has other rows. What a look into it finds missing is told, and can be typed.
cp "$TB_SOURCE/tests/fuzz/corpus/capture_kineto/overlap.json" rank0.json
cat >steps <<'END'
await there is no profile of 1
expect Library
refuse Time scale
key Up
key Up
key 2
await the trace has 2
expect 2_
refuse there is no profile
key Return
await Hot links by wait
outlast not ended
key F9
expect do what the others do
END
view rank0.json --script steps
printf 'num_ranks 2\nrank 0 {\nl1: send 5b to 7\n}\n' >broken
printf 'expect broken is a trace\nkey Return\nawait broken:\nrefuse Replaying\n' >steps
view broken --script steps
echo 'just a letter' >letter
code=0
view letter --script /dev/null 2>err || code=$?
[[ $code == 1 ]] && grep -q 'is no Tailback store' err

# The window is closed in the middle of a long replay.
"$TAILBACK" synth bit-reversal --nodes 64 --message 256K --messages 500 -o long.goal
cat >steps <<'END'
key Return
await replaying: 
await  left
expect (not ended)
refuse stopped early
key F5
refuse stopped early
key F9
expect Findings
refuse when it stopped
key q
END
view long.goal --script steps
[[ -z $(ls tmp) ]] || {
	echo "left behind: $(ls -R tmp)"
	exit 1
}

# What is called .bin may be anything: its first bytes tell. A flow list goes by its name.
printf 'expect is a trace\n' | view "$TB_SOURCE/tests/data/binary_tree_32.bin" --script -
printf 'Nodes 2\nConnections 1\n0->1 id 1 start 0 size 1000\n' >list.cm
printf 'expect list.cm is a trace\n' | view list.cm --script -
printf 'no trace at all\n' >junk.bin
if view junk.bin --screenshot junk.png 2>said; then
	echo 'junk was taken for a trace'
	exit 1
fi
grep -q 'junk.bin: is no Tailback store' said

# A folder may be a trace, too: of what a program's ranks called.
cp -r "$TB_SOURCE/tests/data/ring8" ring8
cat >steps <<'END'
expect ring8 is a trace
await the trace has 8
key Return
await Hot links by wait
outlast not ended
expect ring8 on qsnet
END
view ring8 --script steps
mkdir empty
if view empty --screenshot junk.png 2>said; then
	echo 'an empty folder was taken for a trace'
	exit 1
fi
grep -q 'empty: is a folder, no Tailback store' said
