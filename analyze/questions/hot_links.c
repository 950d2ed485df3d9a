#include "hot_links.h"

#include "select.h"

#include <stdlib.h>

_Static_assert(sizeof(struct tb_link_sample) <= TB_SELECT_SIZE_MAX, "samples are sorted");

static int order_hot_links(const void *left, const void *right)
{
	const struct tb_link_sample *a = left, *b = right;
	if (a->wait_ps != b->wait_ps)
		return a->wait_ps > b->wait_ps ? -1 : 1;
	return (a->link.id > b->link.id) - (a->link.id < b->link.id);
}

static double hot_link_percent(uint64_t part, double whole)
{
	return whole > 0 ? 100.0 * (double)part / whole : 0;
}

int tb_hot_links(struct tb_run *run, struct tb_window window, uint32_t top,
	struct tb_hot_link **links, uint32_t *n, struct tb_error *error)
{
	uint32_t n_links = tb_run_info(run)->n_links;
	struct tb_link_sample *samples = calloc((size_t)n_links + 1, sizeof *samples);
	if (!samples)
		return tb_fail_memory(error, "%u links", n_links);
	int status = tb_run_samples(run, window, samples, error);
	if (status) {
		free(samples);
		return status;
	}
	uint32_t n_waited = 0;
	double whole_wait = 0;
	for (uint32_t i = 0; i < n_links; i++) {
		n_waited += samples[i].wait_ps > 0;
		whole_wait += (double)samples[i].wait_ps;
	}
	uint32_t n_listed = top && top < n_waited ? top : n_waited;
	tb_select_first(samples, n_links, sizeof *samples, n_listed, order_hot_links);
	struct tb_hot_link *listed = calloc((size_t)n_listed + 1, sizeof *listed);
	if (listed) {
		// Fill in the first n of the sorted samples, all of which waited.
		double window_ps = (double)tb_run_window_ps(run, window);
		for (uint32_t i = 0; i < n_listed; i++) {
			listed[i] = (struct tb_hot_link){
				.sample = samples[i],
				.rank = i + 1,
				.percent_of_top = hot_link_percent(
					samples[i].wait_ps, (double)samples[0].wait_ps),
				.percent_of_wait =
					hot_link_percent(samples[i].wait_ps, whole_wait),
				.utilisation =
					hot_link_percent(samples[i].busy_ps, window_ps),
				.waiting =
					hot_link_percent(samples[i].wait_ps, window_ps),
			};
		}
		*links = listed;
		*n = n_listed;
	} else {
		status = tb_fail_memory(error, "%u hot links", n_listed);
	}
	free(samples);
	return status;
}
