# Each word and line of small inputs is damaged in turn: what is printed changes, but for what the reader has no use for.
set -eu
for tool in python3 sqlite3; do
	command -v "$tool" >/dev/null || {
		echo "skipped: no $tool"
		exit 77
	}
done
exec python3 "$TB_SOURCE/tests/support/damaged_fields.py" everywhere
