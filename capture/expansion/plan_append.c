#include "plan_append.h"

#include "plan_impl.h"

static uint64_t eager_bytes(const struct tb_plan_place *place)
{
	return place->eager_bytes ? place->eager_bytes : UINT64_MAX;
}

uint64_t tb_plan_append_tags(
	const struct tb_plan *plan, const struct tb_plan_place *place)
{
	return tb_plan_write_tags(plan, eager_bytes(place));
}

static bool takes_part(const struct tb_plan_writing *w)
{
	return w->out.first[w->rank] < w->out.first[w->rank + 1] ||
	       w->in.first[w->rank] < w->in.first[w->rank + 1];
}

// leave stores the operation at whose end the rank leaves the call. All of its operations
// wait for its entry, so that need not be among those.
static int leave(struct tb_plan_writing *w, const struct tb_plan_place *place,
	struct tb_error *error)
{
	int status = TB_OK;
	if (w->n_held + w->n_late > 1)
		status = tb_plan_write_calc(w, 0, w->cpu, error);
	place->at[w->rank] = w->n_held ? w->held[0] : w->late[0];
	return status;
}

static int append_rank(struct tb_plan_writing *w, const struct tb_plan_place *place,
	struct tb_error *error)
{
	w->n_held = w->n_late = 0;
	w->entry = place->at[w->rank];
	w->cpu = place->cpus ? place->cpus[w->rank] : 0;
	if (!takes_part(w))
		return TB_OK;
	if (w->entry != UINT32_MAX)
		w->held[w->n_held++] = w->entry;
	int status = tb_plan_write_rank(w, error);
	// What is held first is the entry still if the rank only received.
	if (w->n_held && w->held[0] == w->entry)
		w->held[0] = w->held[--w->n_held];
	return status == TB_OK ? leave(w, place, error) : status;
}

int tb_plan_append(struct tb_job_builder *builder, const struct tb_plan *plan,
	const struct tb_plan_place *place, struct tb_error *error)
{
	struct tb_plan_writing w = {.plan = plan,
		.builder = builder,
		.ranks = place->ranks,
		.hosts = place->hosts,
		.tag = place->tag,
		.combine_bytes_per_s = place->combine_bytes_per_s,
		.eager_bytes = eager_bytes(place)};
	int status = tb_plan_writing_init(&w, error);
	for (w.rank = 0; w.rank < plan->n_ranks && status == TB_OK; w.rank++)
		status = append_rank(&w, place, error);
	tb_plan_writing_fini(&w);
	return status;
}
