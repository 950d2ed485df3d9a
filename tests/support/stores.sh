# For scripts that watch a store which another process is writing.

# store_count STORE SOURCE: the rows of SOURCE, a table or a view with what may follow it; 0 while the
# store is not there. It opens for reading only: sqlite3 would otherwise make the missing file, and the
# writer would find that somebody else made its store.
store_count()
{
	sqlite3 -readonly "$1" "SELECT count(*) FROM $2" 2>/dev/null || echo 0
}
