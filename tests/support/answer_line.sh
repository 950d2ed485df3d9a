# What a command answers, in a line: how long it is, and a sum over all of it.

# answer_line NAME ARGUMENT...: of tailback. Its failure is an answer, too.
answer_line()
{
	local name=$1 code=0
	shift
	"$TAILBACK" "$@" >answer 2>&1 || code=$?
	printf '%s: %d lines, %s%s\n' "$name" "$(wc -l <answer)" "$(cksum <answer | cut -d' ' -f1)" \
		"$([[ $code == 0 ]] || echo ", exit $code")"
}
