#include "timeline_impl.h"

static bool same_peer(const struct tb_rank_span *a, const struct tb_rank_span *b)
{
	return a->peer == b->peer;
}

static void timeline_merge(struct tb_rank_span *into, const struct tb_rank_span *next)
{
	struct tb_rank_span both = into->longest_ps >= next->longest_ps ? *into : *next;
	if (!same_peer(into, next))
		both.peer = TB_ID_NONE;
	both.from_ps = into->from_ps < next->from_ps ? into->from_ps : next->from_ps;
	both.to_ps = into->to_ps > next->to_ps ? into->to_ps : next->to_ps;
	both.n = into->n + next->n;
	*into = both;
}

// merge_short merges neighbours as long as they come to no more than `most_ps`.
static size_t merge_short(struct tb_rank_span *spans, size_t n, tb_time_ps most_ps)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct tb_rank_span *last = kept ? &spans[kept - 1] : NULL;
		if (last &&
			last->to_ps - last->from_ps + spans[i].to_ps - spans[i].from_ps <=
				most_ps)
			timeline_merge(last, &spans[i]);
		else
			spans[kept++] = spans[i];
	}
	return kept;
}

size_t tb_spans_merge(struct tb_rank_span *spans, size_t n, size_t most)
{
	tb_time_ps all_ps = 0;
	for (size_t i = 0; i < n; i++)
		all_ps += spans[i].to_ps - spans[i].from_ps;
	// Of merged neighbours two together are longer than this, so at twice the mean
	// there are few enough.
	for (tb_time_ps most_ps = all_ps / (tb_time_ps)most / 64 + 1; n > most;
		most_ps *= 2)
		n = merge_short(spans, n, most_ps);
	return n;
}
