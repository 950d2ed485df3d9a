#include "network_open.h"

#include "fabric_file.h"
#include "network_impl.h"
#include "preset.h"
#include "switchings.h"

#include <stdio.h>
#include <string.h>

static int network_build_tree(struct tb_network **network,
	const struct tb_network_description *description, struct tb_error *error)
{
	struct tb_network_params read;
	const struct tb_network_params *params = description->params;
	if (!params || strcmp(params->shape, TB_SHAPE_FABRIC) == 0) {
		int status = tb_fabric_file_open(network, description, error);
		if (status != TB_EFOREIGN)
			return status;
		status = tb_network_preset(&read, description->name, error);
		if (status != TB_OK)
			return status;
		params = &read;
	}
	if (params->n_rails > 1 && params->host.rails_policy == TB_RAILS_BY_RANK &&
		params->host.between_rails == TB_BETWEEN_SPINE)
		return tb_fail(error, TB_EUSAGE,
			"%s: between_rails = spine needs switches that join the rails, "
			"as those of a fabric file do; here each rail is a network by "
			"itself",
			params->name);
	bool is_kary = !params->shape[0] && !params->level_rates[0] &&
		       !params->level_latencies[0];
	return (is_kary ? tb_network_kary_ntree : tb_network_regular_tree)(
		network, params, description->n_nodes, description->stop, error);
}

int tb_network_open(struct tb_network **network,
	const struct tb_network_description *description, struct tb_error *error)
{
	struct tb_network *made = NULL;
	int status = network_build_tree(&made, description, error);
	if (status == TB_OK) {
		// Has the network say what its switching leaves out of the one
		// for which it stands.
		const struct tb_network_params *params = &made->params;
		const struct tb_switching_kind *nodes = tb_switching_nodes(params);
		char text[280], window[80] = "", from[24], to[24];
		if (nodes != tb_switching_of(params)) {
			if (params->exact_to_ps)
				snprintf(window, sizeof window, " but from %s to %s",
					tb_format_time(
						params->exact_from_ps, from, sizeof from),
					tb_format_time(
						params->exact_to_ps, to, sizeof to));
			snprintf(text, sizeof text,
				"switching = %s%s leaves out of %s: %s",
				params->switching, window, nodes->name, nodes->left_out);
			status = tb_network_add_remark(made, text) == TB_OK
					 ? TB_OK
					 : tb_fail_memory(error, "the network");
		}
	}
	if (status == TB_OK)
		*network = made;
	else
		tb_network_free(made);
	return status;
}

// preset_params reads a preset, of which a shape alone says how many nodes it has.
static int preset_params(struct tb_network_params *params, uint32_t *n_hosts,
	const char *name, struct tb_error *error)
{
	struct tb_shape shape = {0};
	int status = tb_network_preset(params, name, error);
	if (status != TB_OK)
		return status;
	if (params->shape[0])
		status = tb_shape_parse(&shape, params->shape, error);
	*n_hosts = params->shape[0] && status == TB_OK ? tb_shape_n_nodes(&shape) : 0;
	return status;
}

int tb_network_open_params(struct tb_network_params *params, uint32_t *n_hosts,
	const char *name, struct tb_error *error)
{
	struct tb_network *fabric = NULL;
	uint32_t unasked;
	int status = tb_fabric_file_open(&fabric,
		&(struct tb_network_description){.name = name, .leaves_out_routes = true},
		error);
	if (status == TB_EFOREIGN)
		return preset_params(params, n_hosts ? n_hosts : &unasked, name, error);
	if (status == TB_OK) {
		*params = *tb_network_params(fabric);
		*(n_hosts ? n_hosts : &unasked) = tb_network_n_hosts(fabric);
	}
	tb_network_free(fabric);
	return status;
}
