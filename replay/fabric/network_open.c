#include "network_open.h"

#include "fabric_file.h"
#include "network_impl.h"

int tb_network_open(struct tb_network **network,
	const struct tb_network_description *description, struct tb_error *error)
{
	struct tb_network_params read;
	const struct tb_network_params *params = description->params;
	if (!params) {
		int status = tb_fabric_file_open(
			network, description->name, description->stop, error);
		if (status != TB_EFOREIGN)
			return status;
		status = tb_network_preset(&read, description->name, error);
		if (status != TB_OK)
			return status;
		params = &read;
	}
	bool is_kary = !params->shape[0] && !params->level_rates[0] &&
		       !params->level_latencies[0];
	return (is_kary ? tb_network_kary_ntree : tb_network_regular_tree)(
		network, params, description->n_nodes, description->stop, error);
}

int tb_network_open_params(
	struct tb_network_params *params, const char *name, struct tb_error *error)
{
	struct tb_network *fabric = NULL;
	int status = tb_fabric_file_open(&fabric, name, NULL, error);
	if (status == TB_EFOREIGN)
		return tb_network_preset(params, name, error);
	if (status == TB_OK)
		*params = *tb_network_params(fabric);
	tb_network_free(fabric);
	return status;
}
