#include "root_victims.h"

#include <math.h>
#include <stdlib.h>

// The wait at a link that the trees keep: for this root, and for all.
struct link_share {
	uint64_t own_ps, all_ps;
};

void tb_root_victims_fini(struct tb_root_victims *victims)
{
	free(victims->list);
	*victims = (struct tb_root_victims){.n = 0};
}

// others_ps returns how long headers waited at a link for other roots, at most.
static uint64_t others_ps(
	const struct link_share *share, uint64_t wait_ps, double left_out_ps)
{
	double kept = (double)(share->all_ps - share->own_ps) + left_out_ps;
	double known = wait_ps > share->own_ps ? (double)(wait_ps - share->own_ps) : 0;
	return (uint64_t)fmin(kept, known);
}

static int victim_longest_first(const void *one, const void *other)
{
	const struct tb_root_victim *a = one, *b = other;
	if (a->least_ps != b->least_ps)
		return a->least_ps < b->least_ps ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

static uint32_t largest_link(
	const struct tb_trees *trees, const struct tb_heavy_waits *waits)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < trees->n; i++)
		most = trees->rows[i].link.id > most ? trees->rows[i].link.id : most;
	for (uint32_t i = 0; i < waits->listed.n; i++)
		most = waits->rows[i].link.id > most ? waits->rows[i].link.id : most;
	return most;
}

int tb_root_victims_read(struct tb_root_victims *victims, const struct tb_trees *trees,
	const struct tb_heavy_waits *waits, const uint64_t *wait_ps, struct tb_link root)
{
	if (victims->listed && victims->root.id == root.id)
		return TB_OK;
	tb_root_victims_fini(victims);
	struct link_share *shares =
		calloc(largest_link(trees, waits) + 1u, sizeof *shares);
	victims->list = calloc(waits->listed.n + 1u, sizeof *victims->list);
	if (!shares || !victims->list) {
		free(shares);
		return TB_ENOMEM;
	}
	// Fill in the shares of the links.
	for (uint32_t i = 0; i < trees->n; i++) {
		const struct tb_tree_sample *row = &trees->rows[i];
		shares[row->link.id].all_ps += row->wait_ps;
		shares[row->link.id].own_ps += row->root.id == root.id ? row->wait_ps : 0;
	}
	for (uint32_t i = 0; i < waits->listed.n; i++) {
		const struct tb_blame_sample *row = &waits->rows[i];
		const struct link_share *share = &shares[row->link.id];
		if (share->own_ps == 0)
			continue;
		uint64_t others = others_ps(share, wait_ps[row->link.id], trees->rest_ps);
		if (row->wait_ps > others)
			victims->list[victims->n++] = (struct tb_root_victim){
				i, row->wait_ps - others, others + row->error_ps == 0};
		else
			victims->n_doubtful++;
	}
	free(shares);
	qsort(victims->list, victims->n, sizeof *victims->list, victim_longest_first);
	victims->root = root;
	victims->listed = true;
	return TB_OK;
}
