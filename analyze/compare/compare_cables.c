// Cables that run at another speed in the second run's network, or that one network
// lacks.
#include "compare_impl.h"
#include "speed_text.h"

#include <stdlib.h>
#include <string.h>

// Cables of both networks whose speed changed as that of one of them did.
struct changed_cables {
	struct tb_link first; // in A, upwards or into the network
	uint32_t n, n_others;
	uint32_t ends[2]; // switches that all of them are on; TB_ID_NONE: none
	double bytes_per_s[2];
};

// is_cable returns whether a link stands for its cable: one of its two does.
static bool is_cable(const struct tb_link_info *at)
{
	return at->kind == TB_LINK_INJECTION || at->kind == TB_LINK_UP;
}

static void add_cable(
	struct changed_cables *found, struct tb_link link, const struct tb_link_info *at)
{
	uint32_t from = at->kind == TB_LINK_INJECTION ? TB_ID_NONE : at->from;
	if (found->n++ == 0) {
		found->first = link;
		found->ends[0] = at->to;
		found->ends[1] = from;
	}
	for (int k = 0; k < 2; k++)
		if (at->to != found->ends[k] && from != found->ends[k])
			found->ends[k] = TB_ID_NONE;
}

static uint32_t switch_of(const struct changed_cables *found)
{
	return found->ends[found->ends[0] == TB_ID_NONE];
}

// find_changed finds those that changed as the first that changed most did; none where
// most cables changed, as networks of another rate do.
static struct changed_cables find_changed(const struct tb_compare *compare)
{
	const struct tb_link_pairs *pairs = &compare->pairs;
	const struct tb_run_link *links = tb_run_links(compare->runs[0].run);
	const struct tb_run_link *links_b = tb_run_links(compare->runs[1].run);
	struct changed_cables found = {.n = 0};
	double most = 1;
	uint32_t n_changed = 0, n_cables = 0;
	for (int counts = 0; counts < 2; counts++)
		for (uint32_t i = 0; i < pairs->n; i++) {
			const struct tb_link_pair *pair = &pairs->pairs[i];
			if (pair->a.id == TB_ID_NONE || pair->b.id == TB_ID_NONE)
				continue;
			const struct tb_link_info *at = &links[pair->a.id].at;
			double before = (double)at->bytes_per_s;
			double after = (double)links_b[pair->b.id].at.bytes_per_s;
			double factor = after > before ? after / before : before / after;
			if (!is_cable(at))
				continue;
			if (!counts) {
				n_cables++;
				n_changed += factor > 1;
				if (factor <= most)
					continue;
				most = factor;
				found.bytes_per_s[0] = before;
				found.bytes_per_s[1] = after;
			} else if (before == found.bytes_per_s[0] &&
				   after == found.bytes_per_s[1]) {
				add_cable(&found, pair->a, at);
			}
		}
	if (2 * n_changed > n_cables || n_changed == 0)
		return (struct changed_cables){.n = 0};
	found.n_others = n_changed - found.n;
	return found;
}

// n_of_end returns how many bytes of a link's name are its lower end.
static int n_of_end(const char *name)
{
	const char *to = strstr(name, " > ");
	return (int)(to ? (size_t)(to - name) : strlen(name));
}

// same_end returns whether a cable of A and one of B have one lower end: a host, or the
// port of a switch.
static bool same_end(
	const struct tb_compare *compare, struct tb_link of_a, struct tb_link of_b)
{
	const struct tb_run_link *a = &tb_run_links(compare->runs[0].run)[of_a.id];
	const struct tb_run_link *b = &tb_run_links(compare->runs[1].run)[of_b.id];
	if (a->at.kind != b->at.kind || !is_cable(&a->at))
		return false;
	if (a->at.kind == TB_LINK_INJECTION)
		return tb_compare_same_host(compare, (struct tb_node){a->at.from},
			(struct tb_node){b->at.from});
	int n = n_of_end(a->name);
	return n == n_of_end(b->name) && memcmp(a->name, b->name, (size_t)n) == 0;
}

// moved_to returns the cable that the other run alone has at the lower end of one that
// run `side` alone has; TB_ID_NONE: there is none, or there are too many to look at.
static struct tb_link moved_to(
	const struct tb_compare *compare, int side, struct tb_link own)
{
	enum { MOST = 1024 }; // each is looked for among all
	const struct tb_link_pairs *pairs = &compare->pairs;
	for (uint32_t i = 0;
		i < pairs->n && pairs->n_only_a <= MOST && pairs->n_only_b <= MOST; i++) {
		struct tb_link a = pairs->pairs[i].a, b = pairs->pairs[i].b;
		struct tb_link other = side ? a : b, absent = side ? b : a;
		if (absent.id == TB_ID_NONE && other.id != TB_ID_NONE &&
			same_end(compare, side ? other : own, side ? own : other))
			return other;
	}
	return (struct tb_link){TB_ID_NONE};
}

// find_missing finds those that run `side` alone has, or of these those that do not lead
// elsewhere in the other; none where the networks have no more than half of their cables
// in common, as others do.
static struct changed_cables find_missing(
	const struct tb_compare *compare, int side, bool with_moved)
{
	const struct tb_link_pairs *pairs = &compare->pairs;
	const struct tb_run_link *links = tb_run_links(compare->runs[side].run);
	struct changed_cables found = {.n = 0};
	if (pairs->n_both < pairs->n_only_a + pairs->n_only_b)
		return found;
	for (uint32_t i = 0; i < pairs->n; i++) {
		const struct tb_link own = side ? pairs->pairs[i].b : pairs->pairs[i].a;
		const struct tb_link other = side ? pairs->pairs[i].a : pairs->pairs[i].b;
		if (own.id != TB_ID_NONE && other.id == TB_ID_NONE &&
			is_cable(&links[own.id].at) &&
			(with_moved || moved_to(compare, side, own).id == TB_ID_NONE))
			add_cable(&found, own, &links[own.id].at);
	}
	return found;
}

int tb_compare_predict(const struct tb_compare *compare, bool *is_predicted)
{
	const struct tb_link_pairs *pairs = &compare->pairs;
	const struct tb_run_link *links[] = {
		tb_run_links(compare->runs[0].run), tb_run_links(compare->runs[1].run)};
	for (int side = 0; side < 2; side++) {
		bool *lost = calloc(compare->info[side]->n_switches + 1u, sizeof *lost);
		if (!lost)
			return TB_ENOMEM;
		for (uint32_t k = 0; k < 2 * pairs->n; k++) {
			uint32_t i = k % pairs->n;
			struct tb_link ids[] = {pairs->pairs[i].a, pairs->pairs[i].b};
			if (ids[side].id == TB_ID_NONE)
				continue;
			const struct tb_run_link *own = &links[side][ids[side].id];
			const struct tb_run_link *other =
				ids[!side].id == TB_ID_NONE
					? NULL
					: &links[!side][ids[!side].id];
			bool gone = !other || other->dead_at_ps != own->dead_at_ps;
			bool down = own->at.kind == TB_LINK_DOWN;
			bool *below = down || own->at.kind == TB_LINK_UP
					      ? &lost[down ? own->at.to : own->at.from]
					      : NULL;
			if (gone && below)
				*below = true;
			is_predicted[i] |= gone || (below && *below) ||
					   other->at.bytes_per_s != own->at.bytes_per_s;
		}
		free(lost);
	}
	return TB_OK;
}

// append_moved names the first cables whose lower end, a host or a port, leads to another
// switch in B.
static bool append_moved(struct tb_words *words, const struct tb_compare *compare)
{
	enum { NAMED = 2 };
	const struct tb_link_pairs *pairs = &compare->pairs;
	const struct tb_run *run_a = compare->runs[0].run, *run_b = compare->runs[1].run;
	uint32_t n = 0;
	char more[48];
	if (find_missing(compare, 0, true).n == 0)
		return false;
	for (uint32_t i = 0; i < pairs->n; i++) {
		const struct tb_link of_a = pairs->pairs[i].a;
		const struct tb_link of_b =
			of_a.id == TB_ID_NONE || pairs->pairs[i].b.id != TB_ID_NONE
				? (struct tb_link){TB_ID_NONE}
				: moved_to(compare, 0, of_a);
		if (of_b.id == TB_ID_NONE || n++ >= NAMED)
			continue;
		const struct tb_run_link *a = &tb_run_links(run_a)[of_a.id];
		const struct tb_run_link *b = &tb_run_links(run_b)[of_b.id];
		tb_words_append(words, "%s %.*s %s %s in B, %s %s in A", n > 1 ? ";" : "",
			n_of_end(a->name), a->name,
			a->at.kind == TB_LINK_INJECTION ? "is on" : "leads to",
			tb_run_switches(run_b)[b->at.to].name,
			a->at.kind == TB_LINK_INJECTION ? "on" : "to",
			tb_run_switches(run_a)[a->at.to].name);
	}
	if (n > NAMED)
		tb_words_append(words, "; %s elsewhere",
			tb_format_counted(n - NAMED, "more cable leads|more cables lead",
				more, sizeof more));
	if (n > 0)
		tb_words_append(words, ".");
	return n > 0;
}

// append_which names cables of a run's network and says `what` of them: "the cable of
// gpu5 > leaf1 ...", "8 cables, all on leaf2, ...".
static void append_which(struct tb_words *words, const struct tb_run *run,
	const struct changed_cables *found, const char *one, const char *many)
{
	const char *first = tb_run_links(run)[found->first.id].name;
	if (found->n == 1)
		tb_words_append(words, "%s of %s", one, first);
	else if (switch_of(found) != TB_ID_NONE)
		tb_words_append(words, "%u %s, all on %s", found->n, many,
			tb_run_switches(run)[switch_of(found)].name);
	else
		tb_words_append(
			words, "%u %s, such as that of %s", found->n, many, first);
}

void tb_compare_add_cables(struct tb_compare *compare)
{
	const struct changed_cables found = find_changed(compare);
	char speed[32], what[46];
	for (int side = 0; side < 2; side++) {
		const struct changed_cables missing = find_missing(compare, side, true);
		struct tb_difference *made = missing.n
						     ? tb_compare_add_difference(compare,
							       side ? "cables of B alone"
								    : "cables of A alone")
						     : NULL;
		if (!made)
			continue;
		const struct tb_run *run = compare->runs[side].run;
		char *own = side ? made->b : made->a;
		if (missing.n > 1 && switch_of(&missing) != TB_ID_NONE)
			snprintf(own, sizeof made->a, "%u on %.60s", missing.n,
				tb_run_switches(run)[switch_of(&missing)].name);
		else
			snprintf(own, sizeof made->a, "%.60s",
				tb_run_links(run)[missing.first.id].name);
		if (missing.n > 1 && switch_of(&missing) == TB_ID_NONE)
			snprintf(own + strlen(own), sizeof made->a - strlen(own),
				" and %u more", missing.n - 1);
	}
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
	char before[32], after[32];
	bool any = found.n > 0;
	if (any) {
		tb_speed_text(found.bytes_per_s[0], before, sizeof before);
		tb_speed_text(found.bytes_per_s[1], after, sizeof after);
		tb_words_append(words, " ");
		append_which(words, compare->runs[0].run, &found, "The cable", "cables");
		tb_words_append(words, "%s at %s in B, at %s in A.",
			found.n == 1 ? " runs" : ", run", after, before);
		if (found.n_others)
			tb_words_append(
				words, " %u more changed their speed.", found.n_others);
	}
	any |= append_moved(words, compare);
	for (int side = 0; side < 2; side++) {
		const struct changed_cables missing = find_missing(compare, side, false);
		// Of a network that lacks several switches their number is told.
		if (missing.n == 0 ||
			(compare->info[0]->n_switches != compare->info[1]->n_switches &&
				switch_of(&missing) == TB_ID_NONE))
			continue;
		tb_words_append(words, " %c lacks ", 'B' - side);
		append_which(words, compare->runs[side].run, &missing, "the cable",
			side ? "cables that B has" : "cables that A has");
		tb_words_append(words, ".");
		any = true;
	}
	return any;
}
