// Cables that run at another speed in the second run's network.
#include "compare_impl.h"
#include "speed_text.h"

#include <stdlib.h>
#include <string.h>

// Cables of both networks whose speed changed as that of one of them did.
struct changed_cables {
	struct tb_link first; // in A, upwards or into the network
	uint32_t n, n_others;
	uint32_t on; // the switch of A that all of them are on; TB_ID_NONE: none
	double bytes_per_s[2];
};

// find_changed finds those that changed as the first that changed most did; none where
// most cables changed, as networks of another rate do.
static struct changed_cables find_changed(const struct tb_compare *compare)
{
	const struct tb_link_pairs *pairs = &compare->pairs;
	const struct tb_run_link *links = tb_run_links(compare->runs[0].run);
	const struct tb_run_link *links_b = tb_run_links(compare->runs[1].run);
	struct changed_cables found = {.on = TB_ID_NONE};
	double most = 1;
	uint32_t n_changed = 0, n_cables = 0, ends[2] = {TB_ID_NONE, TB_ID_NONE};
	for (int counts = 0; counts < 2; counts++)
		for (uint32_t i = 0; i < pairs->n; i++) {
			const struct tb_link_pair *pair = &pairs->pairs[i];
			if (pair->a.id == TB_ID_NONE || pair->b.id == TB_ID_NONE)
				continue;
			const struct tb_link_info *at = &links[pair->a.id].at;
			bool enters = at->kind == TB_LINK_INJECTION;
			double before = (double)at->bytes_per_s;
			double after = (double)links_b[pair->b.id].at.bytes_per_s;
			double factor = after > before ? after / before : before / after;
			if (!enters && at->kind != TB_LINK_UP)
				continue;
			if (!counts) {
				n_cables++;
				n_changed += factor > 1;
				if (factor <= most)
					continue;
				most = factor;
				found.first = pair->a;
				found.bytes_per_s[0] = before;
				found.bytes_per_s[1] = after;
				ends[0] = at->to;
				ends[1] = enters ? TB_ID_NONE : at->from;
			} else if (before == found.bytes_per_s[0] &&
				   after == found.bytes_per_s[1]) {
				found.n++;
				for (int k = 0; k < 2; k++)
					if (at->to != ends[k] &&
						(enters || at->from != ends[k]))
						ends[k] = TB_ID_NONE;
			}
		}
	if (2 * n_changed > n_cables || n_changed == 0)
		return (struct changed_cables){.n = 0};
	found.n_others = n_changed - found.n;
	found.on = ends[0] != TB_ID_NONE ? ends[0] : ends[1];
	return found;
}

void tb_compare_add_cables(struct tb_compare *compare)
{
	const struct changed_cables found = find_changed(compare);
	char speed[32], what[46];
	if (found.n == 0)
		return;
	struct tb_difference *made = tb_compare_add_difference(compare, "cables");
	if (!made)
		return;
	snprintf(what, sizeof what, "%.40s",
		tb_run_links(compare->runs[0].run)[found.first.id].name);
	if (found.n > 1)
		snprintf(what, sizeof what, "%u of them", found.n);
	snprintf(made->a, sizeof made->a, "%s at %.20s", what,
		tb_speed_text(found.bytes_per_s[0], speed, sizeof speed));
	snprintf(made->b, sizeof made->b, "at %.20s",
		tb_speed_text(found.bytes_per_s[1], speed, sizeof speed));
}

bool tb_words_append_cables(struct tb_words *words, const struct tb_compare *compare)
{
	const struct changed_cables found = find_changed(compare);
	const struct tb_run *run = compare->runs[0].run;
	char before[32], after[32];
	if (found.n == 0)
		return false;
	tb_speed_text(found.bytes_per_s[0], before, sizeof before);
	tb_speed_text(found.bytes_per_s[1], after, sizeof after);
	if (found.n == 1)
		tb_words_append(words, " The cable of %s runs at %s in B, at %s in A.",
			tb_run_links(run)[found.first.id].name, after, before);
	else if (found.on != TB_ID_NONE)
		tb_words_append(words,
			" %u cables, all on %s, run at %s in B, at %s in A.", found.n,
			tb_run_switches(run)[found.on].name, after, before);
	else
		tb_words_append(words,
			" %u cables, such as that of %s, run at %s in B, at %s in A.",
			found.n, tb_run_links(run)[found.first.id].name, after, before);
	if (found.n_others)
		tb_words_append(words, " %u more changed their speed.", found.n_others);
	return true;
}
