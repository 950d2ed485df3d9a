# What job a trace becomes, in a line: operations, bytes, computation, what depends on what, and a sum
# over all of it, so that no change of a reader, the inference or the expansion goes unseen.

# job_line NAME CONVERT-ARGUMENT...: the line, or the sentence by which the trace is refused.
job_line()
{
	local name=$1 code=0
	shift
	"$TAILBACK" convert -q "$@" -o line.goal 2>line.err || code=$?
	if [[ $code != 0 ]]; then
		printf '%s: exit %d, %s\n' "$name" "$code" "$(sed -n '1s/.*'"${name##*/}"'[^:]*: //p;1q' line.err)"
	else
		awk -v name="$name" '
			/^num_ranks/ { ranks = $2 }
			$2 == "send" { sends++; bytes += $3 }
			$2 == "recv" { receives++ }
			$2 == "calc" { calcs++; ns += $3 }
			$2 ~ /requires/ { edges++ }
			END { printf "%s: %d ranks, %d sends of %.0f bytes, %d receives, %d computations of %.0f ns, %d edges, ",
				name, ranks, sends, bytes, receives, calcs, ns, edges }' line.goal
		cksum <line.goal | cut -d' ' -f1
	fi
	rm -f line.goal
}
