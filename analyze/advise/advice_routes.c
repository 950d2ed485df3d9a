// Forwarding tables for what the nodes sent each other.
#include "advice_impl.h"
#include "fabric_traffic.h"
#include "network_open.h"
#include "route_file_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A share of the time that the busiest link between switches is busy; what saves less is
// not worth a replay.
#define WORTH 0.02

// Switches times nodes: larger tables take minutes and gigabytes.
#define ENTRIES_MOST (UINT64_C(1) << 25)

const char *tb_advice_network(const struct tb_replay_command *words)
{
	for (size_t i = 0; i + 1 < words->n; i++)
		if (strcmp(words->words[i], "--network") == 0)
			return words->words[i + 1];
	return NULL;
}

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
	struct tb_change *change = NULL;
	struct tb_advice_file *file = calloc(1, sizeof *file);
	int status = file ? write_file(network, file, error)
			  : tb_fail_memory(error, "tables of routes");
	if (status == TB_OK) {
		tb_advice_name_files(words, file, 1,
			advice->folder ? advice->folder : TB_TRIED_FOLDER);
		name_change(advice, gain, title, sizeof title);
		change = tb_advice_search(advice, "routes-by-traffic", words, title);
		*words = (struct tb_replay_command){0};
	}
	if (change) {
		change->files = file;
		change->n_files = 1;
		return status;
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

int tb_advice_search_routes(struct tb_advice *advice, struct tb_error *error)
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
	const char *name = tb_advice_network(&words);
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
