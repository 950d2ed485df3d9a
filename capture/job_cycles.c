#include "job_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NAMED_MAX 4 // operations of a cycle that a message tells

int tb_job_check_fail(const struct tb_job *job, const uint32_t *lines, uint32_t op,
	enum tb_status code, const char *text, struct tb_error *error)
{
	if (lines && lines[op] != 0)
		return tb_fail_at(
			error, code, job->name, TB_PLACE_LINE, lines[op], "%s", text);
	return tb_fail_in(error, code, job->name, "%s", text);
}

// release takes away every operation that can run; `waits` is left with the number of
// dependencies of each that never come. Returns how many cannot run.
static uint32_t release(const struct tb_job *job, uint32_t *waits, uint32_t *ready)
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
				// Those beyond `i` are taken when it gets there.
				if (--waits[next] == 0 && next <= i)
					ready[n_ready++] = next;
			}
		}
	}
	return n_left;
}

// follow fills `on` with one waiting operation that each waiting one waits for, and
// returns the first of a cycle.
static uint32_t follow(const struct tb_job *job, const uint32_t *waits, uint32_t *on)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (waits[i] == 0)
			continue;
		for (uint32_t k = job->first_successor[i];
			k < job->first_successor[i + 1]; k++)
			on[job->successors[k] & ~TB_DEP_START] = i;
		at = i;
	}
	// After as many steps as there are operations the walk is on a cycle.
	for (uint32_t i = 0; i < job->n_ops; i++)
		at = on[at];
	uint32_t least = at;
	for (uint32_t i = on[at]; i != at; i = on[i])
		least = i < least ? i : least;
	return least;
}

static int describe_cycle(const struct tb_job *job, const uint32_t *lines,
	const uint32_t *on, uint32_t first, struct tb_error *error)
{
	char text[sizeof error->text], name[96];
	size_t length = 0;
	uint32_t op = first, n_named = 0;
	do {
		static const char *const joints[] = {
			"", " waits for ", ", which waits for "};
		tb_job_describe(job, op, name, sizeof name);
		length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
			joints[n_named < 2 ? n_named : 2], name);
		if (n_named > 0 && lines && lines[op] != 0)
			length += (size_t)snprintf(text + length, sizeof text - length,
				" of line %" PRIu32, lines[op]);
		op = on[op];
		n_named++;
	} while (op != first && n_named < N_NAMED_MAX);
	const char *end = op != first	 ? ", and so on round to the first"
			  : n_named == 1 ? " waits for itself"
					 : ", which waits for the first";
	snprintf(text + length, sizeof text - length, "%s: none can start", end);
	return tb_job_check_fail(job, lines, first, TB_EDEADLOCK, text, error);
}

int tb_job_check_cycles(
	const struct tb_job *job, const uint32_t *lines, struct tb_error *error)
{
	uint32_t *waits = malloc(((size_t)job->n_ops + 1) * sizeof *waits);
	uint32_t *ready = malloc(((size_t)job->n_ops + 1) * sizeof *ready);
	int status = TB_OK;
	if (!waits || !ready)
		status = tb_fail_in(
			error, TB_ENOMEM, job->name, "no memory to look for cycles");
	else if (release(job, waits, ready) > 0)
		status = describe_cycle(
			job, lines, ready, follow(job, waits, ready), error);
	free(waits);
	free(ready);
	return status;
}
