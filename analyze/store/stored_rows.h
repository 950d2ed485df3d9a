// Rows of the store, described once: which column of which table holds which member of a
// struct, and as what. Writing, reading, the SQL of both and digests follow from the
// description, so no column is known by its number. Private to analyze/.
//
//	#define RECORD struct tb_port_loss_sample
//	static const struct tb_stored_table port_loss = TB_STORED_TABLE("port_loss",
// RECORD, 		TB_COLUMN("link", link), TB_COLUMN("frames", n_frames),
// TB_COLUMN("bytes", bytes)); 	#undef RECORD
//
//	status = tb_rows_put(writer, &port_loss, samples, n, error);
//
//	struct tb_row_reader rows = tb_run_read(
//		run, &port_loss, "port_loss WHERE run = ?1 ORDER BY link", error);
//	struct tb_port_loss_sample sample;
//	while (tb_row_read(&rows, &sample))
//		...
//	return tb_row_reader_end(&rows);
#ifndef TB_STORED_ROWS_H
#define TB_STORED_ROWS_H

#include "digest.h"
#include "ids.h"
#include "names.h"
#include "sql.h"

#include <nettle/sha2.h>
#include <stdint.h>

// What a member is, and what its column may hold. Written counts beyond INT64_MAX become
// INT64_MAX; values that are read must be in the range given here.
enum tb_stored_type {
	TB_STORED_COUNT,    // uint64_t, up to INT64_MAX
	TB_STORED_COUNT32,  // uint32_t
	TB_STORED_TIME,	    // tb_time_ps, not negative
	TB_STORED_SIGNED,   // int64_t, any
	TB_STORED_FLAG,	    // bool, 0 or 1
	TB_STORED_REAL,	    // double, from 0 to 1e18; read as 0 where it is NULL
	TB_STORED_ANY_REAL, // double, finite, up to 1e18
	TB_STORED_BIG_REAL, // double, any
	// A text. Written, it is borrowed, and NULL becomes ''. Read, it is malloc'ed, in
	// its visible form (visible.h) with blanks for line breaks and tabs, and '' where
	// it is NULL.
	TB_STORED_TEXT,	 // char *
	TB_STORED_BYTES, // struct tb_stored_bytes; read, it lives until the next row
	TB_STORED_WORD,	 // uint32_t, of which the column holds the word
	// uint32_t below how many the run has of them; struct tb_node, tb_switch and
	// tb_link have the first three.
	TB_STORED_NODE,
	TB_STORED_SWITCH,
	TB_STORED_LINK,
	TB_STORED_LEVEL,
	TB_STORED_JOB,
};

// What may stand beside a type. NULL stands for what is not there: TB_ID_NONE of a
// uint32_t, UINT64_MAX of a count, any negative time (-1 when read), a NULL text.
enum {
	TB_STORED_OR_NULL = 32,
	TB_STORED_OR_MINUS = 64, // -1 stands for TB_ID_NONE
};

struct tb_stored_bytes {
	const char *text;
	size_t n_bytes;
};

struct tb_stored_column {
	const char *name; // or, of a table that is only read, an expression
	int type;	  // enum tb_stored_type
	size_t at;	  // of the member
	// TB_STORED_WORD: the words of 0, 1, ...; NULL beyond the last.
	const char *(*word)(uint32_t value);
};

// At most so many columns are described, and statements are kept of so many tables.
#define TB_STORED_COLUMNS 48
#define TB_STORED_TABLES  96

struct tb_stored_table {
	const char *name;
	const char *owner;  // whose rows these are; NULL: "run", "": nobody's
	const char *number; // a column that counts an owner's rows from 0; NULL: none
	const char *rest;   // of the INSERT, such as an ON CONFLICT; NULL: nothing
	bool replaces;	    // rows of the same key
	bool updates;	    // the columns of the owner's row are set
	size_t size;	    // of a record
	const struct tb_stored_column *columns;
	size_t n_columns;
};

#define TB_STORED_TYPE(value)                                                            \
	_Generic((value), bool                                                           \
		 : TB_STORED_FLAG, uint32_t                                              \
		 : TB_STORED_COUNT32, uint64_t                                           \
		 : TB_STORED_COUNT, int64_t                                              \
		 : TB_STORED_TIME, double                                                \
		 : TB_STORED_REAL, char *                                                \
		 : TB_STORED_TEXT, const char *                                          \
		 : TB_STORED_TEXT, struct tb_stored_bytes                                \
		 : TB_STORED_BYTES, struct tb_node                                       \
		 : TB_STORED_NODE, struct tb_switch                                      \
		 : TB_STORED_SWITCH, struct tb_link                                      \
		 : TB_STORED_LINK)

// A column, of a member of the macro RECORD: with the type that the member has, with what
// may be NULL, or -1, with it, or as another type.
#define TB_COLUMN(column, member) TB_COLUMN_WITH(column, member, 0)
#define TB_COLUMN_WITH(column, member, or)                                               \
	TB_COLUMN_AS(TB_STORED_TYPE(((RECORD *)0)->member) | (or), column, member)
#define TB_COLUMN_AS(as, column, member)                                                 \
	{                                                                                \
		.name = column, .type = as, .at = offsetof(RECORD, member)               \
	}
// and a column of words (TB_STORED_WORD).
#define TB_COLUMN_WORD(column, member, words)                                            \
	{                                                                                \
		.name = column, .type = TB_STORED_WORD, .at = offsetof(RECORD, member),  \
		.word = words                                                            \
	}

#define TB_STORED_LIST(...)                                                              \
	(const struct tb_stored_column[])                                                \
	{                                                                                \
		__VA_ARGS__                                                              \
	}
#define TB_STORED_TABLE(table, record, ...)                                              \
	{                                                                                \
		.name = table, TB_STORED_HAS(record, __VA_ARGS__)                        \
	}
// for tables with more than a name: {.name = "note", .number = "note",
// TB_STORED_HAS(...)}
#define TB_STORED_HAS(record, ...)                                                       \
	.size = sizeof(record), .columns = TB_STORED_LIST(__VA_ARGS__),                  \
	.n_columns =                                                                     \
		sizeof TB_STORED_LIST(__VA_ARGS__) / sizeof(struct tb_stored_column)

// Writes rows. All of a table's rows go through one statement, INSERT ... SELECT from a
// virtual table that reads the records: SQLite keeps its place in the tree from row to
// row, and stores 1.8 million rows a second; binding and stepping an INSERT for every row
// stored 0.75 million. Statements are kept for the next rows of their table.
struct tb_row_writer {
	sqlite3 *db;
	const char *path; // for errors
	int64_t owner;	  // of the rows that are written: the run
	struct {
		const struct tb_stored_table *table;
		sqlite3_stmt *insert;
	} statements[TB_STORED_TABLES];
	size_t n_statements;

	// The rows on their way.
	const struct tb_stored_table *table;
	const void *(*next)(void *context); // NULL: an array
	void *context;
	const char *records; // left in the array
	size_t n;
	const void *record; // NULL: at the end
	int64_t number;	    // of it
};

// tb_row_writer_init makes a writer for a connection, which borrows `writer` until it is
// closed. tb_row_writer_fini must come before that; the writer may be made anew.
int tb_row_writer_init(struct tb_row_writer *writer, sqlite3 *db, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_row_writer_fini(struct tb_row_writer *writer);

// tb_rows_put writes an array of records. Nothing is done when it is empty.
int tb_rows_put(struct tb_row_writer *writer, const struct tb_stored_table *table,
	const void *records, size_t n, struct tb_error *error) TB_MUST_USE;

// tb_rows_put_each writes the records that `next` returns, each of which lives until the
// next call, until it returns NULL.
int tb_rows_put_each(struct tb_row_writer *writer, const struct tb_stored_table *table,
	const void *(*next)(void *context), void *context,
	struct tb_error *error) TB_MUST_USE;

// tb_rows_exec runs `sql`, whose ?1 is the owner and ?2, if there is one, `value`.
int tb_rows_exec(struct tb_row_writer *writer, const char *sql, int64_t value,
	struct tb_error *error) TB_MUST_USE;

// A digest of rows. A value goes into it by how it differs from the row before last,
// which takes a byte or two for most of a network: its links are there and back again.
struct tb_row_hash {
	struct sha256_ctx sha;
	struct {
		int64_t numbers[TB_STORED_COLUMNS];
		char text[TB_NAME_SIZE];
	} before[2];	     // what rows had last, by `odd`
	unsigned odd;	     // 1 in every second row of a table
	uint8_t bytes[1024]; // that are to be hashed
	size_t n_bytes;
};

// tb_row_hash_begin begins a digest, tb_row_hash_table the rows of a table, of which
// there are n. Each record is hashed so that its values cannot be taken for others,
// without its owner and number.
void tb_row_hash_begin(struct tb_row_hash *hash);
void tb_row_hash_table(struct tb_row_hash *hash, uint32_t n);
void tb_row_hash_add(struct tb_row_hash *hash, const struct tb_stored_table *table,
	const void *record);
void tb_row_hash_end(struct tb_row_hash *hash, char digest[TB_DIGEST_SIZE]);

// How many of its ids a run has.
struct tb_id_limits {
	uint32_t n_nodes, n_switches, n_links, n_levels, n_jobs;
};

// Reads rows. The first failure is kept and ends the rows; a value out of range is one.
struct tb_row_reader {
	sqlite3 *db;
	const char *path;
	const struct tb_stored_table *table;
	struct tb_id_limits limits;
	sqlite3_stmt *query;
	struct tb_error *error;
	int status;
	int64_t number; // of the last row, of a table with a `number`
};

// tb_row_reader_open begins to read the table's columns FROM `from`, with what stands
// behind that: "port_loss WHERE run = ?1 ORDER BY link". `limits` may be NULL when no
// column has an id. The caller may bind parameters of `query`.
struct tb_row_reader tb_row_reader_open(sqlite3 *db, const char *path,
	const struct tb_stored_table *table, const char *from,
	const struct tb_id_limits *limits, struct tb_error *error);

// tb_row_bind binds a parameter.
void tb_row_bind(struct tb_row_reader *reader, int parameter, int64_t value);
void tb_row_bind_text(struct tb_row_reader *reader, int parameter, const char *text);

// tb_row_reader_again begins again with the first row, for other parameters: a statement
// is compiled once.
void tb_row_reader_again(struct tb_row_reader *reader, struct tb_error *error);

// tb_row_read reads the next row into a record of the table; false at the end and on
// failure. Members that no column describes stay as they are. The caller frees texts.
bool tb_row_read(struct tb_row_reader *reader, void *record);

// tb_row_read_all appends all rows to an array of records of the table (array.h), which
// holds `n` and has `room`; it ends the reader and returns its status. `what` is for want
// of memory.
int tb_row_read_all(struct tb_row_reader *reader, void *items, size_t *n, size_t *room,
	const char *what) TB_MUST_USE;

// tb_row_damaged refuses the last row, tb_row_no_memory ends the rows for want of memory
// for `what`.
void tb_row_damaged(struct tb_row_reader *reader);
void tb_row_no_memory(struct tb_row_reader *reader, const char *what);

// tb_row_reader_end frees what the reader needed and returns TB_OK, or the failure.
int tb_row_reader_end(struct tb_row_reader *reader) TB_MUST_USE;

// tb_sql_number reads the one number that `sql`, whose ?1 is `parameter` if it has one,
// selects; 0 when there is no row or it is NULL.
int tb_sql_number(sqlite3 *db, const char *path, const char *sql, int64_t parameter,
	int64_t *number, struct tb_error *error) TB_MUST_USE;

// tb_sql_damaged refuses a file of which a value is out of range.
int tb_sql_damaged(const char *path, const char *table, struct tb_error *error);

#endif
