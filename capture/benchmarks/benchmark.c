// Lines, headings, fields and rows, for all tools; and the table of tools.
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

// In the order in which a line is asked for a heading.
static const struct bench_tool *const bench_tools[] = {&bench_nccl_tests, &bench_osu,
	&bench_imb, &bench_perftest, &bench_netpipe, &bench_gpcnet, &bench_pairs};
#define N_TOOLS (sizeof bench_tools / sizeof *bench_tools)

#define LOOK_MOST (size_t)(1 << 20)
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

static bool tool_has(const struct bench_tool *tool, const struct bench_test *test)
{
	const struct bench_test *own = tool->tests;
	while (own->name && own != test)
		own++;
	return own->name != NULL;
}

void bench_named(
	struct bench_reading *reading, const struct bench_tool *tool, const char *line)
{
	for (const struct bench_test *test = tool->tests; test->name; test++) {
		size_t n = strlen(test->name);
		for (const char *at = line; (at = strstr(at, test->name)); at += n) {
			bool begins = at == line ||
				      (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
			if (begins && !isalnum((unsigned char)at[n]) && at[n] != '_')
				reading->test = test;
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
	if (TB_ARRAY_RESERVE(&benchmark->tables, &benchmark->tables_room,
		    benchmark->n_tables + 1) != TB_OK)
		return bench_no_memory(reading);
	const struct bench_test *test =
		tool_has(tool, reading->test) ? reading->test : NULL;
	uint32_t n_ranks = test && test->n_ranks ? test->n_ranks
			   : reading->n_ranks	 ? reading->n_ranks
						 : reading->n_given;
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
	reading->table_test = test;
	reading->table_unread = reading->unread;
	reading->unread = "";
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
		return refuse_cut_row(reading);
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
		if (reading->rounds_sizes)
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
	if (strncmp(at, "rccl-tests:", 11) == 0) // "Version ..."
		return NULL;
	// "host:pid:tid" is NCCL's own.
	if (*end == ':' && (*at == '[' || !end[1] || strchr(" \t#", end[1])))
		return end + 1;
	if (end[0] == ' ' && end[1] == '|' && end[2] == ' ')
		return end + 3;
	return *at == '[' ? end : NULL;
}

// drop_colours removes what colours text in a terminal ("ESC [ 1 ; 31 m").
static void drop_colours(char *text)
{
	char *to = text;
	while (*text) {
		if (text[0] != '\033' || text[1] != '[') {
			*to++ = *text++;
			continue;
		}
		text += 2 + strspn(text + 2, "0123456789;");
		text += *text != '\0';
	}
	*to = '\0';
}

static const char *behind_prefixes(const char *line)
{
	for (;;) {
		const char *next;
		line += strspn(line, " \t\r");
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

// column_length returns how much of a heading a column's name is; 0: it is another.
static size_t column_length(const char *name, const char *at)
{
	const char *end = at;
	for (; *name; name++) {
		if (*name == '*')
			end += strspn(end, "0123456789.");
		else if (*name == *end)
			end++;
		else
			return 0;
	}
	return is_blank(*end) || !*end ? (size_t)(end - at) : 0;
}

// column_at returns the column of the tool that a heading names at a place, the one with
// the longest name, and its length; NULL: there is none.
static const struct bench_column *column_at(
	const struct bench_tool *tool, const char *at, size_t *length)
{
	const struct bench_column *found = NULL;
	*length = 0;
	for (const struct bench_column *column = tool->columns; column->name; column++) {
		size_t n = column_length(column->name, at);
		if (n > *length) {
			found = column;
			*length = n;
		}
	}
	return found;
}

// What a heading names.
struct bench_heading {
	struct bench_column columns[BENCH_COLUMNS_MOST];
	size_t n, second_at;
	bool has_size, has_value;
};

// scan_heading finds a tool's columns in a line. Words that are no column's name are
// columns of which nothing is wanted. False where it has no column of times or rates.
static bool scan_heading(
	struct bench_heading *heading, const struct bench_tool *tool, const char *at)
{
	bool has_time = false;
	*heading = (struct bench_heading){.second_at = BENCH_COLUMNS_MOST};
	if (tool->column && !strstr(at, tool->column))
		return false;
	while (*(at += strspn(at, " \t\r"))) {
		size_t length, n = heading->n;
		const struct bench_column *column = column_at(tool, at, &length);
		if (!column && *at == '#' && n == 0) {
			at++;
			continue;
		}
		if (n == BENCH_COLUMNS_MOST)
			return false;
		heading->columns[n] =
			column ? *column : (struct bench_column){.role = BENCH_NUMBER};
		enum bench_role role = heading->columns[n].role;
		at += column ? length : strcspn(at, " \t\r");
		heading->has_size |= role == BENCH_SIZE;
		heading->has_value |= role == BENCH_TIME || role == BENCH_RATE;
		if (role == BENCH_TIME && has_time &&
			heading->second_at == BENCH_COLUMNS_MOST)
			heading->second_at = n;
		has_time |= role == BENCH_TIME;
		heading->n++;
	}
	return heading->has_value;
}

// read_heading returns whether a line is the heading of a table of the tool, and then
// takes its columns.
static bool read_heading(
	struct bench_reading *reading, const struct bench_tool *tool, const char *line)
{
	struct bench_heading heading;
	if (!scan_heading(&heading, tool, line))
		return false;
	bool is_own = tool_has(tool, reading->test);
	bool is_titled = is_own || *reading->unread;
	bool is_barrier = is_own && reading->test->kind == TB_BENCH_COLLECTIVE &&
			  reading->test->op == TB_COLL_BARRIER;
	if (!(heading.has_size || is_barrier))
		return false;
	if (!is_titled && !tool->finish) {
		reading->untitled = tool->name;
		reading->untitled_line = reading->line;
		return false;
	}
	memcpy(reading->columns, heading.columns, heading.n * sizeof *heading.columns);
	reading->n_columns = heading.n;
	reading->second_at = heading.second_at;
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

void bench_field_set(struct bench_field *field, const char *at, size_t n)
{
	size_t kept = n < sizeof field->text ? n : sizeof field->text - 1;
	memcpy(field->text, at, kept);
	field->text[kept] = '\0';
	field->number = strtod(field->text, NULL);
	field->half = number_rounding(field->text, kept);
	field->blanks = 0;
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
	case BENCH_MESSAGES:
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
	return n == 1 && reading->n_columns > 2 ? 2 : n; // a number alone is no row
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
		// Others' output may begin with numbers.
		if (reading->n_fields > n_held && *rest && is_blank(rest[-1]))
			reading->n_fields = n_held;
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
	if (reading->tool->in_pieces && begins_row(reading) > 2)
		return TB_OK; // the rest may come
	if (!*rest)
		return refuse_cut_row(reading);
	reading->n_fields = 0; // "4194304 time-out": not measured
	return TB_OK;
}

static int take_line(struct bench_reading *reading, char *text)
{
	drop_colours(text);
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
	if (strncmp(line, "```", 3) == 0) // of a page that quotes it
		return bench_end(reading);
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
	free(reading->groups);
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

// tool_of_text returns the tool of which a text has a heading or another line of its own.
// The text loses its ends of lines.
static const struct bench_tool *tool_of_text(char *text)
{
	char *rest = NULL;
	for (char *line = strtok_r(text, "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest)) {
		struct bench_heading heading;
		drop_colours(line);
		const char *at = behind_prefixes(line);
		for (size_t i = 0; i < N_TOOLS; i++) {
			const struct bench_tool *tool = bench_tools[i];
			if (strstr(at, tool->mark) ||
				(tool->columns->name &&
					scan_heading(&heading, tool, at) &&
					heading.has_size))
				return tool;
		}
	}
	return NULL;
}

bool tb_benchmark_begins(struct tb_bytes first)
{
	size_t n = first.n < LOOK_MOST ? first.n : LOOK_MOST;
	char *text = malloc(n + 1);
	if (!text)
		return false;
	if (n > 0)
		memcpy(text, first.data, n);
	text[n] = '\0';
	bool begins = tool_of_text(text) != NULL;
	free(text);
	return begins;
}

const char *tb_benchmark_tool(const char *path)
{
	struct tb_infile *file;
	FILE *stream;
	if (tb_infile_open(&stream, &file, path, NULL) != TB_OK)
		return NULL;
	char *text = malloc(LOOK_MOST + 1);
	const struct bench_tool *tool = NULL;
	if (text) {
		text[fread(text, 1, LOOK_MOST, stream)] = '\0';
		tool = tool_of_text(text);
	}
	free(text);
	fclose(stream);
	return tool ? tool->name : NULL;
}
