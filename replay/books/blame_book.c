#include "blame_book.h"

#include <stdlib.h>

// How many keys the tables of the heaviest hold; twice as many slots of 32 bytes.
enum { MOST_BY_LINK = 4096, MOST_BY_TIME = 4096, MOST_TREES = 4096 };
enum { MOST_GROUPS = 1024 };

// The sums by root and time have at most so many entries, and slices.
enum { MOST_ROOT_BINS = 1 << 22, LEAST_SUM_BINS = 4 };

// How far ahead of an entry its place is fetched.
enum { AHEAD = 16 };

static int init_heaviest(struct tb_blame_book *book)
{
	int status = tb_heaviest_init(&book->by_link, MOST_BY_LINK, false);
	if (!status)
		status = tb_heaviest_init(&book->by_time, MOST_BY_TIME, true);
	if (!status)
		status = tb_heaviest_init(&book->trees, MOST_TREES, true);
	for (int i = 0; !status && i < TB_GROUPINGS; i++)
		status = tb_heaviest_init(&book->groups[i], MOST_GROUPS, false);
	return status;
}

struct tb_blame_book *tb_blame_book_new(const struct tb_network *net, tb_time_ps base_ps)
{
	struct tb_blame_book *book = calloc(1, sizeof *book);
	if (!book)
		return NULL;
	book->net = net;
	book->bin_ps = base_ps;
	uint32_t n_sum_bins = TB_BLAME_BINS;
	for (; n_sum_bins > LEAST_SUM_BINS &&
		(uint64_t)n_sum_bins * net->n_links > MOST_ROOT_BINS;
		n_sum_bins /= 2)
		book->sum_shift++;
	book->roots = calloc(net->n_links + 1, sizeof *book->roots);
	book->link_ps = calloc(net->n_links + 1, sizeof *book->link_ps);
	book->leaf_of = calloc(net->n_nodes + 1, sizeof *book->leaf_of);
	if (book->roots && book->link_ps && book->leaf_of &&
		init_heaviest(book) == TB_OK) {
		for (uint32_t node = 0; node < net->n_nodes; node++)
			book->leaf_of[node] = net->links[net->injection[node]].to;
		return book;
	}
	tb_blame_book_free(book);
	return NULL;
}

void tb_blame_book_free(struct tb_blame_book *book)
{
	if (!book)
		return;
	tb_map_fini(&book->party_of);
	free(book->leaf_of);
	free(book->roots);
	free(book->link_ps);
	for (int bin = 0; bin < TB_BLAME_BINS; bin++)
		free(book->root_bins[bin]);
	tb_wait_sums_fini(&book->root_jobs);
	tb_wait_sums_fini(&book->job_waits);
	tb_wait_sums_fini(&book->job_links);
	tb_heaviest_fini(&book->by_link);
	tb_heaviest_fini(&book->by_time);
	tb_heaviest_fini(&book->trees);
	for (int i = 0; i < TB_GROUPINGS; i++)
		tb_heaviest_fini(&book->groups[i]);
	free(book);
}

static void check(struct tb_blame_book *book, int status)
{
	if (status != TB_OK)
		book->failed = true;
}

// party_number returns the flow that stands for those between the same hosts.
static uint32_t party_number(
	struct tb_blame_book *book, const struct tb_flow_sample *of, uint32_t flow)
{
	uint32_t n_hosts = book->net->n_hosts;
	uint64_t key = (uint64_t)of->job << 48 |
		       (uint64_t)(of->source.id % n_hosts) << 24 |
		       of->destination.id % n_hosts;
	if (!tb_map_find(&book->party_of, key, &flow))
		check(book, tb_map_put(&book->party_of, key, flow));
	return flow;
}

static struct tb_blame_party party_of(
	struct tb_blame_book *book, const struct tb_flow_sample *flows, uint32_t flow)
{
	const struct tb_network *net = book->net;
	const struct tb_flow_sample *of = &flows[flow];
	return (struct tb_blame_party){
		.flow = net->n_rails > 1 ? party_number(book, of, flow) : flow,
		.job = of->job,
		.group = {[TB_GROUP_DESTINATION] = of->destination.id % net->n_hosts,
			[TB_GROUP_DESTINATION_LEAF] = book->leaf_of[of->destination.id],
			[TB_GROUP_SOURCE_LEAF] = book->leaf_of[of->source.id]}};
}

static void name_parties(struct tb_blame_book *book, const struct tb_blame_batch *batch,
	const struct tb_flow_sample *flows)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct tb_blame_wait *wait = &batch->waits[i];
		if (i + AHEAD < batch->n)
			__builtin_prefetch(&flows[wait[AHEAD].culprit], 1);
		batch->victims[i] = party_of(book, flows, wait->victim);
		batch->culprits[i] = party_of(book, flows, wait->culprit);
	}
}

static void enter_blamed(const struct tb_blame_batch *batch, struct tb_flow_sample *flows)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct tb_blame_wait *wait = &batch->waits[i];
		flows[wait->culprit].blamed_ps += (uint64_t)(wait->to - wait->from);
	}
}

static uint64_t *root_bin(struct tb_blame_book *book, uint32_t bin)
{
	uint64_t **of = &book->root_bins[bin >> book->sum_shift];
	if (!*of)
		*of = calloc(book->net->n_links, sizeof **of);
	return *of;
}

// enter_slice enters the part of a wait that lies in a slice, in which it may end.
static void enter_slice(struct tb_blame_book *book, const struct tb_blame_batch *batch,
	uint32_t i, uint32_t bin, uint64_t wait_ps, bool ends)
{
	const struct tb_blame_wait *wait = &batch->waits[i];
	const struct tb_blame_party *victim = &batch->victims[i];
	const struct tb_blame_party *culprit = &batch->culprits[i];
	uint64_t *sums = root_bin(book, bin);
	if (!sums) {
		book->failed = true;
		return;
	}
	sums[wait->root] += wait_ps;
	check(book, tb_wait_sums_add(&book->job_waits,
			    (struct tb_wait_key){
				    bin >> book->sum_shift, victim->job, culprit->job},
			    ends, wait_ps));
	check(book, tb_heaviest_add(&book->trees,
			    (struct tb_wait_key){bin, wait->root, wait->link}, wait_ps));
	check(book,
		tb_heaviest_add(&book->by_time,
			(struct tb_wait_key){bin, victim->flow, culprit->flow}, wait_ps));
}

// join adds up the sums by root of two slices.
static uint64_t *join(uint64_t *first, uint64_t *second, uint32_t n_links)
{
	if (!first || !second)
		return first ? first : second;
	for (uint32_t link = 0; link < n_links; link++)
		first[link] += second[link];
	free(second);
	return first;
}

static int merge_sums(struct tb_blame_book *book)
{
	uint64_t **bins = book->root_bins;
	for (uint32_t bin = 0; bin < TB_BLAME_BINS / 2; bin++)
		bins[bin] = join(bins[2 * bin], bins[2 * bin + 1], book->net->n_links);
	for (uint32_t bin = TB_BLAME_BINS / 2; bin < TB_BLAME_BINS; bin++)
		bins[bin] = NULL;
	return tb_wait_sums_widen(&book->job_waits);
}

int tb_blame_book_widen_sums(struct tb_blame_book *book)
{
	book->sum_shift++;
	return merge_sums(book);
}

// widen makes all slices twice as wide.
static int widen(struct tb_blame_book *book)
{
	int status = merge_sums(book);
	book->bin_ps *= 2;
	if (!status)
		status = tb_heaviest_widen(&book->trees);
	return status ? status : tb_heaviest_widen(&book->by_time);
}

static void enter_slices(
	struct tb_blame_book *book, const struct tb_blame_batch *batch, uint32_t i)
{
	const struct tb_blame_wait *wait = &batch->waits[i];
	while (wait->to > TB_BLAME_BINS * book->bin_ps && !book->failed)
		check(book, widen(book));
	uint32_t bin = (uint32_t)(wait->from / book->bin_ps);
	for (tb_time_ps from = wait->from; from < wait->to && !book->failed; bin++) {
		tb_time_ps end = (tb_time_ps)(bin + 1) * book->bin_ps;
		bool ends = wait->to <= end;
		end = ends ? wait->to : end;
		enter_slice(book, batch, i, bin, (uint64_t)(end - from), ends);
		from = end;
	}
}

// fetch_slice expects a wait to lie in the slice of the one at hand.
static void fetch_slice(const struct tb_blame_book *book,
	const struct tb_blame_batch *batch, uint32_t i, uint32_t bin)
{
	const struct tb_blame_wait *wait = &batch->waits[i];
	const uint64_t *sums = book->root_bins[bin >> book->sum_shift];
	if (sums)
		__builtin_prefetch(&sums[wait->root], 1);
	tb_heaviest_fetch(
		&book->trees, (struct tb_wait_key){bin, wait->root, wait->link});
	tb_heaviest_fetch(
		&book->by_time, (struct tb_wait_key){bin, batch->victims[i].flow,
					batch->culprits[i].flow});
}

static void enter_times(struct tb_blame_book *book, const struct tb_blame_batch *batch)
{
	for (uint32_t i = 0; i < batch->n && !book->failed; i++) {
		uint64_t bin = (uint64_t)(batch->waits[i].from / book->bin_ps);
		if (i + AHEAD < batch->n && bin < TB_BLAME_BINS)
			fetch_slice(book, batch, i + AHEAD, (uint32_t)bin);
		enter_slices(book, batch, i);
	}
}

static void enter_roots(struct tb_blame_book *book, const struct tb_blame_batch *batch)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct tb_blame_wait *wait = &batch->waits[i];
		if (i + AHEAD < batch->n)
			__builtin_prefetch(&book->roots[wait[AHEAD].root], 1);
		book->roots[wait->root].n_waits++;
		book->roots[wait->root].wait_ps += (uint64_t)(wait->to - wait->from);
	}
}

static void enter_links(struct tb_blame_book *book, const struct tb_blame_batch *batch)
{
	for (uint32_t i = 0; i < batch->n && book->link_ps; i++) {
		const struct tb_blame_wait *wait = &batch->waits[i];
		if (i + AHEAD < batch->n)
			__builtin_prefetch(&book->link_ps[wait[AHEAD].link], 1);
		book->link_ps[wait->link] += (uint64_t)(wait->to - wait->from);
	}
}

static struct tb_wait_key by_link(const struct tb_blame_batch *batch, uint32_t i)
{
	return (struct tb_wait_key){
		batch->waits[i].link, batch->victims[i].flow, batch->culprits[i].flow};
}

static void enter_flows(struct tb_blame_book *book, const struct tb_blame_batch *batch)
{
	for (uint32_t i = 0; i < batch->n && !book->failed; i++) {
		const struct tb_blame_wait *wait = &batch->waits[i];
		if (i + AHEAD < batch->n)
			tb_heaviest_fetch(&book->by_link, by_link(batch, i + AHEAD));
		check(book, tb_heaviest_add(&book->by_link, by_link(batch, i),
				    (uint64_t)(wait->to - wait->from)));
	}
}

static struct tb_wait_key by_group(
	const struct tb_blame_batch *batch, int grouping, uint32_t i)
{
	return (struct tb_wait_key){
		0, batch->victims[i].group[grouping], batch->culprits[i].group[grouping]};
}

static void enter_groups(
	struct tb_blame_book *book, const struct tb_blame_batch *batch, int grouping)
{
	struct tb_heaviest *groups = &book->groups[grouping];
	for (uint32_t i = 0; i < batch->n && !book->failed; i++) {
		const struct tb_blame_wait *wait = &batch->waits[i];
		if (i + AHEAD < batch->n)
			tb_heaviest_fetch(groups, by_group(batch, grouping, i + AHEAD));
		check(book, tb_heaviest_add(groups, by_group(batch, grouping, i),
				    (uint64_t)(wait->to - wait->from)));
	}
}

static void enter_jobs(struct tb_blame_book *book, const struct tb_blame_batch *batch)
{
	for (uint32_t i = 0; i < batch->n && !book->failed && book->several; i++) {
		const struct tb_blame_wait *wait = &batch->waits[i];
		uint32_t victim = batch->victims[i].job, culprit = batch->culprits[i].job;
		uint64_t wait_ps = (uint64_t)(wait->to - wait->from);
		check(book,
			tb_wait_sums_add(&book->root_jobs,
				(struct tb_wait_key){wait->root, victim, 0}, 1, wait_ps));
		check(book,
			tb_wait_sums_add(&book->job_links,
				(struct tb_wait_key){wait->link, victim, 0}, wait_ps, 0));
		check(book, tb_wait_sums_add(&book->job_links,
				    (struct tb_wait_key){wait->link, culprit, 0}, 0,
				    wait_ps));
	}
}

int tb_blame_book_part_jobs(struct tb_blame_book *book)
{
	uint32_t job = book->first_job;
	int status = TB_OK;
	for (uint32_t link = 0; link < book->net->n_links && !status; link++) {
		const struct tb_blame_root *root = &book->roots[link];
		const struct tb_wait_key key = {link, job, 0};
		if (root->n_waits)
			status = tb_wait_sums_add(
				&book->root_jobs, key, root->n_waits, root->wait_ps);
		if (!status && book->link_ps[link])
			status = tb_wait_sums_add(&book->job_links, key,
				book->link_ps[link], book->link_ps[link]);
	}
	free(book->link_ps);
	book->link_ps = NULL;
	book->several = true;
	return status;
}

// look_for_jobs notices the first wait of a second job, before it is entered.
static void look_for_jobs(struct tb_blame_book *book, const struct tb_blame_batch *batch)
{
	if (book->n_waits == 0)
		book->first_job = batch->victims[0].job;
	for (uint32_t i = 0; i < batch->n && !book->several; i++)
		if (batch->victims[i].job != book->first_job ||
			batch->culprits[i].job != book->first_job)
			check(book, tb_blame_book_part_jobs(book));
}

// The tables are entered apart from each other, the one that takes longest first.
enum { TABLE_TIMES, TABLE_FLOWS, TABLE_SUMS, TABLE_GROUPS };
enum { TABLES = TABLE_GROUPS + TB_GROUPINGS };

static void enter_table(struct tb_blame_book *book, const struct tb_blame_batch *batch,
	struct tb_flow_sample *flows, uint32_t table)
{
	if (table == TABLE_TIMES) {
		enter_times(book, batch);
	} else if (table == TABLE_FLOWS) {
		enter_flows(book, batch);
	} else if (table == TABLE_SUMS) {
		enter_blamed(batch, flows);
		enter_roots(book, batch);
		enter_links(book, batch);
		enter_jobs(book, batch);
	} else {
		enter_groups(book, batch, (int)(table - TABLE_GROUPS));
	}
}

void tb_blame_book_enter(struct tb_blame_book *book, struct tb_flow_sample *flows)
{
	const struct tb_blame_batch batch = {
		book->batch, book->victims, book->culprits, book->n_batch};
	if (book->failed)
		book->n_batch = 0;
	if (book->n_batch == 0)
		return;
	name_parties(book, &batch, flows);
	look_for_jobs(book, &batch);
	for (uint32_t table = 0; table < TABLES; table++)
		enter_table(book, &batch, flows, table);
	book->n_waits += book->n_batch;
	book->n_batch = 0;
}

struct entering { // of batches by a team
	struct tb_blame_book *book;
	struct tb_flow_sample *flows;
	const struct tb_blame_batch *batches;
	uint32_t n;
};

static void name_one(void *context, uint32_t index)
{
	const struct entering *entering = context;
	name_parties(entering->book, &entering->batches[index], entering->flows);
}

static void enter_one(void *context, uint32_t table)
{
	const struct entering *entering = context;
	for (uint32_t i = 0; i < entering->n; i++)
		enter_table(
			entering->book, &entering->batches[i], entering->flows, table);
}

void tb_blame_book_enter_batches(struct tb_blame_book *book, struct tb_flow_sample *flows,
	const struct tb_blame_batch *batches, uint32_t n, struct tb_team *team)
{
	struct entering entering = {book, flows, batches, n};
	if (book->failed)
		return;
	if (team && book->net->n_rails == 1) // else parties are found one by one
		tb_team_run(team, n, name_one, &entering);
	for (uint32_t i = 0; i < n; i++) {
		if (!team || book->net->n_rails > 1)
			name_one(&entering, i);
		if (batches[i].n)
			look_for_jobs(book, &batches[i]);
		book->n_waits += batches[i].n;
	}
	if (team)
		tb_team_run(team, TABLES, enter_one, &entering);
	for (uint32_t table = 0; table < TABLES && !team; table++)
		enter_one(&entering, table);
}
