// Experiments by name, their descriptions, and whether changed settings are valid.
#include "experiment.h"
#include "timed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct tb_experiment *tb_experiment_find(const char *name)
{
	for (const struct tb_experiment *e = tb_experiments; e->name; e++)
		if (strcmp(e->name, name) == 0)
			return e;
	return NULL;
}

const char *tb_experiment_hint(struct tb_hint *hint, const char *name)
{
	size_t n = 0;
	while (tb_experiments[n].name)
		n++;
	return tb_hint_near(hint, name, &tb_experiments->name, n, sizeof *tb_experiments);
}

static void describe_mix(const struct tb_experiment *experiment, char *text, size_t size)
{
	const char *half = experiment->compute_last ? "last" : "first";
	const char *place =
		experiment->place == TB_IO_CLUSTERED ? "clustered" : "distributed";
	const char *mapping = experiment->dedicated ? "dedicated" : "shared";
	if (experiment->io_load > 0)
		snprintf(text, size,
			"uniform traffic on the %s half beside an I/O job of load %g to "
			"%" PRIu32 " %s I/O nodes, %s",
			half, experiment->io_load, experiment->n_io, place, mapping);
	else
		snprintf(text, size,
			"uniform traffic on the %s half, alone; %" PRIu32
			" %s I/O nodes, %s",
			half, experiment->n_io, place, mapping);
}

static void describe_timed(
	const struct tb_experiment *experiment, char *text, size_t size)
{
	const struct tb_timed *timed = experiment->timed;
	if (timed->collective)
		snprintf(text, size, "%s, %s, by %" PRIu32 " port%s on %s",
			timed->collective, timed->algorithm, timed->n_ports,
			timed->n_ports == 1 ? "" : "s", timed->network);
	else
		snprintf(text, size, "%s by %" PRIu32 " servers on %s", timed->benchmark,
			experiment->n_io, timed->network);
}

void tb_experiment_describe(
	const struct tb_experiment *experiment, char *text, size_t size)
{
	switch (experiment->kind) {
	case TB_EXPERIMENT_PING:
		snprintf(text, size, "node 0 to the last node");
		break;
	case TB_EXPERIMENT_BOTH_WAYS:
		snprintf(text, size, "node 0 to the last node, and back");
		break;
	case TB_EXPERIMENT_LATENCY:
		snprintf(text, size, "one message from node 0 to the last node");
		break;
	case TB_EXPERIMENT_PATTERN:
		snprintf(text, size, "%s traffic of all nodes", experiment->pattern);
		break;
	case TB_EXPERIMENT_HOT:
		snprintf(text, size, "all nodes %s node 0",
			experiment->reads > 0 ? "read from" : "write to");
		break;
	case TB_EXPERIMENT_IO: {
		snprintf(text, size, "%s to %s %" PRIu32 " %s I/O nodes, which %s",
			experiment->dedicated ? "all other nodes" : "all nodes",
			experiment->deterministic ? "a fixed one of" : "random ones of",
			experiment->n_io,
			experiment->place == TB_IO_CLUSTERED ? "clustered"
							     : "distributed",
			experiment->dedicated ? "only serve" : "send too");
	} break;
	case TB_EXPERIMENT_MIX:
		describe_mix(experiment, text, size);
		break;
	case TB_EXPERIMENT_TIMED:
		describe_timed(experiment, text, size);
		break;
	}
}

// check_io checks that the number of I/O nodes fits the number of nodes.
static int check_io(const struct tb_experiment *experiment, struct tb_error *error)
{
	uint32_t n = experiment->n_active, n_io = experiment->n_io;
	if (n_io < 2 || n_io > n / 2)
		return tb_fail(error, TB_EUSAGE,
			"%" PRIu32 " I/O nodes of %" PRIu32
			": expected 2 to half of the nodes",
			n_io, n);
	if (experiment->kind == TB_EXPERIMENT_MIX && (n % 4 || n_io % 2))
		return tb_fail(error, TB_EUSAGE,
			"%" PRIu32 " nodes with %" PRIu32
			" I/O nodes: two jobs on half of the nodes each need a multiple "
			"of 4 nodes and an even number of I/O nodes",
			n, n_io);
	return TB_OK;
}

static int check_traffic(const struct tb_experiment *experiment, struct tb_error *error)
{
	bool drawn = experiment->sizes != TB_SIZES_FIXED || experiment->load > 0;
	if (experiment->n_active < 2 || experiment->n_active > TB_RANKS_MAX)
		return tb_fail(error, TB_EUSAGE,
			"an experiment needs 2 to %" PRIu32 " nodes, not %" PRIu32,
			TB_RANKS_MAX, experiment->n_active);
	if (experiment->message_bytes == 0 && drawn)
		return tb_fail(error, TB_EUSAGE,
			"messages of 0 bytes have neither load nor distribution");
	if (experiment->kind == TB_EXPERIMENT_LATENCY)
		return TB_OK;
	if (experiment->warm_us == 0 || experiment->window_us < experiment->warm_us)
		return tb_fail(error, TB_EUSAGE,
			"a window of %" PRIu32 " us after a warm-up of %" PRIu32
			" us: expected a warm-up, and a window that is as long or longer",
			experiment->window_us, experiment->warm_us);
	return TB_OK;
}

int tb_experiment_check(const struct tb_experiment *experiment, struct tb_error *error)
{
	// Everything else is checked by what makes the job.
	if (experiment->timed)
		return experiment->n_active < (experiment->timed->collective ? 2 : 1)
			       ? tb_fail(error, TB_EUSAGE, "a job needs more processes")
			       : TB_OK;
	int status = check_traffic(experiment, error);
	if (status == TB_OK && experiment->kind == TB_EXPERIMENT_PATTERN) {
		struct tb_synth_options options = {.n_nodes = experiment->n_active};
		status = tb_synth_pattern_find(
			&options.pattern, experiment->pattern, error);
		if (status == TB_OK)
			status = tb_synth_check_nodes(&options, error);
	}
	if (status == TB_OK && (experiment->kind == TB_EXPERIMENT_IO ||
				       experiment->kind == TB_EXPERIMENT_MIX))
		status = check_io(experiment, error);
	return status;
}
