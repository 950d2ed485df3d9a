#include "call_times.h"

#include "array.h"

#include <stdio.h>
#include <stdlib.h>

bool tb_timed_starts(uint32_t kind)
{
	return kind == TB_TIMED_ISEND || kind == TB_TIMED_IRECV ||
	       kind >= TB_TIMED_STARTED;
}

uint8_t tb_timed_kind(const struct tb_call *call)
{
	switch ((enum tb_call_kind)call->kind) {
	case TB_CALL_SEND:
		return call->starts ? TB_TIMED_ISEND : TB_TIMED_SEND;
	case TB_CALL_RECV:
		return call->starts ? TB_TIMED_IRECV : TB_TIMED_RECV;
	case TB_CALL_COLLECTIVE:
		return (uint8_t)((call->starts ? TB_TIMED_STARTED : TB_TIMED_COLLECTIVE) +
				 call->op);
	case TB_CALL_JOINT:
		break;
	}
	return TB_TIMED_WAIT;
}

const char *tb_timed_name(uint32_t kind, char buffer[TB_TIMED_NAME_BYTES])
{
	static const char *const names[TB_TIMED_COLLECTIVE] = {
		"send", "recv", "isend", "irecv", "wait", "message"};
	bool starts = kind >= TB_TIMED_STARTED;
	if (kind < TB_TIMED_COLLECTIVE)
		snprintf(buffer, TB_TIMED_NAME_BYTES, "%s", names[kind]);
	else
		snprintf(buffer, TB_TIMED_NAME_BYTES, "%s%s", starts ? "i" : "",
			tb_collectives[(kind - TB_TIMED_COLLECTIVE) % TB_COLL_N].name);
	return buffer;
}

const char *tb_uncompared_text(enum tb_uncompared reason)
{
	static const char *const texts[TB_UNCOMPARED_N] = {
		[TB_UNCOMPARED_BACKWARDS] =
			"left before entered, by a clock that ran backwards",
		[TB_UNCOMPARED_OVERLAPS] = "entered before the call before was left",
		[TB_UNCOMPARED_LEFT_OUT] = "not in the job, for want of a counterpart",
		[TB_UNCOMPARED_ANY] = "from any source, so posted before their turn",
		[TB_UNCOMPARED_UNREACHED] = "not come to their end in the replay",
	};
	return texts[reason];
}

int tb_call_times_begin(struct tb_call_times *times, uint32_t n_ranks)
{
	*times = (struct tb_call_times){.n_ranks = n_ranks};
	times->ranks = calloc(n_ranks + UINT64_C(1), sizeof *times->ranks);
	return times->ranks ? TB_OK : TB_ENOMEM;
}

int tb_call_times_add(struct tb_call_times *times, uint32_t rank, uint8_t kind,
	uint64_t bytes, uint64_t enter_ps, uint64_t leave_ps)
{
	struct tb_kind_times *of_kind = &times->kinds[kind];
	struct tb_rank_times *of_rank = &times->ranks[rank];
	uint64_t lasted_ps = leave_ps - enter_ps;
	if (TB_ARRAY_RESERVE(&times->lasted[kind].list, &times->lasted[kind].room,
		    of_kind->n + 1) != TB_OK)
		return TB_ENOMEM;
	times->lasted[kind].list[of_kind->n++] = lasted_ps;
	of_kind->bytes += bytes;
	of_kind->sum_ps += lasted_ps;
	of_rank->n++;
	of_rank->sum_ps += lasted_ps;
	if (tb_timed_starts(kind)) {
		of_rank->n_starts++;
		of_rank->starts_ps += lasted_ps;
	}
	of_rank->end_ps = leave_ps > of_rank->end_ps ? leave_ps : of_rank->end_ps;
	times->run_ps = leave_ps > times->run_ps ? leave_ps : times->run_ps;
	times->n++;
	return TB_OK;
}

// nth returns the value that would stand at a place if the `n` values were sorted (Hoare,
// "Find", CACM 4, 1961).
static uint64_t nth(uint64_t *values, size_t n, size_t place)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, at = (ptrdiff_t)place;
	while (low < high) {
		uint64_t pivot = values[low + (high - low) / 2];
		ptrdiff_t i = low, k = high;
		while (i <= k) {
			while (values[i] < pivot)
				i++;
			while (values[k] > pivot)
				k--;
			if (i > k)
				break;
			uint64_t value = values[i];
			values[i++] = values[k];
			values[k--] = value;
		}
		if (at <= k)
			high = k;
		else if (at >= i)
			low = i;
		else
			break;
	}
	return values[place];
}

void tb_call_times_end(struct tb_call_times *times)
{
	for (uint32_t i = 0; i < TB_TIMED_KINDS; i++) {
		struct tb_kind_times *kind = &times->kinds[i];
		if (times->lasted[i].list) // it is not ended yet
			kind->median_ps =
				nth(times->lasted[i].list, kind->n, (kind->n - 1) / 2);
		free(times->lasted[i].list);
		times->lasted[i].list = NULL;
		times->lasted[i].room = 0;
	}
}

void tb_call_times_fini(struct tb_call_times *times)
{
	tb_call_times_end(times);
	free(times->ranks);
	*times = (struct tb_call_times){.n_ranks = 0};
}

void tb_recorded_calls_free(struct tb_recorded_calls *timed)
{
	if (!timed)
		return;
	tb_call_times_fini(&timed->times);
	if (!timed->array.memory)
		free(timed->calls);
	tb_disk_array_fini(&timed->array);
	free(timed->first);
	free(timed);
}

void tb_placed_calls_free(struct tb_placed_calls *placed)
{
	if (!placed)
		return;
	free(placed->calls);
	free(placed->first);
	free(placed);
}
