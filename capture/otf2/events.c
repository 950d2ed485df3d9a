#include "events.h"

#include "array.h"
#include "records.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

static uint64_t ticks_scale(const struct tb_otf2_definitions *of, uint64_t ticks)
{
	wide ns = (wide)ticks * 1000000000u / of->ticks_per_s;
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

uint64_t tb_otf2_ns(const struct tb_otf2_definitions *of, uint64_t time)
{
	return time > of->begin ? ticks_scale(of, time - of->begin) : 0;
}

void tb_otf2_events_fail(struct tb_otf2_events *of, int status)
{
	if (of->status == TB_OK)
		of->status = status;
}

OTF2_CallbackCode tb_otf2_events_next(const struct tb_otf2_events *of)
{
	return of->status == TB_OK ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

bool tb_otf2_events_at(struct tb_otf2_events *of, uint64_t time)
{
	of->n_events++;
	if (!of->has_begun) {
		if (of->rank_begin == UINT64_MAX)
			of->rank_begin = time;
		of->from = of->lane == 0 ? time : of->rank_begin;
		of->last = time;
		of->has_begun = true;
	}
	if (time < of->last && of->reading->lenient)
		time = of->last;
	if (time < of->last) {
		tb_otf2_events_fail(
			of, tb_fail_at(&of->error, TB_EFORMAT, "", TB_PLACE_RECORD,
				    of->n_events,
				    "rank %" PRIu32 " has an event that is %" PRIu64
				    " ns earlier than the one before it",
				    of->rank, ticks_scale(of->of, of->last - time)));
		return false;
	}
	of->last = time;
	return of->status == TB_OK;
}

void tb_otf2_call_enter(struct tb_otf2_events *of, struct tb_otf2_region *region)
{
	if (of->depth++ > 0)
		return;
	if (of->last > of->from)
		of->calc += of->last - of->from;
	of->region = region;
	of->enter = of->last;
	of->first_step = (uint32_t)of->steps.n_steps;
	of->is_recorded = false;
	of->n_ended = 0;
}

bool tb_otf2_call_add(
	struct tb_otf2_events *of, const struct tb_call *call, uint32_t *index)
{
	struct tb_call made = *call;
	made.enter_ns = tb_otf2_ns(of->of, of->enter);
	made.calc_ns = ticks_scale(of->of, of->calc);
	made.lane = of->lane;
	int status = tb_otf2_steps_add(&of->steps, &made, index, &of->error);
	tb_otf2_events_fail(of, status);
	of->calc = 0;
	of->lost += of->passed;
	of->passed = 0;
	of->is_recorded = true;
	return status == TB_OK;
}

void tb_otf2_call_ends(struct tb_otf2_events *of, uint32_t step)
{
	of->is_recorded = true;
	of->steps.steps[step].has_ended = true;
	if (TB_ARRAY_RESERVE(&of->ended, &of->ended_room, of->n_ended + 1) != TB_OK)
		tb_otf2_events_fail(
			of, tb_fail_memory(&of->error, "the calls of a trace"));
	else
		of->ended[of->n_ended++] = step;
}

// events_join has what the call did and what ended in it come before the next one. A
// joint is needed unless the call is a single operation.
static void events_join(struct tb_otf2_events *of, uint32_t n_steps)
{
	uint32_t joint = 0;
	struct tb_call call = {.kind = TB_CALL_JOINT};
	if (!tb_otf2_call_add(of, &call, &joint))
		return;
	for (uint32_t i = of->first_step; i < n_steps; i++) {
		struct tb_call *step = &of->steps.steps[i].call;
		if (step->starts)
			continue;
		step->starts = true;
		tb_otf2_events_fail(
			of, tb_otf2_steps_after(&of->steps, joint, i, &of->error));
	}
	for (size_t i = 0; i < of->n_ended; i++)
		tb_otf2_events_fail(of,
			tb_otf2_steps_after(&of->steps, joint, of->ended[i], &of->error));
}

// cancel marks the receive that was posted last as cancelled, so that no message sent
// later is assigned to it. EZTrace, which records only the beginning of receives, does
// not record which request MPI_Cancel was called with.
static void cancel(struct tb_otf2_events *of)
{
	size_t i = of->steps.n_steps;
	while (i > 0 && !(of->steps.steps[i - 1].is_open &&
				of->steps.steps[i - 1].call.kind == TB_CALL_RECV))
		i--;
	if (i == 0 || of->steps.steps[i - 1].until_ns != UINT64_MAX)
		return;
	of->steps.steps[i - 1].until_ns = tb_otf2_ns(of->of, of->enter);
	of->steps.steps[i - 1].is_cancelled = true;
}

void tb_otf2_call_leave(struct tb_otf2_events *of)
{
	if (of->depth == 0 || --of->depth > 0)
		return;
	uint32_t n_steps = (uint32_t)of->steps.n_steps, n_blocking = 0;
	enum tb_otf2_region_kind kind = of->region ? of->region->kind : TB_OTF2_MPI;
	for (uint32_t i = of->first_step; i < n_steps; i++)
		n_blocking += !of->steps.steps[i].call.starts;
	if (n_blocking > 1 || of->n_ended > 0)
		events_join(of, n_steps);
	else if (n_steps == of->first_step + 1 && n_blocking == 1) // for clocks.h
		of->steps.steps[of->first_step].until_ns = tb_otf2_ns(of->of, of->last);
	// Give the steps of a call their time: of several, those that only start take
	// none of it.
	size_t n = of->steps.n_steps - of->first_step;
	uint64_t leave_ns = tb_otf2_ns(of->of, of->last);
	for (size_t i = of->first_step; i < of->steps.n_steps; i++) {
		struct tb_call *call = &of->steps.steps[i].call;
		call->leave_ns = n > 1 && call->starts ? call->enter_ns : leave_ns;
	}
	if (kind == TB_OTF2_BSEND && n_steps == of->first_step + 1)
		of->steps.steps[of->first_step].call.starts = true;
	// Pauses matter only for ranks with receives that no record completes.
	if (kind == TB_OTF2_WAIT && !of->is_recorded && of->steps.n_open_receives > 0) {
		struct tb_otf2_pause pause = {.enter_ns = tb_otf2_ns(of->of, of->enter),
			.leave_ns = tb_otf2_ns(of->of, of->last),
			.calc_ns = ticks_scale(of->of, of->calc),
			.next = (uint32_t)of->steps.n_steps,
			.lane = of->lane};
		tb_otf2_events_fail(
			of, tb_otf2_steps_pause(&of->steps, &pause, &of->error));
	}
	if (kind == TB_OTF2_CANCEL && of->steps.n_open_receives > 0)
		cancel(of);
	if (kind == TB_OTF2_MOVER && !of->is_recorded)
		of->region->n_bare++;
	// What is before the first call and behind the last one is not in the job at all.
	bool is_between = of->steps.n_steps > 0 && of->steps.n_steps == of->first_step;
	if (is_between && (!of->region || of->region->kind != TB_OTF2_WAIT))
		of->passed += of->last - of->enter;
	of->from = of->last;
}

void tb_otf2_events_rank(struct tb_otf2_events *of, uint32_t rank)
{
	tb_otf2_steps_fini(&of->steps);
	tb_map_fini(&of->requests);
	memset(of->views, 0, sizeof of->views);
	of->rank = rank;
	of->rank_begin = UINT64_MAX;
}

void tb_otf2_events_location(struct tb_otf2_events *of)
{
	of->lane = of->steps.n_lanes;
	of->n_events = of->calc = of->passed = 0;
	of->depth = 0;
	of->has_begun = false;
}

void tb_otf2_events_end(struct tb_otf2_events *of)
{
	if (of->depth > 0) {
		of->depth = 1;
		tb_otf2_call_leave(of);
	}
	// A thread that made no calls is no lane.
	size_t n = of->steps.n_steps;
	if (n > 0 && of->steps.steps[n - 1].call.lane == of->lane)
		of->steps.n_lanes = of->lane + 1;
}

int tb_otf2_events_init(struct tb_otf2_events *of, struct tb_error *error)
{
	of->callbacks = tb_otf2_records_new();
	return of->callbacks ? TB_OK : tb_fail_memory(error, "an archive");
}

void tb_otf2_events_fini(struct tb_otf2_events *of)
{
	if (of->callbacks)
		OTF2_EvtReaderCallbacks_Delete(of->callbacks);
	tb_otf2_steps_fini(&of->steps);
	tb_map_fini(&of->requests);
	free(of->ended);
	of->callbacks = NULL;
	of->ended = NULL;
}

static const struct {
	const char *what, *rest; // of one, a bar, of several
} left_out[TB_OTF2_N_LEFT_OUT] = {
	[TB_OTF2_RMA_PUT] = {"one-sided put is|one-sided puts are", "left out"},
	[TB_OTF2_RMA_GET] = {"one-sided get is|one-sided gets are", "left out"},
	[TB_OTF2_RMA_ATOMIC] = {"one-sided atomic operation is|one-sided atomic "
				"operations are",
		"left out"},
	[TB_OTF2_RMA_COLLECTIVE] = {"collective call of one-sided windows is|collective "
				    "calls of one-sided windows are",
		"left out"},
	[TB_OTF2_IO] = {"file operation is|file operations are", "left out"},
	[TB_OTF2_THREADS] = {"fork of threads is|forks of threads are",
		"left out: their time is computation"},
	[TB_OTF2_HANDLES] = {"collective call that makes or frees communicators, windows "
			     "or memory is|collective calls that make or free "
			     "communicators, windows or memory are",
		"left out"},
	[TB_OTF2_INTER_ROOT] = {"rooted collective call of inter-communicators is|rooted "
				"collective calls of inter-communicators are",
		"left out: the archive does not give every member the root"},
	[TB_OTF2_CANCELLED] = {"cancelled request is|cancelled requests are", "left out"},
	[TB_OTF2_UNFINISHED] = {"non-blocking collective call is|non-blocking collective "
				"calls are",
		"left out: no record tells what was done"},
	[TB_OTF2_STRAY] = {"end of a request that did not begin is|ends of requests that "
			   "did not begin are",
		"left out"},
	[TB_OTF2_MEASURE_OFF] =
		{"time in which the measurement was off is|times in which "
		 "the measurement was off are",
			"computation"},
	[TB_OTF2_UNDEFINED] = {"message or collective call in a communicator that is not "
			       "defined any more is|messages and collective calls in "
			       "communicators that are not defined any more are",
		"left out"},
	[TB_OTF2_UNKNOWN] = {"record of a kind that libotf2 does not know is|records of "
			     "kinds that libotf2 does not know are",
		"left out"},
};

void tb_otf2_events_note(const struct tb_otf2_events *of)
{
	char text[160];
	for (size_t i = 0; i < TB_OTF2_N_LEFT_OUT; i++)
		if (of->left_out[i] > 0)
			tb_calls_note(of->calls, "%s %s",
				tb_format_counted(of->left_out[i], left_out[i].what, text,
					sizeof text),
				left_out[i].rest);
	if (of->lost)
		tb_calls_note(of->calls,
			"%s of all ranks passed in calls that are left out or send "
			"nothing, which take no time in the job",
			tb_format_time(
				(tb_time_ps)ticks_scale(of->of, of->lost) * TB_PS_PER_NS,
				text, sizeof text));
	// An archive defines each region per process when its writer did not unify them.
	for (size_t i = 0; i < of->of->n_regions; i++) {
		struct tb_otf2_region *region = &of->of->regions[i];
		const char *name = tb_otf2_string(of->of, region->name);
		for (size_t k = i + 1; region->n_bare > 0 && k < of->of->n_regions; k++) {
			struct tb_otf2_region *other = &of->of->regions[k];
			if (other->n_bare == 0 ||
				strcmp(tb_otf2_string(of->of, other->name), name) != 0)
				continue;
			region->n_bare += other->n_bare;
			other->n_bare = 0;
		}
		if (region->n_bare > 0)
			tb_calls_note(of->calls,
				"%s of %s %s left out: no record tells what %s sent",
				tb_format_counted(
					region->n_bare, "call", text, sizeof text),
				name, region->n_bare == 1 ? "is" : "are",
				region->n_bare == 1 ? "it" : "they");
	}
}
