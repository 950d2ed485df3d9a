# What a replay stored, in a line: how long it took, what waited, and a sum over all that is in the store,
# so that no change of the engine, the nodes or the blame goes unseen.

# stored STORE: the rows of its tables in order, without what may differ between two equal runs; those of time
# bins by link, however they are packed. Not .dump, which writes real numbers as the SQLite at hand does.
stored()
{
	sqlite3 "$1" "
		SELECT 'SELECT ' || quote(name) || ', ' || (
			SELECT group_concat(printf('iif(typeof(\"%w\") = ''real'', printf(''%%.15g'', \"%w\"), quote(\"%w\"))',
				name, name, name), ', ') || printf(' FROM \"%w\" ORDER BY ', m.name) || group_concat(cid + 2)
			FROM pragma_table_info(m.name)) || ';'
		FROM sqlite_master AS m
		WHERE type = 'table' AND name NOT IN ('run_environment', 'link_pack') OR name = 'link_bin'
		ORDER BY name" | sqlite3 "$1"
}

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
			(SELECT sum(came_by_ps) FROM link_sum) || ' ps' FROM run")" \
		"$(stored line.db | cksum | cut -d' ' -f1)"
}
