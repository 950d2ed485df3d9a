# The dialog that opens files: folders, what is in them by its first bytes, typed paths and their
# completion, files opened lately. By keys and by clicks.
set -eu
export SDL_VIDEODRIVER=dummy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export XDG_STATE_HOME=$scratch/state HOME=$scratch/home
mkdir -p state/tailback home "here/a folder/inner" here/empty elsewhere
"$TAILBACK" synth bit-reversal --nodes 16 --message 4K --messages 2 -o here/job.goal
"$TAILBACK" replay here/job.goal -n qsnet,levels=2 -q -o here/first.db
"$TAILBACK" replay here/job.goal -q -o "here/a folder/second.db"
cp "$TB_SOURCE/tests/data/alltoall16.pcap.zst" here/capture.bin
cp here/first.db home/third.db
echo 'no trace' >here/letter.txt
mkfifo here/pipe
touch here/.hidden.db

# Damage, a folder instead of a store, what is gone: the rest of the list stands.
printf '%s\n' 'viewer 1280 720 0 0 0 0' "store 0 0 0 0 $scratch/home/third.db" 'store 0 0 0 0 relative.db' \
	'store 1 2' $'\xff\xfe\x01' "store 0 0 0 0 $scratch/gone.db" \
	"store 0 0 0 0 $scratch/here/first.db" "store 0 0 0 0 $scratch/here/job.goal" >state/tailback/view
cp state/tailback/view before

"$TAILBACK" view here/first.db --script - <<END
key Ctrl+O
expect Open: 
expect here/
# Lately, but not what is shown; then the folder.
expect $scratch/home/third.db
expect $scratch/here/job.goal
expect store, opened lately
refuse gone.db
refuse relative.db
expect folder above
expect a folder/
expect capture.bin
expect first.db
refuse letter.txt
refuse .hidden
refuse pipe
# Types.
key Ctrl+T
refuse capture.bin
expect first.db
key Ctrl+T
expect capture.bin
expect job.goal
key Ctrl+T
expect letter.txt
click 1000 81
expect stores and traces
refuse letter.txt
# Into a folder and up again, with Return.
type a f
expect a folder/
refuse first.db
key Return
expect here/a folder/
expect second.db
expect inner/
refuse opened lately
key Down
key Return
refuse Open: 
expect job.goal on qsnet, 64 nodes
key Ctrl+O
expect here/a folder/
key Down
expect second.db
key Escape
# Completion of typed paths, up to where they part.
key Ctrl+O
key Ctrl+U
type he
key Tab
expect here/
type a
key Tab
expect here/a folder/
key Tab
key Ctrl+U
type ~/th
key Tab
expect ~/third.db
key Return
expect job.goal on qsnet, 16 nodes
# What was opened lately is found by a part of its path.
key Ctrl+O
type job
expect $scratch/here/job.goal
refuse third.db
key Ctrl+U
type nowhere/at.db
key Return
expect not opened: nowhere/at.db: cannot be opened
# By clicks: the folder above, then a folder, then a file in it. Nothing is lost by a click beside.
key Ctrl+O
click 400 500
refuse Open: 
END
cmp before state/tailback/view # a test changes nothing that is remembered

# The folder above has a whole path, and a click opens.
cd here
"$TAILBACK" view first.db --script - <<END
key Ctrl+O
key Ctrl+U
expect folder above
type empty/
expect folder above
key Return
expect $scratch/here/
expect capture.bin
type capt
click 300 139
expect capture.bin is a trace
END
sed -i '/third/d' ../state/tailback/view
"$TAILBACK" view first.db --script - <<'END'
key Ctrl+O
expect job.goal
# Behind the recent one and the folder above.
click 300 191
expect a folder/
click 300 191
expect qsnet, 64 nodes
END

# A user's session remembers what it opened: it ends by a signal here.
rm ../state/tailback/view
"$TAILBACK" view job.goal 2>/dev/null &
pid=$!
# It ends in good order once it catches the signal.
until [[ /proc/$pid/exe -ef $TAILBACK ]] &&
	((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$pid/status) & 1 << ($(kill -l TERM) - 1))); do
	sleep 0.05
done
kill -TERM $pid
wait $pid || true
grep -q " $scratch/here/job.goal$" ../state/tailback/view
