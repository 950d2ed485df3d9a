// The tables of a reading: what was printed before them, their rows, and what does not
// fit together in them.
#include "array.h"
#include "benchmark_reading.h"
#include "hash.h"
#include "infile.h"
#include "text_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MOST (size_t)(1 << 20)

struct tb_benchmark {
	struct tb_benchmark_row *rows;
	size_t n_rows, rows_room;
	struct tb_benchmark_table *tables;
	size_t n_tables, tables_room;
	char **texts; // what tables point to
	size_t n_texts, texts_room;
	struct tb_map of_text; // a hash, to its number
	void **arrays;	       // hosts, host_names and device_names of tables
	size_t n_arrays, arrays_room;
	char *note;
	size_t n_notes;
};

int bench_refuse(const struct bench_reading *reading, const char *format, ...)
{
	char text[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return tb_fail_at(reading->error, TB_EFORMAT, reading->file, TB_PLACE_LINE,
		reading->line, "%s", text);
}

int bench_no_memory(const struct bench_reading *reading)
{
	return tb_fail_memory_in(reading->error, reading->file, "its tables");
}

int bench_text(struct bench_reading *reading, const char *at, size_t n, const char **text)
{
	struct tb_benchmark *benchmark = reading->benchmark;
	uint64_t hash = tb_hash_bytes(TB_HASH_BEGIN, at, n);
	uint32_t number;
	for (; tb_map_find(&benchmark->of_text, hash, &number); hash++) {
		*text = benchmark->texts[number];
		if (strlen(*text) == n && memcmp(*text, at, n) == 0)
			return TB_OK;
	}
	if (TB_ARRAY_MORE(benchmark, texts) != TB_OK ||
		tb_map_put(&benchmark->of_text, hash, (uint32_t)benchmark->n_texts) !=
			TB_OK)
		return bench_no_memory(reading);
	// A slot of the map is never taken back, so it has to have its text.
	char *copy = strndup(at, n);
	benchmark->texts[benchmark->n_texts++] = copy ? copy : strdup("");
	if (!copy)
		return bench_no_memory(reading);
	*text = copy;
	return TB_OK;
}

struct tb_benchmark_table *bench_table_of(const struct bench_reading *reading)
{
	return &reading->benchmark->tables[reading->benchmark->n_tables - 1];
}

size_t bench_n_rows(const struct bench_reading *reading)
{
	return reading->benchmark->n_rows - reading->first_row;
}

struct tb_benchmark_row *bench_row_at(const struct bench_reading *reading, size_t i)
{
	return &reading->benchmark->rows[reading->first_row + i];
}

// bench_array keeps room for n items as long as the benchmark; NULL without memory.
static void *bench_array(struct bench_reading *reading, size_t n, size_t size)
{
	struct tb_benchmark *benchmark = reading->benchmark;
	if (TB_ARRAY_MORE(benchmark, arrays) != TB_OK)
		return NULL;
	void *made = calloc(n ? n : 1, size);
	if (made)
		benchmark->arrays[benchmark->n_arrays++] = made;
	return made;
}

// table_place gives a table the hosts and devices of its ranks, where all are known.
static int table_place(struct bench_reading *reading, struct tb_benchmark_table *table)
{
	size_t n = reading->ranks_n;
	bool is_whole = n > 0 && n == table->n_ranks;
	for (size_t i = 0; i < n; i++)
		is_whole &= reading->ranks[i].is_known;
	if (!is_whole)
		return TB_OK;
	uint32_t *hosts = bench_array(reading, n, sizeof *hosts);
	const char **devices = bench_array(reading, n, sizeof *devices);
	const char **names = bench_array(reading, reading->hosts_n, sizeof *names);
	if (!hosts || !devices || !names)
		return bench_no_memory(reading);
	for (size_t i = 0; i < n; i++) {
		hosts[i] = reading->ranks[i].host;
		devices[i] = reading->ranks[i].device;
	}
	memcpy(names, reading->hosts, reading->hosts_n * sizeof *names);
	table->n_hosts = (uint32_t)reading->hosts_n;
	table->hosts = hosts;
	table->device_names = devices;
	table->host_names = names;
	return TB_OK;
}

bool bench_tool_has(const struct bench_tool *tool, const struct bench_test *test)
{
	const struct bench_test *own = tool->tests;
	while (own->name && own != test)
		own++;
	return own->name != NULL;
}

// launched_ranks finds "-np 64", "-n 64" or "--ntasks=64" between two places of a line.
static uint32_t launched_ranks(const char *line, const char *end)
{
	static const char *const options[] = {" -np ", " -n ", " --ntasks=", " --np "};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		const char *at = strstr(line, options[i]);
		unsigned long n =
			at && at < end ? strtoul(at + strlen(options[i]), NULL, 10) : 0;
		if (n > 0 && n <= BENCH_RANKS_MOST)
			return (uint32_t)n;
	}
	return 0;
}

void bench_named(
	struct bench_reading *reading, const struct bench_tool *tool, const char *line)
{
	for (const struct bench_test *test = tool->tests; test->name; test++) {
		size_t n = strlen(test->name);
		for (const char *at = line; (at = strstr(at, test->name)); at += n) {
			bool begins = at == line ||
				      (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
			if (begins && !isalnum((unsigned char)at[n]) && at[n] != '_') {
				reading->test = test;
				reading->n_launched = launched_ranks(line, at);
			}
		}
	}
}

int bench_unread(struct bench_reading *reading, const char *name, size_t n)
{
	reading->test = NULL;
	return bench_text(reading, name, n, &reading->unread);
}

int bench_begin(struct bench_reading *reading, const struct bench_tool *tool)
{
	struct tb_benchmark *benchmark = reading->benchmark;
	int status = bench_end(reading);
	if (status != TB_OK)
		return status;
	if (TB_ARRAY_MORE(benchmark, tables) != TB_OK)
		return bench_no_memory(reading);
	const struct bench_test *test =
		bench_tool_has(tool, reading->test) ? reading->test : NULL;
	uint32_t n_ranks = test && test->n_ranks ? test->n_ranks
			   : reading->n_ranks	 ? reading->n_ranks
			   : reading->n_given	 ? reading->n_given
			   : tool == &bench_osu	 ? reading->n_launched
						 : 0;
	struct tb_benchmark_table table = {.tool = tool->name,
		.name = test ? test->name : "",
		.version = reading->version,
		.datatype = reading->datatype,
		.n_ranks = n_ranks,
		.n_hosts = reading->n_hosts,
		.adapter = reading->adapter,
		.file = reading->file,
		.line = (size_t)reading->line};
	status = table_place(reading, &table);
	if (status != TB_OK)
		return status;
	benchmark->tables[benchmark->n_tables++] = table;
	reading->tool = tool;
	reading->first_row = benchmark->n_rows;
	reading->n_fields = 0;
	reading->row_half = 0;
	reading->table_test = test;
	reading->table_unread = reading->unread;
	reading->unread = "";
	reading->combines = reading->is_rooted = false;
	reading->is_checked[0] = reading->is_checked[1] = false;
	tb_map_fini(&reading->of_size);
	return TB_OK;
}

int bench_refuse_cut_row(struct bench_reading *reading)
{
	reading->line = reading->fields_line;
	return bench_refuse(reading,
		"has %zu of the %zu columns of its table's heading: it is cut off",
		reading->n_fields, reading->n_columns);
}

#define NOTES_MOST 8 // a few sentences, not a list

int bench_note(struct bench_reading *reading, const char *format, ...)
{
	struct tb_benchmark *benchmark = reading->benchmark;
	char text[200], *before = benchmark->note, *note = NULL;
	va_list arguments;
	if (benchmark->n_notes++ >= NOTES_MOST)
		return TB_OK;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	int n = asprintf(&note, "%s%s%s:%" PRIu64 ": %s", before ? before : "",
		before ? "; " : "", reading->file, reading->line, text);
	if (n < 0)
		return bench_no_memory(reading);
	free(before);
	benchmark->note = note;
	return TB_OK;
}

int bench_left_out(struct bench_reading *reading, const char *name)
{
	return bench_note(reading, "%.80s is left out: the model has no such test", name);
}

int bench_end(struct bench_reading *reading)
{
	if (!reading->tool)
		return TB_OK;
	if (reading->n_fields > 0)
		return bench_refuse_cut_row(reading);
	const struct bench_tool *tool = reading->tool;
	int status = TB_OK;
	if (*reading->table_unread && bench_n_rows(reading) > 0) {
		reading->line = bench_table_of(reading)->line;
		status = bench_left_out(reading, reading->table_unread);
		reading->benchmark->n_rows = reading->first_row;
	}
	if (bench_n_rows(reading) == 0)
		reading->benchmark->n_tables--; // a heading alone is no table
	else if (tool->finish && status == TB_OK)
		status = tool->finish(reading);
	reading->tool = NULL;
	return status;
}

int bench_rank(struct bench_reading *reading, uint32_t rank, const char *host,
	size_t host_n, const char *device, size_t device_n)
{
	struct bench_rank made = {.is_known = true};
	const char *name;
	if (rank >= BENCH_RANKS_MOST)
		return bench_refuse(reading, "rank %" PRIu32 ": at most %u are read",
			rank, BENCH_RANKS_MOST);
	int status = bench_text(reading, host, host_n, &name);
	if (status == TB_OK)
		status = bench_text(reading, device, device_n, &made.device);
	if (status != TB_OK)
		return status;
	if (rank < reading->ranks_n && reading->ranks[rank].is_known &&
		strcmp(reading->hosts[reading->ranks[rank].host], name) != 0)
		return bench_refuse(reading,
			"rank %" PRIu32
			" is on %.60s, and on %.60s before it: two runs in one; give "
			"each its own file%s",
			rank, name, reading->hosts[reading->ranks[rank].host],
			rank == 0 ? " (built without MPI=1, nccl-tests runs alone in "
				    "each process)"
				  : "");
	// Ranks of a host stand together, so its name is most often the last one.
	size_t at = reading->hosts_n;
	while (at > 0 && reading->hosts[at - 1] != name)
		at--;
	made.host = (uint32_t)(at > 0 ? at - 1 : reading->hosts_n);
	if ((at == 0 && TB_ARRAY_RESERVE(&reading->hosts, &reading->hosts_room,
				reading->hosts_n + 1) != TB_OK) ||
		TB_ARRAY_RESERVE(&reading->ranks, &reading->ranks_room, rank + 1) !=
			TB_OK)
		return bench_no_memory(reading);
	if (at == 0)
		reading->hosts[reading->hosts_n++] = name;
	for (; reading->ranks_n <= rank; reading->ranks_n++)
		reading->ranks[reading->ranks_n] = (struct bench_rank){0};
	reading->ranks[rank] = made;
	reading->n_ranks = (uint32_t)reading->ranks_n;
	return TB_OK;
}

void bench_sized(
	struct tb_benchmark_row *row, const struct bench_test *test, uint32_t n_ranks)
{
	row->kind = test->kind;
	row->op = test->op;
	row->n_ranks = n_ranks;
	row->bytes = !test->is_all ? row->printed_bytes
		     : n_ranks	   ? row->printed_bytes / n_ranks
				   : 0;
}

struct tb_benchmark_row bench_row_of(const struct bench_reading *reading)
{
	struct tb_benchmark_row row = {
		.time_ns = NAN,
		.algorithm_rate = NAN,
		.bus_rate = NAN,
		.first = BENCH_NONE,
		.second = BENCH_NONE,
		.rail = BENCH_NONE,
		.n_ranks = bench_table_of(reading)->n_ranks,
	};
	return row;
}

static bool is_same_value(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

int bench_add(struct bench_reading *reading, const struct tb_benchmark_row *row)
{
	struct tb_benchmark *benchmark = reading->benchmark;
	uint64_t key = row->printed_bytes * UINT64_C(0x9e3779b97f4a7c15) ^
		       (uint64_t)row->first << 21 ^ (uint64_t)row->second << 42 ^
		       (row->in_place ? UINT64_C(1) << 63 : 0);
	uint32_t number;
	for (; tb_map_find(&reading->of_size, key, &number); key++) {
		const struct tb_benchmark_row *other = &benchmark->rows[number];
		if (other->printed_bytes != row->printed_bytes ||
			other->in_place != row->in_place || other->first != row->first ||
			other->second != row->second)
			continue;
		if (is_same_value(other->time_ns, row->time_ns) &&
			is_same_value(other->algorithm_rate, row->algorithm_rate))
			return TB_OK;
		// Sizes below a byte for each rank are all printed as none.
		if (reading->rounds_sizes || row->printed_bytes == 0)
			return TB_OK;
		return bench_refuse(reading,
			"%" PRIu64 " bytes stand in line %zu of the same table with "
			"other values: two runs in one; give each its own heading or "
			"file",
			row->printed_bytes, other->line);
	}
	if (benchmark->n_rows >= UINT32_MAX || TB_ARRAY_MORE(benchmark, rows) != TB_OK ||
		tb_map_put(&reading->of_size, key, (uint32_t)benchmark->n_rows) != TB_OK)
		return bench_no_memory(reading);
	struct tb_benchmark_row *made = &benchmark->rows[benchmark->n_rows++];
	*made = *row;
	made->table = (uint32_t)(benchmark->n_tables - 1);
	made->line = (size_t)reading->fields_line;
	return TB_OK;
}

// What a row's fields say of one thing: a rate, and a time or messages per second.
struct bench_claim {
	const struct bench_field *rate, *time, *messages; // NULL: not printed
	double unit, time_unit, messages_unit;
	double bytes; // that go in the time
};

// claim_holds returns whether a rate in `unit` agrees with the other value, but for their
// rounding.
static bool claim_holds(const struct bench_claim *claim, double unit)
{
	// Tools round each for itself; a per cent is for those that compute them from
	// other samples.
	const double slack = 0.01;
	const struct bench_field *rate = claim->rate,
				 *other = claim->time ? claim->time : claim->messages;
	double least = (rate->number - rate->half) * unit,
	       most = (rate->number + rate->half) * unit, low, high;
	if (claim->time) {
		low = claim->bytes * 1e9 /
		      ((other->number + other->half) * claim->time_unit);
		high = other->number > other->half
			       ? claim->bytes * 1e9 /
					 ((other->number - other->half) *
						 claim->time_unit)
			       : INFINITY;
	} else {
		low = (other->number - other->half) * claim->messages_unit * claim->bytes;
		high = (other->number + other->half) * claim->messages_unit *
		       claim->bytes;
	}
	return isnan(low) || isnan(least) ||
	       (high >= least * (1 - slack) && low <= most * (1 + slack));
}

// settle_unit checks a row's values against each other. Where the column's other unit
// makes them agree, it is that one in the whole table.
static int settle_unit(struct bench_reading *reading, struct bench_column *column,
	const struct bench_claim *claim, struct tb_benchmark_row *row)
{
	if (claim_holds(claim, claim->unit))
		return TB_OK;
	if (column->other_unit > 0 && claim_holds(claim, column->other_unit)) {
		double scale = column->other_unit / column->unit;
		for (size_t i = 0; i < bench_n_rows(reading); i++)
			bench_row_at(reading, i)->algorithm_rate *= scale;
		row->algorithm_rate *= scale;
		column->unit = column->other_unit;
		column->other_unit = 0;
		return TB_OK;
	}
	const char *other = claim->time ? claim->time->text : claim->messages->text;
	return bench_refuse(reading,
		"a rate of %s and %s of %s for %.0f bytes contradict each other: one of "
		"the columns is in another unit than its heading says",
		claim->rate->text, claim->time ? "a time" : "a message rate", other,
		row->printed_bytes ? (double)row->printed_bytes : 0.0);
}

int bench_values(struct bench_reading *reading, size_t from, size_t to,
	struct tb_benchmark_row *row)
{
	struct bench_claim claim = {.unit = 1, .time_unit = 1, .messages_unit = 1};
	struct bench_column *rate = NULL;
	uint64_t group;
	int status = TB_OK;
	for (size_t i = 0; i < to && status == TB_OK; i++) {
		struct bench_column *column = &reading->columns[i];
		const struct bench_field *field = &reading->fields[i];
		if (i < from && column->role >= BENCH_TIME)
			continue;
		double value = field->number * column->unit;
		switch (column->role) {
		case BENCH_GROUP:
			group = strtoull(field->text, NULL, 10);
			if (group >= reading->groups_n)
				return bench_refuse(reading,
					"group %" PRIu64 " has no line of its ranks",
					group);
			row->first = reading->groups[group].first;
			row->second = reading->groups[group].second;
			if (row->second != BENCH_NONE && row->n_ranks &&
				(row->first >= row->n_ranks ||
					row->second >= row->n_ranks))
				return bench_refuse(reading,
					"group %" PRIu64 " is of ranks %" PRIu32
					" and %" PRIu32 ", and there are %" PRIu32
					" processes",
					group, row->first, row->second, row->n_ranks);
			break;
		case BENCH_SIZE:
			row->printed_bytes = strtoull(field->text, NULL, 10);
			break;
		case BENCH_TYPE:
			status = bench_text(reading, field->text, strlen(field->text),
				&bench_table_of(reading)->datatype);
			break;
		case BENCH_REDOP:
			reading->combines = strcmp(field->text, "none") != 0;
			break;
		case BENCH_ROOT:
			reading->is_rooted = field->number >= 0;
			break;
		case BENCH_TIME:
			row->time_ns = value;
			// fall through
		case BENCH_SLOWEST:
			if (!claim.time || column->role == BENCH_SLOWEST) {
				claim.time = field;
				claim.time_unit = column->unit;
			}
			break;
		case BENCH_RATE:
			row->algorithm_rate = value;
			rate = column;
			claim.rate = field;
			claim.unit = column->unit;
			break;
		case BENCH_BUS:
			row->bus_rate = value;
			break;
		case BENCH_MESSAGES:
			claim.messages = field;
			claim.messages_unit = column->unit;
			break;
		case BENCH_WRONG:
			reading->is_checked[row->in_place] |= !isnan(value);
			if (value > 0)
				row->n_wrong = (uint64_t)fmin(ceil(value), 1e18);
			break;
		case BENCH_ERROR:
			reading->is_checked[row->in_place] |= !isnan(value);
			break;
		case BENCH_CHECK:
			row->n_wrong += strcmp(field->text, "Fail") == 0;
			break;
		case BENCH_COUNT:
		case BENCH_NUMBER:
		case BENCH_REST:
			break;
		}
	}
	double factor = !reading->table_test ? 1 : reading->table_test->factor;
	claim.bytes = (double)row->printed_bytes * (claim.time ? factor : 1);
	if (status == TB_OK && claim.rate && (claim.time || claim.messages) &&
		claim.bytes > 0 && !*reading->table_unread)
		status = settle_unit(reading, rate, &claim, row);
	return status;
}

int bench_single_row(struct bench_reading *reading)
{
	struct tb_benchmark_row row = bench_row_of(reading);
	int status = bench_values(reading, 0, reading->n_fields, &row);
	if (reading->table_test)
		bench_sized(&row, reading->table_test, bench_table_of(reading)->n_ranks);
	return status == TB_OK ? bench_add(reading, &row) : status;
}

static int read_file(struct bench_reading *reading, const char *path)
{
	struct tb_infile *file;
	FILE *stream;
	struct tb_text_lines lines;
	int status = tb_infile_open(&stream, &file, path, reading->error);
	if (status != TB_OK)
		return status;
	tb_text_lines_init(&lines, stream, reading->file, reading->error);
	lines.most = LINE_MOST;
	while ((status = tb_text_lines_next(&lines)) == 1) {
		reading->line = lines.number;
		reading->is_last_line = !lines.is_ended;
		status = bench_take_line(reading, lines.text);
		if (status != TB_OK)
			break;
	}
	if (status == TB_OK)
		status = bench_end(reading);
	int cause = tb_infile_check(file, reading->error);
	tb_text_lines_fini(&lines);
	fclose(stream);
	return cause != TB_OK ? cause : status;
}

static void reading_fini(struct bench_reading *reading)
{
	free(reading->groups);
	free(reading->ranks);
	free(reading->hosts);
	tb_map_fini(&reading->of_size);
}

#define RAILS_MOST 64 // adapters of a host

// number_rails numbers the adapters of runs of one kind that each used another one,
// "mlx5_2" before "mlx5_10".
static void number_rails(struct tb_benchmark *benchmark, enum tb_benchmark_kind kind)
{
	const char *names[RAILS_MOST];
	size_t n = 0;
	for (size_t i = 0; i < benchmark->n_rows; i++) {
		const struct tb_benchmark_row *row = &benchmark->rows[i];
		const char *name = benchmark->tables[row->table].adapter;
		size_t at = 0, length = strlen(name);
		while (at < n && (strlen(names[at]) < length ||
					 (strlen(names[at]) == length &&
						 strcmp(names[at], name) < 0)))
			at++;
		if (row->kind != kind || length == 0 ||
			(at < n && strcmp(names[at], name) == 0))
			continue;
		if (n == RAILS_MOST)
			return;
		memmove(&names[at + 1], &names[at], (n - at) * sizeof *names);
		names[at] = name;
		n++;
	}
	for (size_t i = 0; n > 1 && i < benchmark->n_rows; i++) {
		struct tb_benchmark_row *row = &benchmark->rows[i];
		const char *name = benchmark->tables[row->table].adapter;
		for (uint32_t k = 0; row->kind == kind && k < n; k++)
			if (strcmp(names[k], name) == 0)
				row->rail = k;
	}
}

int tb_benchmark_read(struct tb_benchmark **benchmark, const char *const *paths, size_t n,
	uint32_t n_ranks, struct tb_error *error)
{
	struct tb_benchmark *made = calloc(1, sizeof *made);
	int status = made ? TB_OK : tb_fail_memory(error, "a benchmark");
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		size_t n_before = made->n_rows;
		struct bench_reading reading = {.benchmark = made,
			.error = error,
			.n_given = n_ranks,
			.file = paths[i],
			.version = "",
			.adapter = "",
			.datatype = "",
			.unread = "",
			.table_unread = ""};
		const char *name =
			strcmp(paths[i], "-") == 0 ? "standard input" : paths[i];
		status = bench_text(&reading, name, strlen(name), &reading.file);
		if (status == TB_OK)
			status = read_file(&reading, paths[i]);
		if (status == TB_OK && made->n_rows == n_before && reading.untitled)
			status = tb_fail_at(error, TB_EFORMAT, name, TB_PLACE_LINE,
				reading.untitled_line,
				"is the heading of a table of %s, but nothing before it "
				"says of which test: keep its title or command",
				reading.untitled);
		else if (status == TB_OK && made->n_rows == n_before && made->note)
			status = tb_fail(error, TB_EFORMAT, "%.300s", made->note);
		else if (status == TB_OK && made->n_rows == n_before)
			status = tb_fail_in(error, TB_EFORMAT, name,
				"has no table of a benchmark that is read: expected what "
				"nccl-tests, rccl-tests, OSU, IMB, perftest, NetPIPE, "
				"GPCNET or mpiGraph print");
		reading_fini(&reading);
	}
	if (status == TB_OK) {
		number_rails(made, TB_BENCH_STREAM);
		number_rails(made, TB_BENCH_BOTH_WAYS);
		number_rails(made, TB_BENCH_LATENCY);
		*benchmark = made;
	} else
		tb_benchmark_close(made);
	return status;
}

int tb_benchmark_plan(struct tb_benchmark **benchmark, bool mpi, enum tb_collective_op op,
	const uint64_t *sizes, size_t n, uint32_t n_ranks, struct tb_error *error)
{
	const struct bench_tool *tool = mpi ? &bench_osu : &bench_nccl_tests;
	const struct bench_test *test = tool->tests;
	while (test->name && (test->kind != TB_BENCH_COLLECTIVE || test->op != op))
		test++;
	if (!test->name)
		return tb_fail(error, TB_EUSAGE, "%s has no test of %s", tool->name,
			tb_collective_op_name(op));
	struct tb_benchmark *made = calloc(1, sizeof *made);
	struct tb_benchmark_row *rows = calloc(n + 1, sizeof *rows);
	struct tb_benchmark_table *table = calloc(1, sizeof *table);
	if (!made || !rows || !table) {
		free(made);
		free(rows);
		free(table);
		return tb_fail_memory(error, "a benchmark");
	}
	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct tb_benchmark_row){.printed_bytes = sizes[i],
			.time_ns = NAN,
			.algorithm_rate = NAN,
			.bus_rate = NAN,
			.first = BENCH_NONE,
			.second = BENCH_NONE,
			.rail = BENCH_NONE};
		bench_sized(&rows[i], test, n_ranks);
	}
	*table = (struct tb_benchmark_table){.tool = tool->name,
		.name = test->name,
		.version = "",
		.datatype = "",
		.n_ranks = n_ranks,
		.adapter = "",
		.file = "planned"};
	made->rows = rows;
	made->n_rows = n;
	made->tables = table;
	made->n_tables = 1;
	*benchmark = made;
	return TB_OK;
}

void tb_benchmark_close(struct tb_benchmark *benchmark)
{
	if (!benchmark)
		return;
	for (size_t i = 0; i < benchmark->n_texts; i++)
		free(benchmark->texts[i]);
	for (size_t i = 0; i < benchmark->n_arrays; i++)
		free(benchmark->arrays[i]);
	tb_map_fini(&benchmark->of_text);
	free(benchmark->texts);
	free(benchmark->arrays);
	free(benchmark->tables);
	free(benchmark->rows);
	free(benchmark->note);
	free(benchmark);
}

size_t tb_benchmark_n_rows(const struct tb_benchmark *benchmark)
{
	return benchmark->n_rows;
}

const struct tb_benchmark_row *tb_benchmark_row(
	const struct tb_benchmark *benchmark, size_t i)
{
	return &benchmark->rows[i];
}

const char *tb_benchmark_operation(const struct tb_benchmark_row *row)
{
	static const char *const words[] = {[TB_BENCH_LATENCY] = "latency",
		[TB_BENCH_STREAM] = "stream",
		[TB_BENCH_BOTH_WAYS] = "both ways",
		[TB_BENCH_PAIRS] = "pairs",
		[TB_BENCH_NEIGHBORS] = "neighbors",
		[TB_BENCH_EXCHANGE] = "exchange"};
	return row->kind == TB_BENCH_COLLECTIVE ? tb_collective_op_name(row->op)
						: words[row->kind];
}

size_t tb_benchmark_n_tables(const struct tb_benchmark *benchmark)
{
	return benchmark->n_tables;
}

const struct tb_benchmark_table *tb_benchmark_table(
	const struct tb_benchmark *benchmark, size_t i)
{
	return &benchmark->tables[i];
}

const char *tb_benchmark_note(const struct tb_benchmark *benchmark)
{
	return benchmark->note;
}
