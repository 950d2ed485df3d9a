// Where the time begins in which ports could not send, of what counters measured.
//
// A link leads on to another from its end that was held for long enough itself. From each
// held link the way leads so to a root: a host's link, or, where nothing that leads on is
// held, a switch. Who waits for whom is not in counters: of several ways that lead on any
// may be the one, so what leads to one root alone is told apart from what leads to others
// too.
#include "findings_impl.h"
#include "order.h"

#include <stdlib.h>

// A link that leads on is part of the same jam when it is held for so much of the time of
// the one before; as is a root of the longest held root. So many links at most are one
// behind the other.
#define ON_PERCENT 25
#define STEPS_MOST 32

// What is short makes others wait for much of the time in which it carries; where they
// waited for less than half of that, their packets met in bursts. (Of random traffic in
// simulated fabrics without a fault it was a third at most, by a slow cable 85 %.)
#define SHORT_PERCENT 50

// The bit of what is no root that is told, or leads on to a link that was not measured.
#define OTHERS (UINT32_C(1) << 31)

struct held_root {
	uint32_t place; // a link to a host, or the switch behind the links
	struct tb_link longest;
	uint64_t stall_ps, sum_ps; // the longest's; of all that lead here mostly
	uint32_t n;		   // links that end here
};
TB_ORDER_BY(by_held_sum, struct held_root, TB_DOWN(sum_ps) TB_DOWN(stall_ps) TB_UP(place))

struct held_graph {
	const struct tb_evidence *evidence;
	const struct tb_run_link *links;
	const struct tb_link_sample *samples;
	uint32_t n_links, n_switches;
	uint32_t *first, *outs;	 // by switch, the links that begin there
	uint32_t *masks;	 // by link, of the roots told to which it leads
	struct held_root *roots; // by place: link, or number of links and switch
};

// is_held_link: known for so long at least. Bounds from above tell of none.
static bool is_held_link(const struct held_graph *graph, uint32_t link)
{
	return graph->links[link].known.wait <= TB_AT_LEAST &&
	       tb_percent_of_time(graph->evidence, graph->samples[link].stall_ps) >=
		       TB_FINDING_HELD;
}

static bool is_long_for(const struct held_graph *graph, uint32_t from, uint32_t to)
{
	return (double)graph->samples[to].stall_ps * 100 >=
	       (double)graph->samples[from].stall_ps * ON_PERCENT;
}

// next_out moves `*i` on to the next link that leads on from the end of another.
static bool next_out(const struct held_graph *graph, uint32_t from, uint32_t *i)
{
	const struct tb_link_info *at = &graph->links[from].at;
	if (at->kind == TB_LINK_EJECTION)
		return false;
	uint32_t k = *i == TB_ID_NONE ? graph->first[at->to] : *i + 1;
	k += k < graph->first[at->to + 1] && graph->outs[k] == at->reverse.id;
	*i = k;
	return k < graph->first[at->to + 1];
}

// next_held stores the longest held link that leads on; false where a root is.
static bool next_held(const struct held_graph *graph, uint32_t from, uint32_t *next)
{
	uint64_t most = 0;
	for (uint32_t i = TB_ID_NONE; next_out(graph, from, &i);) {
		uint32_t out = graph->outs[i];
		if (graph->samples[out].stall_ps <= most || !is_held_link(graph, out) ||
			!is_long_for(graph, from, out))
			continue;
		most = graph->samples[out].stall_ps;
		*next = out;
	}
	return most > 0;
}

// n_unknown_from counts the links that lead on and may be held for long, which is not
// known; `first` is the first.
static uint32_t n_unknown_from(
	const struct held_graph *graph, uint32_t from, struct tb_link *first)
{
	uint32_t n = 0;
	for (uint32_t i = TB_ID_NONE; next_out(graph, from, &i);) {
		uint32_t out = graph->outs[i];
		enum tb_known known = graph->links[out].known.wait;
		bool is_long = is_long_for(graph, from, out);
		if (known == TB_EXACT || (known == TB_AT_LEAST && is_long) ||
			(known == TB_AT_MOST && !is_long))
			continue;
		if (n++ == 0)
			first->id = out;
	}
	return n;
}

static uint32_t root_place(const struct held_graph *graph, uint32_t link)
{
	const struct tb_link_info *at = &graph->links[link].at;
	return at->kind == TB_LINK_EJECTION ? link : graph->n_links + at->to;
}

static int graph_init(struct held_graph *graph, struct tb_error *error)
{
	size_t n_links = graph->n_links, n_switches = graph->n_switches;
	graph->first = calloc(n_switches + 2, sizeof *graph->first);
	graph->outs = calloc(n_links + 1, sizeof *graph->outs);
	graph->masks = calloc(n_links + 1, sizeof *graph->masks);
	graph->roots = calloc(n_links + n_switches + 1, sizeof *graph->roots);
	if (!graph->first || !graph->outs || !graph->masks || !graph->roots)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < n_links; i++)
		if (graph->links[i].at.kind != TB_LINK_INJECTION)
			graph->first[graph->links[i].at.from + 2]++;
	for (size_t i = 2; i < n_switches + 2; i++)
		graph->first[i] += graph->first[i - 1];
	for (uint32_t i = 0; i < n_links; i++)
		if (graph->links[i].at.kind != TB_LINK_INJECTION)
			graph->outs[graph->first[graph->links[i].at.from + 1]++] = i;
	return TB_OK;
}

// find_roots follows each held link to its root, and sorts the roots, gravest first.
static uint32_t find_roots(struct held_graph *graph)
{
	uint32_t n_places = graph->n_links + graph->n_switches, n = 0;
	for (uint32_t i = 0; i < graph->n_links; i++) {
		uint32_t at = i, next = 0;
		int step = 0;
		if (!is_held_link(graph, i))
			continue;
		while (next_held(graph, at, &next) && step++ < STEPS_MOST)
			at = next;
		if (step > STEPS_MOST)
			continue; // in a circle
		struct held_root *root = &graph->roots[root_place(graph, at)];
		root->sum_ps += graph->samples[i].stall_ps;
		root->n += at == i;
		if (at == i && graph->samples[i].stall_ps > root->stall_ps) {
			root->stall_ps = graph->samples[i].stall_ps;
			root->longest.id = i;
		}
	}
	for (uint32_t i = 0; i < n_places; i++)
		if (graph->roots[i].n) {
			graph->roots[n] = graph->roots[i];
			graph->roots[n++].place = i;
		}
	qsort(graph->roots, n, sizeof *graph->roots, by_held_sum);
	return n;
}

// mark_ways finds to which of the first n roots each held link may lead.
static void mark_ways(struct held_graph *graph, uint32_t n)
{
	struct tb_link unknown;
	uint32_t next;
	bool more = true;
	for (uint32_t i = 0; i < graph->n_links; i++) {
		if (!is_held_link(graph, i))
			continue;
		if (!next_held(graph, i, &next)) {
			graph->masks[i] = OTHERS;
			for (uint32_t r = 0; r < n; r++)
				if (graph->roots[r].place == root_place(graph, i))
					graph->masks[i] = UINT32_C(1) << r;
		} else if (n_unknown_from(graph, i, &unknown))
			graph->masks[i] = OTHERS;
	}
	for (int step = 0; more && step < STEPS_MOST; step++) {
		more = false;
		for (uint32_t i = 0; i < graph->n_links; i++) {
			uint32_t mask = graph->masks[i];
			if (!is_held_link(graph, i))
				continue;
			for (uint32_t k = TB_ID_NONE; next_out(graph, i, &k);)
				if (is_held_link(graph, graph->outs[k]) &&
					is_long_for(graph, i, graph->outs[k]))
					mask |= graph->masks[graph->outs[k]];
			more |= mask != graph->masks[i];
			graph->masks[i] = mask;
		}
	}
}

static void take_port(struct tb_held_ports *ports, const struct tb_link_info *at)
{
	bool of_host = at->kind == TB_LINK_INJECTION;
	if (of_host && ports->n_hosts < TB_EVIDENCE_NAMED)
		ports->named[ports->n_hosts].id = at->from;
	ports->n_hosts += of_host;
	ports->n_inside += !of_host;
}

// has_errors is whether the link's cable is a bad one by its errors.
static bool has_errors(const struct held_graph *graph, uint32_t link)
{
	const struct tb_link_counts *counts = &graph->evidence->counts;
	for (uint32_t i = 0; i < counts->n_bad; i++)
		if (counts->bad[i].n_errors &&
			(counts->bad[i].link.id == link ||
				counts->bad[i].link.id ==
					graph->links[link].at.reverse.id))
			return true;
	return false;
}

// take_end describes a root; false where nothing is short.
static bool take_end(const struct held_graph *graph, const struct held_root *root,
	struct tb_held_end *end)
{
	uint64_t busiest_ps = 0;
	*end = (struct tb_held_end){.last = root->longest,
		.out = {TB_ID_NONE},
		.is_node = root->place < graph->n_links,
		.has_errors = has_errors(graph, root->longest.id),
		.n_more = root->n - 1,
		.held_percent = tb_percent_of_time(graph->evidence, root->stall_ps)};
	end->n_unknown = n_unknown_from(graph, end->last.id, &end->unknown);
	for (uint32_t i = TB_ID_NONE; next_out(graph, end->last.id, &i);)
		if (graph->samples[graph->outs[i]].busy_ps >= busiest_ps) {
			busiest_ps = graph->samples[graph->outs[i]].busy_ps;
			end->out.id = graph->outs[i];
		}
	end->busy_percent = tb_percent_of_time(graph->evidence, busiest_ps);
	return end->is_node || end->n_unknown || end->has_errors ||
	       end->busy_percent >= TB_FINDING_BUSY ||
	       100 * end->held_percent >= SHORT_PERCENT * end->busy_percent;
}

// take_held finds the ports that root r holds.
static void take_held(const struct held_graph *graph, uint32_t r, struct tb_held_end *end)
{
	for (uint32_t i = 0; i < graph->n_links; i++) {
		const struct tb_link_info *at = &graph->links[i].at;
		bool is_root = i == end->last.id && at->kind != TB_LINK_INJECTION;
		if (graph->masks[i] >> r & 1 && !is_root)
			take_port(graph->masks[i] == UINT32_C(1) << r ? &end->held
								      : &end->maybe,
				at);
	}
}

// find_paused_host finds the host of which the bounds by pause frames tell that the wait
// begins there: the only one that paused its port, to which all other paused ports lead.
static int find_paused_host(struct tb_evidence *evidence,
	const struct tb_link_sample *samples, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	const struct tb_run_info *info = evidence->info;
	struct tb_held_end end = {.is_node = true};
	bool *leads = calloc(info->n_switches + UINT64_C(1), sizeof *leads); // by switch
	uint32_t n_hosts = 0;
	if (!leads)
		return tb_fail_memory(error, "the findings");
	for (uint32_t i = 0; i < info->n_links; i++) {
		double percent = tb_percent_of_time(evidence, samples[i].stall_ps);
		if (links[i].at.kind != TB_LINK_EJECTION || percent < TB_FINDING_HELD)
			continue;
		n_hosts++;
		end.last.id = i;
		end.held_percent = percent;
		leads[links[i].at.from] = true;
	}
	bool more = n_hosts == 1;
	for (int step = 0; more && step < STEPS_MOST; step++) {
		more = false;
		for (uint32_t i = 0; i < info->n_links; i++) {
			const struct tb_link_info *at = &links[i].at;
			if ((at->kind != TB_LINK_UP && at->kind != TB_LINK_DOWN) ||
				!leads[at->to] ||
				tb_percent_of_time(evidence, samples[i].stall_ps) <
					TB_FINDING_HELD)
				continue;
			more |= !leads[at->from];
			leads[at->from] = true;
		}
	}
	bool is_known = n_hosts == 1;
	for (uint32_t i = 0; i < info->n_links; i++)
		if (links[i].at.kind != TB_LINK_EJECTION &&
			tb_percent_of_time(evidence, samples[i].stall_ps) >=
				TB_FINDING_HELD) {
			end.n_lead++;
			is_known &= leads[links[i].at.to];
		}
	free(leads);
	if (is_known)
		evidence->held_ends[evidence->n_held_ends++] = end;
	return TB_OK;
}

int tb_evidence_held_find(struct tb_evidence *evidence,
	const struct tb_link_sample *samples, struct tb_error *error)
{
	struct held_graph graph = {.evidence = evidence,
		.links = tb_run_links(evidence->run),
		.samples = samples,
		.n_links = evidence->info->n_links,
		.n_switches = evidence->info->n_switches};
	if (!tb_run_is_measured(evidence->info))
		return TB_OK;
	int status = tb_link_counts_sum(&evidence->counts, evidence->run, error);
	if (status != TB_OK || evidence->n_hottest == 0)
		return status;
	if (graph.links[evidence->hottest[0].sample.link.id].known.wait == TB_AT_MOST)
		return find_paused_host(evidence, samples, error);
	status = graph_init(&graph, error);
	if (status == TB_OK) {
		uint32_t n = find_roots(&graph), n_kept = 0, n_told = 0;
		uint64_t longest_ps = 0;
		struct tb_held_end end;
		for (uint32_t i = 0; i < n; i++) {
			if (!take_end(&graph, &graph.roots[i], &end))
				continue;
			longest_ps = tb_max_u64(longest_ps, graph.roots[i].stall_ps);
			graph.roots[n_kept++] = graph.roots[i];
		}
		for (uint32_t i = 0; i < n_kept; i++)
			if ((double)graph.roots[i].stall_ps * 100 >=
				(double)longest_ps * ON_PERCENT)
				graph.roots[n_told++] = graph.roots[i];
		evidence->n_held_ends = n_told < TB_HELD_ENDS ? n_told : TB_HELD_ENDS;
		evidence->n_more_ends = n_told - evidence->n_held_ends;
		mark_ways(&graph, evidence->n_held_ends);
		for (uint32_t r = 0; r < evidence->n_held_ends; r++) {
			take_end(&graph, &graph.roots[r], &evidence->held_ends[r]);
			take_held(&graph, r, &evidence->held_ends[r]);
		}
	}
	free(graph.first);
	free(graph.outs);
	free(graph.masks);
	free(graph.roots);
	return status;
}
