// What is tried whatever the findings say.
#include "advice_impl.h"
#include "collective.h"
#include "recorded.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// is_in_blocks: the run's only job names no placement and its trace no hosts, and blocks
// would be the same run.
static bool is_in_blocks(const struct tb_advice *advice)
{
	const struct tb_jobs *jobs = &advice->evidence.jobs;
	return jobs->n == 1 && jobs->jobs[0].placement && !*jobs->jobs[0].placement;
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

// A map, hosts or nodes say where the ranks are; a placement takes their place.
static void search_placements(struct tb_advice *advice)
{
	static const char *const kinds[] = {"block", "cyclic", "random"};
	static const char *const instead[] = {"placement", "nodes", "hosts", "map", NULL};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct tb_replay_command words;
		char title[160];
		char own[32];
		snprintf(own, sizeof own, "placement=%s", kinds[i]);
		if (tb_advice_has_option(advice, own))
			continue;
		if ((i == 0 && is_in_blocks(advice)) || is_alike_everywhere(advice))
			continue;
		if (advice->info->n_jobs != 1 || tb_advice_has_option(advice, "--map") ||
			strcmp(advice->info->input_kind, "job") != 0 ||
			!tb_advice_again(advice, &words))
			return;
		if (tb_replay_command_n_jobs(&words) != 1) {
			tb_replay_command_fini(&words);
			return;
		}
		tb_replay_command_job(&words, 0, "placement", kinds[i], instead);
		snprintf(title, sizeof title, "placement=%s", kinds[i]);
		tb_advice_search(advice, "placement", &words, title);
	}
}

// The ways up of which none is the others' in small: by destination, by load, by flow.
static void search_ascents(struct tb_advice *advice)
{
	static const enum tb_ascent ways[] = {
		TB_ASCENT_ADAPTIVE, TB_ASCENT_DETERMINISTIC, TB_ASCENT_ECMP};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (advice->evidence.has_ways && ways[i] != advice->info->network.ascent)
			tb_advice_search_network(
				advice, "ascent", "ascent", tb_ascent_words[ways[i]]);
}

static void search_links(struct tb_advice *advice)
{
	const struct tb_network_params *network = &advice->info->network;
	char rate[48];
	if (strcmp(network->shape, TB_SHAPE_FABRIC) == 0 ||
		tb_advice_has_option(advice, "--routes"))
		return; // a file says what its links are
	if (!network->level_rates[0]) {
		snprintf(rate, sizeof rate, "%.12gMB/s",
			2 * (double)network->link_bytes_per_s / 1e6);
		tb_advice_search_network(advice, "faster-links", "rate", rate);
	}
	if (network->n_rails == 1 && !network->broadcast &&
		!tb_advice_has_option(advice, "--fault"))
		tb_advice_search_network(advice, "second-rail", "rails", "2");
}

// Links of one level twice as fast, that of the nodes first.
static void search_levels(struct tb_advice *advice)
{
	const struct tb_network_params *network = &advice->info->network;
	if (strcmp(network->shape, TB_SHAPE_FABRIC) == 0 || network->level_rates[0] ||
		tb_advice_has_option(advice, "--routes"))
		return;
	for (uint32_t level = 0;
		advice->info->n_levels > 1 && level < advice->info->n_levels &&
		(level == 0 || advice->evidence.n_inside > 0);
		level++) {
		char rates[512] = "";
		size_t used = 0;
		for (uint32_t i = 0; i < advice->info->n_levels && used < sizeof rates;
			i++)
			used += (size_t)snprintf(rates + used, sizeof rates - used,
				"%s%.12gMB/s", i ? " " : "",
				(i == level ? 2 : 1) * (double)network->link_bytes_per_s /
					1e6);
		size_t n = advice->n;
		tb_advice_search_network(advice, "faster-level", "level_rates", rates);
		if (advice->n > n)
			advice->changes[n].is_for_nodes = level == 0;
	}
}

// A virtual lane of its own for each of the first jobs, where packets have service
// levels.
static void search_lanes(struct tb_advice *advice)
{
	enum { JOBS_MOST = 4 };
	const struct tb_run_info *info = advice->info;
	if (strcmp(info->network.switching, "credits") != 0 || info->n_jobs < 2 ||
		!tb_evidence_jobs_meet(&advice->evidence) ||
		tb_advice_has_option(advice, ",sl="))
		return;
	for (uint32_t job = 0; job < info->n_jobs && job < JOBS_MOST; job++) {
		struct tb_replay_command words;
		char title[160];
		if (!tb_advice_again(advice, &words))
			return;
		if (tb_replay_command_n_jobs(&words) != info->n_jobs) {
			tb_replay_command_fini(&words);
			return;
		}
		if (info->network.n_vcs < 2)
			tb_replay_command_network(&words, "vls", "2");
		tb_replay_command_job(&words, job, "sl", "1", NULL);
		snprintf(title, sizeof title, "lane of its own for %.120s",
			tb_run_job_name(advice->run, job));
		tb_advice_search(advice, "lane", &words, title);
	}
}

// fastest_up returns, by switch, the rate of its fastest cable up; malloc'ed.
static uint64_t *fastest_up(const struct tb_advice *advice)
{
	const struct tb_run_link *links = tb_run_links(advice->run);
	uint64_t *rates = calloc(advice->info->n_switches + 1u, sizeof *rates);
	for (uint32_t i = 0; rates && i < advice->info->n_links; i++)
		if (links[i].at.kind == TB_LINK_UP &&
			links[i].at.bytes_per_s > rates[links[i].at.from])
			rates[links[i].at.from] = links[i].at.bytes_per_s;
	return rates;
}

// worst_cable stores, of the cables up that are slower than their neighbours, the one
// that was used longest; NULL: there is none.
static int worst_cable(struct tb_advice *advice, const struct tb_run_link **worst,
	struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(advice->run);
	const struct tb_link_sample *samples;
	uint64_t *rates = fastest_up(advice);
	*worst = NULL;
	int status = rates ? tb_run_look(advice->run, (struct tb_window){0, 0}, &samples,
				     error)
			   : tb_fail_memory(error, "the cables");
	for (uint32_t i = 0; i < advice->info->n_links && status == TB_OK; i++)
		if (links[i].at.kind == TB_LINK_UP && samples[i].busy_ps > 0 &&
			links[i].at.bytes_per_s < rates[links[i].at.from] &&
			(!*worst ||
				samples[i].busy_ps > samples[(*worst)->id.id].busy_ps))
			*worst = &links[i];
	free(rates);
	return status;
}

static int search_cables(struct tb_advice *advice, struct tb_error *error)
{
	const struct tb_run_link *worst = NULL;
	struct tb_replay_command words;
	char title[160], fault[320];
	int status = worst_cable(advice, &worst, error);
	if (!worst || tb_advice_has_option(advice, "--routes") ||
		tb_advice_has_option(advice, "--fault") ||
		!tb_advice_again(advice, &words))
		return status;
	const char *end = strstr(worst->name, " > ");
	int length = end ? (int)(end - worst->name) : (int)strlen(worst->name);
	snprintf(fault, sizeof fault, "link=%.*s", length, worst->name);
	tb_replay_command_set(&words, "--fault", fault);
	snprintf(title, sizeof title, "without the cable at %.*s", length, worst->name);
	tb_advice_search(advice, "without-cable", &words, title);
	return status;
}

// is_made_by_nccl returns whether NCCL's algorithms made messages of the calls, for want
// of which there are those of MPI libraries.
static bool is_made_by_nccl(const struct tb_advice *advice)
{
	for (size_t i = 0; i < advice->info->n_notes; i++)
		if (strncmp(advice->info->notes[i].text, "library nccl", 12) == 0)
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

// settings_of writes the variables by which libraries take an algorithm: Open MPI's
// coll_tuned_OPERATION_algorithm, MPICH's MPIR_CVAR_OPERATION_INTRA_ALGORITHM, NCCL_ALGO.
// What a library describes in words it does not let choose.
static void settings_of(const struct tb_algorithm *a, const char *operation, bool nccl,
	char *text, size_t size)
{
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
			"%sMPIR_CVAR_%s_INTRA_ALGORITHM=%s", used ? " " : "", upper,
			mpich);
	if (ring && !strchr(ring, ' ') && used < size)
		snprintf(text + used, size - used, "NCCL_ALGO=%s", ring);
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
			tb_advice_search(advice, "algorithm", &words, title);
		if (change)
			settings_of(a, operation, nccl, change->settings,
				sizeof change->settings);
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

int tb_advice_search_all(struct tb_advice *advice, struct tb_error *error)
{
	search_placements(advice);
	int status = tb_advice_search_places(advice, error);
	if (status)
		return status;
	search_ascents(advice);
	status = tb_advice_search_routes(advice, error);
	if (status)
		return status;
	search_links(advice);
	search_levels(advice);
	tb_advice_search_taper(advice);
	tb_advice_search_starts(advice);
	search_lanes(advice);
	status = tb_advice_search_node(advice, error);
	if (status == TB_OK)
		status = search_cables(advice, error);
	if (status)
		return status;
	return search_collectives(advice, error);
}
