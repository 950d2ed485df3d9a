#include "movers.h"

#include "map.h"
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// name_hash is FNV-1a with 64 bits: a collision among a million names is unlikely (3e-8),
// and would only report the links as missing from one run.
static uint64_t name_hash(const char *name)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
	return hash;
}

static int map_names(struct tb_map *map, const struct tb_run *run)
{
	const struct tb_run_link *links = tb_run_links(run);
	int status = TB_OK;
	for (uint32_t i = 0; !status && i < tb_run_info(run)->n_links; i++)
		status = tb_map_put(map, name_hash(links[i].name), i);
	return status;
}

int tb_link_pairs_init(struct tb_link_pairs *pairs, const struct tb_run *a,
	const struct tb_run *b, struct tb_error *error)
{
	struct tb_link_pairs made = {
		.links_a = tb_run_links(a), .links_b = tb_run_links(b)};
	struct tb_map names = {0};
	size_t n_a = tb_run_info(a)->n_links, n_b = tb_run_info(b)->n_links;
	made.pairs = calloc(n_a + n_b + 1, sizeof *made.pairs);
	bool *taken = calloc(n_b + 1, sizeof *taken);
	int status = made.pairs && taken ? map_names(&names, b) : TB_ENOMEM;
	if (status == TB_OK) {
		// Write the pairs; `taken` receives, by link of b, whether a has it too.
		const struct tb_run_link *from = tb_run_links(a), *to = tb_run_links(b);
		for (uint32_t i = 0; i < tb_run_info(a)->n_links; i++) {
			struct tb_link_pair *pair = &made.pairs[made.n++];
			uint32_t twin;
			*pair = (struct tb_link_pair){{i}, {TB_ID_NONE}};
			if (tb_map_find(&names, name_hash(from[i].name), &twin) &&
				!taken[twin] &&
				strcmp(from[i].name, to[twin].name) == 0) {
				pair->b.id = twin;
				taken[twin] = true;
				made.n_both++;
			} else {
				made.n_only_a++;
			}
		}
		for (uint32_t i = 0; i < tb_run_info(b)->n_links; i++) {
			if (taken[i])
				continue;
			made.pairs[made.n++] = (struct tb_link_pair){{TB_ID_NONE}, {i}};
			made.n_only_b++;
		}
	}
	free(taken);
	tb_map_fini(&names);
	if (status != TB_OK) {
		free(made.pairs);
		return tb_fail_memory(error, "a comparison");
	}
	*pairs = made;
	return TB_OK;
}

void tb_link_pairs_fini(struct tb_link_pairs *pairs)
{
	free(pairs->pairs);
	*pairs = (struct tb_link_pairs){0};
}

void tb_link_pair_known(const struct tb_link_pairs *pairs,
	const struct tb_link_pair *pair, enum tb_metric metric, enum tb_known known[2])
{
	known[0] = known[1] = TB_EXACT;
	if (pairs->links_a && pair->a.id != TB_ID_NONE)
		known[0] = tb_known_of(pairs->links_a[pair->a.id].known, metric);
	if (pairs->links_b && pair->b.id != TB_ID_NONE)
		known[1] = tb_known_of(pairs->links_b[pair->b.id].known, metric);
}

static int order_movers(const void *left, const void *right)
{
	const struct tb_mover *a = left, *b = right;
	double more = fabs(tb_mover_change(a)) - fabs(tb_mover_change(b));
	if (more > 0 || more < 0)
		return more > 0 ? -1 : 1;
	if (a->pair.a.id != b->pair.a.id)
		return a->pair.a.id < b->pair.a.id ? -1 : 1;
	return (a->pair.b.id > b->pair.b.id) - (a->pair.b.id < b->pair.b.id);
}

int tb_movers(const struct tb_link_pairs *pairs, const struct tb_link_sample *a,
	const struct tb_link_sample *b, enum tb_metric metric, uint32_t top,
	struct tb_mover **movers, uint32_t *n, uint32_t *n_moved, struct tb_error *error)
{
	struct tb_mover *found = calloc((size_t)pairs->n + 1, sizeof *found);
	uint32_t n_found = 0;
	if (!found)
		return tb_fail_memory(error, "a comparison");
	for (uint32_t i = 0; i < pairs->n; i++) {
		const struct tb_link_pair *pair = &pairs->pairs[i];
		struct tb_mover mover = {.pair = *pair};
		enum tb_known known[2];
		tb_link_pair_known(pairs, pair, metric, known);
		if (known[0] == TB_NOT_MEASURED || known[1] == TB_NOT_MEASURED)
			continue;
		if (pair->a.id != TB_ID_NONE)
			mover.before = tb_metric_of(&a[pair->a.id], metric);
		if (pair->b.id != TB_ID_NONE)
			mover.after = tb_metric_of(&b[pair->b.id], metric);
		if (mover.before != mover.after)
			found[n_found++] = mover;
	}
	uint32_t listed = top && top < n_found ? top : n_found;
	tb_select_first(found, n_found, sizeof *found, listed, order_movers);
	*movers = found;
	*n = listed;
	*n_moved = n_found;
	return TB_OK;
}
