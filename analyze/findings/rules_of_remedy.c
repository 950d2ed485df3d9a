// What is worth trying. A remedy is proposed where its condition holds and the command
// that tries it can be made; whether it helps, the replay says.
#include "calls.h"
#include "credit_params.h"
#include "ethernet_params.h"
#include "findings_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double inside_percent(const struct tb_judging *judging)
{
	double wait_ps = 0;
	for (uint32_t i = 0; i < judging->n_kinds; i++)
		wait_ps += judging->kinds[i].are_of_nodes ? 0 : judging->kinds[i].wait_ps;
	return tb_percent_of_wait(judging->evidence, wait_ps);
}

bool tb_is_timed_job(const struct tb_evidence *evidence)
{
	const struct tb_run_info *info = evidence->info;
	return strcmp(info->input_kind, "job") == 0 && info->simulated_ps > 0 &&
	       info->n_lost == 0; // a lost frame is missed for longer than any wait
}

tb_time_ps tb_routes_cost(const struct tb_bounds *bounds)
{
	tb_time_ps whole = bounds->whole.routes_ps - bounds->whole.cut_ps, phases = 0;
	for (uint32_t i = 0; i < bounds->n_phases; i++)
		phases += bounds->phases[i].routes_ps - bounds->phases[i].cut_ps;
	return whole > phases ? whole : phases;
}

// ideal_gains is whether a single job's run would take so many percent less on an ideal
// network; of others that is not known.
static bool ideal_gains(const struct tb_evidence *evidence, double percent)
{
	const struct tb_time_parts *parts = &evidence->bounds.parts;
	tb_time_ps gain = parts->capacity_ps + parts->routes_ps + parts->waiting_ps +
			  parts->unknown_ps;
	return evidence->jobs.n > 1 || parts->run_ps <= 0 ||
	       100 * (double)gain >= percent * (double)evidence->info->simulated_ps;
}

// tb_routes_matter is whether other routes could make a run noticeably shorter: they load
// some link with more than its share, and on an ideal network a single job takes less. Of
// captures, of which nobody knows what they hold up, they may.
bool tb_routes_matter(const struct tb_evidence *evidence)
{
	double run_ps = (double)evidence->info->simulated_ps;
	bool single = evidence->jobs.n <= 1;
	return !tb_is_timed_job(evidence) ||
	       (100 * (double)tb_routes_cost(&evidence->bounds) >=
			       (single ? TB_FINDING_ROUTES : TB_FINDING_PAYS) * run_ps &&
		       ideal_gains(evidence, TB_FINDING_PAYS));
}

bool tb_ways_cost(const struct tb_evidence *evidence)
{
	const struct tb_time_parts *parts = &evidence->bounds.parts;
	return tb_is_timed_job(evidence) && evidence->jobs.n <= 1 &&
	       100 * (double)(parts->routes_ps + parts->waiting_ps) >=
		       TB_FINDING_ROUTES * (double)parts->run_ps;
}

bool tb_ascends_by_load(enum tb_ascent ascent)
{
	return ascent == TB_ASCENT_ADAPTIVE || ascent == TB_ASCENT_ADAPTIVE_LOWEST ||
	       ascent == TB_ASCENT_ADAPTIVE_ROUND_ROBIN;
}

// leaves_room is whether a run could become noticeably shorter if the links of nodes,
// which a remedy leaves as they are, were all that it takes.
static bool leaves_room(const struct tb_evidence *evidence, tb_time_ps end_ps)
{
	return strcmp(evidence->info->input_kind, "job") != 0 || evidence->jobs.n > 1 ||
	       100 * (double)(end_ps - evidence->bounds.whole.host_ps) >=
		       TB_FINDING_ROOM * (double)evidence->info->simulated_ps;
}

// taper_matters is whether the bytes that cross cuts take noticeably longer than the
// links of nodes take for theirs, and the routes cost less than that: on a wider tree
// static routes that meet may meet again.
static bool taper_matters(const struct tb_evidence *evidence)
{
	const struct tb_bounds *bounds = &evidence->bounds;
	return leaves_room(evidence, bounds->whole.cut_ps) &&
	       (!tb_is_timed_job(evidence) || evidence->jobs.n > 1 ||
		       bounds->whole.cut_ps - bounds->whole.host_ps >
			       tb_routes_cost(bounds));
}

// wait_matters is whether messages, or the run, could take noticeably less without the
// wait.
static bool wait_matters(const struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_finding *cost = tb_findings_rule(judging->findings, "cost");
	if (cost && tb_finding_figure(cost, "slowdown")->real < TB_FINDING_SLOWER &&
		!tb_network_presses(evidence))
		return false;
	return tb_wait_matters(evidence);
}

// tb_wait_matters is whether the run could take noticeably less without the wait. No
// chain of messages waits longer than all headers together.
bool tb_wait_matters(const struct tb_evidence *evidence)
{
	return !tb_is_timed_job(evidence) ||
	       100 * evidence->wait_ps >=
		       TB_FINDING_PAYS * (double)evidence->info->simulated_ps;
}

// tb_network_matters is whether another network could make a run noticeably shorter: what
// a single job computes on its critical path, no network takes from it.
bool tb_network_matters(const struct tb_evidence *evidence)
{
	double run_ps = (double)evidence->info->simulated_ps;
	double computed_ps = (double)evidence->path.causes[TB_PATH_COMPUTE];
	return !tb_is_timed_job(evidence) || evidence->jobs.n > 1 ||
	       100 * (run_ps - computed_ps) >= TB_FINDING_PAYS * run_ps;
}

// n_named returns how many ends a remedy looks at: those of which a sentence tells.
static uint32_t n_named(const struct tb_evidence *evidence)
{
	return evidence->n_ends < TB_EVIDENCE_NAMED ? evidence->n_ends
						    : TB_EVIDENCE_NAMED;
}

// incast_matters is whether the run could take noticeably less without the incasts: no
// longer than the links to their nodes were held does anything wait for these.
static bool incast_matters(const struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	double held = 0; // time in percent
	for (uint32_t i = 0; i < n_named(evidence); i++) {
		const struct tb_evidence_end *end = &evidence->ends[i];
		held += (end->busy_percent + end->stall_percent) *
			(double)end->queue.span_ps;
	}
	return !tb_is_timed_job(evidence) ||
	       held >= TB_FINDING_PAYS * (double)evidence->info->simulated_ps;
}

// backlog_matters is whether a node's link is busy for most of the run with what the node
// posts, and the end of the run waited for it.
static bool backlog_matters(const struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	double run_ps = (double)evidence->info->simulated_ps;
	double queue_ps = (double)evidence->path.causes[TB_PATH_QUEUE];
	return evidence->backlog.n_nodes &&
	       100 * evidence->backlog.carrying_ps >= TB_FINDING_BUSY * run_ps &&
	       (!tb_is_timed_job(evidence) || 100 * queue_ps >= TB_FINDING_PAYS * run_ps);
}

// pays is whether a run could take noticeably less without what held up its end so long;
// of several jobs others than the last may.
static bool pays(const struct tb_judging *judging, double cost_ps)
{
	const struct tb_evidence *evidence = judging->evidence;
	return !tb_is_timed_job(evidence) || evidence->jobs.n > 1 ||
	       100 * cost_ps >= TB_FINDING_PAYS * (double)evidence->info->simulated_ps;
}

// answers is whether a remedy answers what was found, where that matters.
static bool answers(const struct tb_judging *judging, enum tb_rule remedy)
{
	const struct tb_findings *findings = judging->findings;
	for (size_t i = 0; i < findings->n; i++) {
		const struct tb_figure *cost =
			tb_finding_figure(&findings->list[i], "cost_ps");
		enum tb_rule found = findings->list[i].id;
		if (cost && !pays(judging, (double)cost->count))
			continue;
		if (tb_rules[remedy].answers >> found & 1 &&
			(found != TB_RULE_INCAST || incast_matters(judging)) &&
			(found != TB_RULE_BACKLOG || backlog_matters(judging)))
			return true;
	}
	return false;
}

static bool has_option(const struct tb_evidence *evidence, const char *option)
{
	return strstr(evidence->info->options, option) != NULL;
}

// widen_shape writes the shape with as many cables up as down at its lowest tapered
// level; false when it has none, or the wider tree would be too large.
static bool widen_shape(const char *shape, char wider[TB_SHAPE_TEXT], uint32_t *level,
	struct tb_shape *old)
{
	struct tb_shape made;
	if (tb_shape_parse(old, shape, NULL) != TB_OK)
		return false;
	made = *old;
	for (*level = 0; *level + 1 < old->n_levels; ++*level) {
		uint32_t n_down = tb_shape_n_down(old, *level), p = old->p[*level + 1];
		if (n_down <= tb_shape_n_up(old, *level))
			continue;
		made.w[*level + 1] = (n_down + p - 1) / p;
		tb_shape_text(&made, wider);
		return tb_shape_parse(&made, wider, NULL) == TB_OK;
	}
	return false;
}

// crowded is whether the network is full, or most of the wait has its root between
// switches, and not on one link.
static bool crowded(const struct tb_judging *judging)
{
	return tb_judging_found(judging, TB_RULE_NETWORK_FULL) ||
	       tb_judging_found(judging, TB_RULE_TAPER) ||
	       (inside_percent(judging) >= TB_FINDING_HOT &&
		       !tb_judging_found(judging, TB_RULE_HOT_SPOT) &&
		       !tb_judging_found(judging, TB_RULE_SLOW_RECEIVER) &&
		       !tb_judging_found(judging, TB_RULE_INCAST));
}

char *tb_rates_text(const uint64_t *rates, uint32_t n, char text[TB_RATES_SIZE])
{
	static const char *const units[] = {"GB/s", "MB/s", "kB/s", "B/s"};
	size_t used = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < n && used < TB_RATES_SIZE; i++) {
		double scale = 1e9;
		uint64_t read = 0;
		size_t k = 0;
		char one[32];
		do {
			snprintf(one, sizeof one, "%.15g%s", (double)rates[i] / scale,
				units[k]);
			scale /= 1000;
		} while (++k < sizeof units / sizeof *units &&
			 ((double)rates[i] < 1000 * scale ||
				 tb_parse_rate(one, &read) != TB_OK || read != rates[i]));
		used += (size_t)snprintf(
			text + used, TB_RATES_SIZE - used, "%s%s", i ? " " : "", one);
	}
	return text;
}

// quicken_levels has links between switches be as fast as those below them; false when
// they are.
static bool quicken_levels(
	const struct tb_network_params *network, struct tb_replay_command *command)
{
	uint64_t rates[TB_SHAPE_LEVELS_MOST] = {0};
	uint32_t n = tb_shape_n_values(network->level_rates);
	char text[TB_RATES_SIZE];
	bool faster = false;
	if (tb_shape_rates(rates, network->level_rates) != TB_OK)
		return false;
	for (uint32_t i = 1; i < n; i++) {
		faster |= rates[i] < rates[i - 1];
		if (rates[i] < rates[i - 1])
			rates[i] = rates[i - 1];
	}
	if (faster)
		tb_replay_command_network(
			command, "level_rates", tb_rates_text(rates, n, text));
	return faster;
}

// widen changes the command so that as many cables go up as down at the lowest tapered
// level; false where the shape is not tapered.
static bool widen(const struct tb_evidence *evidence, struct tb_replay_command *command,
	uint32_t *level, struct tb_shape *old)
{
	static const char *const own[] = {"arity", "levels", "taper"};
	char wider[TB_SHAPE_TEXT];
	if (!widen_shape(evidence->info->network.shape, wider, level, old))
		return false;
	if (*level == 0 && has_option(evidence, ",taper=")) {
		tb_replay_command_network(command, "taper", "1");
		return true;
	}
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		tb_replay_command_network(command, own[i], NULL);
	tb_replay_command_network(command, "shape", wider);
	return true;
}

// try_wider: there are fewer cables up than down, or, with rates by level, where cables
// do not tell the taper, slower ones.
static void try_wider(struct tb_judging *judging)
{
	const struct tb_network_params *network = &judging->evidence->info->network;
	bool by_rates = network->level_rates[0];
	// Where it is not the capacity that holds a run up, what goes by load meets on
	// faster links, too.
	const struct tb_time_parts *parts = &judging->evidence->bounds.parts;
	bool meets = by_rates && tb_ascends_by_load(network->ascent) &&
		     parts->run_ps > 0 && parts->capacity_ps == 0;
	struct tb_replay_command command;
	struct tb_shape old;
	uint32_t level;
	if (!crowded(judging) || !taper_matters(judging->evidence) || meets ||
		has_option(judging->evidence, "--routes") ||
		has_option(judging->evidence, "--fault") ||
		!tb_judging_command(judging, &command))
		return;
	if (!(by_rates ? quicken_levels(network, &command)
		       : widen(judging->evidence, &command, &level, &old))) {
		tb_replay_command_fini(&command);
		return;
	}
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_LESS_TAPER);
	if (by_rates) {
		tb_finding_say(finding, "Links between switches are slower than those "
					"below them. Try some that are as fast.");
	} else {
		tb_finding_count(finding, "level", level);
		tb_finding_count(finding, "cables_down", tb_shape_n_down(&old, level));
		tb_finding_count(finding, "cables_up", tb_shape_n_up(&old, level));
		tb_finding_say(finding,
			"A switch of level %u has %u cables down and %u up. Try a tree "
			"that is not tapered there.",
			level, tb_shape_n_down(&old, level), tb_shape_n_up(&old, level));
	}
	tb_judging_try(judging, finding, &command, "wider.db");
}

// rails_of_trace returns how many adapters the trace's hosts have, where that is more
// than the network gives them; else 0.
static unsigned rails_of_trace(const struct tb_run_info *info)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < info->n_notes && n == 0; i++) {
		const char *at = strstr(info->notes[i].text, TB_NOTE_RAILS);
		if (!at || sscanf(at + strlen(TB_NOTE_RAILS), "%3u", &n) != 1)
			n = 0;
	}
	return n;
}

// What a second rail is good for.
enum rail_reason {
	RAIL_NETWORK,
	RAIL_FULL,
	RAIL_BUS,
	RAIL_RECEIVER,
	RAIL_POSTS,
	RAIL_NODE
};

static enum rail_reason rail_reason_of(const struct tb_judging *judging)
{
	bool is_bus = false;
	double leaves = tb_node_leaves(judging->evidence, &is_bus);
	if (tb_judging_found(judging, TB_RULE_NETWORK_FULL))
		return RAIL_FULL;
	if (is_bus && tb_judging_found(judging, TB_RULE_NODE_FULL))
		return RAIL_BUS;
	if (tb_judging_found(judging, TB_RULE_INCAST) ||
		tb_judging_found(judging, TB_RULE_FEW_RECEIVERS))
		return RAIL_RECEIVER;
	if (backlog_matters(judging) && !tb_network_presses(judging->evidence))
		return RAIL_POSTS;
	return leaves < TB_FINDING_NODE_LEAVES ? RAIL_NODE : RAIL_NETWORK;
}

static void say_second_rail(const struct tb_judging *judging, struct tb_finding *finding,
	enum rail_reason why)
{
	const struct tb_evidence *evidence = judging->evidence;
	char busy[32];
	static const char *const words[] = {
		[RAIL_NETWORK] = "A second rail gives every node a second link, and the "
				 "network twice the cables.",
		[RAIL_BUS] = "A second rail gives every node a second bus.",
		[RAIL_RECEIVER] = "A second rail gives every node, and so those that "
				  "receive most, a second link.",
		[RAIL_NODE] = "A second rail gives every node a second link.",
	};
	if (why == RAIL_POSTS)
		tb_finding_say(finding,
			"A node's link is busy for %s of the run with what the node "
			"posts. A second rail gives every node a second link.",
			tb_percent_text(100 * fmin(1, evidence->backlog.carrying_ps /
							      (double)evidence->info
								      ->simulated_ps),
				busy, sizeof busy));
	else if (why == RAIL_RECEIVER && tb_node_decides(evidence))
		tb_finding_say(finding,
			"A second rail gives those that receive most a second link; "
			"twice "
			"as many receivers would halve what each of them takes, too.");
	else if (why != RAIL_FULL)
		tb_finding_say(finding, "%s", words[why]);
	else if (tb_routes_matter(evidence))
		tb_finding_say(finding,
			"The traffic fills the links of these routes; whether others "
			"would do, 'tailback advise' tries. Or try two networks side by "
			"side.");
	else
		tb_finding_say(finding,
			evidence->busy_percent < TB_EVIDENCE_FULL
				? "Two networks side by side hold up less."
				: "The traffic fills this network. Try two of them side "
				  "by side.");
}

// try_rail: one network is not enough for what all send, or for one node. A fabric from a
// file has the rails that are in the file.
static void try_rail(struct tb_judging *judging)
{
	const struct tb_run_info *info = judging->evidence->info;
	enum rail_reason why = rail_reason_of(judging);
	struct tb_replay_command command;
	if (!answers(judging, TB_RULE_SECOND_RAIL) || info->network.n_rails > 1 ||
		info->network.broadcast ||
		strcmp(info->network.shape, TB_SHAPE_FABRIC) == 0 ||
		has_option(judging->evidence, "--routes") ||
		has_option(judging->evidence, "--fault") ||
		!tb_judging_command(judging, &command))
		return;
	unsigned n = rails_of_trace(info);
	char rails[16];
	snprintf(rails, sizeof rails, "%u", n ? n : 2);
	tb_replay_command_network(&command, "rails", rails);
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_SECOND_RAIL);
	tb_finding_count(finding, "rails", n ? n : 2);
	if (n)
		tb_finding_say(finding,
			"The trace's hosts have %u adapters, the network's have 1: %u "
			"rails give each host as many.",
			n, n);
	else
		say_second_rail(judging, finding, why);
	if (why > RAIL_FULL) {
		// Add what faster links would gain, where a node's bus, or PCIe, carries
		// hardly more than its link does: each rail has a bus of its own.
		const struct tb_network_params *network = &info->network;
		struct tb_network_params faster = *network;
		faster.link_bytes_per_s *= 2;
		double most = (double)tb_network_payload_rate(&faster);
		double gain = 100 * (1 - (double)tb_network_payload_rate(network) / most);
		char share[32], rate[32];
		if (gain < TB_FINDING_BUS) {
			tb_finding_real(finding, "faster_links_percent", gain);
			tb_finding_say(finding,
				"Links twice as fast would save %s%s: a node's bus "
				"carries %s.",
				gain < 0.05 ? "nothing"
					    : tb_percent_text(gain, share, sizeof share),
				gain < 0.05 ? "" : " of the time on them at most",
				tb_format_rate(most, rate, sizeof rate));
		}
	}
	tb_judging_try(judging, finding, &command, "rails.db");
}

// leaf_of returns the switch that a node is joined to.
static uint32_t leaf_of(const struct tb_evidence *evidence, struct tb_link ejection)
{
	return tb_run_links(evidence->run)[ejection.id].at.from;
}

// is_proposed is whether a finding says already to try some words of a command.
static bool is_proposed(const struct tb_judging *judging, const char *words)
{
	for (size_t i = 0; i < judging->findings->n; i++) {
		const char *command = judging->findings->list[i].command;
		if (command && strstr(command, words))
			return true;
	}
	return false;
}

// try_spread: several nodes at one leaf, of several, that everybody sends to.
static void try_spread(struct tb_judging *judging)
{
	static const char *const dealt[] = {"placement", NULL};
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_evidence_end *first = NULL, *second = NULL;
	struct tb_replay_command command;
	char node[2][160];
	for (uint32_t i = 0; i < n_named(evidence); i++)
		for (uint32_t j = i + 1; j < n_named(evidence) && !first; j++)
			if (leaf_of(evidence, evidence->ends[i].link) ==
				leaf_of(evidence, evidence->ends[j].link)) {
				first = &evidence->ends[i];
				second = &evidence->ends[j];
			}
	if (!first || evidence->info->n_levels < 2 ||
		!leaves_room(evidence, evidence->info->simulated_ps) ||
		(tb_is_timed_job(evidence) &&
			!ideal_gains(evidence, TB_FINDING_ROUTES)) ||
		!answers(judging, TB_RULE_SPREAD_SERVERS) ||
		first->queue.senders.n < TB_FINDING_SENDERS ||
		second->queue.senders.n < TB_FINDING_SENDERS || !first->receives_more ||
		!second->receives_more || has_option(evidence, "placement=cyclic") ||
		is_proposed(judging, "placement=cyclic") ||
		!tb_judging_command(judging, &command))
		return;
	if (!(tb_replay_command_n_jobs(&command) == 1 && evidence->jobs.n == 1 &&
		    !has_option(evidence, "--map") && !has_option(evidence, ",map=") &&
		    !has_option(evidence, "--per-node"))) {
		tb_replay_command_fini(&command);
		return;
	}
	tb_replay_command_job(&command, 0, "placement", "cyclic", dealt);
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_SPREAD_SERVERS);
	tb_finding_count(finding, "node", first->node.id);
	tb_finding_count(finding, "other_node", second->node.id);
	tb_finding_say(finding,
		"Many nodes send to %s and %s, which share a leaf switch. Try a "
		"placement that spreads neighbouring ranks over the switches.",
		tb_node_text(evidence->run, first->node, node[0], sizeof node[0]),
		tb_node_text(evidence->run, second->node, node[1], sizeof node[1]));
	tb_judging_try(judging, finding, &command, "spread.db");
}

// find_node_leaves stores the leaf switch of each node.
static void find_node_leaves(const struct tb_run *run, uint32_t n_nodes, uint32_t *leaf)
{
	const struct tb_run_link *links = tb_run_links(run);
	for (uint32_t i = 0; i < n_nodes; i++)
		leaf[i] = TB_ID_NONE;
	for (uint32_t i = tb_run_info(run)->n_links; i-- > 0;) // of rails the first
		if (links[i].at.kind == TB_LINK_EJECTION && links[i].at.to < n_nodes)
			leaf[links[i].at.to] = links[i].at.from;
}

// find_next_leaves makes of each node's leaf the first node of the next leaf, n_nodes at
// the last. False when the nodes of a leaf do not stand side by side, as where the
// interfaces of a host are joined to different leaves. `seen` is zeroed, by switch.
static bool find_next_leaves(
	const struct tb_run_info *info, uint32_t *leaf, unsigned char *seen)
{
	uint32_t own = TB_ID_NONE, next = info->n_nodes;
	for (uint32_t i = info->n_nodes; i-- > 0;) {
		if (leaf[i] != own) {
			if (leaf[i] >= info->n_switches || seen[leaf[i]]++)
				return false;
			own = leaf[i];
			next = i + 1;
		}
		leaf[i] = next;
	}
	return true;
}

// place_apart gives every job whole leaves of its own, in the order of the jobs; false
// when they do not fit.
static bool place_apart(const struct tb_evidence *evidence, const uint32_t *next_leaf,
	struct tb_replay_command *command)
{
	static const char *const instead[] = {"placement", "hosts", "map", NULL};
	uint32_t n_nodes = evidence->info->n_nodes, next = 0;
	for (uint32_t i = 0; i < evidence->jobs.n; i++) {
		uint32_t n = evidence->jobs.jobs[i].n_ranks;
		char nodes[48];
		if (n == 0 || n != evidence->jobs.jobs[i].n_nodes || n > n_nodes - next)
			return false;
		snprintf(nodes, sizeof nodes, "%u-%u", next, next + n - 1);
		tb_replay_command_job(command, i, "nodes", nodes, instead);
		next = next_leaf[next + n - 1];
	}
	return true;
}

static bool can_place_apart(
	const struct tb_evidence *evidence, struct tb_replay_command *command)
{
	const struct tb_run_info *info = evidence->info;
	uint32_t *leaf = malloc((size_t)(info->n_nodes + 1) * sizeof *leaf);
	unsigned char *seen = calloc((size_t)info->n_switches + 1, 1);
	bool can = leaf && seen;
	if (can) {
		find_node_leaves(evidence->run, info->n_nodes, leaf);
		can = find_next_leaves(info, leaf, seen) &&
		      place_apart(evidence, leaf, command);
	}
	free(leaf);
	free(seen);
	return can;
}

double tb_others_percent(const struct tb_evidence *evidence)
{
	double others = 0;
	for (uint32_t i = 0; i < evidence->n_pairs; i++)
		if (evidence->pairs[i].victim != evidence->pairs[i].culprit)
			others += (double)evidence->pairs[i].wait_ps;
	return tb_percent_of_wait(evidence, others);
}

// try_apart: two jobs that hold each other up share leaf switches.
static void try_apart(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_evidence_pair *worst = tb_evidence_worst_pair(evidence);
	struct tb_replay_command command;
	char one[120], other[120], leaves[48];
	const struct tb_finding *cost =
		tb_findings_rule(judging->findings, "others-cost");
	if (!worst || tb_others_percent(evidence) < TB_FINDING_OTHERS ||
		evidence->worst_pair_leaves == 0 ||
		// Nobody gains as much as matters from being alone.
		(cost && 100 * (double)tb_finding_figure(cost, "taken_ps")->count <
				 (100 + TB_FINDING_PAYS) *
					 (double)tb_finding_figure(cost, "better_ps")
						 ->count) ||
		!tb_judging_command(judging, &command))
		return;
	if (tb_replay_command_n_jobs(&command) != evidence->jobs.n ||
		!can_place_apart(evidence, &command)) {
		tb_replay_command_fini(&command);
		return;
	}
	tb_replay_command_drop(&command, "--map");
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_SEPARATE_JOBS);
	tb_finding_count(finding, "victim_job", worst->victim);
	tb_finding_count(finding, "culprit_job", worst->culprit);
	tb_finding_count(finding, "shared_leaves", evidence->worst_pair_leaves);
	tb_finding_say(finding,
		"%s and %s share %s. Try leaf switches of its own for every job.",
		tb_job_text(evidence, worst->victim, one, sizeof one),
		tb_job_text(evidence, worst->culprit, other, sizeof other),
		tb_format_counted(evidence->worst_pair_leaves,
			"leaf switch|leaf switches", leaves, sizeof leaves));
	tb_judging_try(judging, finding, &command, "apart.db");
}

// try_alone: jobs hold each other up, and nobody knows what it costs them.
static void try_alone(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	struct tb_replay_command command;
	if (tb_others_percent(evidence) < TB_FINDING_OTHERS ||
		has_option(evidence, "--alone") || !tb_judging_command(judging, &command))
		return;
	tb_replay_command_add(&command, "--alone");
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_ALONE);
	tb_finding_say(finding,
		"To see what the jobs cost each other in time, replay each by itself "
		"too.");
	tb_judging_try(judging, finding, &command, "alone.db");
}

// try_slower: a capture that asks for more than a node's link gives only queues up.
static void try_slower(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	struct tb_replay_command command;
	char scale[32], share[32];
	if (!evidence->has_capture || evidence->capture.busiest_share <= 1 ||
		!tb_judging_command(judging, &command))
		return;
	snprintf(scale, sizeof scale, "%.3g", evidence->capture.half_scale);
	tb_replay_command_drop(&command, "--time-scale");
	tb_replay_command_set(&command, "--time-scale", scale);
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_SLOWER_SCALE);
	tb_finding_real(
		finding, "busiest_percent", 100 * evidence->capture.busiest_share);
	tb_finding_real(finding, "time_scale", evidence->capture.half_scale);
	tb_finding_say(finding,
		"The busiest node asks for %s of what its link carries, so packets pile "
		"up in the sender as long as the trace lasts. "
		"With --time-scale %s it would ask for a half.",
		tb_percent_text(
			100 * evidence->capture.busiest_share, share, sizeof share),
		scale);
	tb_judging_try(judging, finding, &command, "slower.db");
}

// try_whole: what the dead cables and switches cost.
static void try_whole(struct tb_judging *judging)
{
	const struct tb_run_link *links = tb_run_links(judging->evidence->run);
	const struct tb_run_info *info = judging->evidence->info;
	struct tb_replay_command command;
	bool died = info->n_undelivered || info->n_retries;
	for (uint32_t i = 0; i < info->n_links; i++)
		died |= links[i].dead_at_ps <= info->simulated_ps;
	if (!died || !has_option(judging->evidence, "--fault") ||
		!tb_judging_command(judging, &command))
		return;
	tb_replay_command_drop(&command, "--fault");
	tb_replay_command_drop(&command, "--fault-file");
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_WITHOUT_FAULTS);
	tb_finding_say(finding,
		"To see what the faults cost, replay it with every cable and switch "
		"alive, and compare the two runs.");
	tb_judging_try(judging, finding, &command, "whole.db");
}

// What a node may be called by in --slow.
struct naming {
	char names[3][160];
};

// is_slow_node is whether a value of --slow, "NODE=RATE", is that of a node.
static bool is_slow_node(const void *context, const char *value)
{
	const struct naming *naming = context;
	const char *equals = strrchr(value, '=');
	size_t length = equals ? (size_t)(equals - value) : 0;
	for (size_t i = 0; i < sizeof naming->names / sizeof *naming->names; i++)
		if (length > 0 && strlen(naming->names[i]) == length &&
			strncmp(value, naming->names[i], length) == 0)
			return true;
	return false;
}

// quicken changes the command so that slow receivers drain as the others do: without
// --slow for them, or with a PCIe that keeps up with a node's link. False when they have
// nothing to be made quicker.
static bool quicken(
	const struct tb_evidence *evidence, struct tb_replay_command *command, bool *all)
{
	uint64_t pcie = tb_credit_params(&evidence->info->network)->pcie_bytes_per_s,
		 rate = 0;
	size_t n_dropped = 0;
	char value[TB_RATES_SIZE];
	for (uint32_t i = 0; i < evidence->n_ends; i++) {
		const struct tb_evidence_end *end = &evidence->ends[i];
		if (!tb_is_slow_receiver(evidence, end))
			continue;
		struct naming naming;
		const struct tb_run *run = evidence->run;
		struct tb_node node = end->node;
		snprintf(naming.names[0], sizeof naming.names[0], "%u", node.id);
		snprintf(naming.names[1], sizeof naming.names[1], "node %u", node.id);
		snprintf(naming.names[2], sizeof naming.names[2], "%s",
			tb_run_node_name(run, node));
		n_dropped += tb_replay_command_drop_values(
			command, "--slow", is_slow_node, &naming);
		rate = tb_run_links(evidence->run)[end->link.id].at.bytes_per_s;
	}
	*all = n_dropped == 0 && pcie > 0 && pcie < rate;
	if (*all) {
		while (pcie < rate)
			pcie *= 2; // as from generation to generation
		tb_replay_command_network(
			command, "pcie", tb_rates_text(&pcie, 1, value));
	} else if (n_dropped == 0) { // it goes by another name
		tb_replay_command_drop(command, "--slow");
	}
	return *all || has_option(evidence, "--slow");
}

// try_quicker: a node drains too slowly.
static void try_quicker(struct tb_judging *judging)
{
	struct tb_replay_command command;
	bool all;
	if (!answers(judging, TB_RULE_QUICKER_NODE) ||
		!tb_judging_command(judging, &command))
		return;
	if (!quicken(judging->evidence, &command, &all)) {
		tb_replay_command_fini(&command);
		return;
	}
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_QUICKER_NODE);
	tb_finding_say(finding, "%s",
		all ? "The PCIe of a node carries less than its link. Try one that keeps "
		      "up."
		    : "To see what the slow receiver costs, replay it draining as the "
		      "other nodes do, and compare the two runs.");
	tb_judging_try(judging, finding, &command, "quicker.db");
}

// n_connections returns how many connections are known to have waited for a link.
static uint64_t n_connections(const struct tb_critical_path *path, struct tb_link link)
{
	const struct tb_blame_sample *last = NULL;
	uint64_t n = 0;
	for (size_t i = 0; i < path->n_waits; i++) {
		const struct tb_blame_sample *wait = &path->waits[i];
		if (path->places[i].link.id != link.id)
			continue;
		// They stand by victim.
		n += !last || last->victim_job != wait->victim_job ||
		     last->victim_source.id != wait->victim_source.id ||
		     last->victim_destination.id != wait->victim_destination.id;
		last = wait;
	}
	return n;
}

// try_bytes proposes another number of bytes for a key of the network.
static void try_bytes(struct tb_judging *judging, struct tb_finding *finding,
	const char *key, uint64_t bytes, struct tb_replay_command *command,
	const char *output)
{
	char value[32];
	snprintf(value, sizeof value, "%" PRIu64 "%s",
		bytes % 1024 ? bytes : bytes / 1024, bytes % 1024 ? "B" : "KiB");
	tb_replay_command_network(command, key, value);
	tb_finding_count(finding, "bytes", bytes);
	tb_judging_try(judging, finding, command, output);
}

// waits_for_timers is whether time-outs took so much of the run that they are to go. On
// links of nodes that are full anyway nothing is gained.
static bool waits_for_timers(const struct tb_evidence *evidence)
{
	const struct tb_critical_path *path = &evidence->path;
	return path->n_timeouts > 0 &&
	       100 * (double)path->causes[TB_PATH_TIMEOUT] >=
		       TB_FINDING_PAYS * (double)evidence->info->simulated_ps &&
	       ideal_gains(evidence, TB_FINDING_PAYS);
}

// try_shorter_timer: nodes wait for their retry timers. Without time-outs no packet is
// under way for longer than the run takes without them, so a timer of that does not run
// out for what is only late.
static void try_shorter_timer(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	tb_time_ps rest_ps =
		evidence->info->simulated_ps - evidence->path.causes[TB_PATH_TIMEOUT];
	tb_time_ps timer_ps = 4096 * TB_PS_PER_NS; // 4.096 us 2^n (IBTA 12.7.34)
	struct tb_replay_command command;
	char value[32], text[32], rest[32];
	if (evidence->path.connects || !waits_for_timers(evidence))
		return;
	while (timer_ps < rest_ps)
		timer_ps *= 2;
	if (2 * timer_ps > evidence->info->network.retry_delay_ps ||
		!tb_judging_command(judging, &command))
		return;
	snprintf(value, sizeof value, "%" PRId64 "ns", timer_ps / TB_PS_PER_NS);
	tb_replay_command_network(&command, "retry_delay", value);
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_SHORTER_TIMER);
	tb_finding_count(finding, "timer_ps", (uint64_t)timer_ps);
	tb_finding_say(finding,
		"Without time-outs the run took %s. Try a retry timer of %s, which still "
		"waits for what is only late.",
		tb_format_time(rest_ps, rest, sizeof rest),
		tb_format_time(timer_ps, text, sizeof text));
	tb_judging_try(judging, finding, &command, "timer.db");
}

// try_no_losses: the run waited for time-outs of TCP. Windows of which the queue that
// lost most takes all, or a queue that takes what was lost there too.
static void try_no_losses(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_critical_path *path = &evidence->path;
	const struct tb_path_timeout *most = path->timeouts;
	const struct tb_network_params *network = &evidence->info->network;
	struct tb_replay_command command;
	char queue[32], other[32], lost[32], shared[48];
	if (!path->connects || !waits_for_timers(evidence) || most->lost.id == TB_ID_NONE)
		return;
	uint64_t deeper = network->fifo_bytes, n = n_connections(path, most->lost);
	uint64_t window = UINT64_C(1) << 30;
	while (n > 0 && window * n > network->fifo_bytes)
		window /= 2;
	while (deeper < network->fifo_bytes + most->lost_bytes &&
		deeper <= UINT32_MAX / 2)
		deeper *= 2;
	tb_format_size(network->fifo_bytes, queue, sizeof queue);
	// A lone segment is acknowledged only when a timer runs out.
	if (n > 1 && window >= UINT64_C(2) * network->packet_payload_bytes &&
		window < tb_ethernet_params(network)->window_bytes &&
		tb_judging_command(judging, &command)) {
		struct tb_finding *finding =
			tb_judging_remedy(judging, TB_RULE_SMALLER_WINDOW);
		tb_finding_count(finding, "connections", n);
		tb_finding_say(finding,
			"The queue before %s takes %s, and %s shared it. Try a receive "
			"window of %s: the queue takes all that they may send.",
			tb_link_text(evidence, most->lost), queue,
			tb_format_counted(n, "connection", shared, sizeof shared),
			tb_format_size(window, other, sizeof other));
		try_bytes(judging, finding, "receive_window", window, &command,
			"window.db");
	}
	if (deeper > network->fifo_bytes && tb_judging_command(judging, &command)) {
		struct tb_finding *finding =
			tb_judging_remedy(judging, TB_RULE_DEEPER_QUEUE);
		tb_finding_count(finding, "lost_bytes", most->lost_bytes);
		tb_finding_say(finding,
			"Beyond the %s of its queue %s lost %s in all. Try queues of %s, "
			"which take that too.",
			queue, tb_link_text(evidence, most->lost),
			tb_format_size(most->lost_bytes, lost, sizeof lost),
			tb_format_size(deeper, other, sizeof other));
		try_bytes(judging, finding, "queue", deeper, &command, "queue.db");
	}
}

// try_no_control: congestion control holds senders up.
static void try_no_control(struct tb_judging *judging)
{
	struct tb_replay_command command;
	if (!answers(judging, TB_RULE_CONTROL) || !tb_judging_command(judging, &command))
		return;
	tb_replay_command_network(&command, "congestion_control", "none");
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_CONTROL);
	tb_finding_say(finding,
		"Congestion control keeps queues short, and costs time where it slows "
		"down more than it must. Try without.");
	tb_judging_try(judging, finding, &command, "uncontrolled.db");
}

// spilled_percent returns how much of the wait is for links down to the leaf switches of
// nodes that many send to: other ways would only move it to the links of these nodes.
static double spilled_percent(const struct tb_evidence *evidence)
{
	const struct tb_run_link *links = tb_run_links(evidence->run);
	double wait_ps = 0;
	for (uint32_t i = 0; i < evidence->n_roots; i++) {
		const struct tb_link_info *at = &links[evidence->roots[i].link.id].at;
		bool spills = false;
		for (uint32_t k = 0; k < evidence->n_ends; k++)
			spills |=
				evidence->ends[k].receives_more &&
				evidence->ends[k].queue.senders.n >= TB_FINDING_SENDERS &&
				leaf_of(evidence, evidence->ends[k].link) == at->to;
		if (at->kind == TB_LINK_DOWN && spills)
			wait_ps += (double)evidence->roots[i].wait_ps;
	}
	return tb_percent_of_wait(evidence, wait_ps);
}

// suit_digits is whether routes by destination load links little enough.
static bool suit_digits(const struct tb_evidence_digits *digits)
{
	return digits->inside_ps <= digits->nodes_ps &&
	       (digits->mean_up_ps >= TB_FINDING_EVEN * digits->up_ps ||
		       TB_FINDING_HARDLY * digits->up_ps <= digits->nodes_ps);
}

// suits_destinations is whether routes by destination would hold up less of a run than
// those by load did.
static bool suits_destinations(const struct tb_evidence *evidence)
{
	return tb_ways_cost(evidence) && evidence->digits.inside_ps > 0 &&
	       suit_digits(&evidence->digits);
}

// try_another_ascent: headers that do not look at the load wait between switches, or meet
// dead links. Or they look at it and meet, where routes by destination would not.
static void try_another_ascent(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	const struct tb_path_timeout *most = evidence->path.timeouts;
	enum tb_ascent ascent = evidence->info->network.ascent;
	bool by_load = tb_ascends_by_load(ascent);
	double inside = inside_percent(judging);
	// What other ways gain of a job its bounds tell, of a capture only its waits.
	double spilled = tb_is_timed_job(evidence) ? 0 : spilled_percent(evidence);
	struct tb_replay_command command;
	char share[32];
	bool dies = waits_for_timers(evidence) && most->lost.id != TB_ID_NONE &&
		    tb_run_links(evidence->run)[most->lost.id].at.kind == TB_LINK_UP;
	bool waits = inside - spilled >= TB_FINDING_INSIDE && tb_routes_matter(evidence);
	// Connections of TCP take packets that overtake each other for lost.
	bool is_worth_it = by_load ? suits_destinations(evidence)
				   : evidence->has_ways &&
					     !tb_switching_of(&evidence->info->network)
						      ->has_connections &&
					     (dies || waits);
	if (!is_worth_it || !tb_judging_command(judging, &command))
		return;
	tb_replay_command_drop(&command, "--routes");
	tb_replay_command_network(
		&command, "ascent", by_load ? "deterministic" : "adaptive");
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_ANOTHER_ASCENT);
	tb_finding_real(finding, "inside_percent", inside);
	if (by_load)
		tb_finding_say(finding,
			"Packets that choose their way up by load (%s) meet. By their "
			"destinations they would load no link between switches for "
			"longer than a node's own. Try routes by destination.",
			tb_ascent_words[ascent]);
	else if (dies)
		tb_finding_say(finding,
			"Packets choose their way up by tables (%s), which lead to what "
			"is dead until the node has new ones. Try adaptive routing: a "
			"switch avoids its own dead links at once.",
			tb_ascent_words[ascent]);
	else
		tb_finding_say(finding,
			"Packets choose their way up without regard to the load "
			"(%s), and links between switches cause %s of the "
			"wait. Try adaptive routing.",
			tb_ascent_words[ascent],
			tb_percent_text(inside, share, sizeof share));
	tb_judging_try(
		judging, finding, &command, by_load ? "deterministic.db" : "adaptive.db");
}

// try_routes_apart: with routes by destination what goes down to a node shares its links
// with nothing else, so that nobody waits for an incast there.
static void try_routes_apart(struct tb_judging *judging)
{
	const struct tb_evidence *evidence = judging->evidence;
	enum tb_ascent ascent = evidence->info->network.ascent;
	struct tb_replay_command command;
	if (!answers(judging, TB_RULE_ROUTES_APART) || !evidence->has_ways ||
		ascent == TB_ASCENT_DETERMINISTIC || ascent == TB_ASCENT_TABLE ||
		is_proposed(judging, "ascent=deterministic") ||
		!suit_digits(&evidence->digits) || !tb_judging_command(judging, &command))
		return;
	tb_replay_command_network(&command, "ascent", "deterministic");
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_ROUTES_APART);
	tb_finding_say(finding,
		"Routes by destination keep most traffic to other nodes off the links "
		"of an incast (ascent is %s). Replay with them, and compare the two "
		"runs.",
		tb_ascent_words[ascent]);
	tb_judging_try(judging, finding, &command, "apart.db");
}

// try_larger_buffer: one that takes what its link carries until it learns of room.
static void try_larger_buffer(struct tb_judging *judging)
{
	uint64_t bytes = judging->evidence->info->network.fifo_bytes;
	struct tb_replay_command command;
	char size[32];
	while ((double)bytes < judging->evidence->loop.needed_bytes)
		bytes *= 2;
	if (!answers(judging, TB_RULE_LARGER_BUFFER) || bytes > UINT32_MAX ||
		!tb_judging_command(judging, &command))
		return;
	struct tb_finding *finding = tb_judging_remedy(judging, TB_RULE_LARGER_BUFFER);
	tb_finding_say(finding,
		"Buffers of %s take what a link carries over its round trip.",
		tb_format_size(bytes, size, sizeof size));
	try_bytes(judging, finding, "buffer", bytes, &command, "buffer.db");
}

static void try_by_state(struct tb_judging *judging)
{
	if (tb_judging_found(judging, TB_RULE_TIME_SCALE) ||
		!tb_network_matters(judging->evidence))
		return;
	try_no_losses(judging);
	try_shorter_timer(judging);
	try_no_control(judging);
	try_larger_buffer(judging);
	try_quicker(judging);
	if (judging->evidence->n_waiting == 0 ||
		tb_judging_found(judging, TB_RULE_LITTLE_WAIT) ||
		!wait_matters(judging)) {
		// A node's own messages wait for its link, whatever the network does.
		if (backlog_matters(judging) ||
			tb_judging_found(judging, TB_RULE_NODE_FULL))
			try_rail(judging);
		if (waits_for_timers(judging->evidence))
			try_another_ascent(judging);
		return;
	}
	try_apart(judging); // jobs that hold each other up meet on other routes, too
	try_another_ascent(judging);
	try_routes_apart(judging);
	try_spread(judging);
	try_alone(judging);
	try_wider(judging);
	try_rail(judging);
}

void tb_rules_of_remedy(struct tb_judging *judging)
{
	// What helps with time-outs stands before what only shows that they cost.
	bool is_last = waits_for_timers(judging->evidence);
	tb_remedy_of_cables(judging);
	try_slower(judging);
	if (!is_last)
		try_whole(judging);
	try_by_state(judging);
	if (is_last)
		try_whole(judging);
}
