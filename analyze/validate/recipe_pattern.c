// Saturated patterns on a 4-ary 3-tree, as BookSim2 was asked: docs/validation.md.
#include "experiment.h"
#include "network_open.h"
#include "recipe_impl.h"

#include <math.h>

enum { N_NODES = 64, PACKET_BYTES = 65 * 64 };

int tb_recipe_pattern(
	double *share, const char *pattern, const char *network, struct tb_error *error)
{
	const struct tb_experiment experiment = {.name = pattern,
		.kind = TB_EXPERIMENT_PATTERN,
		.n_nodes = N_NODES,
		.n_active = N_NODES,
		.pattern = pattern,
		.message_bytes = PACKET_BYTES,
		.sizes = TB_SIZES_FIXED,
		.warm_us = 200,
		.window_us = 800};
	const struct tb_experiment_options options = {.seed = 1};
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_outcome *outcome = NULL;
	int status = tb_network_open_params(&params, NULL, network, error);
	if (status == TB_OK)
		status =
			tb_experiment_network(&net, &experiment, &params, network, error);
	if (status == TB_OK)
		status = tb_experiment_run(&outcome, &experiment, net, &options, error);
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; status == TB_OK && i < outcome->n_nodes; i++)
		if (outcome->nodes[i].role == TB_ROLE_SENDER) {
			sum += outcome->nodes[i].sent_bps;
			n++;
		}
	if (status == TB_OK)
		*share = n ? sum / n / (double)params.link_bytes_per_s : NAN;
	tb_outcome_free(outcome);
	tb_network_free(net);
	return status;
}
