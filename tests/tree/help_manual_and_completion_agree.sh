# Every command's --help, manual page and completion name the same options, so that none of them
# can fall behind.
set -u
command -v mandoc >/dev/null || {
	echo "skipped: no mandoc"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
differ() {
	echo "$*"
	failed=1
}

# names: the long options in a text, one a line, without those that argp gives to every command.
names() {
	grep -oE -- '(^|[^A-Za-z-])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' |
		grep -vxE -- '--(help|usage|version)' | sort -u
}

# filled PAGE: a manual page as it is installed, with the lists that the program fills in.
filled() { awk -v program="$TAILBACK" -f "$TB_SOURCE/packaging/manual.awk" "$TB_SOURCE/docs/man/$1"; }
filled tailback-replay.1 >"$scratch/replay"

completed() {
	(
		# shellcheck source=/dev/null
		. "$TB_SOURCE/packaging/tailback.bash"
		COMP_WORDS=("$TAILBACK" "$1" --)
		COMP_CWORD=2
		_tailback
		printf '%s\n' "${COMPREPLY[@]}"
	)
}

for command in $("$TAILBACK" --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Za-z].*/\1/p') plot merge; do
	page=$scratch/tailback-$command.1
	if ! filled "tailback-$command.1" >"$page"; then
		differ "$command: no manual page docs/man/tailback-$command.1"
		continue
	fi
	mandoc -T lint -W warning "$page" || differ "$command: the manual page has faults"
	grep -q "Xr tailback-$command 1" "$TB_SOURCE/docs/man/tailback.1" ||
		differ "$command: tailback(1) does not name it"

	# In --help and in the page an option is explained where a line begins with it.
	"$TAILBACK" "$command" --help --all | sed -n 's/^ *\(-.*\)/\1/; s/   .*//; /^-/p' | names >"$scratch/help"
	sed -n '/^\.It/s/Fl -/ --/gp' "$page" | names >"$scratch/manual"
	completed "$command" | names >"$scratch/completion"
	for other in manual completion; do
		diff "$scratch/help" "$scratch/$other" >"$scratch/diff" ||
			differ "$command: --help (<) and $other (>) differ:"$'\n'"$(cat "$scratch/diff")"
	done

	# The item of an option, in the page or in that of replay, names each word that it takes.
	while read -r option; do
		words=$("$TAILBACK" "$command" --words "$option" 2>/dev/null) || continue
		[[ -n $words ]] || continue
		item=$(awk -v option="-${option#--}" '/^\.It/ { at = 0 }
			/^\.It/ && $0 ~ "Fl " option "( |$)" { at = 1 } at' "$page" "$scratch/replay")
		for word in $words; do
			grep -qE -- "(^|[^a-z-])$word([^a-z-]|\$)" <<<"$item" || differ "$command $option: the manual page does not name $word"
		done
	done <"$scratch/help"
done
while read -r format; do
	grep -qiE -- "(^|[ (])$format" "$TB_SOURCE/docs/man/tailback.1" || differ "tailback(1) does not name the format $format"
done < <("$TAILBACK" replay --words TRACE)
exit "$failed"
