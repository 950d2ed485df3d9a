// From calls to a job: pair messages, group collective calls, lower lane by lane.
#include "array.h"
#include "calls_job_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tb_lowering_no_memory(struct tb_lowering *l)
{
	return tb_fail_memory(l->error, "a job of the calls");
}

struct host_of_rank {
	const char *host;
	uint32_t rank;
};

static int rank_by_host(const void *left, const void *right)
{
	const struct host_of_rank *a = left, *b = right;
	return strcmp(a->host, b->host);
}

// deal_hosts assigns `per_node` consecutive ranks to each host, as --per-node places
// them.
static int deal_hosts(struct tb_lowering *l, uint32_t per_node)
{
	l->hosts = malloc(l->n_ranks * sizeof *l->hosts);
	for (uint32_t r = 0; r < l->n_ranks && l->hosts; r++)
		l->hosts[r] = r / per_node;
	return l->hosts ? TB_OK : tb_lowering_no_memory(l);
}

// lowering_number_hosts numbers the hosts of the ranks. A rank whose host the trace does
// not name gets a number of its own. Where all ranks ran on one host, the hosts are
// ignored: the replay places one rank per node, so messages between them do cross the
// network.
static int lowering_number_hosts(struct tb_lowering *l)
{
	size_t n = 0;
	uint32_t number = 0;
	struct host_of_rank *named = malloc(l->n_ranks * sizeof *named);
	if (!named)
		return tb_lowering_no_memory(l);
	for (uint32_t r = 0; r < l->n_ranks; r++)
		if (tb_calls_host_of(l->calls, r))
			named[n++] =
				(struct host_of_rank){tb_calls_host_of(l->calls, r), r};
	qsort(named, n, sizeof *named, rank_by_host);
	// Whether all ranks ran on one host.
	bool known = n > 0 &&
		     !(n == l->n_ranks && strcmp(named[0].host, named[n - 1].host) == 0);
	if (known)
		l->hosts = malloc(l->n_ranks * sizeof *l->hosts);
	int status = !known || l->hosts ? TB_OK : tb_lowering_no_memory(l);
	for (uint32_t r = 0; r < l->n_ranks && l->hosts; r++)
		if (!tb_calls_host_of(l->calls, r))
			l->hosts[r] = number++;
	for (size_t i = 0; i < n && l->hosts; i++) {
		number += i > 0 && strcmp(named[i - 1].host, named[i].host) != 0;
		l->hosts[named[i].rank] = number;
	}
	free(named);
	return status;
}

static int lowering_begin_rank(struct tb_lowering *l, uint32_t r)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	rank->calls = tb_calls_of(l->calls, r, &rank->n);
	rank->edges = malloc(((size_t)rank->n + 1) * sizeof *rank->edges);
	rank->lowered = calloc(rank->n / 8 + 1, 1);
	rank->awaited = calloc(rank->n / 8 + 1, 1);
	if (!rank->edges || !rank->lowered || !rank->awaited)
		return tb_lowering_no_memory(l);
	memset(rank->edges, 0xff, ((size_t)rank->n + 1) * sizeof *rank->edges);
	return TB_OK;
}

static int lowering_begin(struct tb_lowering *l)
{
	l->n_ranks = tb_calls_n_ranks(l->calls);
	l->ranks = calloc(l->n_ranks, sizeof *l->ranks);
	if (!l->ranks)
		return tb_lowering_no_memory(l);
	// The front has room for an edge from the beginning: tb_front_set cannot fail.
	if (TB_ARRAY_RESERVE(&l->front, &l->front_room, 1) != TB_OK)
		return tb_lowering_no_memory(l);
	int status = l->reading->per_node ? deal_hosts(l, l->reading->per_node)
					  : lowering_number_hosts(l);
	for (uint32_t r = 0; r < l->n_ranks && status == TB_OK; r++)
		status = lowering_begin_rank(l, r);
	return status == TB_OK ? tb_job_builder_new(&l->builder, l->n_ranks, l->error)
			       : status;
}

// lowering_end frees all but the builder: checking the job takes memory, too.
static void lowering_end(struct tb_lowering *l)
{
	for (uint32_t r = 0; l->ranks && r < l->n_ranks; r++) {
		struct tb_lowered_rank *rank = &l->ranks[r];
		free(rank->edges);
		free(rank->lowered);
		free(rank->awaited);
		free(rank->next);
		free(rank->waiters);
		free(rank->lanes);
		free(rank->timed);
		free(rank->algorithms);
	}
	for (uint32_t g = 0; l->groups && g < tb_calls_n_groups(l->calls); g++) {
		for (size_t i = 0; i < l->groups[g].n; i++)
			free(l->groups[g].instances[i].arrivals);
		free(l->groups[g].instances);
		free(l->groups[g].n_made);
	}
	free(l->ranks);
	free(l->groups);
	free(l->hosts);
	free(l->front);
	free(l->work);
	free(l->uses);
	tb_lowering_free_kept(l);
	tb_map_fini(&l->tags);
	tb_map_fini(&l->places);
}

// name_hosts gives the job the names of its hosts.
static int name_hosts(struct tb_job *job, const struct tb_calls *calls)
{
	for (uint32_t r = 0; r < job->n_ranks; r++) {
		const char *host = tb_calls_host_of(calls, r);
		if (!host)
			continue;
		if (!job->hosts)
			job->hosts = calloc(job->n_ranks, sizeof *job->hosts);
		if (!job->hosts || !(job->hosts[r] = strdup(host)))
			return TB_ENOMEM;
	}
	return TB_OK;
}

static int lowering_finish(
	struct tb_lowering *l, const char *name, char *notes, struct tb_job **job)
{
	struct tb_job *made = NULL;
	int status = tb_job_finish(l->builder, name, &made, l->error);
	if (status == TB_OK && name_hosts(made, l->calls) != TB_OK)
		status = tb_lowering_no_memory(l);
	if (status != TB_OK) {
		free(notes);
		tb_job_free(made);
		return status;
	}
	made->notes = notes;
	*job = made;
	return TB_OK;
}

// lowering_hand_over gives the job what is kept of its calls; either may be NULL.
static void lowering_hand_over(struct tb_job *job, struct tb_recorded_calls *timed,
	struct tb_placed_calls *placed)
{
	if (timed)
		tb_timing_number(timed, job);
	if (placed)
		tb_placing_number(placed, job);
	job->recorded = timed;
	job->placed = placed;
}

// attempt makes the job; `eager`: without rendezvous.
static int attempt(struct tb_lowering *l, const char *name, const char *made, bool eager,
	struct tb_job **job)
{
	char *notes = NULL;
	struct tb_recorded_calls *timed = NULL;
	struct tb_placed_calls *placed = NULL;
	int status = TB_OK;
	const char *named = l->reading->library;
	// Where we do not know the library that made the trace, the default takes its
	// place.
	if (named || !made || tb_library_find(&l->library, made, NULL) != TB_OK) {
		l->unknown_library = named ? NULL : made;
		status = tb_library_find(&l->library, named, l->error);
	}
	for (size_t i = 0; i < l->reading->n_collectives && status == TB_OK; i++)
		status = tb_collective_choices_add(
			&l->choices, l->reading->collectives[i], l->error);
	if (status == TB_OK)
		l->eager_bytes = tb_library_eager_bytes(l->library);
	l->is_eager = eager;
	if (eager)
		l->eager_bytes = UINT64_MAX;
	if (status == TB_OK)
		status = lowering_begin(l);
	if (status == TB_OK)
		status = tb_lowering_match(l);
	if (status == TB_OK)
		status = tb_lowering_collect(l);
	if (status == TB_OK)
		status = tb_timing_init(l);
	if (status == TB_OK)
		status = tb_lowering_run(l);
	if (status == TB_OK && (tb_timing_take(l, &timed) != TB_OK ||
				       tb_placing_take(l, &placed) != TB_OK))
		status = tb_lowering_no_memory(l);
	if (status == TB_OK && tb_lowering_notes(l, timed, &notes) != TB_OK)
		status = tb_lowering_no_memory(l);
	lowering_end(l);
	if (status == TB_OK)
		status = lowering_finish(l, name, notes, job);
	if (status == TB_OK)
		lowering_hand_over(*job, timed, placed);
	else {
		tb_recorded_calls_free(timed);
		tb_placed_calls_free(placed);
	}
	tb_job_builder_free(l->builder);
	return status;
}

// blame_early adds to the error about calls that do not match that some ranks ended
// early, which explains it.
static void blame_early(const struct tb_calls *calls, struct tb_error *error)
{
	char more[32] = "", text[sizeof error->text];
	uint32_t first, n = tb_calls_n_early(calls, &first);
	if (n == 0 || error->code != TB_EFORMAT)
		return;
	if (n > 1)
		snprintf(more, sizeof more, " and %" PRIu32 " more", n - 1);
	memcpy(text, error->text, sizeof text);
	(void)tb_fail(error, TB_EFORMAT, "rank %" PRIu32 "%s ended early: %s", first,
		more, text);
}

int tb_calls_job(const struct tb_calls *calls, const char *name, const char *made,
	const struct tb_reading *reading, struct tb_job **job, struct tb_error *error)
{
	static const struct tb_reading defaults;
	struct tb_error found = {0};
	const struct tb_lowering fresh = {.calls = calls,
		.reading = reading ? reading : &defaults,
		.error = &found};
	struct tb_lowering l = fresh;
	int status = attempt(&l, name, made, false, job);
	if (status == TB_EDEADLOCK && l.eager_bytes != UINT64_MAX) {
		// The ranks came to the end of their calls, so the library had room for
		// what they sent.
		struct tb_error again = {0};
		l = fresh;
		l.error = &again;
		int eager = attempt(&l, name, made, true, job);
		if (eager == TB_OK)
			return TB_OK;
		// An interrupt or a lack of memory is not a deadlock: report it as it
		// is.
		if (eager != TB_EDEADLOCK) {
			status = eager;
			found = again;
		}
	}
	if (status != TB_OK && error) {
		blame_early(calls, &found);
		*error = found;
		// The error names the trace, not the job made from it.
		if (status != TB_EUSAGE && !found.file[0])
			(void)tb_fail_in(error, found.code, name, "%s", found.text);
	}
	return status;
}
