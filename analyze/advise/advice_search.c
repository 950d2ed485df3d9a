// More cables between switches, fewer, and a faster one to a node.
#include "advice_impl.h"
#include "collective.h"
#include "credit_params.h"
#include "fabric_file_write.h"
#include "fabric_traffic.h"
#include "findings.h"
#include "network_builder.h"
#include "network_open.h"
#include "recorded.h"
#include "route_file_write.h"
#include "speed_text.h"
#include "switchings.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// advice_network returns the network's name in a command; NULL: it has none.
static const char *advice_network(const struct tb_replay_command *words)
{
	for (size_t i = 0; i + 1 < words->n; i++)
		if (strcmp(words->words[i], "--network") == 0)
			return words->words[i + 1];
	return NULL;
}

// search_shape tries a network whose cables up from a level are others: a taper of the
// lowest one, else a shape.
static void search_shape(struct tb_advice *advice, const struct tb_shape *shape,
	uint32_t level, enum tb_rule rule, const char *title)
{
	struct tb_replay_command words;
	char text[TB_SHAPE_TEXT];
	struct tb_shape parsed;
	uint32_t down = tb_shape_n_down(shape, level), up = tb_shape_n_up(shape, level);
	tb_shape_text(shape, text);
	if (tb_shape_parse(&parsed, text, NULL) != TB_OK ||
		!tb_advice_again(advice, &words))
		return;
	if (level == 0 && down >= up && shape->p[1] == 1 &&
		!tb_advice_has_option(advice, "shape=")) {
		uint32_t a = down, b = up;
		while (b) {
			uint32_t rest = a % b;
			a = b;
			b = rest;
		}
		if (up == a)
			snprintf(text, sizeof text, "%u", down / a);
		else
			snprintf(text, sizeof text, "%u:%u", down / a, up / a);
		tb_replay_command_network(&words, "taper", text);
	} else {
		tb_replay_command_network(&words, "arity", NULL);
		tb_replay_command_network(&words, "levels", NULL);
		tb_replay_command_network(&words, "taper", NULL);
		tb_replay_command_network(&words, "shape", text);
	}
	tb_advice_search(advice, rule, &words, title);
}

// rates_by_level stores the rates of a regular tree's cables, from those of the nodes up.
static void rates_by_level(
	const struct tb_advice *advice, uint64_t rates[TB_SHAPE_LEVELS_MOST])
{
	const struct tb_network_params *network = &advice->info->network;
	if (network->level_rates[0] &&
		tb_shape_rates(rates, network->level_rates) == TB_OK)
		return;
	for (int i = 0; i < TB_SHAPE_LEVELS_MOST; i++)
		rates[i] = network->link_bytes_per_s;
}

// kept_bus writes what keeps a node from links twice as fast, where it would: " (PCIe
// stays 57.2 GB/s)".
static const char *kept_bus(const struct tb_advice *advice, char text[80])
{
	struct tb_network_params faster = advice->info->network;
	uint64_t rates[TB_SHAPE_LEVELS_MOST];
	char rate[48];
	rates_by_level(advice, rates);
	faster.link_bytes_per_s = rates[0];
	uint64_t own = tb_network_payload_rate(&faster);
	faster.link_bytes_per_s *= 2;
	uint64_t most = tb_network_payload_rate(&faster);
	text[0] = '\0';
	if (most < 2 * own - own / 100)
		snprintf(text, 80, " (%s stays %s)",
			tb_credit_params(&faster)->pcie_bytes_per_s > 0 ? "PCIe" : "bus",
			tb_format_rate((double)most, rate, sizeof rate));
	return text;
}

// open_as_edges opens the run's network where an edge list can stand for it: NULL where
// not. A fabric in a file routes by other rules than a regular tree does by digits, so of
// those only ascents by load or chance compare.
static struct tb_network *open_as_edges(struct tb_advice *advice)
{
	const struct tb_run_info *info = advice->info;
	struct tb_network *network = NULL;
	struct tb_replay_command words;
	bool is_file = strcmp(info->network.shape, TB_SHAPE_FABRIC) == 0;
	bool by_digits = info->network.ascent == TB_ASCENT_DETERMINISTIC ||
			 info->network.ascent == TB_ASCENT_SOURCE;
	if (info->network.n_rails > 1 || info->network.broadcast ||
		(by_digits && !is_file) || tb_advice_has_option(advice, "--routes") ||
		tb_advice_has_option(advice, "--fault") ||
		!tb_advice_again(advice, &words))
		return NULL;
	const char *name = advice_network(&words);
	struct tb_error why;
	// An edge list takes presets alone, no INI file.
	bool is_ini = name && !is_file && strcspn(name, "./") < strcspn(name, ",");
	if (!name || is_ini ||
		tb_network_open(&network,
			&(struct tb_network_description){.name = name,
				.n_nodes = info->n_nodes,
				.leaves_out_routes = true},
			&why) != TB_OK)
		network = NULL;
	tb_replay_command_fini(&words);
	return network;
}

static void double_rate(struct tb_network *network, uint32_t link)
{
	struct tb_link id = {link};
	tb_network_set_rate(network, id, 2 * tb_network_link(network, id).bytes_per_s);
}

// add_faster adds a change whose network is an edge list, where it can be one.
static int add_faster(struct tb_advice *advice, enum tb_rule rule, const char *name,
	const char *title, const struct tb_network *network, struct tb_error *error)
{
	struct tb_replay_command words = {0};
	struct tb_error why;
	struct tb_advice_file *file = calloc(1, sizeof *file);
	FILE *stream = file ? open_memstream(&file->text, &file->size) : NULL;
	int status =
		stream ? tb_fabric_file_write(stream, network, TB_FABRIC_FILE_EDGES, &why)
		       : TB_ENOMEM;
	if (stream && fclose(stream) != 0)
		status = TB_ENOMEM;
	if (status == TB_OK && tb_advice_again(advice, &words)) {
		file->kind = TB_ADVICE_FILE_FABRIC;
		snprintf(file->name, sizeof file->name, "%s.edges", name);
		tb_advice_search_with(advice, rule, &words, title, file, 1);
		return TB_OK;
	}
	free(file ? file->text : NULL);
	free(file);
	return status == TB_ENOMEM ? tb_fail_memory(error, "a fabric") : TB_OK;
}

// advice_search_node tries faster links of the servers, or of the node whose link is the
// root of most wait.
static int advice_search_node(struct tb_advice *advice, struct tb_error *error)
{
	const struct tb_evidence *evidence = &advice->evidence;
	struct tb_network *network = evidence->n_ends ? open_as_edges(advice) : NULL;
	char title[160] = "", kept[80];
	uint32_t n = 0;
	int length = 0;
	for (uint32_t i = 0; network && i < evidence->n_ends; i++) {
		const struct tb_evidence_end *end = &evidence->ends[i];
		if (advice->has_slow_cables && evidence->cables.usual[end->link.id])
			continue; // mended, rather
		if (i > 0 && (!advice->has_servers || end->percent < TB_EVIDENCE_PART ||
				     !advice->is_server[end->node.id]))
			continue;
		for (uint32_t k = 0; k < tb_network_n_links(network); k++) {
			struct tb_link_info at =
				tb_network_link(network, (struct tb_link){k});
			if (at.kind == TB_LINK_INJECTION && at.from == end->node.id)
				double_rate(network, k);
		}
		if (n++)
			continue;
		const char *own = tb_run_node_name(advice->run, end->node);
		length = snprintf(title, sizeof title, "link of node %u%s%.80s%s",
			end->node.id, *own ? " (" : "", own, *own ? ")" : "");
	}
	if (n > 1)
		length += snprintf(title + length, sizeof title - (size_t)length,
			" and %u more", n - 1);
	snprintf(title + length, sizeof title - (size_t)length, " twice as fast%s",
		kept_bus(advice, kept));
	int status = n ? add_faster(advice, TB_RULE_FASTER_NODE, "faster-node", title,
				 network, error)
		       : TB_OK;
	tb_network_free(network);
	return status;
}

// advice_search_cables tries slow cables at the speed of their peers.
static int advice_search_cables(struct tb_advice *advice, struct tb_error *error)
{
	const struct tb_evidence_cables *cables = &advice->evidence.cables;
	const struct tb_run_link *links = tb_run_links(advice->run);
	struct tb_network *network =
		advice->has_slow_cables ? open_as_edges(advice) : NULL;
	char title[256], count[64], speed[32];
	int status = TB_OK;
	if (network && tb_network_n_links(network) == advice->info->n_links) {
		for (uint32_t i = 0; i < advice->info->n_links; i++)
			if (cables->usual[i] && (links[i].at.kind == TB_LINK_INJECTION ||
							links[i].at.kind == TB_LINK_UP))
				tb_network_set_rate(
					network, (struct tb_link){i}, cables->usual[i]);
		tb_speed_text(
			(double)cables->usual[cables->worst.id], speed, sizeof speed);
		tb_format_counted(cables->n, "cable", count, sizeof count);
		snprintf(title, sizeof title, "%s%s%.80s mended: %s, as the peers",
			cables->n > 1 ? count : "cable of ",
			cables->n > 1 ? " such as " : "", links[cables->worst.id].name,
			speed);
		status = add_faster(advice, TB_RULE_MENDED_CABLE, "mended-cable", title,
			network, error);
	}
	tb_network_free(network);
	return status;
}

// Jobs that start later, so that they meet others less.

// Of the time until the jobs before it have ended.
static const double shares[] = {0.25, 0.5, 1};

#define DELAYED_JOBS_MOST 4

// starts_before orders jobs by their begins.
static bool starts_before(const struct tb_jobs *jobs, uint32_t a, uint32_t b)
{
	tb_time_ps of_a = jobs->jobs[a].first_ps, of_b = jobs->jobs[b].first_ps;
	return of_a < of_b || (of_a == of_b && a < b);
}

// meets returns for how long from its begin a job meets those before it.
static tb_time_ps meets(const struct tb_jobs *jobs, uint32_t job)
{
	tb_time_ps longest = 0;
	for (uint32_t i = 0; i < jobs->n; i++) {
		tb_time_ps until = jobs->jobs[i].last_ps - jobs->jobs[job].first_ps;
		if (i != job && starts_before(jobs, i, job) && until > longest)
			longest = until;
	}
	return longest;
}

// advice_search_starts adds changes by which jobs start later.
static void advice_search_starts(struct tb_advice *advice)
{
	const struct tb_jobs *jobs = &advice->evidence.jobs;
	uint32_t n = 0;
	if (!tb_evidence_jobs_meet(&advice->evidence))
		return;
	for (uint32_t job = 0; jobs->n > 1 && job < jobs->n && n < DELAYED_JOBS_MOST;
		job++) {
		tb_time_ps longest = jobs->jobs[job].n_messages ? meets(jobs, job) : 0;
		n += longest > 0;
		for (size_t i = 0; longest > 0 && i < sizeof shares / sizeof *shares;
			i++) {
			tb_time_ps by = (tb_time_ps)(shares[i] * (double)longest);
			struct tb_replay_command words;
			char start[48], later[48], title[160];
			if (!tb_advice_again_by_job(advice, &words))
				return;
			tb_time_ps at = advice->evidence.jobs.jobs[job].start_ps + by;
			snprintf(start, sizeof start, "%" PRId64 "ps", (int64_t)at);
			tb_replay_command_job(&words, job, "start", start, NULL);
			snprintf(title, sizeof title, "%.100s starts %s later",
				tb_run_job_name(advice->run, job),
				tb_format_time(by, later, sizeof later));
			struct tb_change *change =
				tb_advice_search(advice, TB_RULE_STAGGER, &words, title);
			if (!change)
				continue;
			change->delayed_job = job;
			change->delay_ps = (double)by;
		}
	}
}

// Forwarding tables for what the nodes sent each other.

// A share of the time that the busiest link between switches is busy; what saves less is
// not worth a replay.
#define WORTH 0.02

// Switches times nodes: larger tables take minutes and gigabytes.
#define ENTRIES_MOST (UINT64_C(1) << 25)

static int write_file(const struct tb_network *network, struct tb_advice_file *file,
	struct tb_error *error)
{
	FILE *stream = open_memstream(&file->text, &file->size);
	if (!stream)
		return tb_fail_memory(error, "tables of routes");
	file->kind = TB_ADVICE_FILE_ROUTES;
	snprintf(file->name, sizeof file->name, "routes-by-traffic.lfts");
	int status = tb_route_file_write(stream, network, error);
	if (fclose(stream) != 0 && status == TB_OK)
		status = tb_fail_memory(error, "tables of routes");
	return status;
}

// above_best returns how much longer the busiest link takes with these routes than with
// any static ones, in percent at most; INFINITY where better ones are known, or nothing
// is. The routes are for bytes of messages, and bounds of those on the wire.
static double above_best(const struct tb_advice *advice, const struct tb_route_gain *gain)
{
	const struct tb_static_routes *best = &advice->evidence.bounds.fixed;
	double most_ps = gain->after * best->overhead * (double)TB_PS_PER_S;
	if (!best->known || best->least_ps <= 0 ||
		most_ps > (double)best->found_ps * (1 + TB_ADVICE_MATTERS / 100))
		return INFINITY;
	return fmax(100 * (most_ps / (double)best->least_ps - 1), 0);
}

// name_change: what is saved is known where the run had the network's own tables.
static void name_change(const struct tb_advice *advice, const struct tb_route_gain *gain,
	char *title, size_t size)
{
	char saved[48] = "", best[80] = "";
	double above = above_best(advice, gain);
	if (advice->info->network.ascent == TB_ASCENT_DETERMINISTIC)
		snprintf(saved, sizeof saved, "busiest link %.0f %% less",
			100 * (1 - gain->after / gain->before));
	const char *busiest = *saved ? "it" : "the busiest link";
	if (above < TB_ADVICE_MATTERS)
		snprintf(best, sizeof best, "no static ones load %s less", busiest);
	else if (above < INFINITY)
		snprintf(best, sizeof best, "no static ones load %s over %.1f %% less",
			busiest, above);
	bool any = *saved || *best;
	snprintf(title, size, "routes by traffic%s%s%s%s%s", any ? " (" : "", saved,
		*saved && *best ? ", " : "", best, any ? ")" : "");
}

// add_route_change adds the change, whose command it takes.
static int add_route_change(struct tb_advice *advice, struct tb_replay_command *words,
	const struct tb_network *network, const struct tb_route_gain *gain,
	struct tb_error *error)
{
	char title[160];
	struct tb_advice_file *file = calloc(1, sizeof *file);
	int status = file ? write_file(network, file, error)
			  : tb_fail_memory(error, "tables of routes");
	if (status == TB_OK) {
		name_change(advice, gain, title, sizeof title);
		tb_advice_search_with(
			advice, TB_RULE_ROUTES_BY_TRAFFIC, words, title, file, 1);
		*words = (struct tb_replay_command){0};
		return TB_OK;
	}
	free(file ? file->text : NULL);
	free(file);
	// Ports or LIDs that tables cannot hold: there is no such change.
	return status == TB_EUSAGE ? TB_OK : status;
}

// make_routes opens the run's network once more and gives it routes; TB_EUSAGE and the
// like where that cannot be done.
static int make_routes(struct tb_advice *advice, const char *name,
	struct tb_network **network, struct tb_route_gain *gain, struct tb_error *error)
{
	int status = tb_network_open(network,
		&(struct tb_network_description){
			.name = name, .n_nodes = advice->info->n_nodes},
		error);
	if (status == TB_OK)
		status = tb_fabric_traffic_route(
			*network, advice->run, "the run", gain, error);
	return status;
}

// advice_search_routes adds forwarding tables made for the run's traffic.
static int advice_search_routes(struct tb_advice *advice, struct tb_error *error)
{
	struct tb_replay_command words;
	struct tb_network *network = NULL;
	struct tb_route_gain gain = {0};
	const struct tb_run_info *info = advice->info;
	if ((uint64_t)info->n_switches * info->n_nodes > ENTRIES_MOST)
		return TB_OK;
	if (!advice->evidence.has_ways || info->network.n_rails > 1 ||
		tb_advice_has_option(advice, "--fault") ||
		!tb_advice_again(advice, &words))
		return TB_OK;
	const char *name = advice_network(&words);
	struct tb_error why = {0};
	int status = name ? make_routes(advice, name, &network, &gain, &why) : TB_EUSAGE;
	bool is_worth_it = info->network.ascent != TB_ASCENT_DETERMINISTIC ||
			   gain.after < (1 - WORTH) * gain.before;
	if (status == TB_OK && gain.before > 0 && is_worth_it)
		status = add_route_change(advice, &words, network, &gain, &why);
	tb_replay_command_fini(&words);
	tb_network_free(network);
	if (status == TB_ENOMEM && error)
		*error = why;
	return status == TB_ENOMEM ? status : TB_OK; // else there is no such change
}

// What is tried whatever the findings say.

// is_in_blocks: no job names a placement and no trace hosts, or so many ranks a node
// alone: blocks would be the same run.
static bool is_in_blocks(const struct tb_advice *advice)
{
	const struct tb_jobs *jobs = &advice->evidence.jobs;
	for (uint32_t i = 0; i < jobs->n; i++) {
		const char *placement = jobs->jobs[i].placement;
		if (!placement || (*placement && (strncmp(placement, "block", 5) != 0 ||
							 strstr(placement, " on "))))
			return false;
	}
	return true;
}

// is_alike_everywhere: at one switch each rank is alone at a link like all others.
static bool is_alike_everywhere(const struct tb_advice *advice)
{
	const struct tb_run_link *links = tb_run_links(advice->run);
	const struct tb_jobs *jobs = &advice->evidence.jobs;
	bool alike = advice->info->n_switches == 1 &&
		     !tb_advice_has_option(advice, "--slow") &&
		     !tb_advice_has_option(advice, "per-node");
	for (uint32_t i = 0; i < jobs->n && alike; i++)
		alike = jobs->jobs[i].n_ranks == jobs->jobs[i].n_nodes;
	for (uint32_t i = 1; i < advice->info->n_links && alike; i++)
		alike = links[i].at.bytes_per_s == links[0].at.bytes_per_s &&
			links[i].at.latency_ps == links[0].at.latency_ps &&
			links[i].dead_at_ps == links[0].dead_at_ps;
	return alike;
}

// may_place: a placement may put all ranks elsewhere.
static bool may_place(const struct tb_advice *advice)
{
	for (uint32_t i = 0; i < advice->info->n_jobs; i++)
		if (tb_evidence_keeps_hosts(&advice->evidence, i))
			return false;
	// Each job gets nodes of its own.
	const struct tb_jobs *jobs = &advice->evidence.jobs;
	bool packed = tb_advice_has_option(advice, "per-node");
	uint64_t n = 0;
	for (uint32_t i = 0; i < jobs->n; i++)
		n += packed ? jobs->jobs[i].n_nodes : jobs->jobs[i].n_ranks;
	return n <= advice->info->n_nodes &&
	       strcmp(advice->info->input_kind, "job") == 0 &&
	       !tb_advice_has_option(advice, "--map") && !is_alike_everywhere(advice);
}

// A map, hosts or nodes say where the ranks are; a placement takes their place, of
// several jobs that of each.
static void search_placements(struct tb_advice *advice)
{
	static const char *const kinds[] = {"block", "cyclic", "random"};
	static const char *const instead[] = {
		"placement", "nodes", "hosts", "map", "shared", NULL};
	const uint32_t n_jobs = advice->info->n_jobs;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && may_place(advice); i++) {
		struct tb_replay_command words;
		char title[160], own[32];
		snprintf(own, sizeof own, "placement=%s", kinds[i]);
		if (n_jobs == 1 ? tb_advice_has_option(advice, own) : i == 2)
			continue; // several jobs meet whichever way chance has them
		if ((i == 0 && is_in_blocks(advice)) ||
			!tb_advice_again_by_job(advice, &words))
			continue;
		for (uint32_t job = 0; job < n_jobs; job++)
			tb_replay_command_job(
				&words, job, "placement", kinds[i], instead);
		snprintf(title, sizeof title, "%s%s", own,
			n_jobs > 1 ? " for all jobs" : "");
		tb_advice_search(advice, TB_RULE_PLACEMENT, &words, title);
	}
}

// The ways up of which none is the others' in small: by destination, by load, by flow.
static void search_ascents(struct tb_advice *advice)
{
	static const enum tb_ascent ways[] = {
		TB_ASCENT_ADAPTIVE, TB_ASCENT_DETERMINISTIC, TB_ASCENT_ECMP};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (advice->evidence.has_ways && ways[i] != advice->info->network.ascent)
			tb_advice_search_network(advice, TB_RULE_ASCENT, "ascent",
				tb_ascent_words[ways[i]], NULL);
}

// Congestion control off, or, where many send to few, another one whose keys the network
// has.
static void search_control(struct tb_advice *advice)
{
	const struct tb_network_params *network = &advice->info->network;
	struct tb_replay_command words;
	if (!tb_switching_of(network)->has_queue_pairs ||
		tb_advice_has_option(advice, "--routes") ||
		!tb_advice_again(advice, &words))
		return;
	const char *name = advice_network(&words);
	const int last = advice->has_servers ? TB_CONGESTION_FECN : TB_CONGESTION_NONE;
	for (int i = TB_CONGESTION_NONE; name && i <= last; i++) {
		struct tb_network_params changed;
		char with[512];
		snprintf(with, sizeof with, "%s,congestion_control=%s", name,
			tb_congestion_control_words[i]);
		if (i != (int)tb_credit_params(network)->congestion_control &&
			tb_network_open_params(&changed, NULL, with, NULL) == TB_OK)
			tb_advice_search_network(advice, TB_RULE_CONTROL,
				"congestion_control", tb_congestion_control_words[i],
				NULL);
	}
	tb_replay_command_fini(&words);
}

// write_rates writes the rates of all levels, those from `first` to before `end` doubled.
static void write_rates(const struct tb_advice *advice, uint32_t first, uint32_t end,
	char text[TB_RATES_SIZE])
{
	uint64_t rates[TB_SHAPE_LEVELS_MOST];
	uint32_t n = advice->info->n_levels;
	n = n < TB_SHAPE_LEVELS_MOST ? n : TB_SHAPE_LEVELS_MOST;
	rates_by_level(advice, rates);
	for (uint32_t i = first; i < end && i < n; i++)
		rates[i] *= 2;
	tb_rates_text(rates, n, text);
}

static void search_links(struct tb_advice *advice)
{
	const struct tb_network_params *network = &advice->info->network;
	const uint64_t pcie = 2 * tb_credit_params(network)->pcie_bytes_per_s,
		       rate = 2 * network->link_bytes_per_s;
	char rates[TB_RATES_SIZE], bus[TB_RATES_SIZE], kept[80], title[160];
	struct tb_replay_command words;
	if (strcmp(network->shape, TB_SHAPE_FABRIC) == 0 ||
		tb_advice_has_option(advice, "--routes"))
		return; // a file says what its links are
	const char *key = network->level_rates[0] ? "level_rates" : "rate";
	if (network->level_rates[0])
		write_rates(advice, 0, advice->info->n_levels, rates);
	else
		tb_rates_text(&rate, 1, rates);
	snprintf(
		title, sizeof title, "all links twice as fast%s", kept_bus(advice, kept));
	tb_advice_search_network(advice, TB_RULE_FASTER_LINKS, key, rates, title);
	if (*kept && pcie && tb_advice_again(advice, &words)) {
		tb_replay_command_network(&words, key, rates);
		tb_replay_command_network(&words, "pcie", tb_rates_text(&pcie, 1, bus));
		tb_advice_search(advice, TB_RULE_FASTER_LINKS, &words,
			"all links and PCIe twice as fast");
	}
	if (network->n_rails == 1 && !network->broadcast &&
		!tb_advice_has_option(advice, "--fault"))
		tb_advice_search_network(advice, TB_RULE_SECOND_RAIL, "rails", "2", NULL);
}

// add_faster_level adds the change that has the cables of a level twice as fast.
static int add_faster_level(struct tb_advice *advice, uint32_t level, const char *title,
	struct tb_error *error)
{
	char text[TB_RATES_SIZE];
	if (strcmp(advice->info->network.shape, TB_SHAPE_FABRIC) != 0) {
		write_rates(advice, level, level + 1, text);
		tb_advice_search_network(
			advice, TB_RULE_FASTER_LEVEL, "level_rates", text, title);
		return TB_OK;
	}
	struct tb_network *network = open_as_edges(advice);
	for (uint32_t i = 0; network && i < tb_network_n_links(network); i++) {
		struct tb_link_info at = tb_network_link(network, (struct tb_link){i});
		if (level == 0 ? at.kind == TB_LINK_INJECTION
			       : at.kind == TB_LINK_UP &&
					 tb_network_switch(
						 network, (struct tb_switch){at.from})
							 .level == level - 1)
			double_rate(network, i);
	}
	snprintf(text, sizeof text, "faster-level-%u", level);
	int status = network ? add_faster(advice, TB_RULE_FASTER_LEVEL, text, title,
				       network, error)
			     : TB_OK;
	tb_network_free(network);
	return status;
}

// Links of one level twice as fast, that of the nodes first.
static int search_levels(struct tb_advice *advice, struct tb_error *error)
{
	uint32_t n_levels = advice->info->n_levels;
	int status = TB_OK;
	if (tb_advice_has_option(advice, "--routes") || n_levels > TB_SHAPE_LEVELS_MOST)
		return TB_OK;
	for (uint32_t level = 0; n_levels > 1 && level < n_levels && status == TB_OK &&
				 (level == 0 || advice->evidence.n_inside > 0);
		level++) {
		size_t n = advice->n;
		char title[160], kept[80];
		snprintf(title, sizeof title, "links of all nodes twice as fast%s",
			kept_bus(advice, kept));
		if (level > 0)
			snprintf(title, sizeof title,
				"links between levels %u and %u twice as fast", level - 1,
				level);
		status = add_faster_level(advice, level, title, error);
		if (advice->n > n)
			advice->changes[n].is_for_nodes = level == 0;
	}
	return status;
}

// A virtual lane of its own for each of the first jobs, where packets have service
// levels.
static void search_lanes(struct tb_advice *advice)
{
	enum { JOBS_MOST = 4 };
	const struct tb_run_info *info = advice->info;
	uint8_t vls[TB_SLS];
	uint32_t n_vls = info->network.n_vcs < 2 ? 2 : info->network.n_vcs;
	if (strcmp(info->network.switching, "credits") != 0 || info->n_jobs < 2 ||
		!tb_evidence_jobs_meet(&advice->evidence) ||
		tb_sl_to_vl_read(
			vls, tb_credit_params(&info->network)->sl_to_vl, n_vls) != TB_OK)
		return;
	bool apart = info->network.n_vcs == n_vls && vls[0] != vls[1];
	bool has_levels = tb_advice_has_option(advice, ",sl=");
	if (apart && has_levels)
		return;
	for (uint32_t job = 0; job < info->n_jobs && job < JOBS_MOST; job++) {
		struct tb_replay_command words;
		char title[160];
		if (!tb_advice_again_by_job(advice, &words))
			return;
		if (info->network.n_vcs < 2)
			tb_replay_command_network(&words, "vls", "2");
		if (vls[0] == vls[1])
			tb_replay_command_network(&words, "sl_to_vl", "modulo");
		for (uint32_t other = 0; has_levels && other < info->n_jobs; other++)
			tb_replay_command_job(&words, other, "sl", "0", NULL);
		tb_replay_command_job(&words, job, "sl", "1", NULL);
		snprintf(title, sizeof title, "lane of its own for %.120s",
			tb_run_job_name(advice->run, job));
		tb_advice_search(advice, TB_RULE_LANE, &words, title);
	}
}

// search_cables tries the run without the slow cable up that was used longest.
static int search_cables(struct tb_advice *advice, struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(advice->run), *worst = NULL;
	const struct tb_link_sample *samples;
	struct tb_replay_command words;
	char title[160], fault[320];
	int status = tb_run_look(advice->run, (struct tb_window){0, 0}, &samples, error);
	for (uint32_t i = 0; i < advice->info->n_links && status == TB_OK; i++)
		if (links[i].at.kind == TB_LINK_UP && samples[i].busy_ps > 0 &&
			advice->evidence.cables.usual[i] &&
			(!worst || samples[i].busy_ps > samples[worst->id.id].busy_ps))
			worst = &links[i];
	if (!worst || tb_advice_has_option(advice, "--routes") ||
		tb_advice_has_option(advice, "--fault") ||
		!tb_advice_again(advice, &words))
		return status;
	int length = (int)strcspn(worst->name, ">") - 1;
	snprintf(fault, sizeof fault, "link=%.*s", length, worst->name);
	tb_replay_command_set(&words, "--fault", fault);
	snprintf(title, sizeof title, "without the cable at %.*s", length, worst->name);
	tb_advice_search(advice, TB_RULE_WITHOUT_CABLE, &words, title);
	return status;
}

// is_made_by_nccl returns whether NCCL's or RCCL's algorithms made messages of the calls,
// for want of which there are those of MPI libraries.
static bool is_made_by_nccl(const struct tb_advice *advice)
{
	for (size_t i = 0; i < advice->info->n_notes; i++)
		if (strncmp(advice->info->notes[i].text, "library nccl", 12) == 0 ||
			strncmp(advice->info->notes[i].text, "library rccl", 12) == 0)
			return true;
	return tb_advice_has_option(advice, "--library nccl");
}

// library_word writes an operation as the variables of MPI libraries have it.
static void library_word(const char *operation, bool upper, char word[32])
{
	size_t i = 0;
	if (strcmp(operation, "broadcast") == 0)
		operation = "bcast";
	for (; operation[i] && i < 31; i++) {
		char c = operation[i] == '-' ? '_' : operation[i];
		word[i] = (char)(upper ? toupper((unsigned char)c) : c);
	}
	word[i] = '\0';
}

// search_algorithms tries the algorithms that libraries choose from for the operation in
// which ranks were longest.
static void search_algorithms(struct tb_advice *advice, const char *operation)
{
	enum tb_collective_op op;
	bool nccl = is_made_by_nccl(advice);
	if (!tb_collective_op_find(&op, operation) ||
		tb_advice_has_option(advice, "--collective"))
		return;
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++) {
		struct tb_replay_command words;
		char title[160];
		bool chosen =
			nccl ? a->names[TB_LIBRARY_NCCL] != NULL
			     : a->names[TB_LIBRARY_OPENMPI] || a->names[TB_LIBRARY_MPICH];
		if (a->op != op || !chosen || !tb_advice_again(advice, &words))
			continue;
		snprintf(title, sizeof title, "%s=%s", operation, a->name);
		tb_replay_command_set(&words, "--collective", title);
		struct tb_change *change =
			tb_advice_search(advice, TB_RULE_ALGORITHM, &words, title);
		if (change) {
			// Write the variables by which libraries take an algorithm: Open
			// MPI's coll_tuned_OPERATION_algorithm, MPICH's
			// MPIR_CVAR_OPERATION_INTRA_ALGORITHM, NCCL_ALGO. What a library
			// describes in words it does not let choose.
			char *text = change->settings;
			size_t size = sizeof change->settings;
			const char *openmpi = nccl ? NULL : a->names[TB_LIBRARY_OPENMPI];
			const char *mpich = nccl ? NULL : a->names[TB_LIBRARY_MPICH];
			const char *ring = nccl ? a->names[TB_LIBRARY_NCCL] : NULL;
			char word[32], upper[32];
			size_t used = 0;
			library_word(operation, false, word);
			library_word(operation, true, upper);
			if (openmpi && !strchr(openmpi, ' '))
				used = (size_t)snprintf(text, size,
					"OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
					"OMPI_MCA_coll_tuned_%s_algorithm=%s",
					word, openmpi);
			if (mpich && !strchr(mpich, ' ') && used < size)
				used += (size_t)snprintf(text + used, size - used,
					"%sMPIR_CVAR_%s_INTRA_ALGORITHM=%s",
					used ? " " : "", upper, mpich);
			if (ring && !strchr(ring, ' ') && used < size)
				snprintf(text + used, size - used, "NCCL_ALGO=%s", ring);
		}
	}
}

static int search_collectives(struct tb_advice *advice, struct tb_error *error)
{
	struct tb_recorded recorded = {0};
	const struct tb_recorded_row *longest = NULL;
	enum tb_collective_op op;
	int status = tb_recorded_init(&recorded, advice->run, error);
	for (size_t i = 0; i < recorded.kinds.n && status == TB_OK; i++) {
		const struct tb_recorded_row *row = &recorded.kinds.rows[i];
		if (tb_collective_op_find(&op, row->name) &&
			(!longest || row->recorded_ps > longest->recorded_ps))
			longest = row;
	}
	if (longest)
		search_algorithms(advice, longest->name);
	tb_recorded_fini(&recorded);
	return status;
}

// search_cables_up tries the cables up from a level doubled, where there are fewer than
// down, and halved: what it costs to save them. Of a k-ary n-tree, the lowest level.
static void search_cables_up(struct tb_advice *advice)
{
	const struct tb_network_params *network = &advice->info->network;
	struct tb_shape shape;
	bool is_kary = !network->shape[0] && network->levels <= TB_SHAPE_LEVELS_MOST;
	if (advice->evidence.n_inside == 0 || tb_advice_has_option(advice, "--routes") ||
		tb_advice_has_option(advice, "--fault"))
		return;
	if (is_kary)
		shape = tb_shape_kary(network->arity, advice->info->n_levels);
	else if (tb_shape_parse(&shape, network->shape, NULL) != TB_OK)
		return;
	uint64_t rates[TB_SHAPE_LEVELS_MOST];
	uint32_t n_levels = is_kary && shape.n_levels > 2 ? 2 : shape.n_levels;
	rates_by_level(advice, rates);
	for (uint32_t level = 0; level + 1 < n_levels; level++) {
		uint32_t n_up = tb_shape_n_up(&shape, level);
		unsigned long long n = (unsigned long long)n_up *
				       tb_shape_n_switches(&shape, level) *
				       network->n_rails;
		struct tb_shape changed = shape;
		char title[160];
		if ((double)n_up * (double)rates[level + 1] <
			(double)tb_shape_n_down(&shape, level) * (double)rates[level]) {
			changed.w[level + 1] *= 2;
			snprintf(title, sizeof title,
				"twice the cables up from level %u (%llu more)", level,
				n);
			search_shape(advice, &changed, level, TB_RULE_MORE_CABLES, title);
		}
		changed = shape;
		if (n_up % 2 || n_up < 2)
			continue;
		if (changed.w[level + 1] % 2 == 0)
			changed.w[level + 1] /= 2;
		else
			changed.p[level + 1] /= 2;
		snprintf(title, sizeof title,
			"half the cables up from level %u (saves %llu)", level, n / 2);
		search_shape(advice, &changed, level, TB_RULE_FEWER_CABLES, title);
	}
}

int tb_advice_search_all(struct tb_advice *advice, struct tb_error *error)
{
	search_placements(advice);
	int status = tb_advice_search_places(advice, error);
	if (status)
		return status;
	search_ascents(advice);
	status = advice_search_routes(advice, error);
	if (status)
		return status;
	search_control(advice);
	search_links(advice);
	status = search_levels(advice, error);
	if (status)
		return status;
	search_cables_up(advice);
	advice_search_starts(advice);
	search_lanes(advice);
	status = advice_search_cables(advice, error);
	if (status == TB_OK)
		status = advice_search_node(advice, error);
	if (status == TB_OK)
		status = search_cables(advice, error);
	if (status)
		return status;
	return search_collectives(advice, error);
}
