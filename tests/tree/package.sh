# The Debian packages install what they promise, and what they install runs.
set -eu
fail() {
	echo "$*"
	exit 1
}
for tool in cpack dpkg-deb dpkg-shlibdeps fakeroot mandoc; do
	command -v "$tool" >/dev/null || {
		echo "skipped: no $tool"
		exit 77
	}
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cpack -G DEB --config "$TB_BUILD/CPackConfig.cmake" -B "$scratch" >"$scratch/log" 2>&1 || {
	cat "$scratch/log"
	exit 1
}
deb=$(echo "$scratch"/tailback_*.deb)
root=$scratch/root
dpkg-deb -x "$deb" "$root"
dpkg-deb -f "$deb" Depends | grep -q 'libc6 (>=' || fail "no dependencies were found"

"$root/usr/bin/tailback" --version | grep -qx 'tailback [0-9.]*\(+[0-9a-f]*\(.dirty\)\?\)\?' || fail "it does not run"
# It finds its modules: what reads compressed input, and what draws pictures and the window.
capture=$root/usr/share/doc/tailback/examples/alltoall16.pcap.zst
"$root/usr/bin/tailback" replay "$capture" -o "$scratch/run.db" 2>"$scratch/said" || fail "$(cat "$scratch/said")"
"$root/usr/bin/tailback" matrix "$scratch/run.db" -o "$scratch/matrix.pdf" || fail "it draws no PDF"
"$root/usr/bin/tailback" view "$scratch/run.db" --screenshot "$scratch/view.png" || fail "it shows no window"
dpkg-deb -f "$deb" Depends | grep -q 'libarchive.*libcairo.*libsdl2' || fail "$deb depends on too little"
for command in $("$TAILBACK" --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Za-z].*/\1/p'); do
	[[ -s $root/usr/share/man/man1/tailback-$command.1.gz ]] || fail "no manual page for $command"
done
for page in "$root"/usr/share/man/man1/*.gz; do
	gzip -dc "$page" | mandoc -T lint -W warning || fail "$page is not clean"
done
for file in applications/tailback.desktop icons/hicolor/scalable/apps/tailback.svg \
	bash-completion/completions/tailback tailback/networks/qsnet.ini tailback/networks/qsnet2.ini tailback/sweeps/000-figure-13.ini doc/tailback/copyright \
	doc/tailback/changelog.gz doc/tailback/README.md doc/tailback/examples/alltoall16.pcap.zst doc/tailback/docs/slurm/shards.sh \
	tailback/tests/data/ring8/custom_allreduce.0.et.zst tailback/tests/real/data/whatif/ring8_50m.pcap.zst; do
	[[ -s $root/usr/share/$file ]] || fail "usr/share/$file is missing"
done
for schema in "$TB_SOURCE"/schemas/*.schema.json; do
	[[ -s $root/usr/share/tailback/$(basename "$schema") ]] || fail "$schema is not installed"
done
[[ $(find "$root" ! -user "$(id -un)" -o -perm -g+w ! -type l | wc -l) == 0 ]] ||
	fail "permissions are too wide: $(find "$root" -perm -g+w | head -n 3)"


# Without its module for MPI, which is a package of its own, the program refuses to be one of many.
OMPI_COMM_WORLD_SIZE=3 "$root/usr/bin/tailback" sweep latency -o "$scratch/none.db" 2>"$scratch/said" &&
	fail "it runs alone where mpirun started three"
grep -q 'package tailback-mpi' "$scratch/said" || fail "$(cat "$scratch/said")"
mpi=$(echo "$scratch"/tailback-mpi_*.deb)
if [[ -e $mpi ]]; then
	dpkg-deb -f "$mpi" Depends | grep -q 'tailback (= .*libopenmpi' || fail "$mpi depends on too little"
	dpkg-deb -f "$deb" Depends | grep -q mpi && fail "$deb depends on MPI"
	dpkg-deb -x "$mpi" "$root"
	. "$TB_SOURCE/tests/support/mpi.sh"
	use_mpi "$scratch"
	mpirun --oversubscribe -n 2 "$root/usr/bin/tailback" sweep latency -o "$scratch/mpi.db" 2>"$scratch/said" ||
		fail "$(cat "$scratch/said")"
	grep -q '1 run in' "$scratch/said" || fail "$(cat "$scratch/said")"
fi

# The tracers are packages of their own, each for its MPI, and the program finds them where they are.
for name in openmpi:libopenmpi mpich:libmpich; do
	tracer=$(echo "$scratch"/tailback-trace-"${name%%:*}"_*.deb)
	[[ -e $tracer ]] || continue
	dpkg-deb -f "$tracer" Depends | grep -q "tailback (= .*${name#*:}" || fail "$tracer depends on too little"
	"$root/usr/bin/tailback" trace --mpi "${name%%:*}" -o "$scratch/none.tbt" -- true 2>"$scratch/said" &&
		fail "it traces without a tracer"
	grep -q "package tailback-trace-${name%%:*}" "$scratch/said" || fail "$(cat "$scratch/said")"
	dpkg-deb -x "$tracer" "$root"
	"$root/usr/bin/tailback" trace --mpi "${name%%:*}" -o "$scratch/none.tbt" -- true 2>"$scratch/said" &&
		fail "it traces what is no MPI program"
	grep -q 'no process came through MPI_Init' "$scratch/said" || fail "$(cat "$scratch/said")"
done

DESTDIR=$scratch/installed cmake --install "$TB_BUILD" --prefix /usr >"$scratch/log" 2>&1 || {
	cat "$scratch/log"
	exit 1
}
diff <(cd "$root" && find . -type f | sort) <(cd "$scratch/installed" && find . -type f | sort) ||
	fail "cmake --install (>) and the package (<) differ"
