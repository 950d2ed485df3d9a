# Archives that are not to be trusted write nothing outside of their folder, which is gone whatever
# ends the program.
set -u
command -v python3 >/dev/null || {
	echo "skipped: no python3"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp in
export TMPDIR=$work/tmp
failed=0

# make MEMBER...: in/bad.tar with members KIND:NAME, of which f is a file, s and h are links, c a device.
make() {
	python3 - "$@" <<'PYTHON'
import io, sys, tarfile

kinds = {"f": tarfile.REGTYPE, "s": tarfile.SYMTYPE, "h": tarfile.LNKTYPE, "c": tarfile.CHRTYPE}
with tarfile.open("in/bad.tar", "w") as made:
    for member in sys.argv[1:]:
        kind, _, name = member.partition(":")
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kinds[kind], "/etc"
        info.size = 2 if kind == "f" else 0
        made.addfile(info, io.BytesIO(b"{}") if kind == "f" else None)
PYTHON
}

# refuse SENTENCE MEMBER...
refuse() {
	local sentence=$1
	shift
	make "$@"
	timeout 60 "$TAILBACK" info in/bad.tar >out 2>&1 && failed=1
	grep -qF -- "$sentence" out || {
		echo "expected '$sentence':"
		cat out
		failed=1
	}
	[[ -z $(ls tmp) && ! -e x && ! -e tmp/x && ! -e in/x ]] || {
		echo "left behind: $(ls . tmp in)"
		failed=1
	}
}

refuse "would lie outside" f:a/../../x
refuse "would lie outside" f:../x
refuse "would lie outside" "f:$work/x"
refuse "would lie outside" f:a//x
refuse "too deep" "f:$(printf 'd/%.0s' {1..40})x"
refuse "is a device" c:d
refuse "folder without a trace" s:x h:x f:y.txt f:z.txt
refuse "second time" f:a f:a
refuse "cannot be unpacked" f:a f:a/x
refuse "folder without a trace" f:a.txt f:b.txt
refuse "neither a store" # zeros alone

# A link is skipped, wherever it leads, and so is whatever it would have led outside; a note says so.
note() {
	local sentence=$1
	shift
	make "$@"
	printf 'num_ranks 1\nrank 0 {\ncalc 5\n}\n' >in/job.goal
	tar -C in -rf in/bad.tar job.goal 2>/dev/null
	timeout 60 "$TAILBACK" info in/bad.tar >out 2>&1 || failed=1
	grep -qF -- "$sentence" out && [[ -z $(ls tmp) && ! -e x && ! -e in/x && ! -e /etc/x ]] || {
		echo "expected '$sentence':"
		cat out
		failed=1
	}
}
note "1 link of the archive is skipped: 'x'" s:x
note "1 link of the archive is skipped: 'x'" h:x
note "3 links of the archive are skipped: '../x' ..." s:../x h:b s:/x

head -c 150000000 /dev/zero >in/zeros
tar -C in -czf in/bomb.tgz zeros
timeout 60 "$TAILBACK" info in/bomb.tgz >out 2>&1 && failed=1
grep -q "holds more than .* bytes" out || failed=1

# Cut off anywhere, even between two members.
tar -C "$TB_SOURCE/tests/data" --sort=name -cf in/ring.tar ring8
for n in 512 1024 1536 2048 2560 3000 $(($(stat -c %s in/ring.tar) / 2)); do
	head -c "$n" in/ring.tar >in/cut.tar
	timeout 60 "$TAILBACK" info in/cut.tar >out 2>&1 && {
		echo "taken: $n bytes of a tar"
		failed=1
	}
done
(cd "$TB_SOURCE/tests/data/recorded" && python3 -m zipfile -c "$work/in/run.zip" kineto_rank0.json kineto_rank1.json)
for ((n = 30; n < $(stat -c %s in/run.zip); n += 499)); do
	head -c "$n" in/run.zip >in/cut.zip
	timeout 60 "$TAILBACK" info in/cut.zip >out 2>&1 && {
		echo "taken: $n bytes of a zip"
		failed=1
	}
done

# Killed while it unpacks.
for _ in $(seq 20); do cat "$TB_SOURCE/tests/data/bit_reversal_64.goal"; done >in/large.goal
for _ in $(seq 6); do cat in/large.goal in/large.goal >in/twice && mv in/twice in/large.goal; done
tar -C in -czf in/large.tgz large.goal
"$TAILBACK" info in/large.tgz >out 2>&1 &
program=$!
for _ in $(seq 200); do
	[[ -n $(ls tmp) ]] && break
	sleep 0.02
done
kill -KILL "$program"
wait "$program" 2>/dev/null
for _ in $(seq 200); do
	[[ -z $(ls tmp) ]] && break
	sleep 0.05
done
[[ -z $(ls tmp) ]] || {
	echo "a killed program left $(ls tmp)"
	failed=1
}
exit $failed
