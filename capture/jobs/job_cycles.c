#include "job_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NAMED_MAX 4 // operations of a cycle that a message names

int tb_job_check_fail(const struct tb_job *job, const uint32_t *lines, uint32_t op,
	enum tb_status code, const char *text, struct tb_error *error)
{
	if (lines && lines[op] != 0)
		return tb_fail_at(
			error, code, job->name, TB_PLACE_LINE, lines[op], "%s", text);
	return tb_fail_in(error, code, job->name, "%s", text);
}

// release_successors runs every operation that can run (Kahn's algorithm) and returns how
// many cannot. In `waits` it leaves the number of dependencies of each that are never
// met.
static uint32_t release_successors(
	const struct tb_job *job, uint32_t *waits, uint32_t *ready)
{
	uint32_t n_left = job->n_ops;
	memcpy(waits, job->n_predecessors, job->n_ops * sizeof *waits);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		uint32_t n_ready = 0;
		if (waits[i] == 0)
			ready[n_ready++] = i;
		while (n_ready > 0) {
			uint32_t op = ready[--n_ready];
			n_left--;
			for (uint32_t k = job->first_successor[op];
				k < job->first_successor[op + 1]; k++) {
				uint32_t next = job->successors[k] & ~TB_DEP_START;
				// Later ones get their turn in the outer loop.
				if (--waits[next] == 0 && next <= i)
					ready[n_ready++] = next;
			}
		}
	}
	return n_left;
}

// first_of_cycle follows `on` from `at` into a cycle and returns the lowest operation of
// it, so that the message does not depend on where the search began.
static uint32_t first_of_cycle(const struct tb_job *job, const uint32_t *on, uint32_t at)
{
	// After n_ops steps the walk must be on a cycle.
	for (uint32_t i = 0; i < job->n_ops; i++)
		at = on[at];
	uint32_t first = at;
	for (uint32_t i = on[at]; i != at; i = on[i])
		first = i < first ? i : first;
	return first;
}

// A message under construction; what does not fit is cut off.
struct sentence {
	char text[sizeof((struct tb_error *)0)->text];
	size_t length;
};

static void sentence_add(struct sentence *sentence, const char *format, ...)
	TB_PRINTF(2, 3);

static void sentence_add(struct sentence *sentence, const char *format, ...)
{
	size_t room = sizeof sentence->text - sentence->length;
	va_list args;
	va_start(args, format);
	int n = vsnprintf(sentence->text + sentence->length, room, format, args);
	va_end(args);
	if (n > 0)
		sentence->length += (size_t)n < room ? (size_t)n : room - 1;
}

int tb_job_fail_cycle(const struct tb_job *job, const uint32_t *lines, const uint32_t *on,
	uint32_t stuck, struct tb_error *error)
{
	static const char *const joints[] = {"", " waits for ", ", which waits for "};
	struct sentence sentence = {.length = 0};
	uint32_t first = first_of_cycle(job, on, stuck), op = first, n_named = 0;
	do {
		char name[96];
		sentence_add(&sentence, "%s%s", joints[n_named < 2 ? n_named : 2],
			tb_job_describe(job, op, name, sizeof name));
		if (n_named > 0 && lines && lines[op] != 0)
			sentence_add(&sentence, " of line %" PRIu32, lines[op]);
		op = on[op];
		n_named++;
	} while (op != first && n_named < N_NAMED_MAX);
	if (op != first)
		sentence_add(&sentence, ", and so on round to the first: none can start");
	else if (n_named == 1)
		sentence_add(&sentence, " waits for itself: it cannot start");
	else
		sentence_add(&sentence, ", which waits for the first: none can start");
	return tb_job_check_fail(job, lines, first, TB_EDEADLOCK, sentence.text, error);
}

// find_causes stores in `on`, for each stuck operation, one stuck operation that it waits
// for, and returns one of them.
static uint32_t find_causes(const struct tb_job *job, const uint32_t *waits, uint32_t *on)
{
	uint32_t stuck = 0;
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (waits[i] == 0)
			continue;
		for (uint32_t k = job->first_successor[i];
			k < job->first_successor[i + 1]; k++)
			on[job->successors[k] & ~TB_DEP_START] = i;
		stuck = i;
	}
	return stuck;
}

int tb_job_check_cycles(
	const struct tb_job *job, const uint32_t *lines, struct tb_error *error)
{
	uint32_t *waits = malloc(((size_t)job->n_ops + 1) * sizeof *waits);
	uint32_t *ready = malloc(((size_t)job->n_ops + 1) * sizeof *ready);
	int status = TB_OK;
	if (!waits || !ready)
		status = tb_fail_memory_in(error, job->name, "finding cycles");
	else if (release_successors(job, waits, ready) > 0)
		status = tb_job_fail_cycle(
			job, lines, ready, find_causes(job, waits, ready), error);
	free(waits);
	free(ready);
	return status;
}
