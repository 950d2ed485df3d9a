# What `info` says of a trace in words, and a sum over what it says in JSON.

# info_lines FILE ARGUMENT...: nothing of a trace that is refused.
info_lines()
{
	"$TAILBACK" info "$@" >info.text 2>/dev/null || return 0
	cat info.text
	printf '  JSON: '
	"$TAILBACK" info --json "$@" | cksum | cut -d' ' -f1
}
