// The lines of a file: what is before a tool's own text, the headings of tables, and the
// fields of their rows; and the table of tools.
#include "benchmark_reading.h"
#include "infile.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// In the order in which a line is asked for a heading.
static const struct bench_tool *const bench_tools[] = {&bench_nccl_tests, &bench_osu,
	&bench_imb, &bench_perftest, &bench_netpipe, &bench_gpcnet, &bench_pairs};
#define N_TOOLS (sizeof bench_tools / sizeof *bench_tools)

#define LOOK_MOST (size_t)(1 << 20)

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
	const char *foreign; // a column in another unit; NULL: there is none
	const struct bench_column *expected; // what it is instead of
};

// unit_column returns the column of times or rates whose name a place of a heading has,
// but with another unit: "Bandwidth (GB/s)"; NULL: none.
static const struct bench_column *unit_column(
	const struct bench_tool *tool, const char *at)
{
	for (const struct bench_column *column = tool->columns; column->name; column++) {
		size_t n = strcspn(column->name, "([");
		if ((column->role == BENCH_TIME || column->role == BENCH_RATE) &&
			column->name[n] && strncmp(at, column->name, n + 1) == 0)
			return column;
	}
	return NULL;
}

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
		if (!column && unit_column(tool, at)) {
			heading->foreign = at;
			heading->expected = unit_column(tool, at);
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

// read_heading stores whether a line is the heading of a table of the tool, and then
// takes its columns.
static int read_heading(struct bench_reading *reading, const struct bench_tool *tool,
	const char *line, bool *is_one)
{
	struct bench_heading heading;
	bool has_value = scan_heading(&heading, tool, line);
	bool is_own = bench_tool_has(tool, reading->test);
	bool is_titled = is_own || *reading->unread;
	bool is_barrier = is_own && reading->test->kind == TB_BENCH_COLLECTIVE &&
			  reading->test->op == TB_COLL_BARRIER;
	*is_one = false;
	if (!heading.has_size && !is_barrier)
		return TB_OK;
	if (!has_value && heading.foreign && is_own)
		return bench_refuse(reading,
			"'%.24s' is not in the unit that %s prints: expected '%s'",
			heading.foreign, tool->name, heading.expected->name);
	if (!has_value)
		return TB_OK;
	if (!is_titled && !tool->finish) {
		reading->untitled = tool->name;
		reading->untitled_line = reading->line;
		return TB_OK;
	}
	memcpy(reading->columns, heading.columns, heading.n * sizeof *heading.columns);
	reading->n_columns = heading.n;
	reading->second_at = heading.second_at;
	*is_one = true;
	return TB_OK;
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
	// A file that ends within the last number of a row has a digit less there than
	// the row before.
	double half = reading->fields[reading->n_fields - 1].half;
	if (reading->is_last_line && reading->row_half > 0 && half > reading->row_half)
		return bench_refuse(reading, "ends within its last number, '%s'",
			reading->fields[reading->n_fields - 1].text);
	int status = reading->tool->row(reading);
	reading->row_half = half;
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
		return bench_refuse_cut_row(reading);
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
	if (*rest == ',' && isdigit((unsigned char)rest[1])) {
		const char *begin = rest;
		while (begin > line && isdigit((unsigned char)begin[-1]))
			begin--;
		return bench_refuse(reading,
			"'%.*s' has a comma where a decimal point is expected "
			"(LC_ALL=C prints one)",
			(int)(rest - begin + 1 +
				(ptrdiff_t)strspn(rest + 1, "0123456789")),
			begin);
	}
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
		return bench_refuse_cut_row(reading);
	reading->n_fields = 0; // "4194304 time-out": not measured
	return TB_OK;
}

int bench_take_line(struct bench_reading *reading, char *text)
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
		bool is_heading;
		status = read_heading(reading, bench_tools[i], line, &is_heading);
		if (status == TB_OK && is_heading)
			return bench_begin(reading, bench_tools[i]);
		if (status == TB_OK)
			status = bench_tools[i]->note(reading, line);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
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
