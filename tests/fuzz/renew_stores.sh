# Brings the stores among the corpora up to the present schema: after a change of it, readers would
# refuse them all alike, and the fuzzer would try nothing else. Run it in the source folder.
#   bash tests/fuzz/renew_stores.sh
set -euo pipefail
corpus=tests/fuzz/corpus/analyze_store
schema=schemas/results.sql
version=$(sed -n 's/^PRAGMA user_version = \([0-9]*\).*/\1/p' "$schema")

# copies STORE NEW: SQL that takes over each table of a store attached as `old`, damaged values and
# all. A column that is new and has no default becomes '' or 0.
copies() {
	sqlite3 "$2" "ATTACH '$1' AS old;
		SELECT 'INSERT OR IGNORE INTO main.' || t.name || ' (' || group_concat(n.name) || ') SELECT '
		|| group_concat(CASE WHEN EXISTS (SELECT 1 FROM pragma_table_info(t.name, 'old') AS o
				WHERE o.name = n.name) THEN n.name WHEN n.type = 'TEXT' THEN quote('') ELSE '0' END)
		|| ' FROM old.' || t.name || ';'
		FROM old.sqlite_schema AS t, pragma_table_info(t.name, 'main') AS n
		WHERE t.type = 'table' AND t.name IN (SELECT name FROM main.sqlite_schema WHERE type = 'table')
			AND (n.[notnull] AND n.dflt_value IS NULL
			OR n.name IN (SELECT name FROM pragma_table_info(t.name, 'old')))
		GROUP BY t.name"
}

# schema_of NAME: all of it for one store. The others do without views, which no reader uses: SQLite
# would spend half of the fuzzer's time on them, and the fuzzer half of its changes.
schema_of() {
	case $1 in
	whole) cat "$schema" ;;
	*) sed '/^-- Views\. /,$d' "$schema" ;;
	esac
}

for store in "$corpus"/*; do
	case ${store##*/} in
	cut_off | endless_view) continue ;;
	esac
	rm -f "$store.new"
	{
		echo 'PRAGMA page_size = 512;'
		schema_of "${store##*/}"
	} | sqlite3 -bail "$store.new"
	{
		echo "PRAGMA ignore_check_constraints = 1; ATTACH '$store' AS old; BEGIN;"
		copies "$store" "$store.new"
		echo 'COMMIT;'
	} | sqlite3 -bail "$store.new"
	mv "$store.new" "$store"
done
head -c 20000 "$corpus/whole" >"$corpus/cut_off"
sqlite3 "$corpus/endless_view" "PRAGMA user_version = $version"
