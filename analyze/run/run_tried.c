#include "run_tried.h"

#include "run_impl.h"

#include <math.h>
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

#define RECORD struct tb_run_tried
static const struct tb_stored_table tries_stored = TB_STORED_TABLE("tried", RECORD,
	TB_COLUMN("command", command), TB_COLUMN("verdict", verdict), TB_COLUMN("of", of),
	TB_COLUMN("seeds", n_seeds), TB_COLUMN("title", title),
	TB_COLUMN_AS(TB_STORED_ANY_REAL, "gain_ppm", gain_percent),
	TB_COLUMN_AS(TB_STORED_ANY_REAL, "coalesce(half_ppm, -1)", half_percent),
	TB_COLUMN_AS(TB_STORED_JOB | TB_STORED_OR_NULL, "job", job),
	TB_COLUMN("needs_hardware <> 0", needs_hardware));
#undef RECORD

// ppm_to_percent: a gain may be negative; what cannot be one is 0.
static double ppm_to_percent(double ppm)
{
	return fabs(ppm) < 1e12 ? ppm / PERCENT_PPM : 0;
}

// before_output returns how much of a command stands before the store that it writes.
static size_t before_output(const char *command)
{
	const char *last = NULL;
	for (const char *at = command; (at = strstr(at, " -o ")); at++)
		last = at;
	return last ? (size_t)(last - command) : strlen(command);
}

bool tb_tried_before(const struct tb_run_tried *one, const struct tb_run_tried *other)
{
	long long gain = llround(100 * one->gain_percent);
	long long other_gain = llround(100 * other->gain_percent);
	size_t length = before_output(one->command);
	size_t other_length = before_output(other->command);
	if (one->price != other->price)
		return one->price < other->price;
	if (gain != other_gain)
		return gain > other_gain;
	if (length != other_length)
		return length < other_length;
	return strncmp(one->command, other->command, length) < 0;
}

static enum tb_price price_in_title(const struct tb_run_tried *tried)
{
	const char *ends = strstr(tried->title, TB_TRIED_LATER);
	return tried->needs_hardware		      ? TB_PRICE_HARDWARE
	       : strstr(tried->title, TB_TRIED_HARMS) ? TB_PRICE_HARM
	       : strstr(tried->title, TB_TRIED_NODES) ? TB_PRICE_NODES
	       : ends && strstr(ends, " later")	      ? TB_PRICE_DELAY
						      : TB_PRICE_NOTHING;
}

int tb_run_tries_init(
	struct tb_run_tries *tries, struct tb_run *run, struct tb_error *error)
{
	struct tb_row_reader rows = tb_run_read(
		run, &tries_stored, "tried WHERE run = ?1 ORDER BY command", error);
	*tries = (struct tb_run_tries){0};
	int status = tb_row_read_all(
		&rows, &tries->list, &tries->n, &tries->room, "what was tried");
	for (size_t i = 0; i < tries->n; i++) {
		struct tb_run_tried *tried = &tries->list[i];
		tried->gain_percent = ppm_to_percent(tried->gain_percent);
		tried->half_percent = tried->half_percent < 0
					      ? -1
					      : ppm_to_percent(tried->half_percent);
	}
	for (size_t i = 0; i < tries->n; i++) {
		struct tb_run_tried moved = tries->list[i];
		size_t k = i;
		moved.price = price_in_title(&moved);
		for (; k > 0 && tb_tried_before(&moved, &tries->list[k - 1]); k--)
			tries->list[k] = tries->list[k - 1];
		tries->list[k] = moved;
	}
	if (status)
		tb_run_tries_fini(tries);
	return status;
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
