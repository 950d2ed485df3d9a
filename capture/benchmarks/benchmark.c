// Lines, headings, fields and rows, for all tools; and the table of tools.
#include "array.h"
#include "benchmark_reading.h"
#include "infile.h"
#include "text_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// In the order in which a line is asked for a heading.
static const struct bench_tool *const bench_tools[] = {&bench_nccl_tests};
#define N_TOOLS (sizeof bench_tools / sizeof *bench_tools)

#define LOOK_MOST (size_t)(1 << 20)
#define LINE_MOST (size_t)(1 << 16)

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
	uint64_t hash = UINT64_C(14695981039346656037); // FNV-1a
	uint32_t number;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)at[i]) * UINT64_C(1099511628211);
	for (; tb_map_find(&benchmark->of_text, hash, &number); hash++) {
		*text = benchmark->texts[number];
		if (strlen(*text) == n && memcmp(*text, at, n) == 0)
			return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&benchmark->texts, &benchmark->texts_room,
		    benchmark->n_texts + 1) != TB_OK ||
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
	if (TB_ARRAY_RESERVE(&benchmark->arrays, &benchmark->arrays_room,
		    benchmark->n_arrays + 1) != TB_OK)
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
	bool is_whole = n > 0;
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

int bench_begin(struct bench_reading *reading, const struct bench_tool *tool)
{
	struct tb_benchmark *benchmark = reading->benchmark;
	int status = bench_end(reading);
	if (status != TB_OK)
		return status;
	if (TB_ARRAY_RESERVE(&benchmark->tables, &benchmark->tables_room,
		    benchmark->n_tables + 1) != TB_OK)
		return bench_no_memory(reading);
	uint32_t n_ranks = reading->n_ranks ? reading->n_ranks : reading->n_given;
	struct tb_benchmark_table table = {.tool = tool->name,
		.name = reading->test ? reading->test->name : "",
		.version = reading->version,
		.datatype = reading->datatype,
		.n_ranks = n_ranks,
		.adapter = reading->adapter,
		.random_neighbors = reading->random_neighbors,
		.file = reading->file,
		.line = (size_t)reading->line};
	status = table_place(reading, &table);
	if (status != TB_OK)
		return status;
	benchmark->tables[benchmark->n_tables++] = table;
	reading->tool = tool;
	reading->first_row = benchmark->n_rows;
	reading->n_fields = 0;
	reading->table_test = reading->test;
	reading->combines = reading->is_rooted = false;
	reading->is_checked[0] = reading->is_checked[1] = false;
	tb_map_fini(&reading->of_size);
	return TB_OK;
}

static int refuse_cut_row(struct bench_reading *reading)
{
	reading->line = reading->fields_line;
	return bench_refuse(reading,
		"has %zu of the %zu columns of its table's heading: it is cut off",
		reading->n_fields, reading->n_columns);
}

int bench_end(struct bench_reading *reading)
{
	if (!reading->tool)
		return TB_OK;
	if (reading->n_fields > 0)
		return refuse_cut_row(reading);
	const struct bench_tool *tool = reading->tool;
	int status = TB_OK;
	if (bench_n_rows(reading) == 0)
		reading->benchmark->n_tables--; // a heading alone is no table
	else if (tool->finish)
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
		return bench_refuse(reading,
			"%" PRIu64 " bytes stand in line %zu of the same table with "
			"other values: two runs in one; give each its own heading or "
			"file",
			row->printed_bytes, other->line);
	}
	if (benchmark->n_rows >= UINT32_MAX ||
		TB_ARRAY_RESERVE(&benchmark->rows, &benchmark->rows_room,
			benchmark->n_rows + 1) != TB_OK ||
		tb_map_put(&reading->of_size, key, (uint32_t)benchmark->n_rows) != TB_OK)
		return bench_no_memory(reading);
	struct tb_benchmark_row *made = &benchmark->rows[benchmark->n_rows++];
	*made = *row;
	made->table = (uint32_t)(benchmark->n_tables - 1);
	made->line = (size_t)reading->fields_line;
	return TB_OK;
}

// fields_agree fails where a time and a rate of `bytes` contradict each other by more
// than their rounding.
static int fields_agree(const struct bench_reading *reading, double bytes,
	const struct bench_field *time, double ns, const struct bench_field *rate,
	double unit)
{
	// Tools round time and rate each for itself; a per cent is for those that compute
	// them from other samples.
	const double slack = 0.01;
	double least = (time->number - time->half) * (rate->number - rate->half),
	       most = (time->number + time->half) * (rate->number + rate->half),
	       product = bytes * 1e9 / (ns * unit);
	if (isnan(least) || isnan(most) || bytes == 0 ||
		(product >= least * (1 - slack) && product <= most * (1 + slack)))
		return TB_OK;
	return bench_refuse(reading,
		"%s for %.0f bytes come to a rate of %.4g, but the table has %s: one of "
		"the two columns is in another unit than its tool prints",
		time->text, bytes, product / time->number, rate->text);
}

int bench_values(struct bench_reading *reading, size_t from, size_t to,
	struct tb_benchmark_row *row)
{
	const struct bench_field *time = NULL, *rate = NULL;
	double ns = 1, unit = 1;
	int status = TB_OK;
	for (size_t i = 0; i < to && status == TB_OK; i++) {
		const struct bench_column *column = &reading->columns[i];
		const struct bench_field *field = &reading->fields[i];
		if (i < from && column->role >= BENCH_TIME)
			continue;
		double value = field->number * column->unit;
		switch (column->role) {
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
			if (!time || column->role == BENCH_SLOWEST) {
				time = field;
				ns = column->unit;
			}
			break;
		case BENCH_RATE:
			row->algorithm_rate = value;
			rate = field;
			unit = column->unit;
			break;
		case BENCH_BUS:
			row->bus_rate = value;
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
		case BENCH_GROUP:
		case BENCH_COUNT:
		case BENCH_NUMBER:
		case BENCH_REST:
			break;
		}
	}
	double factor = reading->table_test ? reading->table_test->factor : 1;
	if (status == TB_OK && time && rate && factor > 0)
		status = fields_agree(reading, factor * (double)row->printed_bytes, time,
			ns, rate, unit);
	return status;
}

// What launchers and collectors put before a line: "3: ", "[1,0]<stdout>: ",
// "node7: ", "pod-0 | ", "2026-01-31T12:00:00.5Z stdout F ".

// prefix_time returns what is behind a date or a time of day; NULL: there is none.
static const char *prefix_time(const char *at)
{
	size_t n = strspn(at, "0123456789-/:.,TZ+"), n_marks = 0;
	for (size_t i = 0; i < n; i++)
		n_marks += strchr("-/:", at[i]) != NULL;
	if (!isdigit((unsigned char)*at) || n_marks < 2 || at[n - 1] == ':' ||
		!(at[n] == ' ' || at[n] == '\t'))
		return NULL;
	at += n + strspn(at + n, " \t");
	for (size_t i = 0; i < 2; i++)
		if (strncmp(at, i ? "stderr" : "stdout", 6) == 0 &&
			(strncmp(at + 6, " F ", 3) == 0 ||
				strncmp(at + 6, " P ", 3) == 0))
			return at + 9;
	return at;
}

// prefix_name returns what is behind "name:", "name |" or "[name]", with "<stdout>" too.
static const char *prefix_name(const char *at)
{
	const char *end = at;
	if (*at == '[') {
		end = strchr(at, ']');
		if (!end)
			return NULL;
		end++;
	} else {
		while (isalnum((unsigned char)*end) || (*end && strchr("._-/", *end)))
			end++;
		if (end == at)
			return NULL;
	}
	const char *stream = end;
	if (strncmp(stream, "<stdout>", 8) == 0 || strncmp(stream, "<stderr>", 8) == 0)
		end += 8;
	// "host:pid:tid" is NCCL's own.
	if (*end == ':' && (*at == '[' || !end[1] || strchr(" \t#", end[1])))
		return end + 1;
	if (end[0] == ' ' && end[1] == '|' && end[2] == ' ')
		return end + 3;
	return *at == '[' ? end : NULL;
}

static const char *behind_prefixes(const char *line)
{
	for (;;) {
		const char *next;
		line += strspn(line, " \t\r");
		if (line[0] == '\033' && line[1] == '[') { // a terminal's colours
			line += 2 + strspn(line + 2, "0123456789;");
			line += *line != '\0';
			continue;
		}
		next = prefix_time(line);
		if (!next)
			next = prefix_name(line);
		if (!next)
			return line;
		line = next;
	}
}

// Headings.

static bool is_blank(char letter)
{
	return letter == ' ' || letter == '\t' || letter == '\r';
}

// column_at returns the column of the tool that a heading names at a place: the longest
// one; NULL: none.
static const struct bench_column *column_at(const struct bench_tool *tool, const char *at)
{
	const struct bench_column *found = NULL;
	for (const struct bench_column *column = tool->columns; column->name; column++) {
		size_t n = strlen(column->name);
		if (strncmp(at, column->name, n) == 0 && (is_blank(at[n]) || !at[n]) &&
			(!found || strlen(found->name) < n))
			found = column;
	}
	return found;
}

// read_heading begins a table where the line has the tool's columns of sizes, and of
// times or rates. Words that no column has are columns of which nothing is wanted.
static bool read_heading(
	struct bench_reading *reading, const struct bench_tool *tool, const char *at)
{
	struct bench_column columns[BENCH_COLUMNS_MOST];
	size_t n = 0, second_at = BENCH_COLUMNS_MOST, first_time = BENCH_COLUMNS_MOST;
	bool has_size = false, has_value = false;
	if (!strstr(at, tool->mark))
		return false;
	while (*(at += strspn(at, " \t\r"))) {
		const struct bench_column *column = column_at(tool, at);
		if (!column && *at == '#' && n == 0) {
			at++;
			continue;
		}
		if (n == BENCH_COLUMNS_MOST)
			return false;
		columns[n] =
			column ? *column : (struct bench_column){.role = BENCH_NUMBER};
		at += column ? strlen(column->name) : strcspn(at, " \t\r");
		has_size |= columns[n].role == BENCH_SIZE;
		has_value |=
			columns[n].role == BENCH_TIME || columns[n].role == BENCH_RATE;
		if (columns[n].role == BENCH_TIME) {
			if (first_time == BENCH_COLUMNS_MOST)
				first_time = n;
			else if (second_at == BENCH_COLUMNS_MOST)
				second_at = n;
		}
		n++;
	}
	bool is_barrier = reading->test && reading->test->kind == TB_BENCH_COLLECTIVE &&
			  reading->test->op == TB_COLL_BARRIER;
	if (!has_value || !(has_size || is_barrier))
		return false;
	memcpy(reading->columns, columns, n * sizeof *columns);
	reading->n_columns = n;
	reading->second_at = second_at;
	return true;
}

// Fields.

// number_rounding returns half a unit of the last digit of a number as it is printed.
static double number_rounding(const char *text, size_t n)
{
	const char *point = memchr(text, '.', n), *power = memchr(text, 'e', n);
	const char *end = power ? power : text + n;
	double digits = point ? (double)(end - point - 1) : 0;
	return 0.5 * pow(10, (power ? strtod(power + 1, NULL) : 0) - digits);
}

// take_field reads a field of a role and returns how long it is; 0: there is none.
static size_t take_field(struct bench_field *field, enum bench_role role, const char *at)
{
	struct bench_field made = {.number = NAN, .half = 0};
	size_t n = 0;
	char *end;
	switch (role) {
	case BENCH_GROUP:
	case BENCH_SIZE:
	case BENCH_COUNT:
		n = strspn(at, "0123456789");
		if (n == 0 || n > 18 || !(is_blank(at[n]) || !at[n]))
			return 0;
		made.number = strtod(at, NULL);
		break;
	case BENCH_TYPE:
	case BENCH_REDOP:
	case BENCH_CHECK:
		while (isalnum((unsigned char)at[n]) || at[n] == '_')
			n++;
		if (isdigit((unsigned char)*at))
			return 0;
		break;
	case BENCH_ROOT:
		n = (*at == '-') + strspn(at + (*at == '-'), "0123456789");
		if (n == (size_t)(*at == '-'))
			return 0;
		made.number = strtod(at, NULL);
		break;
	case BENCH_TIME:
	case BENCH_SLOWEST:
	case BENCH_RATE:
	case BENCH_BUS:
	case BENCH_WRONG:
	case BENCH_ERROR:
	case BENCH_NUMBER:
		if (strncmp(at, "N/A", 3) == 0) {
			n = 3;
			break;
		}
		if (!isdigit((unsigned char)*at))
			return 0;
		made.number = strtod(at, &end);
		n = (size_t)(end - at);
		made.half = number_rounding(at, n);
		if (!isfinite(made.number))
			return 0;
		n += at[n] == '*'; // RCCL marks errors beyond its threshold
		break;
	case BENCH_REST:
		n = strlen(at);
		break;
	}
	size_t kept = n < sizeof made.text ? n : sizeof made.text - 1;
	memcpy(made.text, at, kept);
	made.text[kept] = '\0';
	*field = made;
	return n;
}

// take_fields reads as many further fields of a row as the line has, and returns what is
// behind them.
static const char *take_fields(struct bench_reading *reading, const char *at)
{
	while (reading->n_fields < reading->n_columns) {
		struct bench_field *field = &reading->fields[reading->n_fields];
		size_t blanks = strspn(at, " \t\r");
		size_t n = take_field(
			field, reading->columns[reading->n_fields].role, at + blanks);
		if (n == 0)
			break;
		field->blanks = blanks;
		reading->n_fields++;
		at += blanks + n;
	}
	return at + strspn(at, " \t\r");
}

// begins_row returns how many fields make a line a row's: a size and, of some tools,
// elements and a type.
static size_t begins_row(const struct bench_reading *reading)
{
	size_t n = 1;
	while (n < reading->n_columns && reading->columns[n].role <= BENCH_TYPE)
		n++;
	return n;
}

// is_second_half: a row may have the in-place results alone, in their columns.
static bool is_second_half(const struct bench_reading *reading)
{
	size_t first_at = 2 * reading->second_at - reading->n_columns;
	return reading->second_at < reading->n_columns &&
	       reading->n_fields == reading->second_at && first_at < reading->n_fields &&
	       reading->fields[first_at].blanks > 24;
}

static int take_row(struct bench_reading *reading)
{
	int status = reading->tool->row(reading);
	reading->n_fields = 0;
	return status;
}

// take_data takes a line of a table; `*is_taken` is whether it was one.
static int take_data(struct bench_reading *reading, const char *line, bool *is_taken)
{
	struct bench_field held[BENCH_COLUMNS_MOST];
	size_t n_held = reading->n_fields;
	*is_taken = false;
	// A new row, or the rest of one.
	memcpy(held, reading->fields, n_held * sizeof *held);
	reading->n_fields = 0;
	const char *rest = take_fields(reading, line);
	bool is_new = reading->n_fields >= begins_row(reading);
	if (is_new && n_held > 0) {
		reading->n_fields = n_held;
		return refuse_cut_row(reading);
	}
	if (is_new)
		reading->fields_line = reading->line;
	else {
		memcpy(reading->fields, held, n_held * sizeof *held);
		reading->n_fields = n_held;
		if (n_held == 0)
			return TB_OK;
		rest = take_fields(reading, line);
		if (*rest && is_blank(rest[-1]))
			reading->n_fields = n_held; // others' output that begins with
						    // numbers
		if (reading->n_fields == n_held)
			return TB_OK;
	}
	*is_taken = true;
	if (reading->n_fields == reading->n_columns) {
		if (isdigit((unsigned char)*rest))
			return bench_refuse(reading,
				"has more columns than the %zu of its table's heading: "
				"'%.20s' is behind them",
				reading->n_columns, rest);
		return take_row(reading);
	}
	if (is_second_half(reading) && !*rest)
		return take_row(reading);
	if (reading->tool->in_pieces && begins_row(reading) > 1)
		return TB_OK; // the rest may come
	if (!*rest)
		return refuse_cut_row(reading);
	reading->n_fields = 0; // "4194304 time-out": not measured
	return TB_OK;
}

static int take_line(struct bench_reading *reading, const char *text)
{
	const char *line = behind_prefixes(text);
	bool is_taken = false;
	int status = TB_OK;
	if (reading->tool && *line) {
		status = take_data(reading, line, &is_taken);
		if (status != TB_OK || is_taken)
			return status;
	} else if (reading->tool && reading->tool->ends_at_blank)
		return bench_end(reading);
	if (!*line)
		return TB_OK;
	for (size_t i = 0; i < N_TOOLS; i++) {
		if (read_heading(reading, bench_tools[i], line))
			return bench_begin(reading, bench_tools[i]);
		status = bench_tools[i]->note(reading, line);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
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
		status = take_line(reading, lines.text);
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
	free(reading->ranks);
	free(reading->hosts);
	tb_map_fini(&reading->of_size);
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
			.datatype = ""};
		const char *name =
			strcmp(paths[i], "-") == 0 ? "standard input" : paths[i];
		status = bench_text(&reading, name, strlen(name), &reading.file);
		if (status == TB_OK)
			status = read_file(&reading, paths[i]);
		if (status == TB_OK && made->n_rows == n_before)
			status = tb_fail_in(error, TB_EFORMAT, name,
				"has no table of a benchmark that is read: expected what "
				"nccl-tests, rccl-tests, OSU, IMB, perftest, NetPIPE or "
				"GPCNET print");
		reading_fini(&reading);
	}
	if (status == TB_OK)
		*benchmark = made;
	else
		tb_benchmark_close(made);
	return status;
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

size_t tb_benchmark_n_tables(const struct tb_benchmark *benchmark)
{
	return benchmark->n_tables;
}

const struct tb_benchmark_table *tb_benchmark_table(
	const struct tb_benchmark *benchmark, size_t i)
{
	return &benchmark->tables[i];
}

bool tb_benchmark_begins(struct tb_bytes first)
{
	size_t n = first.n < LOOK_MOST ? first.n : LOOK_MOST;
	for (size_t i = 0; i < N_TOOLS; i++)
		if (memmem(first.data, n, bench_tools[i]->mark,
			    strlen(bench_tools[i]->mark)))
			return true;
	return false;
}

double tb_bus_share(enum tb_collective_op op, uint32_t n)
{
	double others = n > 0 ? (double)(n - 1) / n : 0;
	switch (op) {
	case TB_COLL_ALLREDUCE:
		return 2 * others;
	case TB_COLL_ALLGATHER:
	case TB_COLL_REDUCE_SCATTER:
	case TB_COLL_ALLTOALL:
	case TB_COLL_GATHER:
	case TB_COLL_SCATTER:
		return others;
	case TB_COLL_BARRIER:
	case TB_COLL_BROADCAST:
	case TB_COLL_REDUCE:
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		break;
	}
	return 1;
}
