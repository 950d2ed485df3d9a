# What a replay stored, in a line: how long it took, what waited, and a sum over all that is in the store,
# so that no change of the engine, the nodes or the blame goes unseen.

# run_line NAME REPLAY-ARGUMENT...: the line, or the sentence by which the replay is refused.
run_line()
{
	local name=$1
	shift
	rm -f line.db
	if ! "$TAILBACK" replay -q "$@" -o line.db >line.said 2>&1; then
		printf '%s: %s\n' "$name" "$(tail -1 line.said)"
		return
	fi
	printf '%s: %s, %s\n' "$name" "$(sqlite3 line.db "
		SELECT simulated_ps || ' ps, ' || delivered_bytes || ' bytes in ' || n_messages || ' messages, waited ' ||
			(SELECT sum(wait_ps) FROM link_sum) || ' ps' FROM run")" \
		"$(sqlite3 line.db .dump | grep -v 'INTO run_environment' | cksum | cut -d' ' -f1)"
}
