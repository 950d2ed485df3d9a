#include "blame_table.h"

#include <stdlib.h>
#include <string.h>

// How many keys the tables of the heaviest keep. With those of a batch they take two to
// four times as many slots, of 32 bytes.
enum { MOST_BY_LINK = 4096, MOST_BY_TIME = 4096, MOST_TREES = 4096 };
enum { MOST_GROUPS = 1024 };

// The sums by root and time have at most so many entries, and slices.
enum { MOST_ROOT_BINS = 1 << 22, LEAST_SUM_BINS = 4 };

// How far ahead of an entry its place is fetched.
enum { AHEAD = 16 };

static int init_heaviest(struct tb_blame_table *blame)
{
	int status = tb_heaviest_init(&blame->by_link, MOST_BY_LINK, false);
	if (!status)
		status = tb_heaviest_init(&blame->by_time, MOST_BY_TIME, true);
	if (!status)
		status = tb_heaviest_init(&blame->trees, MOST_TREES, true);
	for (int i = 0; !status && i < TB_GROUPINGS; i++)
		status = tb_heaviest_init(&blame->groups[i], MOST_GROUPS, false);
	return status;
}

struct tb_blame_table *tb_blame_table_new(
	const struct tb_network *net, tb_time_ps base_ps)
{
	struct tb_blame_table *blame = calloc(1, sizeof *blame);
	if (!blame)
		return NULL;
	blame->net = net;
	blame->bin_ps = blame->tally.to = base_ps;
	blame->first_job = TB_ID_NONE;
	blame->batch = TB_BLAME_BATCH;
	uint32_t n_sum_bins = TB_BLAME_BINS;
	for (; n_sum_bins > LEAST_SUM_BINS &&
		(uint64_t)n_sum_bins * net->n_links > MOST_ROOT_BINS;
		n_sum_bins /= 2)
		blame->sum_shift++;
	blame->roots = calloc(net->n_links + 1, sizeof *blame->roots);
	blame->link_ps = calloc(net->n_links + 1, sizeof *blame->link_ps);
	blame->leaf_of = calloc(net->n_nodes + 1, sizeof *blame->leaf_of);
	if (blame->roots && blame->link_ps && blame->leaf_of &&
		init_heaviest(blame) == TB_OK) {
		for (uint32_t node = 0; node < net->n_nodes; node++)
			blame->leaf_of[node] = net->links[net->injection[node]].to;
		return blame;
	}
	tb_blame_table_free(blame);
	return NULL;
}

void tb_blame_table_free(struct tb_blame_table *blame)
{
	if (!blame)
		return;
	tb_map_fini(&blame->party_of);
	free(blame->leaf_of);
	free(blame->roots);
	free(blame->link_ps);
	for (int bin = 0; bin < TB_BLAME_BINS; bin++)
		free(blame->root_bins[bin]);
	tb_wait_sums_fini(&blame->root_jobs);
	tb_wait_sums_fini(&blame->job_waits);
	tb_wait_sums_fini(&blame->job_links);
	tb_heaviest_fini(&blame->by_link);
	tb_heaviest_fini(&blame->by_time);
	tb_heaviest_fini(&blame->trees);
	for (int i = 0; i < TB_GROUPINGS; i++)
		tb_heaviest_fini(&blame->groups[i]);
	free(blame);
}

static void blame_check(struct tb_blame_table *blame, int status)
{
	if (status != TB_OK)
		blame->failed = true;
}

// party_number returns the flow that stands for those between the same hosts.
static uint32_t party_number(
	struct tb_blame_table *blame, const struct tb_flow_sample *of, uint32_t flow)
{
	uint32_t n_hosts = blame->net->n_hosts;
	uint64_t key = (uint64_t)of->job << 48 |
		       (uint64_t)(of->source.id % n_hosts) << 24 |
		       of->destination.id % n_hosts;
	if (!tb_map_find(&blame->party_of, key, &flow))
		blame_check(blame, tb_map_put(&blame->party_of, key, flow));
	return flow;
}

static struct tb_blame_party party_of(
	struct tb_blame_table *blame, const struct tb_flow_sample *flows, uint32_t flow)
{
	const struct tb_network *net = blame->net;
	const struct tb_flow_sample *of = &flows[flow];
	return (struct tb_blame_party){
		.flow = net->n_rails > 1 ? party_number(blame, of, flow) : flow,
		.job = of->job,
		.group = {[TB_GROUP_DESTINATION] = of->destination.id % net->n_hosts,
			[TB_GROUP_DESTINATION_LEAF] = blame->leaf_of[of->destination.id],
			[TB_GROUP_SOURCE_LEAF] = blame->leaf_of[of->source.id]}};
}

static void name_parties(struct tb_blame_table *blame, const struct tb_flow_sample *flows)
{
	struct tb_blame_tally *tally = &blame->tally;
	for (uint32_t i = 0; i < tally->n; i++) {
		const struct tb_blame_sum *sum = &tally->sums[i];
		if (i + AHEAD < tally->n)
			__builtin_prefetch(&flows[sum[AHEAD].culprit], 1);
		tally->victims[i] = party_of(blame, flows, sum->victim);
		tally->culprits[i] = party_of(blame, flows, sum->culprit);
	}
}

static void enter_blamed(const struct tb_blame_tally *tally, struct tb_flow_sample *flows)
{
	for (uint32_t i = 0; i < tally->n; i++)
		flows[tally->sums[i].culprit].blamed_ps += tally->sums[i].wait_ps;
}

static uint64_t *root_bin(struct tb_blame_table *blame, uint32_t bin)
{
	uint64_t **of = &blame->root_bins[bin >> blame->sum_shift];
	if (!*of)
		*of = calloc(blame->net->n_links, sizeof **of);
	return *of;
}

static void enter_root_bins(
	struct tb_blame_table *blame, const struct tb_blame_tally *tally)
{
	for (uint32_t i = 0; i < tally->n; i++) {
		const struct tb_blame_sum *sum = &tally->sums[i];
		uint64_t *sums = root_bin(blame, sum->bin);
		if (!sums) {
			blame->failed = true;
			return;
		}
		if (i + AHEAD < tally->n) // mostly of the same slice
			__builtin_prefetch(&sums[sum[AHEAD].root], 1);
		sums[sum->root] += sum->wait_ps;
	}
}

// enter_job_waits adds up sums of one slice and pair of jobs first: mostly all are.
static void enter_job_waits(
	struct tb_blame_table *blame, const struct tb_blame_tally *tally)
{
	for (uint32_t i = 0; i < tally->n && !blame->failed;) {
		const struct tb_wait_key key = {tally->sums[i].bin >> blame->sum_shift,
			tally->victims[i].job, tally->culprits[i].job};
		uint64_t n_waits = 0, wait_ps = 0;
		for (; i < tally->n && tally->sums[i].bin >> blame->sum_shift == key.a &&
			tally->victims[i].job == key.b && tally->culprits[i].job == key.c;
			i++) {
			n_waits += tally->sums[i].n_waits;
			wait_ps += tally->sums[i].wait_ps;
		}
		blame_check(blame,
			tb_wait_sums_add(&blame->job_waits, key, n_waits, wait_ps));
	}
}

uint32_t tb_blame_next_root(const uint64_t *sums, uint32_t link, uint32_t n_links)
{
	for (; link + 8 <= n_links; link += 8) {
		const uint64_t *at = sums + link;
		if (at[0] | at[1] | at[2] | at[3] | at[4] | at[5] | at[6] | at[7])
			break;
	}
	while (link < n_links && sums[link] == 0)
		link++;
	return link;
}

// blame_join adds up the sums by root of two slices.
static uint64_t *blame_join(uint64_t *first, uint64_t *second, uint32_t n_links)
{
	if (!first || !second)
		return first ? first : second;
	for (uint32_t link = tb_blame_next_root(second, 0, n_links); link < n_links;
		link = tb_blame_next_root(second, link + 1, n_links))
		first[link] += second[link];
	free(second);
	return first;
}

static int merge_sums(struct tb_blame_table *blame)
{
	uint64_t **bins = blame->root_bins;
	for (uint32_t bin = 0; bin < TB_BLAME_BINS / 2; bin++)
		bins[bin] =
			blame_join(bins[2 * bin], bins[2 * bin + 1], blame->net->n_links);
	for (uint32_t bin = TB_BLAME_BINS / 2; bin < TB_BLAME_BINS; bin++)
		bins[bin] = NULL;
	return tb_wait_sums_widen(&blame->job_waits);
}

int tb_blame_table_widen_sums(struct tb_blame_table *blame)
{
	blame->sum_shift++;
	return merge_sums(blame);
}

// blame_widen makes all slices twice as wide.
static int blame_widen(struct tb_blame_table *blame)
{
	int status = merge_sums(blame);
	blame->bin_ps *= 2;
	blame->tally.to = blame->tally.from; // no slice
	if (!status)
		status = tb_heaviest_widen(&blame->trees);
	return status ? status : tb_heaviest_widen(&blame->by_time);
}

static struct tb_wait_key by_tree(const struct tb_blame_tally *tally, uint32_t i)
{
	return (struct tb_wait_key){
		tally->sums[i].bin, tally->sums[i].root, tally->sums[i].link};
}

static struct tb_wait_key blame_time_order(const struct tb_blame_tally *tally, uint32_t i)
{
	return (struct tb_wait_key){
		tally->sums[i].bin, tally->victims[i].flow, tally->culprits[i].flow};
}

static void enter_times(struct tb_blame_table *blame, const struct tb_blame_tally *tally)
{
	for (uint32_t i = 0; i < tally->n && !blame->failed; i++) {
		const struct tb_blame_sum *sum = &tally->sums[i];
		if (i + AHEAD < tally->n)
			tb_heaviest_fetch(
				&blame->by_time, blame_time_order(tally, i + AHEAD));
		blame_check(blame,
			tb_heaviest_add(&blame->by_time, blame_time_order(tally, i),
				sum->n_parts, sum->wait_ps));
	}
}

static void enter_trees(struct tb_blame_table *blame, const struct tb_blame_tally *tally)
{
	for (uint32_t i = 0; i < tally->n && !blame->failed; i++) {
		const struct tb_blame_sum *sum = &tally->sums[i];
		if (i + AHEAD < tally->n)
			tb_heaviest_fetch(&blame->trees, by_tree(tally, i + AHEAD));
		blame_check(blame, tb_heaviest_add(&blame->trees, by_tree(tally, i),
					   sum->n_parts, sum->wait_ps));
	}
}

static void enter_roots(struct tb_blame_table *blame, const struct tb_blame_tally *tally)
{
	for (uint32_t i = 0; i < tally->n; i++) {
		const struct tb_blame_sum *sum = &tally->sums[i];
		if (i + AHEAD < tally->n)
			__builtin_prefetch(&blame->roots[sum[AHEAD].root], 1);
		blame->roots[sum->root].n_waits += sum->n_waits;
		blame->roots[sum->root].wait_ps += sum->wait_ps;
	}
}

static void enter_links(struct tb_blame_table *blame, const struct tb_blame_tally *tally)
{
	for (uint32_t i = 0; i < tally->n && blame->link_ps; i++) {
		const struct tb_blame_sum *sum = &tally->sums[i];
		if (i + AHEAD < tally->n)
			__builtin_prefetch(&blame->link_ps[sum[AHEAD].link], 1);
		blame->link_ps[sum->link] += sum->wait_ps;
	}
}

static struct tb_wait_key blame_link_order(const struct tb_blame_tally *tally, uint32_t i)
{
	return (struct tb_wait_key){
		tally->sums[i].link, tally->victims[i].flow, tally->culprits[i].flow};
}

static void enter_flows(struct tb_blame_table *blame, const struct tb_blame_tally *tally)
{
	for (uint32_t i = 0; i < tally->n && !blame->failed; i++) {
		const struct tb_blame_sum *sum = &tally->sums[i];
		if (i + AHEAD < tally->n)
			tb_heaviest_fetch(
				&blame->by_link, blame_link_order(tally, i + AHEAD));
		blame_check(blame,
			tb_heaviest_add(&blame->by_link, blame_link_order(tally, i),
				sum->n_waits, sum->wait_ps));
	}
}

static struct tb_wait_key by_group(
	const struct tb_blame_tally *tally, int grouping, uint32_t i)
{
	return (struct tb_wait_key){
		0, tally->victims[i].group[grouping], tally->culprits[i].group[grouping]};
}

static void enter_groups(
	struct tb_blame_table *blame, const struct tb_blame_tally *tally, int grouping)
{
	struct tb_heaviest *groups = &blame->groups[grouping];
	for (uint32_t i = 0; i < tally->n && !blame->failed; i++) {
		const struct tb_blame_sum *sum = &tally->sums[i];
		if (i + AHEAD < tally->n)
			tb_heaviest_fetch(groups, by_group(tally, grouping, i + AHEAD));
		blame_check(blame, tb_heaviest_add(groups, by_group(tally, grouping, i),
					   sum->n_waits, sum->wait_ps));
	}
}

static void enter_jobs(struct tb_blame_table *blame, const struct tb_blame_tally *tally)
{
	for (uint32_t i = 0; i < tally->n && !blame->failed && blame->several; i++) {
		const struct tb_blame_sum *sum = &tally->sums[i];
		const struct tb_wait_key root = {sum->root, tally->victims[i].job, 0};
		const struct tb_wait_key victim = {sum->link, root.b, 0};
		const struct tb_wait_key culprit = {sum->link, tally->culprits[i].job, 0};
		blame_check(blame, tb_wait_sums_add(&blame->root_jobs, root, sum->n_waits,
					   sum->wait_ps));
		blame_check(blame,
			tb_wait_sums_add(&blame->job_links, victim, sum->wait_ps, 0));
		blame_check(blame,
			tb_wait_sums_add(&blame->job_links, culprit, 0, sum->wait_ps));
	}
}

int tb_blame_table_part_jobs(struct tb_blame_table *blame)
{
	uint32_t job = blame->first_job;
	int status = TB_OK;
	for (uint32_t link = 0; link < blame->net->n_links && !status; link++) {
		const struct tb_blame_root *root = &blame->roots[link];
		const struct tb_wait_key key = {link, job, 0};
		if (root->n_waits)
			status = tb_wait_sums_add(
				&blame->root_jobs, key, root->n_waits, root->wait_ps);
		if (!status && blame->link_ps[link])
			status = tb_wait_sums_add(&blame->job_links, key,
				blame->link_ps[link], blame->link_ps[link]);
	}
	free(blame->link_ps);
	blame->link_ps = NULL;
	blame->several = true;
	return status;
}

// notice_second_job notices the first wait of a second job, before it is entered.
static void notice_second_job(
	struct tb_blame_table *blame, const struct tb_blame_tally *tally)
{
	if (blame->first_job == TB_ID_NONE)
		blame->first_job = tally->victims[0].job;
	for (uint32_t i = 0; i < tally->n && !blame->several; i++)
		if (tally->victims[i].job != blame->first_job ||
			tally->culprits[i].job != blame->first_job)
			blame_check(blame, tb_blame_table_part_jobs(blame));
}

// The tables are entered apart from each other, those that take longest first.
enum { TABLE_TIMES, TABLE_TREES, TABLE_FLOWS, TABLE_SUMS, TABLE_GROUPS };
enum { TABLES = TABLE_GROUPS + TB_GROUPINGS };

struct entering {
	struct tb_blame_table *blame;
	struct tb_flow_sample *flows;
};

static void enter_table(void *context, uint32_t table)
{
	const struct entering *entering = context;
	struct tb_blame_table *blame = entering->blame;
	const struct tb_blame_tally *tally = &blame->tally;
	if (table == TABLE_TIMES) {
		enter_times(blame, tally);
	} else if (table == TABLE_TREES) {
		enter_trees(blame, tally);
	} else if (table == TABLE_FLOWS) {
		enter_flows(blame, tally);
	} else if (table == TABLE_SUMS) {
		enter_blamed(tally, entering->flows);
		enter_root_bins(blame, tally);
		enter_job_waits(blame, tally);
		enter_roots(blame, tally);
		enter_links(blame, tally);
		enter_jobs(blame, tally);
	} else {
		enter_groups(blame, tally, (int)(table - TABLE_GROUPS));
	}
}

void tb_blame_table_enter(
	struct tb_blame_table *blame, struct tb_flow_sample *flows, struct tb_team *team)
{
	struct tb_blame_tally *tally = &blame->tally;
	struct entering entering = {blame, flows};
	if (tally->n && !blame->failed) {
		name_parties(blame, flows);
		notice_second_job(blame, tally);
		for (uint32_t i = 0; i < tally->n; i++)
			blame->n_waits += tally->sums[i].n_waits;
		if (team)
			tb_team_run(team, TABLES, enter_table, &entering);
		for (uint32_t table = 0; table < TABLES && !team; table++)
			enter_table(&entering, table);
	}
	tally->n = 0;
	memset(tally->numbers, 0, sizeof tally->numbers);
}

// blame_place is where the search for the sum of waits like this one begins.
static inline uint32_t blame_place(const struct tb_blame_wait *wait, uint32_t bin)
{
	uint64_t flows = (uint64_t)wait->victim << 32 | wait->culprit;
	uint64_t links = (uint64_t)wait->link << 32 | wait->root;
	uint64_t hash = flows * UINT64_C(0x9e3779b97f4a7c15);
	hash = ((hash ^ hash >> 32) + links + bin) * UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t)((hash ^ hash >> 29) >> 17);
}

// blame_sum returns the sum of waits like this one, of those in a slice. The tally has
// room.
static struct tb_blame_sum *blame_sum(
	struct tb_blame_tally *tally, const struct tb_blame_wait *wait, uint32_t bin)
{
	const uint32_t mask = 2 * TB_BLAME_TALLY - 1;
	uint32_t i = blame_place(wait, bin) & mask;
	for (; tally->numbers[i]; i = (i + 1) & mask) {
		struct tb_blame_sum *sum = &tally->sums[tally->numbers[i] - 1];
		if (sum->link == wait->link && sum->root == wait->root &&
			sum->victim == wait->victim && sum->culprit == wait->culprit &&
			sum->bin == bin)
			return sum;
	}
	struct tb_blame_sum *sum = &tally->sums[tally->n++];
	tally->numbers[i] = (uint16_t)tally->n;
	*sum = (struct tb_blame_sum){.link = wait->link,
		.root = wait->root,
		.victim = wait->victim,
		.culprit = wait->culprit,
		.bin = bin};
	return sum;
}

static void widen_for(struct tb_blame_table *blame, struct tb_flow_sample *flows,
	tb_time_ps to, struct tb_team *team)
{
	tb_blame_table_enter(blame, flows, team);
	while (to > TB_BLAME_BINS * blame->bin_ps && !blame->failed)
		blame_check(blame, blame_widen(blame));
}

// blame_add_part adds what of a wait lies in a slice; returns its end.
static inline tb_time_ps blame_add_part(struct tb_blame_table *blame,
	struct tb_flow_sample *flows, const struct tb_blame_wait *wait, tb_time_ps from,
	struct tb_team *team)
{
	struct tb_blame_tally *tally = &blame->tally;
	bool ends = wait->to <= tally->to;
	tb_time_ps to = ends ? wait->to : tally->to;
	if (tally->n == TB_BLAME_TALLY)
		tb_blame_table_enter(blame, flows, team);
	struct tb_blame_sum *sum = blame_sum(tally, wait, tally->bin);
	sum->n_parts++;
	sum->n_waits += ends;
	sum->wait_ps += (uint64_t)(to - from);
	return to;
}

void tb_blame_table_end_batch(
	struct tb_blame_table *blame, struct tb_flow_sample *flows, struct tb_team *team)
{
	tb_blame_table_enter(blame, flows, team);
	blame->n_in_batch = 0;
	struct tb_heaviest *lists[] = {&blame->by_link, &blame->by_time, &blame->trees};
	for (size_t i = 0; i < sizeof lists / sizeof *lists && !blame->failed; i++)
		blame_check(blame, tb_heaviest_trim(lists[i]));
	for (int i = 0; i < TB_GROUPINGS && !blame->failed; i++)
		blame_check(blame, tb_heaviest_trim(&blame->groups[i]));
}

static inline __attribute__((always_inline)) void blame_put(struct tb_blame_table *blame,
	struct tb_flow_sample *flows, const struct tb_blame_wait *wait,
	struct tb_team *team)
{
	blame->n_in_batch++;
	struct tb_blame_tally *tally = &blame->tally;
	if (wait->to > TB_BLAME_BINS * blame->bin_ps)
		widen_for(blame, flows, wait->to, team);
	for (tb_time_ps from = wait->from; from < wait->to && !blame->failed;) {
		if (from < tally->from || from >= tally->to) {
			tally->bin = (uint32_t)(from / blame->bin_ps);
			tally->from = (tb_time_ps)tally->bin * blame->bin_ps;
			tally->to = tally->from + blame->bin_ps;
		}
		from = blame_add_part(blame, flows, wait, from, team);
	}
}

void tb_blame_table_add(struct tb_blame_table *blame, struct tb_flow_sample *flows,
	const struct tb_blame_wait *wait)
{
	if (blame->n_in_batch >= blame->batch && wait->to != blame->last_to)
		tb_blame_table_end_batch(blame, flows, NULL);
	blame->last_to = wait->to;
	blame_put(blame, flows, wait, NULL);
}

void tb_blame_table_put(struct tb_blame_table *blame, struct tb_flow_sample *flows,
	const struct tb_blame_wait *wait, struct tb_team *team)
{
	blame_put(blame, flows, wait, team);
}
