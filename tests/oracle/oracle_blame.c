// Who waited for whom, from the facts: each list is made of rows of up to three numbers
// and two flows, sorted and added up.
#include "oracle_impl.h"

#include <stdlib.h>

struct row {
	uint32_t a, b, c;
	struct oracle_flow victim, culprit; // where the list names flows
	uint64_t n_waits, wait_ps, blamed_ps;
};

struct rows {
	struct row *list;
	size_t n;
};

enum list {
	ROOTS,	   // root
	ROOT_BINS, // slice, root
	ROOT_JOBS, // root, waiting job
	JOB_WAITS, // slice, jobs
	JOB_LINKS, // link, job
	BY_LINK,   // link, flows
	BY_TIME,   // slice, flows
	TREES,	   // slice, root, link
	GROUPS,	   // nodes or switches
	LISTS = GROUPS + TB_GROUPINGS
};

static int by_key(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = oracle_compare(a->a, b->a);
	order = order ? order : oracle_compare(a->b, b->b);
	order = order ? order : oracle_compare(a->c, b->c);
	order = order ? order : oracle_compare_flows(&a->victim, &b->victim);
	return order ? order : oracle_compare_flows(&a->culprit, &b->culprit);
}

static void add(struct rows *rows, struct row row)
{
	rows->list = oracle_one_more(rows->list, rows->n, sizeof row);
	rows->list[rows->n++] = row;
}

static void add_up(struct rows *rows)
{
	size_t n = 0;
	if (rows->n)
		qsort(rows->list, rows->n, sizeof *rows->list, by_key);
	for (size_t i = 0; i < rows->n; i++) {
		struct row *last = n ? &rows->list[n - 1] : NULL;
		if (!last || by_key(last, &rows->list[i]) != 0) {
			rows->list[n++] = rows->list[i];
			continue;
		}
		last->n_waits += rows->list[i].n_waits;
		last->wait_ps += rows->list[i].wait_ps;
		last->blamed_ps += rows->list[i].blamed_ps;
	}
	rows->n = n;
}

static struct oracle_flow of_hosts(
	const struct tb_network *net, const struct oracle_flow *flow)
{
	return (struct oracle_flow){
		flow->job, flow->source % net->n_hosts, flow->destination % net->n_hosts};
}

static uint32_t group_of(
	const struct tb_network *net, const struct oracle_flow *flow, int grouping)
{
	switch ((enum tb_grouping)grouping) {
	case TB_GROUP_DESTINATION:
		return flow->destination % net->n_hosts;
	case TB_GROUP_DESTINATION_LEAF:
		return net->links[net->ejection[flow->destination]].from;
	case TB_GROUP_SOURCE_LEAF:
	case TB_GROUPINGS:
		break;
	}
	return net->links[net->injection[flow->source]].to;
}

static void note_wait(struct rows lists[LISTS], const struct tb_network *net,
	const struct oracle_fact *fact)
{
	uint64_t wait_ps = (uint64_t)(fact->to - fact->from);
	const struct row row = {.n_waits = 1, .wait_ps = wait_ps};
	struct row made = row;
	made.a = fact->root;
	add(&lists[ROOTS], made);
	made.b = fact->flow.job;
	add(&lists[ROOT_JOBS], made);
	add(&lists[JOB_LINKS],
		(struct row){.a = fact->link, .b = fact->flow.job, .wait_ps = wait_ps});
	add(&lists[JOB_LINKS],
		(struct row){
			.a = fact->link, .b = fact->culprit.job, .blamed_ps = wait_ps});
	made = row;
	made.a = fact->link;
	made.victim = of_hosts(net, &fact->flow);
	made.culprit = of_hosts(net, &fact->culprit);
	add(&lists[BY_LINK], made);
	for (int i = 0; i < TB_GROUPINGS; i++) {
		made = row;
		made.a = group_of(net, &fact->flow, i);
		made.b = group_of(net, &fact->culprit, i);
		add(&lists[GROUPS + i], made);
	}
}

// note_slice notes the part of a wait that lies in the slice that begins at `begin`.
static void note_slice(struct rows lists[LISTS], const struct tb_network *net,
	const struct oracle_fact *fact, tb_time_ps begin, tb_time_ps width)
{
	tb_time_ps from = oracle_later(fact->from, begin);
	tb_time_ps to = oracle_earlier(fact->to, begin + width);
	const struct row row = {.a = (uint32_t)(begin / width),
		.n_waits = fact->to <= begin + width,
		.wait_ps = (uint64_t)(to - from)};
	struct row made = row;
	made.b = fact->root;
	add(&lists[ROOT_BINS], made);
	made.c = fact->link;
	add(&lists[TREES], made);
	made = row;
	made.b = fact->flow.job;
	made.c = fact->culprit.job;
	add(&lists[JOB_WAITS], made);
	made = row;
	made.victim = of_hosts(net, &fact->flow);
	made.culprit = of_hosts(net, &fact->culprit);
	add(&lists[BY_TIME], made);
}

// slice_width is the narrowest slice, of the width of a bin times a power of two, with
// which the last wait ends by the end of the last slice.
static tb_time_ps slice_width(const struct oracle_facts *facts, tb_time_ps bin_ps)
{
	enum { SLICES = 64 };
	tb_time_ps end = 0, width = bin_ps ? bin_ps : TB_PS_PER_US;
	for (size_t i = 0; i < facts->n; i++)
		if (facts->list[i].kind == ORACLE_WAITED)
			end = oracle_later(end, facts->list[i].to);
	while (end > SLICES * width)
		width *= 2;
	return width;
}

static struct tb_blame_sample blame_of(const struct row *row)
{
	return (struct tb_blame_sample){.victim_job = row->victim.job,
		.victim_source = {row->victim.source},
		.victim_destination = {row->victim.destination},
		.culprit_job = row->culprit.job,
		.culprit_source = {row->culprit.source},
		.culprit_destination = {row->culprit.destination},
		.n_waits = row->n_waits,
		.wait_ps = row->wait_ps};
}

// ROOM makes an array with a sample for each row of a list.
#define ROOM(type, number) calloc(lists[number].n + 1, sizeof(struct type))

// fill makes the arrays of a record; of each, with `at` the row, item i.
static void fill(const struct rows lists[LISTS], struct tb_root_sample *roots,
	struct tb_root_bin_sample *root_bins, struct tb_root_job_sample *root_jobs,
	struct tb_job_wait_sample *job_waits)
{
	for (size_t i = 0; i < lists[ROOTS].n; i++) {
		const struct row *at = &lists[ROOTS].list[i];
		roots[i] = (struct tb_root_sample){{at->a}, at->n_waits, at->wait_ps};
	}
	for (size_t i = 0; i < lists[ROOT_BINS].n; i++) {
		const struct row *at = &lists[ROOT_BINS].list[i];
		root_bins[i] = (struct tb_root_bin_sample){at->a, {at->b}, at->wait_ps};
	}
	for (size_t i = 0; i < lists[ROOT_JOBS].n; i++) {
		const struct row *at = &lists[ROOT_JOBS].list[i];
		root_jobs[i] = (struct tb_root_job_sample){
			{at->a}, at->b, at->n_waits, at->wait_ps};
	}
	for (size_t i = 0; i < lists[JOB_WAITS].n; i++) {
		const struct row *at = &lists[JOB_WAITS].list[i];
		job_waits[i] = (struct tb_job_wait_sample){
			at->a, at->b, at->c, at->n_waits, at->wait_ps};
	}
}

static void fill_finer(const struct rows lists[LISTS],
	struct tb_job_link_sample *job_links, struct tb_blame_sample *by_link,
	struct tb_blame_sample *by_time, struct tb_tree_sample *trees)
{
	for (size_t i = 0; i < lists[JOB_LINKS].n; i++) {
		const struct row *at = &lists[JOB_LINKS].list[i];
		job_links[i] = (struct tb_job_link_sample){
			{at->a}, at->b, at->wait_ps, at->blamed_ps};
	}
	for (size_t i = 0; i < lists[BY_LINK].n; i++) {
		by_link[i] = blame_of(&lists[BY_LINK].list[i]);
		by_link[i].link.id = lists[BY_LINK].list[i].a;
	}
	for (size_t i = 0; i < lists[BY_TIME].n; i++) {
		by_time[i] = blame_of(&lists[BY_TIME].list[i]);
		by_time[i].link.id = TB_ID_NONE;
		by_time[i].bin = lists[BY_TIME].list[i].a;
	}
	for (size_t i = 0; i < lists[TREES].n; i++) {
		const struct row *at = &lists[TREES].list[i];
		trees[i] =
			(struct tb_tree_sample){at->a, {at->b}, {at->c}, at->wait_ps, 0};
	}
}

static struct tb_group_sample *groups_of(const struct rows *rows)
{
	struct tb_group_sample *groups = calloc(rows->n + 1, sizeof *groups);
	for (size_t i = 0; i < rows->n; i++)
		groups[i] = (struct tb_group_sample){rows->list[i].a, rows->list[i].b,
			rows->list[i].n_waits, rows->list[i].wait_ps, 0};
	return groups;
}

// is_of_job_0 tells whether the sums by job are those of all.
static bool is_of_job_0(const struct rows lists[LISTS])
{
	for (size_t i = 0; i < lists[JOB_WAITS].n; i++)
		if (lists[JOB_WAITS].list[i].b || lists[JOB_WAITS].list[i].c)
			return false;
	return true;
}

static int report(
	struct rows lists[LISTS], const struct tb_observer *observer, tb_time_ps width)
{
	if (is_of_job_0(lists))
		lists[ROOT_JOBS].n = lists[JOB_LINKS].n = 0;
	struct tb_root_sample *roots = ROOM(tb_root_sample, ROOTS);
	struct tb_root_bin_sample *root_bins = ROOM(tb_root_bin_sample, ROOT_BINS);
	struct tb_root_job_sample *root_jobs = ROOM(tb_root_job_sample, ROOT_JOBS);
	struct tb_job_wait_sample *job_waits = ROOM(tb_job_wait_sample, JOB_WAITS);
	struct tb_job_link_sample *job_links = ROOM(tb_job_link_sample, JOB_LINKS);
	struct tb_blame_sample *by_link = ROOM(tb_blame_sample, BY_LINK);
	struct tb_blame_sample *by_time = ROOM(tb_blame_sample, BY_TIME);
	struct tb_tree_sample *trees = ROOM(tb_tree_sample, TREES);
	struct tb_group_sample *groups[TB_GROUPINGS];
	fill(lists, roots, root_bins, root_jobs, job_waits);
	fill_finer(lists, job_links, by_link, by_time, trees);
	struct tb_blame_record record = {.sum_bin_ps = width,
		.bin_ps = width,
		.roots = roots,
		.n_roots = lists[ROOTS].n,
		.root_bins = root_bins,
		.n_root_bins = lists[ROOT_BINS].n,
		.root_jobs = root_jobs,
		.n_root_jobs = lists[ROOT_JOBS].n,
		.job_waits = job_waits,
		.n_job_waits = lists[JOB_WAITS].n,
		.job_links = job_links,
		.n_job_links = lists[JOB_LINKS].n,
		.by_link = by_link,
		.n_by_link = lists[BY_LINK].n,
		.by_time = by_time,
		.n_by_time = lists[BY_TIME].n,
		.trees = trees,
		.n_trees = lists[TREES].n};
	for (int i = 0; i < TB_GROUPINGS; i++) {
		record.groups[i] = groups[i] = groups_of(&lists[GROUPS + i]);
		record.n_groups[i] = lists[GROUPS + i].n;
	}
	int status = observer->blame(observer->context, &record);
	void *made[] = {roots, root_bins, root_jobs, job_waits, job_links, by_link,
		by_time, trees};
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		free(made[i]);
	for (int i = 0; i < TB_GROUPINGS; i++)
		free(groups[i]);
	return status;
}

int oracle_report_blame(const struct oracle_facts *facts,
	const struct tb_observer *observer, const struct tb_network *network,
	tb_time_ps bin_ps)
{
	struct rows lists[LISTS] = {0};
	tb_time_ps width = slice_width(facts, bin_ps);
	for (size_t i = 0; i < facts->n; i++) {
		const struct oracle_fact *fact = &facts->list[i];
		if (fact->kind != ORACLE_WAITED)
			continue;
		note_wait(lists, network, fact);
		tb_time_ps begin = fact->from / width * width;
		for (; begin < fact->to; begin += width)
			note_slice(lists, network, fact, begin, width);
	}
	for (int i = 0; i < LISTS; i++)
		add_up(&lists[i]);
	int status = report(lists, observer, width);
	for (int i = 0; i < LISTS; i++)
		free(lists[i].list);
	return status;
}
