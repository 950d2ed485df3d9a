# The program starts without the libraries that only some commands need: they are loaded when a
# window opens, a picture is drawn or compressed input is read.
set -eu
needed=$(LD_TRACE_LOADED_OBJECTS=1 "$TAILBACK")
for library in SDL cairo fontconfig X11 archive xml2; do
	[[ $needed != *"lib$library"* ]] || {
		echo "it starts with lib$library"
		exit 1
	}
done
command -v valgrind >/dev/null || {
	echo "skipped: valgrind is not installed"
	exit 77
}
log=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$TAILBACK" --help 2>&1 >/dev/null)
n=$(sed -n 's/.*Collected : //p' <<<"$log")
((n > 100000 && n <= 8000000)) || {
	echo "--help executes $n instructions, more than 8,000,000"
	exit 1
}
