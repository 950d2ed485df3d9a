#include "run_tried.h"

#include "array.h"
#include "run_impl.h"

#include <stdlib.h>
#include <string.h>

#define PERCENT_PPM 1e4

static void free_texts(const struct tb_run_tries *tries)
{
	for (size_t i = 0; i < tries->n; i++) {
		free(tries->list[i].command);
		free(tries->list[i].title);
		free(tries->list[i].verdict);
		free(tries->list[i].of);
	}
}

void tb_run_tries_fini(struct tb_run_tries *tries)
{
	free_texts(tries);
	free(tries->list);
	*tries = (struct tb_run_tries){0};
}

// The members that are worked out stand behind what is stored.
struct tried_row {
	struct tb_run_tried tried;
	int64_t gain_ppm, half_ppm; // half_ppm below 0: one seed
	int64_t needs_hardware;
};
#define RECORD struct tried_row
static const struct tb_stored_table tries_stored = TB_STORED_TABLE("tried", RECORD,
	TB_COLUMN("command", tried.command), TB_COLUMN("verdict", tried.verdict),
	TB_COLUMN("of", tried.of), TB_COLUMN("seeds", tried.n_seeds),
	TB_COLUMN_AS(TB_STORED_SIGNED, "gain_ppm", gain_ppm),
	TB_COLUMN_AS(TB_STORED_SIGNED, "coalesce(half_ppm, -1)", half_ppm),
	TB_COLUMN("title", tried.title),
	TB_COLUMN_AS(TB_STORED_JOB | TB_STORED_OR_NULL, "job", tried.job),
	TB_COLUMN_AS(TB_STORED_SIGNED, "needs_hardware", needs_hardware));
#undef RECORD

// ppm_to_percent: a gain may be negative; what cannot be one is 0.
static double ppm_to_percent(int64_t ppm)
{
	return ppm > -INT64_C(1000000000000) && ppm < INT64_C(1000000000000)
		       ? (double)ppm / PERCENT_PPM
		       : 0;
}

int tb_run_tries_init(
	struct tb_run_tries *tries, struct tb_run *run, struct tb_error *error)
{
	struct tried_row row;
	struct tb_row_reader rows = tb_run_read(
		run, &tries_stored, "tried WHERE run = ?1 ORDER BY command", error);
	*tries = (struct tb_run_tries){0};
	while (tb_row_read(&rows, &row)) {
		struct tb_run_tries one = {.list = &row.tried, .n = 1};
		if (TB_ARRAY_RESERVE(&tries->list, &tries->room, tries->n + 1) != TB_OK) {
			free_texts(&one);
			tb_row_no_memory(&rows, "what was tried");
			continue;
		}
		row.tried.needs_hardware = row.needs_hardware != 0;
		row.tried.gain_percent = ppm_to_percent(row.gain_ppm);
		row.tried.half_percent =
			row.half_ppm < 0 ? -1 : ppm_to_percent(row.half_ppm);
		tries->list[tries->n++] = row.tried;
	}
	int status = tb_row_reader_end(&rows);
	if (status)
		tb_run_tries_fini(tries);
	return status;
}

// before_output returns how much of a command stands before the store that it writes.
static size_t before_output(const char *command)
{
	const char *last = NULL;
	for (const char *at = command; (at = strstr(at, " -o ")); at++)
		last = at;
	return last ? (size_t)(last - command) : strlen(command);
}

const struct tb_run_tried *tb_run_tries_find(
	const struct tb_run_tries *tries, const char *command)
{
	size_t length = before_output(command);
	for (size_t i = 0; i < tries->n; i++)
		if (before_output(tries->list[i].command) == length &&
			strncmp(tries->list[i].command, command, length) == 0)
			return &tries->list[i];
	return NULL;
}
