# What `info` says of a trace: sums over what it says in words and in JSON, and its notes.

: >said.notes

# info_lines FILE ARGUMENT...: nothing of a trace that is refused, and no note that a trace before had too.
info_lines()
{
	"$TAILBACK" info "$@" >info.text 2>/dev/null || return 0
	printf '%s, %s in words, %s in JSON\n' "$(head -n 1 info.text)" "$(cksum <info.text | cut -d' ' -f1)" \
		"$("$TAILBACK" info --json "$@" | cksum | cut -d' ' -f1)"
	# Of figures there are at least two spaces behind their name.
	sed -n '/^  [^ ]/{/[^ ]  \|^  dependencies/!p}' info.text | grep -vxF -f said.notes | tee -a notes.new || true
	cat notes.new >>said.notes
	: >notes.new
}
