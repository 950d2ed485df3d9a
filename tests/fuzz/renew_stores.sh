# Brings the stores among the corpora up to the present schema: after a change of it, readers would
# refuse them all alike, and the fuzzer would try nothing else. Run it in the source folder.
#   bash tests/fuzz/renew_stores.sh
set -eu
corpus=tests/fuzz/corpus/analyze_store
schema=schemas/results.sql
version=$(sed -n 's/^PRAGMA user_version = \([0-9]*\).*/\1/p' "$schema")

# copies FILE: SQL that takes over each table of a store attached as `old`, damaged values and all.
copies() {
	sqlite3 -readonly "$1" "SELECT 'INSERT OR IGNORE INTO main.' || t.name || ' (' || c.names || ') SELECT '
		|| c.names || ' FROM old.' || t.name || ';'
		FROM sqlite_schema AS t,
		(SELECT m.name, group_concat(i.name) AS names FROM sqlite_schema AS m, pragma_table_info(m.name) AS i
			GROUP BY m.name) AS c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.name = t.name"
}

# schema_of NAME: all of it for one store. The others do without views, which no reader uses: SQLite
# would spend half of the fuzzer's time on them, and the fuzzer half of its changes.
schema_of() {
	case $1 in
	whole) cat "$schema" ;;
	*) sed '/^-- Views\. /,$d' "$schema" ;;
	esac
}

# turn_links STORE: has the links of a bin in a tree that runs the other way than its key says.
turn_links() {
	sqlite3 "$1" <<-'END'
		CREATE TABLE backward AS SELECT * FROM link_bin;
		DELETE FROM link_bin;
		PRAGMA writable_schema = ON;
		UPDATE sqlite_schema SET sql = replace(sql, '(run, bin, link)', '(run, bin, link DESC)');
		PRAGMA writable_schema = RESET;
		INSERT INTO link_bin SELECT * FROM backward;
		DROP TABLE backward;
		PRAGMA writable_schema = ON;
		UPDATE sqlite_schema SET sql = replace(sql, '(run, bin, link DESC)', '(run, bin, link)');
	END
}

for store in "$corpus"/*; do
	case ${store##*/} in
	cut_off | endless_view) continue ;;
	esac
	rm -f "$store.new"
	{
		echo 'PRAGMA page_size = 512;'
		schema_of "${store##*/}"
		echo "PRAGMA ignore_check_constraints = 1; ATTACH '$store' AS old; BEGIN;"
		copies "$store"
		echo 'COMMIT;'
	} | sqlite3 -bail "$store.new"
	mv "$store.new" "$store"
done
turn_links "$corpus/links_out_of_order"
head -c 20000 "$corpus/whole" >"$corpus/cut_off"
sqlite3 "$corpus/endless_view" "PRAGMA user_version = $version"
