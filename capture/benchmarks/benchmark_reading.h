// What the readers of benchmarks' tables share. Private to capture/benchmarks.
//
// A tool is a row of bench_tools (benchmark.c): the columns that its headings name, the
// tests that it has, and two or three functions. A table is read by its heading: what
// stands in it says what a line below has.
#ifndef TB_BENCHMARK_READING_H
#define TB_BENCHMARK_READING_H

#include "benchmark.h"
#include "map.h"

#define BENCH_COLUMNS_MOST 32
#define BENCH_FIELD_MOST   24
#define BENCH_RANKS_MOST   (1u << 20)
#define BENCH_NONE	   UINT32_MAX

// What a column has.
enum bench_role {
	BENCH_GROUP,	// which of several groups of ranks; a whole number
	BENCH_SIZE,	// bytes; a whole number
	BENCH_COUNT,	// elements; a whole number
	BENCH_TYPE,	// of elements; a word
	BENCH_REDOP,	// a word
	BENCH_ROOT,	// a rank, or -1
	BENCH_TIME,	// of one operation
	BENCH_SLOWEST,	// the time of the slowest rank, by which the rate was computed
	BENCH_RATE,	// bytes per second
	BENCH_BUS,	// bytes per second
	BENCH_MESSAGES, // per second
	BENCH_WRONG,	// values
	BENCH_ERROR,	// the largest difference of a value
	BENCH_CHECK,	// "Pass" or "Fail"
	BENCH_NUMBER,	// anything else
	BENCH_REST,	// what stands behind the other columns
};

struct bench_column {
	const char *name; // as headings have it, * for a number; NULL ends a list
	enum bench_role role;
	double unit;	   // of times in ns, of rates in bytes/s
	double other_unit; // that some versions have instead, under the same name; 0:
			   // none
};

// A field of a row, as printed, and how far rounding may have moved it.
struct bench_field {
	char text[BENCH_FIELD_MOST];
	double number, half; // NAN for "N/A"
	size_t blanks;	     // before it
};

// What a tool measures under a name.
struct bench_test {
	const char *name;  // NULL ends a list
	const char *title; // what the head of its table says; NULL: the name
	enum tb_benchmark_kind kind;
	enum tb_collective_op op;
	bool is_all;	  // sizes are of all ranks' blocks
	double factor;	  // rate times time is this times the size; 0: not so
	uint32_t n_ranks; // always; 0: not
};

struct bench_rank {
	uint32_t host;
	const char *device;
	bool is_known;
};

// A group of ranks: a pair, or only its first rank.
struct bench_group {
	uint32_t first, second;
};

struct bench_reading {
	struct tb_benchmark *benchmark;
	struct tb_error *error;
	const char *file;    // as it was named; lives with the benchmark
	uint32_t n_given;    // ranks
	uint32_t n_launched; // as the newest command line asked for; 0: none did
	uint64_t line;
	const struct bench_tool *tool; // of the table that is read; NULL: none
	uint64_t untitled_line;	       // of a heading without a test
	const char *untitled;	       // its tool; NULL: there is none
	// What was printed before the table.
	const struct bench_test *test; // NULL: unknown
	const char *unread;	       // a test that is not compared; "" none
	const char *version, *adapter, *datatype;
	bool is_rccl, is_in_place;
	bool is_isolated;	    // nothing else ran (GPCNET)
	bool rounds_sizes;	    // one that stands twice may be two
	uint32_t n_ranks, n_hosts;  // 0: unknown
	uint64_t pair_bytes;	    // of mpiGraph's messages
	uint32_t pair_ranks;	    // as it says before its matrix; 0: it does not
	struct bench_group *groups; // of which each has its own rows
	size_t groups_n, groups_room;
	struct bench_rank *ranks;
	size_t ranks_n, ranks_room;
	const char **hosts;
	size_t hosts_n, hosts_room;
	// The table.
	size_t first_row;
	struct bench_column columns[BENCH_COLUMNS_MOST];
	size_t n_columns, second_at; // where the columns of in-place results begin
	struct tb_map of_size;	     // a row's key, to its number
	// A row, which others' output may have cut into several lines.
	struct bench_field fields[BENCH_COLUMNS_MOST];
	size_t n_fields;
	uint64_t fields_line;
	double row_half;   // how exact the last number of the row before is; 0: none
	bool is_last_line; // of the file, and no newline ends it
	const struct bench_test *table_test; // NULL: unknown
	const char *table_unread;	     // "" none
	bool combines, is_rooted; // as the newest row's columns redop and root say
	bool is_checked[2];	  // out of place and in place: values were
};

struct bench_tool {
	const char *name;
	const char *mark;   // by which its output is told
	const char *column; // that all its headings have; NULL: none
	const struct bench_column *columns;
	const struct bench_test *tests;
	bool in_pieces;	    // it prints a row in pieces, with other output between them
	bool ends_at_blank; // an empty line ends a table
	// note takes a line outside of tables; it may begin one of a tool's own form.
	int (*note)(struct bench_reading *reading, const char *line);
	// row makes rows of the fields.
	int (*row)(struct bench_reading *reading);
	// finish settles the table's rows; NULL: they are right as they are.
	int (*finish)(struct bench_reading *reading);
};

extern const struct bench_tool bench_nccl_tests, bench_osu, bench_imb, bench_perftest,
	bench_netpipe, bench_gpcnet, bench_pairs;

// bench_named sets the reading's test where a line has one's name as a word of its own,
// and how many ranks a launcher before it in the line was asked for ("mpirun -np 64").
void bench_named(
	struct bench_reading *reading, const struct bench_tool *tool, const char *line);

// bench_unread has the next table be left out, with a note, as one of a test that has no
// counterpart here.
int bench_unread(struct bench_reading *reading, const char *name, size_t n) TB_MUST_USE;

// bench_single_row adds a row of all fields: what most tools' rows are.
int bench_single_row(struct bench_reading *reading) TB_MUST_USE;

// bench_field_set makes a field of a number as it is printed, its first n letters.
void bench_field_set(struct bench_field *field, const char *at, size_t n);

// bench_note adds a sentence about this line to what is said of the files.
int bench_note(struct bench_reading *reading, const char *format, ...)
	TB_PRINTF(2, 3) TB_MUST_USE;

// bench_left_out notes a test that has no counterpart here.
int bench_left_out(struct bench_reading *reading, const char *name) TB_MUST_USE;

// bench_refuse fails with TB_EFORMAT at the line.
int bench_refuse(const struct bench_reading *reading, const char *format, ...)
	TB_PRINTF(2, 3);

// bench_refuse_cut_row fails with TB_EFORMAT at the row whose fields are held.
int bench_refuse_cut_row(struct bench_reading *reading) TB_MUST_USE;

int bench_no_memory(const struct bench_reading *reading);

// bench_text keeps a text as long as the benchmark; the same one once.
int bench_text(struct bench_reading *reading, const char *at, size_t n,
	const char **text) TB_MUST_USE;

// bench_take_line takes a line of a file, which it may change.
int bench_take_line(struct bench_reading *reading, char *text) TB_MUST_USE;

// bench_tool_has returns whether a test is one of the tool's.
bool bench_tool_has(const struct bench_tool *tool, const struct bench_test *test);

// bench_begin begins a table, with what was printed before it.
int bench_begin(struct bench_reading *reading, const struct bench_tool *tool) TB_MUST_USE;

// bench_end ends it; nothing to do without one.
int bench_end(struct bench_reading *reading) TB_MUST_USE;

// bench_rank adds a rank of the set-up. Those of a host are told by its name.
int bench_rank(struct bench_reading *reading, uint32_t rank, const char *host,
	size_t host_n, const char *device, size_t device_n) TB_MUST_USE;

// bench_row_of returns a row of the reading's test, without values.
struct tb_benchmark_row bench_row_of(const struct bench_reading *reading);

// bench_values gives a row the values of the fields from `from` to before `to`, and those
// before both groups of columns. TB_EFORMAT where its time and rate contradict each
// other.
int bench_values(struct bench_reading *reading, size_t from, size_t to,
	struct tb_benchmark_row *row) TB_MUST_USE;

// bench_add adds a row to the table. TB_EFORMAT where the size stands there with other
// values.
int bench_add(
	struct bench_reading *reading, const struct tb_benchmark_row *row) TB_MUST_USE;

// bench_sized sets the row's bytes and ranks by the test.
void bench_sized(
	struct tb_benchmark_row *row, const struct bench_test *test, uint32_t n_ranks);

// bench_table_of returns the table that is read.
struct tb_benchmark_table *bench_table_of(const struct bench_reading *reading);
struct tb_benchmark_row *bench_row_at(const struct bench_reading *reading, size_t i);
size_t bench_n_rows(const struct bench_reading *reading);

#endif
