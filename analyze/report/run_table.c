#include "run_table.h"

#include "run_list.h"
#include "table.h"
#include "text_lines.h"
#include "wrap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CAUTIONED_MOST 8 // runs of which a line names the numbers

struct run_table_row {
	const struct tb_listed_run *run;
	char *differs;
};

struct run_table_rows {
	struct run_table_row *rows;
	size_t n;
};

// A part of what a run is of, within a text: its input, or one of its options, of which
// changes of the network are several.
struct run_part {
	const char *text;
	size_t n;
};

// next_part finds the next option, up to the one behind it, or a change of the network,
// up to a comma that is not within parentheses.
static bool next_part(const char **at, struct run_part *part)
{
	const char *begin = *at, *end;
	int depth = 0;
	begin += strspn(begin, ", ");
	begin += strncmp(begin, "--", 2) == 0 ? 2 : 0;
	begin += strncmp(begin, "network ", 8) == 0 ? 8 : 0;
	for (end = begin;
		*end && strncmp(end, " --", 3) != 0 && !(*end == ',' && depth == 0);
		end++)
		depth += (*end == '(') - (*end == ')');
	*part = (struct run_part){begin, (size_t)(end - begin)};
	*at = end;
	return part->n > 0;
}

static bool has_part(const struct tb_listed_run *run, const struct run_part *sought)
{
	struct run_part part;
	const char *at = run->options;
	while (next_part(&at, &part))
		if (part.n == sought->n && memcmp(part.text, sought->text, part.n) == 0)
			return true;
	return false;
}

static void put_part_of_run(FILE *stream, const char *text, size_t n)
{
	fprintf(stream, "%s%.*s", ftell(stream) > 0 ? " " : "", (int)n, text);
}

// write_differs writes of a point the settings by which points differ, else the input,
// the network and the options that not all runs have.
static char *write_differs(const struct tb_run_list *list, size_t i)
{
	const struct tb_listed_run *run = &list->runs[i];
	bool same_input = true, same_network = true;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	for (size_t k = 0; k < list->n; k++) {
		same_input &= strcmp(list->runs[k].input, run->input) == 0;
		same_network &= strcmp(list->runs[k].network, run->network) == 0;
	}
	if (list->n == 1) {
		put_part_of_run(stream, "-", 1); // from none
	} else if (run->settings) {
		put_part_of_run(stream, run->settings, strlen(run->settings));
	} else {
		struct run_part part;
		if (!same_input)
			put_part_of_run(stream, run->input, strlen(run->input));
		if (!same_network && !*run->options)
			put_part_of_run(stream, run->network, strlen(run->network));
		for (const char *at = run->options; next_part(&at, &part);) {
			bool all = true;
			for (size_t k = 0; k < list->n && all; k++)
				all = list->runs[k].settings ||
				      has_part(&list->runs[k], &part);
			if (!all)
				put_part_of_run(stream, part.text, part.n);
		}
	}
	if (!run->complete)
		put_part_of_run(stream, "(incomplete)", strlen("(incomplete)"));
	return tb_text_written(stream, &text);
}

static const struct tb_listed_run *listed(const struct tb_datum *at)
{
	return ((const struct run_table_row *)at->item)->run;
}

static void put_id(struct tb_datum *at)
{
	at->whole = listed(at)->id;
}

static void put_time(struct tb_datum *at)
{
	at->whole = listed(at)->simulated_ps;
}

static void put_share(struct tb_datum *at)
{
	const struct run_table_rows *rows = at->of;
	double first = (double)rows->rows[0].run->simulated_ps;
	at->unknown = at->row == 0 || first <= 0;
	if (!at->unknown)
		at->real = 100 * ((double)listed(at)->simulated_ps / first - 1);
}

static void put_wait(struct tb_datum *at)
{
	tb_put_count(at, listed(at)->wait_ps);
}

static void put_ideal(struct tb_datum *at)
{
	at->unknown = listed(at)->ideal_ps < 0;
	at->whole = listed(at)->ideal_ps;
}

static void put_nodes(struct tb_datum *at)
{
	tb_put_count(at, listed(at)->n_nodes);
}

static void put_switches(struct tb_datum *at)
{
	tb_put_count(at, listed(at)->n_switches);
}

static void put_cables(struct tb_datum *at)
{
	tb_put_count(at, listed(at)->n_cables);
}

static const struct tb_column run_columns[] = {
	{.title = "Run", .kind = TB_DATUM_ID, .put = put_id},
	{.title = "Differs in", TB_MEMBER(struct run_table_row, differs)},
	{.title = "Run time", .kind = TB_DATUM_TIME, .put = put_time},
	{.title = "Change",
		.kind = TB_DATUM_PERCENT,
		.put = put_share,
		.flags = TB_COLUMN_SIGNED | TB_COLUMN_NULL},
	{.title = "Ideal",
		.kind = TB_DATUM_TIME,
		.put = put_ideal,
		.flags = TB_COLUMN_NULL},
	{.title = "Waited", .kind = TB_DATUM_TIME, .put = put_wait},
	{.title = "Nodes", .kind = TB_DATUM_COUNT, .put = put_nodes},
	{.title = "Switches", .kind = TB_DATUM_COUNT, .put = put_switches},
	{.title = "Cables", .kind = TB_DATUM_COUNT, .put = put_cables},
};

static const struct tb_table_type run_table = {.name = "runs",
	.title = "Runs",
	TB_COLUMNS(run_columns),
	TB_ROWS(struct run_table_rows, rows)};

// write_cautions writes what the headings of runs have behind their networks' names, of
// runs of one network once.
static void write_cautions(const struct tb_runs *runs, unsigned width, FILE *stream)
{
	char *text = NULL;
	size_t size;
	for (size_t i = 0; i < tb_runs_n(runs); i++) {
		const struct tb_run_info *of = tb_runs_at(runs, i);
		const char *caution = tb_run_caution(of);
		FILE *line = *caution ? open_memstream(&text, &size) : NULL;
		bool is_first = true;
		size_t n = 0;
		for (size_t k = 0; line && k < tb_runs_n(runs); k++) {
			const struct tb_run_info *info = tb_runs_at(runs, k);
			if (strcmp(tb_run_caution(info), caution) != 0 ||
				strcmp(info->network_name, of->network_name) != 0)
				continue;
			is_first &= k >= i;
			if (n++ < CAUTIONED_MOST)
				fprintf(line, "%s%" PRId64, n > 1 ? ", " : "", info->id);
		}
		if (n > CAUTIONED_MOST)
			fprintf(line, " and %zu more", n - CAUTIONED_MOST);
		if (line)
			fprintf(line, ": %s%s", of->network_name, caution);
		if (!line || !tb_text_written(line, &text))
			continue;
		if (is_first) {
			fputs(n > 1 ? "  Runs " : "  Run ", stream);
			tb_wrap(stream, n > 1 ? 7 : 6, 2, width, text);
		}
		free(text);
	}
}

int tb_run_table_write(
	const char *path, unsigned width, FILE *stream, struct tb_error *error)
{
	struct tb_run_list list;
	int status = tb_run_list_read(&list, path, error);
	if (status)
		return status;
	status = tb_run_list_sums(&list, path, error);
	struct run_table_rows rows = {calloc(list.n + 1, sizeof *rows.rows), list.n};
	bool fine = rows.rows != NULL;
	for (size_t i = 0; i < list.n && fine; i++) {
		rows.rows[i] =
			(struct run_table_row){&list.runs[i], write_differs(&list, i)};
		fine = rows.rows[i].differs != NULL;
	}
	const struct tb_table table = {
		.type = &run_table, .of = &rows, .n_rows = list.n, .n_shown = list.n};
	if (!status && (!fine || tb_table_text(&table, width, stream) != TB_OK))
		status = tb_fail_memory_in(error, path, "its runs");
	for (size_t i = 0; rows.rows && i < list.n; i++)
		free(rows.rows[i].differs);
	free(rows.rows);
	tb_run_list_fini(&list);
	struct tb_runs *runs = NULL;
	if (!status)
		status = tb_runs_open(&runs, path, error);
	if (!status)
		write_cautions(runs, width, stream);
	tb_runs_free(runs);
	return status;
}
