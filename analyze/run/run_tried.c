#include "run_tried.h"

#include "array.h"
#include "run_impl.h"

#include <stdlib.h>
#include <string.h>

#define PERCENT_PPM 1e4

void tb_run_tries_fini(struct tb_run_tries *tries)
{
	for (size_t i = 0; i < tries->n; i++) {
		free(tries->list[i].command);
		free(tries->list[i].title);
		free(tries->list[i].verdict);
		free(tries->list[i].of);
	}
	free(tries->list);
	*tries = (struct tb_run_tries){0};
}

// A gain may be negative; what cannot be one is 0.
static double ppm_to_percent(struct tb_run_row *row, int column)
{
	int64_t ppm = sqlite3_column_int64(row->query, column);
	return ppm > -INT64_C(1000000000000) && ppm < INT64_C(1000000000000)
		       ? (double)ppm / PERCENT_PPM
		       : 0;
}

static int tried_add_row(
	struct tb_run_tries *tries, struct tb_run_row *row, const struct tb_run_info *of)
{
	if (TB_ARRAY_RESERVE(&tries->list, &tries->room, tries->n + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_run_tried *tried = &tries->list[tries->n++];
	*tried = (struct tb_run_tried){
		.command = tb_run_get_text(row, 0),
		.verdict = tb_run_get_text(row, 1),
		.of = tb_run_get_text(row, 2),
		.n_seeds = tb_run_get32(row, 3, UINT32_MAX),
		.gain_percent = ppm_to_percent(row, 4),
		.half_percent = -1,
		.title = tb_run_get_text(row, 6),
		.job = TB_ID_NONE,
		.needs_hardware = sqlite3_column_int64(row->query, 8) != 0,
	};
	if (sqlite3_column_type(row->query, 7) != SQLITE_NULL)
		tried->job = tb_run_get_id(row, 7, of->n_jobs);
	if (sqlite3_column_type(row->query, 5) != SQLITE_NULL)
		tried->half_percent = ppm_to_percent(row, 5);
	return tried->command && tried->title && tried->verdict && tried->of ? TB_OK
									     : TB_ENOMEM;
}

int tb_run_tries_init(
	struct tb_run_tries *tries, struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	*tries = (struct tb_run_tries){0};
	int status = tb_run_query(run,
		"SELECT command, verdict, of, seeds, gain_ppm, half_ppm, title, "
		"job, needs_hardware FROM tried WHERE "
		"run = ?1 ORDER BY command",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "tried", &row, error)) > 0)
		if (tried_add_row(tries, &row, tb_run_info(run)) != TB_OK) {
			status = tb_fail_memory_in(error, run->path, "what was tried");
			break;
		}
	sqlite3_finalize(row.query);
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
