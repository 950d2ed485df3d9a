#include "receives.h"

#include <stdlib.h>

// Calls that are compared: some hundreds give a good median.
#define CALLS_MAX 1024

static bool is_common_end(const struct tb_otf2_step *step)
{
	const struct tb_call *call = &step->call;
	return call->kind == TB_CALL_COLLECTIVE && call->group == 0 && !call->starts &&
	       !step->is_dropped && step->until_ns != UINT64_MAX &&
	       (call->op == TB_COLL_BARRIER || call->op == TB_COLL_ALLREDUCE ||
		       call->op == TB_COLL_ALLGATHER || call->op == TB_COLL_ALLTOALL);
}

// ends_of stores when a rank left the first such calls, and returns how many they are.
static size_t ends_of(const struct tb_otf2_steps *of, uint64_t *ends)
{
	size_t n = 0;
	for (size_t i = 0; i < of->n_steps && n < CALLS_MAX; i++)
		if (is_common_end(&of->steps[i]))
			ends[n++] = of->steps[i].until_ns;
	return n;
}

static int int64_by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

// later_by returns by how much the ends in `b` are later than those in `a`.
static int64_t later_by(const uint64_t *a, const uint64_t *b, size_t n)
{
	int64_t differences[CALLS_MAX];
	for (size_t i = 0; i < n; i++)
		differences[i] = (int64_t)(b[i] - a[i]);
	qsort(differences, n, sizeof *differences, int64_by_value);
	return differences[n / 2];
}

static void steps_shift(struct tb_otf2_steps *of, uint64_t by_ns)
{
	of->cut_ns += by_ns;
	for (size_t i = 0; i < of->n_steps; i++) {
		of->steps[i].call.enter_ns += by_ns;
		of->steps[i].call.leave_ns += by_ns;
		if (of->steps[i].until_ns != UINT64_MAX)
			of->steps[i].until_ns += by_ns;
	}
	for (size_t i = 0; i < of->n_pauses; i++) {
		of->pauses[i].enter_ns += by_ns;
		of->pauses[i].leave_ns += by_ns;
	}
}

// clocks_compare fills in by how much each clock is ahead of the first rank's; false when
// the ranks cannot be compared.
static bool clocks_compare(
	const struct tb_otf2_unresolved *ranks, size_t n, int64_t *ahead)
{
	uint64_t first[CALLS_MAX], other[CALLS_MAX];
	size_t n_first = ends_of(&ranks[0].steps, first);
	if (n_first == 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t n_other = ends_of(&ranks[i].steps, other);
		bool is_cut = ranks[0].steps.is_cut || ranks[i].steps.is_cut;
		size_t n_both = n_other < n_first ? n_other : n_first;
		if (n_both == 0 || (n_other != n_first && !is_cut))
			return false;
		ahead[i] = later_by(first, other, n_both);
	}
	return true;
}

int tb_otf2_clocks_align(struct tb_otf2_unresolved *ranks, size_t n, uint64_t *apart_ns,
	struct tb_error *error)
{
	int64_t low = 0, high = 0;
	int64_t *ahead = calloc(n, sizeof *ahead);
	if (!ahead)
		return tb_fail_memory(error, "the ranks of a trace");
	*apart_ns = 0;
	if (clocks_compare(ranks, n, ahead)) {
		for (size_t i = 0; i < n; i++) {
			low = ahead[i] < low ? ahead[i] : low;
			high = ahead[i] > high ? ahead[i] : high;
		}
		for (size_t i = 0; i < n; i++)
			steps_shift(&ranks[i].steps, (uint64_t)(high - ahead[i]));
		*apart_ns = (uint64_t)(high - low);
	}
	free(ahead);
	return TB_OK;
}
