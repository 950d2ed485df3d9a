#include "blame_table.h"

#include "sort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// How many keys the tables of the heaviest keep, besides those of a batch.
enum { MOST_BY_LINK = 4096, MOST_BY_TIME = 4096, MOST_GROUPS = 1024 };

// Links of congestion trees: those of a large network have more.
enum { LEAST_TREES = 4096, MOST_TREES = 1 << 19 };

static uint32_t n_trees(const struct tb_network *net)
{
	uint32_t n = LEAST_TREES;
	while (n < 2 * (uint64_t)net->n_links && n < MOST_TREES)
		n *= 2;
	return n;
}

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
		status = tb_heaviest_init(&blame->trees, n_trees(blame->net), true);
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
	blame->bin_ps = base_ps;
	blame->first_job = TB_ID_NONE;
	blame->batch = TB_BLAME_BATCH;
	blame->piece = TB_BLAME_PIECE;
	uint32_t n_sum_bins = TB_BLAME_BINS;
	for (; n_sum_bins > LEAST_SUM_BINS &&
		(uint64_t)n_sum_bins * net->n_links > MOST_ROOT_BINS;
		n_sum_bins /= 2)
		blame->sum_shift++;
	blame->root_waits = calloc(net->n_links + 1, sizeof *blame->root_waits);
	blame->link_ps = calloc(net->n_links + 1, sizeof *blame->link_ps);
	blame->leaf_of = calloc(net->n_nodes + 1, sizeof *blame->leaf_of);
	if (blame->root_waits && blame->link_ps && blame->leaf_of &&
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
	free(blame->root_waits);
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
static inline uint32_t party_number(
	struct tb_blame_table *blame, const struct tb_flow_sample *flows, uint32_t flow)
{
	const struct tb_network *net = blame->net;
	const struct tb_flow_sample *of = &flows[flow];
	if (net->n_rails <= 1)
		return flow;
	uint64_t key = (uint64_t)of->job << 48 |
		       (uint64_t)(of->source.id % net->n_hosts) << 24 |
		       of->destination.id % net->n_hosts;
	if (!tb_map_find(&blame->party_of, key, &flow))
		blame_check(blame, tb_map_put(&blame->party_of, key, flow));
	return flow;
}

// A sum is read part by part: its last slice, then those before.
static inline bool next_part(const struct tb_blame_log *log, struct tb_blame_part *part)
{
	if (part->before == TB_ID_NONE)
		return false;
	*part = log->parts[part->before];
	return true;
}

static inline struct tb_blame_part last_part(const struct tb_blame_sum *sum)
{
	return (struct tb_blame_part){sum->wait_ps, sum->n_waits, sum->bin, sum->before};
}

// put_earlier adds to a sum in a slice before its last.
static void put_earlier(struct tb_blame_log *log, struct tb_blame_sum *sum, uint16_t bin,
	uint16_t n_waits, uint64_t wait_ps)
{
	uint32_t at = sum->before;
	while (at != TB_ID_NONE && log->parts[at].bin != bin)
		at = log->parts[at].before;
	if (at == TB_ID_NONE) {
		at = log->n_parts++;
		log->parts[at] = (struct tb_blame_part){0, 0, bin, sum->before};
		sum->before = at;
	}
	log->parts[at].n_waits = (uint16_t)(log->parts[at].n_waits + n_waits);
	log->parts[at].wait_ps += wait_ps;
}

static inline void put_part(struct tb_blame_log *log, struct tb_blame_sum *sum,
	uint16_t bin, uint16_t n_waits, uint64_t wait_ps)
{
	if (bin < sum->bin) {
		put_earlier(log, sum, bin, n_waits, wait_ps);
		return;
	}
	if (bin > sum->bin) {
		log->parts[log->n_parts] = last_part(sum);
		sum->before = log->n_parts++;
		sum->bin = bin;
		sum->n_waits = 0;
		sum->wait_ps = 0;
	}
	sum->n_waits = (uint16_t)(sum->n_waits + n_waits);
	sum->wait_ps += wait_ps;
}

// sum_of returns the sum of waits that is at hand of these links and flows, or a new one,
// which is for something in a slice.
static inline struct tb_blame_sum *sum_of(
	struct tb_blame_log *log, const struct tb_blame_key *key, uint16_t bin)
{
	uint64_t words[2];
	memcpy(words, key, sizeof words);
	uint64_t hash = words[1] * UINT64_C(0x9e3779b97f4a7c15);
	hash = ((hash ^ hash >> 32) + words[0]) * UINT64_C(0xd6e8feb86659fd93);
	uint16_t *number = &log->numbers[(hash >> 32) & (TB_BLAME_NUMBERS - 1)];
	struct tb_blame_sum *sum = &log->sums[*number];
	if (*number < log->n && memcmp(&sum->key, words, sizeof words) == 0)
		return sum;
	*number = (uint16_t)log->n;
	sum = &log->sums[log->n++];
	*sum = (struct tb_blame_sum){*key, 0, 0, bin, TB_ID_NONE};
	return sum;
}

static struct tb_blame_party party_of(
	struct tb_blame_table *blame, const struct tb_flow_sample *flows, uint32_t flow)
{
	const struct tb_network *net = blame->net;
	const struct tb_flow_sample *of = &flows[flow];
	uint32_t host = of->destination.id;
	return (struct tb_blame_party){.flow = party_number(blame, flows, flow),
		.job = of->job,
		.group = {[TB_GROUP_DESTINATION] =
				  net->n_rails > 1 ? host % net->n_hosts : host,
			[TB_GROUP_DESTINATION_LEAF] = blame->leaf_of[of->destination.id],
			[TB_GROUP_SOURCE_LEAF] = blame->leaf_of[of->source.id]}};
}

// The log is entered in stages. A stage takes rows of one log, from `from` to before
// `end`: all at once, or piece by piece.
struct log_rows {
	uint32_t from, end;
};

// add_pairs adds up the log by flows, and names these.
static void add_pairs(
	struct tb_blame_table *blame, struct tb_flow_sample *flows, struct log_rows rows)
{
	struct tb_blame_log *log = &blame->waits, *pairs = &blame->pairs;
	if (rows.from == 0)
		pairs->n = pairs->n_parts = 0;
	uint32_t n_named = pairs->n;
	for (uint32_t i = rows.from; i < rows.end; i++) {
		const struct tb_blame_sum *sum = &log->sums[i];
		if (i + AHEAD < log->n) {
			__builtin_prefetch(&flows[sum[AHEAD].key.victim]);
			__builtin_prefetch(&flows[sum[AHEAD].key.culprit]);
			__builtin_prefetch(&flows[sum[AHEAD].key.culprit].blamed_ps, 1);
		}
		struct tb_blame_part part = last_part(sum);
		struct tb_blame_sum *pair = sum_of(pairs,
			&(struct tb_blame_key){0, 0, sum->key.victim, sum->key.culprit},
			part.bin);
		do {
			put_part(pairs, pair, part.bin, part.n_waits, part.wait_ps);
			flows[sum->key.culprit].blamed_ps += part.wait_ps;
		} while (next_part(log, &part));
	}
	for (uint32_t i = n_named; i < pairs->n; i++) {
		blame->victims[i] = party_of(blame, flows, pairs->sums[i].key.victim);
		blame->culprits[i] = party_of(blame, flows, pairs->sums[i].key.culprit);
	}
}

static void add_places(struct tb_blame_table *blame, struct log_rows rows)
{
	const struct tb_blame_log *log = &blame->waits;
	struct tb_blame_log *places = &blame->places;
	if (rows.from == 0)
		places->n = places->n_parts = 0;
	for (uint32_t i = rows.from; i < rows.end; i++) {
		const struct tb_blame_sum *sum = &log->sums[i];
		struct tb_blame_part part = last_part(sum);
		struct tb_blame_sum *place = sum_of(places,
			&(struct tb_blame_key){sum->key.link, sum->key.root, 0, 0},
			part.bin);
		do
			put_part(places, place, part.bin, part.n_waits, part.wait_ps);
		while (next_part(log, &part));
	}
}

// blame_whole adds up the parts of a sum.
static inline struct tb_blame_part blame_whole(
	const struct tb_blame_log *log, const struct tb_blame_sum *sum)
{
	struct tb_blame_part part = last_part(sum), whole = part;
	while (next_part(log, &part)) {
		whole.n_waits = (uint16_t)(whole.n_waits + part.n_waits);
		whole.wait_ps += part.wait_ps;
	}
	return whole;
}

// bin_sums returns the sums by root of a slice; NULL without memory.
static uint64_t *bin_sums(struct tb_blame_table *blame, uint32_t bin)
{
	uint64_t **sums = &blame->root_bins[bin >> blame->sum_shift];
	if (!*sums)
		*sums = calloc(blame->net->n_links, sizeof **sums);
	blame->failed |= !*sums;
	return *sums;
}

// blame_next_root returns the first link from `link` on of which a slice of root_bins
// holds a wait, n_links when none. Mostly few do, so it looks at eight at a time.
static uint32_t blame_next_root(const uint64_t *sums, uint32_t link, uint32_t n_links)
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
	for (uint32_t link = blame_next_root(second, 0, n_links); link < n_links;
		link = blame_next_root(second, link + 1, n_links))
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

// blame_widen makes all slices twice as wide.
static int blame_widen(struct tb_blame_table *blame)
{
	struct tb_blame_log *log = &blame->waits;
	int status = merge_sums(blame);
	blame->bin_ps *= 2;
	blame->end = 0;
	for (uint32_t i = 0; i < log->n; i++)
		log->sums[i].bin /= 2; // its parts may then be of one slice
	for (uint32_t i = 0; i < log->n_parts; i++)
		log->parts[i].bin /= 2;
	tb_heaviest_widen(&blame->trees);
	tb_heaviest_widen(&blame->by_time);
	return status;
}

// reserve_heaviest makes room in a table for `n` keys.
static bool reserve_heaviest(
	struct tb_blame_table *blame, struct tb_heaviest *table, uint32_t n)
{
	int status = tb_heaviest_reserve(table, n);
	blame_check(blame, status);
	return status == TB_OK;
}

static void enter_times(struct tb_blame_table *blame, struct log_rows rows)
{
	const struct tb_blame_log *log = &blame->pairs;
	if (!reserve_heaviest(
		    blame, &blame->by_time, rows.end - rows.from + log->n_parts))
		return;
	for (uint32_t i = rows.from; i < rows.end; i++) {
		struct tb_blame_part part = last_part(&log->sums[i]);
		do
			tb_heaviest_add(&blame->by_time,
				(struct tb_wait_key){part.bin, blame->victims[i].flow,
					blame->culprits[i].flow},
				part.n_waits, part.wait_ps);
		while (next_part(log, &part));
	}
}

static void enter_trees(struct tb_blame_table *blame, struct log_rows rows)
{
	const struct tb_blame_log *log = &blame->places;
	if (!reserve_heaviest(blame, &blame->trees, rows.end - rows.from + log->n_parts))
		return;
	for (uint32_t i = rows.from; i < rows.end; i++) {
		const struct tb_blame_sum *sum = &log->sums[i];
		struct tb_blame_part part = last_part(sum);
		do
			tb_heaviest_add(&blame->trees,
				(struct tb_wait_key){
					part.bin, sum->key.root, sum->key.link},
				part.n_waits, part.wait_ps);
		while (next_part(log, &part));
	}
}

static void enter_links(struct tb_blame_table *blame, const struct tb_flow_sample *flows,
	struct log_rows rows)
{
	const struct tb_blame_log *log = &blame->waits;
	if (!reserve_heaviest(blame, &blame->by_link, rows.end - rows.from))
		return;
	for (uint32_t i = rows.from; i < rows.end; i++) {
		const struct tb_blame_sum *sum = &log->sums[i];
		const struct tb_blame_part whole = blame_whole(log, sum);
		tb_heaviest_add(&blame->by_link,
			(struct tb_wait_key){sum->key.link,
				party_number(blame, flows, sum->key.victim),
				party_number(blame, flows, sum->key.culprit)},
			whole.n_waits, whole.wait_ps);
	}
}

static void enter_groups(struct tb_blame_table *blame, int grouping, struct log_rows rows)
{
	const struct tb_blame_log *log = &blame->pairs;
	struct tb_heaviest *groups = &blame->groups[grouping];
	if (!reserve_heaviest(blame, groups, rows.end - rows.from))
		return;
	for (uint32_t i = rows.from; i < rows.end; i++) {
		const struct tb_blame_part whole = blame_whole(log, &log->sums[i]);
		const struct tb_wait_key key = {0, blame->victims[i].group[grouping],
			blame->culprits[i].group[grouping]};
		tb_heaviest_add(groups, key, whole.n_waits, whole.wait_ps);
	}
}

static void enter_jobs(struct tb_blame_table *blame, const struct tb_flow_sample *flows,
	struct log_rows rows)
{
	const struct tb_blame_log *log = &blame->waits;
	for (uint32_t i = rows.from; i < rows.end && !blame->failed; i++) {
		const struct tb_blame_sum *sum = &log->sums[i];
		const struct tb_blame_part whole = blame_whole(log, sum);
		const struct tb_wait_key root = {
			sum->key.root, flows[sum->key.victim].job, 0};
		const struct tb_wait_key victim = {sum->key.link, root.b, 0};
		const struct tb_wait_key culprit = {
			sum->key.link, flows[sum->key.culprit].job, 0};
		blame_check(blame, tb_wait_sums_add(&blame->root_jobs, root,
					   whole.n_waits, whole.wait_ps));
		blame_check(blame,
			tb_wait_sums_add(&blame->job_links, victim, whole.wait_ps, 0));
		blame_check(blame,
			tb_wait_sums_add(&blame->job_links, culprit, 0, whole.wait_ps));
	}
}

static void enter_job_waits(struct tb_blame_table *blame, struct log_rows rows)
{
	const struct tb_blame_log *log = &blame->pairs;
	for (uint32_t i = rows.from; i < rows.end && !blame->failed; i++) {
		struct tb_blame_part part = last_part(&log->sums[i]);
		do
			blame_check(blame,
				tb_wait_sums_add(&blame->job_waits,
					(struct tb_wait_key){
						(uint32_t)part.bin >> blame->sum_shift,
						blame->victims[i].job,
						blame->culprits[i].job},
					part.n_waits, part.wait_ps));
		while (next_part(log, &part));
	}
}

// root_wait_ps is what waited for a root in all.
static uint64_t root_wait_ps(const struct tb_blame_table *blame, uint32_t link)
{
	uint64_t sum_ps = 0;
	for (int bin = 0; bin < TB_BLAME_BINS; bin++)
		sum_ps += blame->root_bins[bin] ? blame->root_bins[bin][link] : 0;
	return sum_ps;
}

// blame_table_part_jobs begins the sums by link and job and by root and job: all that
// waited so far was of the first job.
static int blame_table_part_jobs(struct tb_blame_table *blame)
{
	uint32_t job = blame->first_job;
	int status = TB_OK;
	for (uint32_t link = 0; link < blame->net->n_links && !status; link++) {
		const struct tb_wait_key key = {link, job, 0};
		if (blame->root_waits[link])
			status = tb_wait_sums_add(&blame->root_jobs, key,
				blame->root_waits[link], root_wait_ps(blame, link));
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
static void notice_second_job(struct tb_blame_table *blame)
{
	if (blame->first_job == TB_ID_NONE)
		blame->first_job = blame->victims[0].job;
	for (uint32_t i = 0; i < blame->pairs.n && !blame->several; i++)
		if (blame->victims[i].job != blame->first_job ||
			blame->culprits[i].job != blame->first_job)
			blame_check(blame, blame_table_part_jobs(blame));
}

static void enter_sums(struct tb_blame_table *blame, struct log_rows rows)
{
	const struct tb_blame_log *log = &blame->places;
	uint64_t n_waits[TB_BLAME_BINS] = {0}, wait_ps[TB_BLAME_BINS] = {0};
	for (uint32_t i = rows.from; i < rows.end; i++) {
		const struct tb_blame_sum *sum = &log->sums[i];
		uint64_t whole_ps = 0;
		if (i + AHEAD < log->n) { // mostly of the same slice
			uint64_t *of = blame->root_bins[sum->bin >> blame->sum_shift];
			__builtin_prefetch(&blame->root_waits[sum[AHEAD].key.root], 1);
			if (blame->link_ps)
				__builtin_prefetch(
					&blame->link_ps[sum[AHEAD].key.link], 1);
			if (of)
				__builtin_prefetch(&of[sum[AHEAD].key.root], 1);
		}
		struct tb_blame_part part = last_part(sum);
		do {
			uint64_t *sums = bin_sums(blame, part.bin);
			if (!sums)
				return;
			sums[sum->key.root] += part.wait_ps;
			n_waits[part.bin] += part.n_waits;
			wait_ps[part.bin] += part.wait_ps;
			blame->root_waits[sum->key.root] += part.n_waits;
			whole_ps += part.wait_ps;
		} while (next_part(log, &part));
		if (blame->link_ps)
			blame->link_ps[sum->key.link] += whole_ps;
	}
	for (uint32_t bin = 0; bin < TB_BLAME_BINS && !blame->several; bin++)
		if (wait_ps[bin])
			blame_check(blame,
				tb_wait_sums_add(&blame->job_waits,
					(struct tb_wait_key){bin >> blame->sum_shift,
						blame->first_job, blame->first_job},
					n_waits[bin], wait_ps[bin]));
}

// The first two stages add up the log, which the tables are entered from: apart from each
// other, those that take longest first.
enum {
	STAGE_PAIRS,
	STAGE_PLACES,
	STAGE_TIMES,
	STAGE_TREES,
	STAGE_LINKS,
	STAGE_SUMS,
	STAGE_JOBS,
	STAGE_JOB_WAITS,
	STAGE_GROUPS,
	STAGES = STAGE_GROUPS + TB_GROUPINGS,
	FIRST_TABLE = STAGE_TIMES
};

// stage_log is the log that a stage takes the rows of.
static const struct tb_blame_log *stage_log(
	const struct tb_blame_table *blame, uint32_t stage)
{
	if (stage == STAGE_TREES || stage == STAGE_SUMS)
		return &blame->places;
	if (stage == STAGE_TIMES || stage >= STAGE_JOB_WAITS)
		return &blame->pairs;
	return &blame->waits;
}

// do_stage does a piece of a stage, and what is done once behind the last one.
static void do_stage(struct tb_blame_table *blame, struct tb_flow_sample *flows,
	uint32_t stage, struct log_rows rows)
{
	struct tb_heaviest *heaviest = NULL;
	if (stage == STAGE_PAIRS) {
		add_pairs(blame, flows, rows);
	} else if (stage == STAGE_PLACES) {
		add_places(blame, rows);
	} else if (stage == STAGE_TIMES) {
		heaviest = &blame->by_time;
		enter_times(blame, rows);
	} else if (stage == STAGE_TREES) {
		heaviest = &blame->trees;
		enter_trees(blame, rows);
	} else if (stage == STAGE_LINKS) {
		heaviest = &blame->by_link;
		enter_links(blame, flows, rows);
	} else if (stage == STAGE_SUMS) {
		enter_sums(blame, rows);
	} else if (stage >= STAGE_GROUPS) {
		heaviest = &blame->groups[stage - STAGE_GROUPS];
		enter_groups(blame, (int)(stage - STAGE_GROUPS), rows);
	} else if (blame->several && stage == STAGE_JOBS) {
		enter_jobs(blame, flows, rows);
	} else if (blame->several) {
		enter_job_waits(blame, rows);
	}
	if (heaviest && blame->trims && rows.end == stage_log(blame, stage)->n &&
		!blame->failed)
		tb_heaviest_trim(heaviest);
}

struct entering {
	struct tb_blame_table *blame;
	struct tb_flow_sample *flows;
	uint32_t first; // stage
};

static void enter_stage(void *context, uint32_t index)
{
	const struct entering *entering = context;
	uint32_t stage = entering->first + index;
	do_stage(entering->blame, entering->flows, stage,
		(struct log_rows){0, stage_log(entering->blame, stage)->n});
}

static void run_stages(struct tb_team *team, struct entering *entering, uint32_t end)
{
	uint32_t n = end - entering->first;
	if (team)
		tb_team_run(team, n, enter_stage, entering);
	for (uint32_t i = 0; i < n && !team; i++)
		enter_stage(entering, i);
}

static void end_entering(struct tb_blame_table *blame)
{
	blame->n_waits += blame->n_logged;
	blame->n_logged = blame->waits.n = blame->waits.n_parts = 0;
	blame->enters = blame->trims = false;
}

// blame_enter enters the log, and ends the batch if it `trims`.
static void blame_enter(struct tb_blame_table *blame, struct tb_flow_sample *flows,
	struct tb_team *team, bool trims)
{
	struct entering entering = {blame, flows, STAGE_PAIRS};
	blame->trims = trims;
	run_stages(team, &entering, FIRST_TABLE);
	if (blame->waits.n)
		notice_second_job(blame);
	entering.first = FIRST_TABLE;
	if (!blame->failed)
		run_stages(team, &entering, STAGES);
	end_entering(blame);
}

void tb_blame_table_enter(
	struct tb_blame_table *blame, struct tb_flow_sample *flows, struct tb_team *team)
{
	if (blame->waits.n)
		blame_enter(blame, flows, team, false);
}

void tb_blame_table_end_batch(
	struct tb_blame_table *blame, struct tb_flow_sample *flows, struct tb_team *team)
{
	blame_enter(blame, flows, team, true);
	blame->n_in_batch = 0;
}

void tb_blame_table_begin_end(struct tb_blame_table *blame)
{
	blame->enters = blame->trims = true;
	blame->stage = blame->row = 0;
	blame->n_in_batch = 0;
}

bool tb_blame_table_step(struct tb_blame_table *blame, struct tb_flow_sample *flows)
{
	if (!blame->enters)
		return false;
	if (blame->stage == FIRST_TABLE && blame->row == 0 && blame->waits.n)
		notice_second_job(blame);
	if (blame->stage == STAGES || blame->failed) {
		end_entering(blame);
		return true;
	}
	uint32_t n = stage_log(blame, blame->stage)->n;
	struct log_rows rows = {blame->row, blame->row + blame->piece};
	rows.end = rows.end < n ? rows.end : n;
	do_stage(blame, flows, blame->stage, rows);
	blame->row = rows.end;
	if (rows.end == n) {
		blame->stage++;
		blame->row = 0;
	}
	return true;
}

// put_slices logs a wait that does not lie in the present slice, which becomes the one in
// which it ends.
static void put_slices(struct tb_blame_table *blame, const struct tb_blame_wait *wait)
{
	struct tb_blame_log *log = &blame->waits;
	// What is in the tables when slices widen comes to what waits entered after that
	// do.
	while ((wait->to - 1) / TB_BLAME_BINS >= blame->bin_ps && !blame->failed)
		blame_check(blame, blame_widen(blame));
	if (blame->failed)
		return;
	uint32_t first = (uint32_t)(wait->from / blame->bin_ps);
	uint32_t bin = (uint32_t)((wait->to - 1) / blame->bin_ps);
	blame->bin = (uint16_t)bin;
	blame->begin = bin * blame->bin_ps;
	blame->end = blame->begin <= TB_TIME_NEVER - blame->bin_ps
			     ? blame->begin + blame->bin_ps
			     : TB_TIME_NEVER;
	struct tb_blame_sum *sum = sum_of(log, &wait->key, blame->bin);
	tb_time_ps begin = blame->begin, end = wait->to;
	uint16_t n_waits = 1;
	for (; bin > first; bin--, begin -= blame->bin_ps) {
		put_part(log, sum, (uint16_t)bin, n_waits, (uint64_t)(end - begin));
		end = begin;
		n_waits = 0;
	}
	put_part(log, sum, (uint16_t)bin, n_waits, (uint64_t)(end - wait->from));
}

void tb_blame_table_put(struct tb_blame_table *blame, struct tb_flow_sample *flows,
	const struct tb_blame_wait *waits, size_t n, struct tb_team *team)
{
	struct tb_blame_log *log = &blame->waits;
	const struct tb_blame_wait *end = waits + n, *full = waits;
	blame->n_in_batch += (uint32_t)n;
	for (const struct tb_blame_wait *wait = waits; wait < end; wait++) {
		if (wait == full || log->n_parts >= TB_BLAME_LOG) {
			// The log has room for all or the first of the others.
			blame->n_logged -= (uint32_t)(full - wait);
			if (blame->n_logged == TB_BLAME_LOG ||
				log->n_parts >= TB_BLAME_LOG)
				blame_enter(blame, flows, team, false);
			uint32_t room = TB_BLAME_LOG - blame->n_logged;
			full = end - wait < room ? end : wait + room;
			blame->n_logged += (uint32_t)(full - wait);
		}
		if (wait->from >= blame->begin && wait->to <= blame->end)
			put_part(log, sum_of(log, &wait->key, blame->bin), blame->bin, 1,
				(uint64_t)(wait->to - wait->from));
		else
			put_slices(blame, wait);
	}
}

void tb_blame_table_add(struct tb_blame_table *blame, struct tb_flow_sample *flows,
	const struct tb_blame_wait *waits, size_t n)
{
	if (blame->n_in_batch + n <= blame->batch) {
		tb_blame_table_put(blame, flows, waits, n, NULL);
		blame->last_to = waits[n - 1].to;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (blame->n_in_batch >= blame->batch && waits[i].to != blame->last_to)
			tb_blame_table_end_batch(blame, flows, NULL);
		blame->last_to = waits[i].to;
		tb_blame_table_put(blame, flows, &waits[i], 1, NULL);
	}
}

enum { FIRST_SLOTS = 64 };

void tb_wait_sums_fini(struct tb_wait_sums *sums)
{
	free(sums->slots);
	*sums = (struct tb_wait_sums){0};
}

static bool wait_sums_is_free(const struct tb_wait_sum *sum)
{
	return (sum->first | sum->second) == 0;
}

static void wait_sums_enter(struct tb_wait_sums *sums, const struct tb_wait_sum *more)
{
	struct tb_wait_key key = more->key;
	size_t mask = sums->n_slots - 1;
	size_t i = (size_t)(tb_wait_key_hash(key) >> 32) & mask;
	while (!wait_sums_is_free(&sums->slots[i]) &&
		!tb_wait_key_equal(sums->slots[i].key, key))
		i = (i + 1) & mask;
	struct tb_wait_sum *sum = &sums->slots[i];
	if (wait_sums_is_free(sum)) {
		*sum = *more;
		sums->n_used++;
		return;
	}
	sum->first += more->first;
	sum->second += more->second;
}

// wait_sums_refill moves the sums into a table of `n_slots`, each key's a shifted by
// `shift`.
static int wait_sums_refill(struct tb_wait_sums *sums, size_t n_slots, unsigned shift)
{
	struct tb_wait_sums made = {calloc(n_slots, sizeof *made.slots), n_slots, 0};
	if (!made.slots)
		return TB_ENOMEM;
	for (size_t i = 0; i < sums->n_slots; i++) {
		struct tb_wait_sum sum = sums->slots[i];
		sum.key.a >>= shift;
		if (!wait_sums_is_free(&sum))
			wait_sums_enter(&made, &sum);
	}
	free(sums->slots);
	*sums = made;
	return TB_OK;
}

int tb_wait_sums_add(struct tb_wait_sums *sums, struct tb_wait_key key, uint64_t first,
	uint64_t second)
{
	if (sums->n_used >= sums->n_slots / 2 &&
		wait_sums_refill(sums, sums->n_slots ? 2 * sums->n_slots : FIRST_SLOTS,
			0) != TB_OK)
		return TB_ENOMEM;
	wait_sums_enter(sums, &(struct tb_wait_sum){key, first, second});
	return TB_OK;
}

static int wait_sum_order(const void *left, const void *right)
{
	const struct tb_wait_sum *a = left, *b = right;
	return tb_wait_key_order(a->key, b->key);
}

void tb_wait_sums_list(struct tb_wait_sums *sums)
{
	size_t n = 0;
	for (size_t i = 0; i < sums->n_slots; i++)
		if (!wait_sums_is_free(&sums->slots[i]))
			sums->slots[n++] = sums->slots[i];
	if (n)
		qsort(sums->slots, n, sizeof *sums->slots, wait_sum_order);
}

int tb_wait_sums_widen(struct tb_wait_sums *sums)
{
	return sums->n_slots ? wait_sums_refill(sums, sums->n_slots, 1) : TB_OK;
}

// The arrays of a record: where it has their address and how many items they have, and of
// how many bytes an item is.
#define PART(name)                                                                       \
	{                                                                                \
		offsetof(struct tb_blame_record, name),                                  \
			offsetof(struct tb_blame_record, n_##name),                      \
			sizeof *((struct tb_blame_record *)0)->name                      \
	}
static const struct {
	size_t items, n, size;
} parts[] = {PART(roots), PART(root_bins), PART(root_jobs), PART(job_waits),
	PART(job_links), PART(by_link), PART(by_time), PART(trees),
	PART(groups[TB_GROUP_DESTINATION]), PART(groups[TB_GROUP_DESTINATION_LEAF]),
	PART(groups[TB_GROUP_SOURCE_LEAF])};
enum { PARTS = sizeof parts / sizeof *parts };
_Static_assert(TB_GROUPINGS == 3, "all groupings have a part");

int tb_blame_record_copy(struct tb_blame_record *copy, const struct tb_blame_record *from)
{
	struct tb_blame_record made = *from;
	bool failed = false;
	for (int i = 0; i < PARTS; i++) {
		void *items;
		size_t n;
		memcpy(&items, (char *)&made + parts[i].items, sizeof items);
		memcpy(&n, (char *)&made + parts[i].n, sizeof n);
		void *own = malloc(n ? n * parts[i].size : 1);
		if (own && n)
			memcpy(own, items, n * parts[i].size);
		memcpy((char *)&made + parts[i].items, &own, sizeof own);
		failed |= !own;
	}
	if (failed) {
		tb_blame_record_free(&made);
		return TB_ENOMEM;
	}
	*copy = made;
	return TB_OK;
}

void tb_blame_record_free(struct tb_blame_record *record)
{
	for (int i = 0; i < PARTS; i++) {
		void *items;
		memcpy(&items, (char *)record + parts[i].items, sizeof items);
		free(items);
	}
	*record = (struct tb_blame_record){0};
}

// The most rows of a list of the heaviest: storing a row costs about as much as replaying
// a packet.
enum { LISTED_BY_LINK = 4096, LISTED_BY_TIME = 4096 };
enum { LISTED_GROUPS = 512 };

// The sums by root and time come to one row for every so many waits, or to so many rows;
// their slices are as wide as that takes.
enum { WAITS_PER_ROOT_BIN = 64, FEWEST_ROOT_BINS = 16384 };

// Links of trees are listed as many as one for every so many waits, or LEAST_TREES.
enum { WAITS_PER_TREE_LINK = 16 };

static int blame_list_roots(
	const struct tb_blame_table *blame, struct tb_blame_record *record)
{
	uint32_t n_links = blame->net->n_links;
	size_t n = 0;
	for (uint32_t link = 0; link < n_links; link++)
		n += blame->root_waits[link] > 0;
	struct tb_root_sample *rows = malloc((n + 1) * sizeof *rows);
	record->roots = rows;
	if (!rows)
		return TB_ENOMEM;
	n = 0;
	for (uint32_t link = 0; link < n_links; link++)
		if (blame->root_waits[link])
			rows[n++] = (struct tb_root_sample){.root = {link},
				.n_waits = blame->root_waits[link],
				.wait_ps = root_wait_ps(blame, link)};
	record->n_roots = n;
	return TB_OK;
}

static size_t count_root_bins(const struct tb_blame_table *blame)
{
	size_t n = 0;
	for (int bin = 0; bin < TB_BLAME_BINS; bin++) {
		const uint64_t *sums = blame->root_bins[bin];
		uint32_t n_links = sums ? blame->net->n_links : 0;
		for (uint32_t link = 0; link < n_links; link++) {
			link = blame_next_root(sums, link, n_links);
			n += link < n_links;
		}
	}
	return n;
}

// widen_sums widens the slices of the sums alone, until these come to few enough rows.
static int widen_sums(struct tb_blame_table *blame, size_t *n)
{
	uint64_t n_most = blame->n_waits / WAITS_PER_ROOT_BIN;
	int status = TB_OK;
	if (n_most < FEWEST_ROOT_BINS)
		n_most = FEWEST_ROOT_BINS;
	while ((*n = count_root_bins(blame)) > n_most &&
		1 << blame->sum_shift < TB_BLAME_BINS && !status) {
		blame->sum_shift++;
		status = merge_sums(blame);
	}
	return status;
}

static int list_root_bins(struct tb_blame_table *blame, struct tb_blame_record *record)
{
	size_t n = 0;
	if (widen_sums(blame, &n) != TB_OK)
		return TB_ENOMEM;
	struct tb_root_bin_sample *rows = malloc((n + 1) * sizeof *rows);
	record->root_bins = rows;
	if (!rows)
		return TB_ENOMEM;
	n = 0;
	for (uint32_t bin = 0; bin < TB_BLAME_BINS; bin++) {
		const uint64_t *sums = blame->root_bins[bin];
		uint32_t n_links = sums ? blame->net->n_links : 0;
		for (uint32_t link = 0; link < n_links; link++) {
			link = blame_next_root(sums, link, n_links);
			if (link < n_links)
				rows[n++] = (struct tb_root_bin_sample){
					bin, {link}, sums[link]};
		}
		free(blame->root_bins[bin]);
		blame->root_bins[bin] = NULL;
	}
	record->n_root_bins = n;
	record->sum_bin_ps = blame->bin_ps <= TB_TIME_NEVER >> blame->sum_shift
				     ? blame->bin_ps << blame->sum_shift
				     : TB_TIME_NEVER;
	return TB_OK;
}

// sums_rows lists sums, and returns room for as many rows.
static void *sums_rows(struct tb_wait_sums *sums, size_t size, size_t *n)
{
	tb_wait_sums_list(sums);
	*n = sums->n_used;
	return malloc((sums->n_used + 1) * size);
}

// blame_list_jobs lists the sums by job.
static int blame_list_jobs(struct tb_blame_table *blame, struct tb_blame_record *record)
{
	struct tb_job_wait_sample *waits =
		sums_rows(&blame->job_waits, sizeof *waits, &record->n_job_waits);
	struct tb_root_job_sample *roots =
		sums_rows(&blame->root_jobs, sizeof *roots, &record->n_root_jobs);
	struct tb_job_link_sample *links =
		sums_rows(&blame->job_links, sizeof *links, &record->n_job_links);
	record->job_waits = waits;
	record->root_jobs = roots;
	record->job_links = links;
	if (!waits || !roots || !links)
		return TB_ENOMEM;
	const struct tb_wait_sum *sum = blame->job_waits.slots;
	for (size_t i = 0; i < record->n_job_waits; i++, sum++)
		waits[i] = (struct tb_job_wait_sample){.bin = sum->key.a,
			.victim_job = sum->key.b,
			.culprit_job = sum->key.c,
			.n_waits = sum->first,
			.wait_ps = sum->second};
	sum = blame->root_jobs.slots;
	for (size_t i = 0; i < record->n_root_jobs; i++, sum++)
		roots[i] = (struct tb_root_job_sample){.root = {sum->key.a},
			.victim_job = sum->key.b,
			.n_waits = sum->first,
			.wait_ps = sum->second};
	sum = blame->job_links.slots;
	for (size_t i = 0; i < record->n_job_links; i++, sum++)
		links[i] = (struct tb_job_link_sample){.link = {sum->key.a},
			.job = sum->key.b,
			.wait_ps = sum->first,
			.blamed_ps = sum->second};
	return TB_OK;
}

static struct tb_node blame_host(const struct tb_blame_table *blame, struct tb_node nic)
{
	return (struct tb_node){nic.id % blame->net->n_hosts};
}

static struct tb_blame_sample listed_blame(const struct tb_blame_table *blame,
	const struct tb_flow_sample *flows, const struct tb_heavy *heavy)
{
	const struct tb_flow_sample *victim = &flows[heavy->key.b];
	const struct tb_flow_sample *culprit = &flows[heavy->key.c];
	return (struct tb_blame_sample){.victim_job = victim->job,
		.victim_source = blame_host(blame, victim->source),
		.victim_destination = blame_host(blame, victim->destination),
		.culprit_job = culprit->job,
		.culprit_source = blame_host(blame, culprit->source),
		.culprit_destination = blame_host(blame, culprit->destination),
		.n_waits = heavy->n_waits,
		.wait_ps = heavy->most_ps - heavy->error_ps,
		.error_ps = heavy->error_ps};
}

// blame_is_before sorts rows by bin or link, then by flows: those were numbered as they
// came.
static inline bool blame_is_before(const struct tb_blame_sample *const *left,
	const struct tb_blame_sample *const *right)
{
	const struct tb_blame_sample *a = *left, *b = *right;
#define BY(field)                                                                        \
	if (a->field != b->field)                                                        \
		return a->field < b->field;
	BY(bin)
	BY(link.id)
	BY(victim_job)
	BY(victim_source.id)
	BY(victim_destination.id)
	BY(culprit_job)
	BY(culprit_source.id)
	BY(culprit_destination.id)
#undef BY
	return false;
}

TB_SORT(sort_blame, const struct tb_blame_sample *, blame_is_before)

// sort_rows returns the rows in order, in place of `rows`, which it frees; NULL without
// memory.
static struct tb_blame_sample *sort_rows(struct tb_blame_sample *rows, uint32_t n)
{
	struct tb_blame_sample *sorted = malloc((n + 1u) * sizeof *sorted);
	const struct tb_blame_sample **places =
		malloc((2 * (size_t)n + 1) * sizeof *places);
	for (uint32_t i = 0; places && i < n; i++)
		places[i] = &rows[i];
	if (places)
		sort_blame(places, places + n, n);
	for (uint32_t i = 0; places && sorted && i < n; i++)
		sorted[i] = *places[i];
	if (!places) {
		free(sorted);
		sorted = NULL;
	}
	free(places);
	free(rows);
	return sorted;
}

// list_heaviest makes the rows of a list of the heaviest, by link or by time; NULL
// without memory.
static struct tb_blame_sample *list_heaviest(struct tb_blame_table *blame,
	const struct tb_flow_sample *flows, struct tb_heaviest *heaviest, uint32_t n)
{
	struct tb_blame_sample *rows = malloc((n + 1) * sizeof *rows);
	for (uint32_t i = 0; rows && i < n; i++) {
		const struct tb_heavy *heavy = &heaviest->slots[i];
		rows[i] = listed_blame(blame, flows, heavy);
		rows[i].link.id = heaviest->by_bin ? TB_ID_NONE : heavy->key.a;
		rows[i].bin = heaviest->by_bin ? heavy->key.a : 0;
	}
	return rows ? sort_rows(rows, n) : NULL;
}

static int list_group(
	struct tb_blame_table *blame, int grouping, struct tb_blame_record *record)
{
	struct tb_heaviest *of = &blame->groups[grouping];
	uint32_t n;
	int status = tb_heaviest_list(
		of, LISTED_GROUPS, &record->group_floor_ps[grouping], &n);
	struct tb_group_sample *rows = malloc((n + 1) * sizeof *rows);
	record->groups[grouping] = rows;
	if (status != TB_OK || !rows)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct tb_group_sample){.victim = of->slots[i].key.b,
			.culprit = of->slots[i].key.c,
			.n_waits = of->slots[i].n_waits,
			.wait_ps = of->slots[i].most_ps - of->slots[i].error_ps,
			.error_ps = of->slots[i].error_ps};
	record->n_groups[grouping] = n;
	return TB_OK;
}

static int list_trees(struct tb_blame_table *blame, struct tb_blame_record *record)
{
	uint32_t n;
	uint64_t n_most = blame->n_waits / WAITS_PER_TREE_LINK;
	if (n_most < LEAST_TREES)
		n_most = LEAST_TREES;
	if (n_most > n_trees(blame->net))
		n_most = n_trees(blame->net);
	int status = tb_heaviest_list(
		&blame->trees, (uint32_t)n_most, &record->tree_floor_ps, &n);
	struct tb_tree_sample *rows = malloc((n + 1) * sizeof *rows);
	record->trees = rows;
	if (status != TB_OK || !rows)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_heavy *heavy = &blame->trees.slots[i];
		rows[i] = (struct tb_tree_sample){.bin = heavy->key.a,
			.root = {heavy->key.b},
			.link = {heavy->key.c},
			.wait_ps = heavy->most_ps - heavy->error_ps,
			.error_ps = heavy->error_ps};
	}
	record->n_trees = n;
	return TB_OK;
}

static int list_blame_entry(struct tb_blame_table *blame,
	const struct tb_flow_sample *flows, struct tb_blame_record *record)
{
	int status = blame_list_roots(blame, record);
	// What is by job is left out where job 0 has all of it.
	if (!status && !blame->several && blame->first_job != 0)
		status = blame_table_part_jobs(blame);
	if (!status)
		status = list_root_bins(blame, record);
	if (!status)
		status = blame_list_jobs(blame, record);
	if (status)
		return status;
	uint32_t n = tb_heaviest_pick(
		&blame->by_link, LISTED_BY_LINK, &record->by_link_floor_ps);
	record->n_by_link = n;
	record->by_link = list_heaviest(blame, flows, &blame->by_link, n);
	n = tb_heaviest_pick(&blame->by_time, LISTED_BY_TIME, &record->by_time_floor_ps);
	record->n_by_time = n;
	record->by_time = list_heaviest(blame, flows, &blame->by_time, n);
	if (!record->by_link || !record->by_time)
		status = TB_ENOMEM;
	for (int i = 0; !status && i < TB_GROUPINGS; i++)
		status = list_group(blame, i, record);
	if (!status)
		status = list_trees(blame, record);
	record->bin_ps = blame->bin_ps;
	return status;
}

int tb_blame_record_give(struct tb_blame_table *blame, const struct tb_flow_sample *flows,
	const struct tb_observer *observer, int *returned)
{
	struct tb_blame_record record = {0};
	int status = blame->failed ? TB_ENOMEM : list_blame_entry(blame, flows, &record);
	if (!status)
		*returned = observer->blame(observer->context, &record);
	tb_blame_record_free(&record);
	return status;
}
