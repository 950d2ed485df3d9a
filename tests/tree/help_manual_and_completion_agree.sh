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

for command in $("$TAILBACK" --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Za-z].*/\1/p'); do
	page=$TB_SOURCE/docs/man/tailback-$command.1
	if [[ ! -e $page ]]; then
		differ "$command: no manual page docs/man/tailback-$command.1"
		continue
	fi
	mandoc -T lint -W warning "$page" || differ "$command: the manual page has faults"
	grep -q "Xr tailback-$command 1" "$TB_SOURCE/docs/man/tailback.1" ||
		differ "$command: tailback(1) does not name it"

	# In --help and in the page an option is explained where a line begins with it.
	"$TAILBACK" "$command" --help | sed -n 's/^ *\(-.*\)/\1/; s/   .*//; /^-/p' | names >"$scratch/help"
	sed -n '/^\.It/s/Fl -/ --/gp' "$page" | names >"$scratch/manual"
	completed "$command" | names >"$scratch/completion"
	for other in manual completion; do
		diff "$scratch/help" "$scratch/$other" >"$scratch/diff" ||
			differ "$command: --help (<) and $other (>) differ:"$'\n'"$(cat "$scratch/diff")"
	done
done
exit "$failed"
