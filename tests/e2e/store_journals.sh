# What stands beside a store comes from whoever made the store. Reading or writing one touches no file but its own: a
# journal that names another file, and one that is a link or no file, is refused in a sentence, and nothing has changed.
set -u
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir run
failed=0
export SDL_VIDEODRIVER=dummy

"$TAILBACK" synth bit-reversal --nodes 16 --message 16K --messages 2 -o job.goal || exit 1
"$TAILBACK" replay job.goal -n qsnet,levels=2 -q -o base.db || exit 1

# journal.py STORE SUPER [broken]: a hot journal beside the store, with its first page, that names SUPER.
cat >journal.py <<'PYTHON'
import os, struct, sys
store, name = sys.argv[1], sys.argv[2].encode()
first = open(store, "rb").read()
size = struct.unpack(">H", first[16:18])[0] or 65536
page, nonce, magic = first[:size], 0x12345678, bytes([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
header = (magic + struct.pack(">IIIII", 1, nonce, len(first) // size, 512, size)).ljust(512, b"\0")
check = (nonce + sum(page[i] for i in range(size - 200, 0, -200))) & 0xffffffff
record = struct.pack(">I", 1) + page + struct.pack(">I", check)
sums = sum(b if b < 128 else b - 256 for b in name) + (len(sys.argv) > 3)
tail = struct.pack(">I", 0x40000000 // size + 1) + name + struct.pack(">II", len(name), sums & 0xffffffff) + magic
open(store + "-journal", "wb").write(header + record + (tail if name else b""))
PYTHON

# fresh: run/ has the store and the file that is not to be touched.
fresh() {
	rm -rf run
	mkdir run
	cp base.db run/run.db
	printf '\0precious\n' >run/victim
}

# refuses PATTERN COMMAND...: it fails with one sentence, and all in run/ is as it was.
refuses() {
	local pattern=$1 code=0
	shift
	find run -printf '%p %y %s %n %l\n' | sort >before
	cat run/run.db run/victim | sha256sum >>before
	timeout 60 "$@" >out 2>err || code=$?
	find run -printf '%p %y %s %n %l\n' | sort >after
	cat run/run.db run/victim | sha256sum >>after
	if [[ $code != 1 ]] || ! grep -q "$pattern" err || [[ $(wc -l <err) != 1 ]] || ! cmp -s before after; then
		echo "$*: exit $code, says '$(cat err)', expected '$pattern'"
		diff before after
		failed=1
	fi
}

others='journal beside it that names another file'
for name in "$scratch/run/victim" run/victim run/absent run/run.db "$scratch/run/run.db" \
	"$scratch/run/run.db-journal" run/run.db-wal /etc/passwd; do
	fresh
	python3 journal.py run/run.db "$name"
	refuses "$others" "$TAILBACK" info run/run.db
done
fresh
python3 journal.py run/run.db run/victim broken
refuses "$others" "$TAILBACK" info run/run.db
fresh
python3 journal.py run/run.db "$scratch/run/victim"
refuses "$others" "$TAILBACK" report --full run/run.db
refuses "$others" "$TAILBACK" matrix run/run.db
refuses "$others" "$TAILBACK" top --once run/run.db
refuses "$others" "$TAILBACK" compare run/run.db base.db
refuses "$others" "$TAILBACK" timeline run/run.db
refuses "$others" "$TAILBACK" advise run/run.db
refuses "$others" "$TAILBACK" view run/run.db --screenshot out.png
refuses "$others" "$TAILBACK" replay job.goal -n qsnet,levels=2 -q -o run/run.db
refuses "$others" "$TAILBACK" merge run/run.db base.db -o merged.db
ln -s run.db run/link
refuses "$others" "$TAILBACK" info run/link

# Beside it stands a link, a second name of another file, a pipe or a folder.
links='is a link, has a second name or is no file'
for end in journal wal; do
	for make in "ln -s victim" "ln -s absent" "ln run/victim" mkfifo mkdir; do
		fresh
		# shellcheck disable=SC2086
		$make run/run.db-$end
		[[ $make == "ln -s absent" ]] && { # as if there were none
			"$TAILBACK" info run/run.db >/dev/null || failed=1
			continue
		}
		refuses "$links" "$TAILBACK" info run/run.db
		refuses "$links" "$TAILBACK" replay job.goal -n qsnet,levels=2 -q -o run/run.db
	done
done
fresh
sqlite3 run/run.db 'PRAGMA journal_mode = WAL' >/dev/null
ln run/victim run/run.db-shm
printf x >run/run.db-wal
refuses "$links" "$TAILBACK" info run/run.db

# A journal of its own is rolled back, and a write-ahead log is read, as ever.
fresh
python3 journal.py run/run.db ""
printf 'X' | dd of=run/run.db bs=1 seek=300 conv=notrunc status=none
"$TAILBACK" info run/run.db >out || failed=1
cmp run/run.db base.db && [[ ! -e run/run.db-journal ]] || { echo "a journal of its own"; failed=1; }
fresh
python3 - <<'PYTHON'
import os, shutil, sqlite3
db = sqlite3.connect("run/run.db", isolation_level=None)
db.execute("PRAGMA journal_mode = WAL")
db.execute("UPDATE run SET input_name = 'of the log'")
shutil.copy("run/run.db", "copy"); shutil.copy("run/run.db-wal", "wal")
db.close()
os.replace("copy", "run/run.db"); os.replace("wal", "run/run.db-wal")
PYTHON
"$TAILBACK" info run/run.db | grep -q 'of the log' || { echo "a log of its own"; failed=1; }
[[ $(ls run) == $'run.db\nrun.db-shm\nrun.db-wal\nvictim' || $(ls run) == $'run.db\nrun.db-wal\nvictim' ]] || { ls run; failed=1; }
exit $failed
