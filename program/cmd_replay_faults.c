// tailback replay: what is dead, and what could not be delivered for it.
#include "cmd_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of so many flows the warning tells the names.
enum { NAMED_MOST = 4 };

int replay_take_faults(struct run *run)
{
	const struct replay_options *options = run->options;
	if (options->n_faults == 0 && !options->fault_file)
		return TB_OK;
	int status = tb_faults_new(&run->faults, run->network, &run->error);
	for (size_t i = 0; i < options->n_faults && status == TB_OK; i++)
		status = tb_faults_add(run->faults, options->faults[i], &run->error);
	if (status == TB_OK && options->fault_file)
		status = tb_faults_read(run->faults, options->fault_file, &run->error);
	return status == TB_OK ? tb_faults_check(run->faults, &run->error) : status;
}

static int on_start(void *context, tb_time_ps bin_ps)
{
	const struct tb_observer *of_store = &((struct run *)context)->of_store;
	return of_store->start(of_store->context, bin_ps);
}

static int on_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	const struct tb_observer *of_store = &((struct run *)context)->of_store;
	return of_store->bin(of_store->context, bin, samples, n);
}

static int on_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	const struct tb_observer *of_store = &((struct run *)context)->of_store;
	return of_store->flows(of_store->context, samples, n);
}

static int on_blame(void *context, const struct tb_blame_sample *samples, size_t n)
{
	const struct tb_observer *of_store = &((struct run *)context)->of_store;
	return of_store->blame(of_store->context, samples, n);
}

static int on_trees(
	void *context, tb_time_ps bin_ps, const struct tb_tree_sample *samples, size_t n)
{
	const struct tb_observer *of_store = &((struct run *)context)->of_store;
	return of_store->trees(of_store->context, bin_ps, samples, n);
}

// on_undelivered keeps the rows for the warning.
static int on_undelivered(
	void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct run *run = context;
	run->undelivered = malloc((n + 1) * sizeof *samples);
	if (!run->undelivered)
		return TB_ENOMEM;
	memcpy(run->undelivered, samples, n * sizeof *samples);
	run->n_undelivered = n;
	return run->of_store.undelivered(run->of_store.context, samples, n);
}

struct tb_observer replay_observer(struct run *run)
{
	run->of_store = tb_store_observer(run->store);
	return (struct tb_observer){.context = run,
		.start = on_start,
		.bin = on_bin,
		.flows = on_flows,
		.blame = on_blame,
		.trees = on_trees,
		.undelivered = on_undelivered};
}

static void print_flow(const struct run *run, const struct tb_undelivered_sample *at)
{
	char dead[64];
	fprintf(stderr, "  node %u > node %u: %" PRIu64 ", ", at->source.id,
		at->destination.id, at->n_messages);
	if (at->dead.id == TB_ID_NONE)
		fputs("no way is left\n", stderr);
	else
		fprintf(stderr, "%s is dead\n",
			tb_names_link(run->network, at->dead, dead, sizeof dead));
}

static void print_waiting(const struct run *run)
{
	char count[48];
	for (uint32_t i = 0; i < tb_workload_n_inputs(run->workload); i++) {
		uint64_t n = tb_workload_n_waiting(run->workload, i);
		if (n)
			fprintf(stderr,
				"tailback: warning: %s: %s of it never ran, waiting for "
				"what was not delivered\n",
				tb_workload_input(run->workload, i).name,
				tb_format_counted(n, "operation", count, sizeof count));
	}
}

void replay_warn_of_faults(const struct run *run)
{
	struct tb_engine_stats stats = tb_engine_stats(run->engine);
	char count[48];
	if (stats.n_undelivered == 0)
		return;
	fprintf(stderr, "tailback: warning: %s not delivered, source and destination:\n",
		tb_format_counted(stats.n_undelivered, "message was|messages were", count,
			sizeof count));
	for (size_t i = 0; i < run->n_undelivered && i < NAMED_MOST; i++)
		print_flow(run, &run->undelivered[i]);
	if (run->n_undelivered > NAMED_MOST)
		fprintf(stderr, "  and %s: see the view 'undelivered' of the store\n",
			tb_format_counted(run->n_undelivered - NAMED_MOST,
				"flow more|flows more", count, sizeof count));
	if (!run->stopped)
		print_waiting(run);
}
