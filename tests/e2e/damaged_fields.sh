# Inputs of known content with one damaged field: a refusal with its place, a note, or the known difference.
set -eu
for tool in python3 sqlite3; do
	command -v "$tool" >/dev/null || {
		echo "skipped: no $tool"
		exit 77
	}
done
exec python3 "$TB_SOURCE/tests/support/damaged_fields.py" table
