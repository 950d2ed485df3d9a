// Makes a job from a plan, or appends a plan to a job that is being built: rank after
// rank and in each round after round.
#include "plan_impl.h"

#include <inttypes.h>

#define COMBINE_CPU 1

// plan_begin adds the calc with which a repeat begins, unless it takes no time and has
// nothing to wait for.
static int plan_begin(
	struct tb_plan_writing *w, const struct tb_plan_job *how, struct tb_error *error)
{
	if (how->compute_ns == 0 && w->n_held + w->n_late == 0)
		return TB_OK;
	return tb_plan_write_calc(w, how->compute_ns, 0, error);
}

int tb_plan_to_job(struct tb_job **job, const struct tb_plan *plan,
	const struct tb_plan_job *how, struct tb_error *error)
{
	struct tb_plan_writing w = {.plan = plan,
		.entry = UINT32_MAX,
		.work.combine = how->combine_bytes_per_s,
		.eager_bytes = UINT64_MAX,
		.cpu = COMBINE_CPU,
		.pin = how->pin};
	// Per transfer a send, a receive and a calc to combine; per rank the calc of
	// begin.
	uint64_t a_repeat = 3 * (uint64_t)plan->n_transfers + plan->n_ranks;
	if (a_repeat > INT32_MAX / how->n_repeats)
		return tb_fail(error, TB_ECAPACITY,
			"%" PRIu64 " operations, %" PRIu32
			" times, are more than a job can hold (%d)",
			a_repeat, how->n_repeats, INT32_MAX);
	int status = tb_job_builder_new(&w.builder, plan->n_ranks, error);
	if (status == TB_OK)
		status = tb_plan_writing_init(&w, error);
	if (status == TB_OK) {
		for (w.rank = 0; w.rank < w.plan->n_ranks && status == TB_OK; w.rank++) {
			w.n_held = w.n_late = 0;
			for (uint32_t i = 0; i < how->n_repeats && status == TB_OK; i++) {
				status = plan_begin(&w, how, error);
				if (status == TB_OK)
					status = tb_plan_write_rank(&w, error);
			}
		}
	}
	tb_plan_writing_fini(&w);
	if (status == TB_OK)
		status = tb_job_finish(w.builder, "", job, error);
	tb_job_builder_free(w.builder);
	return status;
}

static uint64_t eager_bytes(const struct tb_plan_place *place)
{
	return place->eager_bytes ? place->eager_bytes : UINT64_MAX;
}

uint64_t tb_plan_append_tags(
	const struct tb_plan *plan, const struct tb_plan_place *place)
{
	return tb_plan_write_tags(plan, eager_bytes(place));
}

// plan_leave stores the operation at whose end the rank leaves the call. All of its
// operations wait for its entry, so that need not be among those.
static int plan_leave(struct tb_plan_writing *w, const struct tb_plan_place *place,
	struct tb_error *error)
{
	int status = TB_OK;
	if (w->n_held + w->n_late > 1)
		status = tb_plan_write_calc(w, 0, w->cpu, error);
	place->at[w->rank] = w->n_held ? w->held[0] : w->late[0];
	return status;
}

// copying_ns returns how long a rank copies before the first round, or after the last:
// in Bruck's all-to-all all blocks, to put them in order, else its own; 0: it does not.
static uint64_t copying_ns(const struct tb_plan_writing *w, bool last)
{
	const struct tb_plan *plan = w->plan;
	if (plan->n_transfers == 0)
		return 0;
	uint64_t bytes = plan->own.last == last ? tb_plan_own_bytes(plan, w->rank) : 0;
	if (plan->transfers[0].blocks == TB_BLOCKS_DIGIT)
		bytes = w->whole;
	return tb_call_work_ns(&w->work, false, bytes, bytes);
}

static int append_rank(struct tb_plan_writing *w, const struct tb_plan_place *place,
	struct tb_error *error)
{
	w->n_held = w->n_late = 0;
	w->entry = place->at[w->rank];
	w->cpu = w->lane_cpu = place->cpus ? place->cpus[w->rank] : 0;
	if (!(w->out.first[w->rank] < w->out.first[w->rank + 1] ||
		    w->in.first[w->rank] < w->in.first[w->rank + 1]))
		return TB_OK;
	if (w->entry != UINT32_MAX)
		w->held[w->n_held++] = w->entry;
	uint64_t call_ns = w->plan->pace.call_ns;
	uint64_t begin_ns = (call_ns ? call_ns : w->work.call_ns) + copying_ns(w, false);
	uint64_t end_ns = copying_ns(w, true);
	int status = TB_OK;
	if (begin_ns) {
		status = tb_plan_write_calc(w, begin_ns, w->cpu, error);
		w->entry = w->held[0];
	}
	if (status == TB_OK)
		status = w->plan->pace.slots ? tb_plan_write_slots(w, error)
					     : tb_plan_write_rank(w, error);
	if (end_ns && status == TB_OK)
		status = tb_plan_write_calc(w, end_ns, w->cpu, error);
	// What is held first is the entry still if the rank only received.
	if (w->n_held && w->held[0] == w->entry)
		w->held[0] = w->held[--w->n_held];
	return status == TB_OK ? plan_leave(w, place, error) : status;
}

int tb_plan_append(struct tb_job_builder *builder, const struct tb_plan *plan,
	const struct tb_plan_place *place, struct tb_error *error)
{
	struct tb_plan_writing w = {.plan = plan,
		.builder = builder,
		.ranks = place->ranks,
		.hosts = place->hosts,
		.tag = place->tag,
		.work = place->work,
		.whole = tb_plan_whole_bytes(plan),
		.eager_bytes = eager_bytes(place)};
	int status = tb_plan_writing_init(&w, error);
	for (w.rank = 0; w.rank < plan->n_ranks && status == TB_OK; w.rank++)
		status = append_rank(&w, place, error);
	tb_plan_writing_fini(&w);
	return status;
}
