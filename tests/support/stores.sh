# For scripts that watch a store which another process is writing, or compare stores.
# shellcheck disable=SC2034 # what is set is for the script

# store_count STORE SOURCE: the rows of SOURCE, a table or a view with what may follow it; 0 while the
# store is not there. It opens for reading only: sqlite3 would otherwise make the missing file, and the
# writer would find that somebody else made its store.
store_count()
{
	sqlite3 -readonly "$1" "SELECT count(*) FROM $2" 2>/dev/null || echo 0
}

# stop_midway SIGNAL STORE SOURCE COMMAND...: sends the command, which writes the store, a signal as soon
# as SOURCE has a row, and waits for its end. Sets code. On a busy machine it may be done before.
stop_midway()
{
	local signal=$1 store=$2 source=$3 pid
	shift 3
	"$@" &
	pid=$!
	until [[ $(store_count "$store" "$source") -ge 1 ]] || ! kill -0 $pid 2>/dev/null; do
		sleep 0.01
	done
	kill -"$signal" $pid 2>/dev/null || true
	code=0
	wait $pid || code=$?
}

# store_rows STORE: all rows but those that say when and where a run was made.
store_rows()
{
	sqlite3 "$1" .dump | grep -v 'INTO run_environment'
}

# expect_same_rows A B [WHY]: two stores have the same rows. Writes one.rows and other.rows.
expect_same_rows()
{
	store_rows "$1" >one.rows
	store_rows "$2" >other.rows
	cmp one.rows other.rows || { echo "$1 and $2 differ${3:+: $3}"; exit 1; }
}
