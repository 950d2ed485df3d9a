#include "pair.h"

#include "run_text.h"

#include <stdlib.h>
#include <string.h>

void tb_run_pair_free(struct tb_run_pair *pair)
{
	if (!pair)
		return;
	tb_link_pairs_fini(&pair->pairs);
	tb_matrix_fini(&pair->matrix);
	tb_matrix_fini(&pair->change);
	tb_run_free(pair->run);
	free(pair->less_links);
	free(pair->unmeasured);
	free(pair->unmeasured_switches);
	free(pair->less_switches);
	free(pair->movers);
	free(pair->nothing);
	free(pair->path);
	free(pair);
}

// of_one_shape is true when both have the same links and switches by the same ids.
static bool of_one_shape(const struct tb_run_pair *pair, const struct tb_run *a)
{
	if (pair->pairs.n_only_a || pair->pairs.n_only_b ||
		tb_run_info(a)->n_switches != pair->info->n_switches)
		return false;
	for (uint32_t i = 0; i < pair->pairs.n; i++)
		if (pair->pairs.pairs[i].a.id != pair->pairs.pairs[i].b.id)
			return false;
	for (uint32_t i = 0; i < pair->info->n_switches; i++) {
		const struct tb_switch_info *of_a = &tb_run_switches(a)[i].at;
		const struct tb_switch_info *of_b = &tb_run_switches(pair->run)[i].at;
		if (of_a->level != of_b->level || of_a->index != of_b->index ||
			of_a->n_down_ports != of_b->n_down_ports ||
			of_a->n_up_ports != of_b->n_up_ports)
			return false;
	}
	return true;
}

static int pair_prepare(
	struct tb_run_pair *pair, const struct tb_run *a, struct tb_error *error)
{
	const struct tb_run_info *info = pair->info;
	int status = tb_link_pairs_init(&pair->pairs, a, pair->run, error);
	if (!status)
		status = tb_matrix_lay_out(&pair->matrix, pair->run, error);
	if (!status)
		status = tb_matrix_lay_out(&pair->change, pair->run, error);
	pair->less_links = calloc((size_t)info->n_links + 1, 1);
	pair->unmeasured = calloc((size_t)info->n_links + 1, 1);
	pair->unmeasured_switches = calloc((size_t)info->n_switches + 1, 1);
	pair->less_switches = calloc((size_t)info->n_switches + 1, 1);
	if (!status && (!pair->less_links || !pair->less_switches || !pair->unmeasured ||
			       !pair->unmeasured_switches))
		status = tb_fail_memory(error, "the comparison of two runs");
	if (status)
		return status;
	pair->same_shape = of_one_shape(pair, a);
	pair->n_differences = tb_run_differences(
		tb_run_info(a), tb_run_info(pair->run), pair->differences);
	return TB_OK;
}

int tb_run_pair_new(struct tb_run_pair **pair, const struct tb_run *a, const char *path,
	int64_t id, struct tb_error *error)
{
	struct tb_run_pair *made = calloc(1, sizeof *made);
	if (!made || !(made->path = strdup(path))) {
		free(made);
		return tb_fail_memory_in(error, path, "it");
	}
	int status = tb_run_open(&made->run, path, id, error);
	if (!status) {
		made->info = tb_run_info(made->run);
		status = pair_prepare(made, a, error);
	}
	if (status) {
		tb_run_pair_free(made);
		return status;
	}
	*pair = made;
	return TB_OK;
}

// pair_look reads B's samples in A's window: zeros after its end.
static int pair_look(struct tb_run_pair *pair, const struct tb_run *a,
	struct tb_window window, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(a);
	struct tb_window of_b = {0, 0};
	if (pair->apart)
		of_b = pair->window;
	else
		pair->over = false;
	if (!pair->apart && !tb_window_whole(info, window))
		pair->over =
			tb_window_between(pair->info, tb_window_begin_ps(info, window),
				tb_window_end_ps(info, window), &of_b, NULL) != TB_OK;
	if (!pair->over) {
		int status = tb_run_look(pair->run, of_b, &pair->samples, error);
		pair->window = of_b;
		return status;
	}
	if (!pair->nothing)
		pair->nothing =
			calloc((size_t)pair->info->n_links + 1, sizeof *pair->nothing);
	if (!pair->nothing)
		return tb_fail_memory(error, "the comparison of two runs");
	pair->samples = pair->nothing;
	return TB_OK;
}

static uint64_t size_of_change(uint64_t before, uint64_t after, uint8_t *less)
{
	*less = after < before;
	return *less ? before - after : after - before;
}

int tb_run_pair_show(struct tb_run_pair *pair, const struct tb_run *a,
	struct tb_window window, const struct tb_link_sample *samples,
	const struct tb_matrix *matrix, struct tb_error *error)
{
	struct tb_mover *movers;
	uint32_t n, n_moved;
	int status = pair_look(pair, a, window, error);
	if (!status)
		status = tb_movers(&pair->pairs, samples, pair->samples, matrix->metric,
			TB_PAIR_MOVERS, &movers, &n, &n_moved, error);
	if (status)
		return status;
	free(pair->movers);
	pair->movers = movers;
	pair->n_movers = n;
	pair->n_moved = n_moved;
	tb_matrix_fill(&pair->matrix, pair->samples, matrix->metric);
	if (pair->same_shape) {
		struct tb_matrix *change = &pair->change;
		const struct tb_matrix *b = &pair->matrix;
		tb_matrix_show(change, matrix->metric);
		change->largest_link = change->largest_switch = 0;
		for (size_t i = 0; change->cells + i < change->end; i++) {
			uint32_t link = change->cells[i].link.id;
			if (link == TB_ID_NONE)
				continue;
			uint64_t value = size_of_change(matrix->cells[i].value,
				b->cells[i].value, &pair->less_links[link]);
			// A change is known where both runs know the link's figure.
			pair->unmeasured[link] =
				tb_known_of(tb_run_links(a)[link].known,
					matrix->metric) != TB_EXACT ||
				tb_known_of(tb_run_links(pair->run)[link].known,
					matrix->metric) != TB_EXACT;
			value = pair->unmeasured[link] ? 0 : value;
			change->cells[i].value = value;
			if (change->largest_link < value)
				change->largest_link = value;
		}
		for (uint32_t i = 0; i < change->n_boxes; i++) {
			struct tb_matrix_box *box = &change->boxes[i];
			box->sum = size_of_change(matrix->boxes[i].sum, b->boxes[i].sum,
				&pair->less_switches[box->sw.id]);
			uint32_t sw = box->sw.id;
			bool known = tb_known_of(tb_run_switches(a)[sw].known,
					     matrix->metric) == TB_EXACT &&
				     tb_known_of(tb_run_switches(pair->run)[sw].known,
					     matrix->metric) == TB_EXACT;
			pair->unmeasured_switches[sw] = !known;
			box->sum = known ? box->sum : 0;
			if (change->largest_switch < box->sum)
				change->largest_switch = box->sum;
		}
	}
	return TB_OK;
}
