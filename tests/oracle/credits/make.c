// The life of an oracle's networks with credits.
#include "credit_params.h"
#include "credits.h"

#include <stdlib.h>

enum { BEFORE_ALL = -1 }; // an instant

static void make_lane(struct lane *lane, const struct tb_link_info *info, uint32_t ports)
{
	lane->n_blocks = lane->n_free = info->fifo_bytes / BLOCK_BYTES;
	lane->blocks = oracle_zeroed(lane->n_blocks, sizeof(struct packet *));
	lane->known_at = lane->leaver.at = BEFORE_ALL;
	lane->left = oracle_zeroed(ports, sizeof *lane->left);
	for (uint32_t i = 0; i < ports; i++)
		lane->left[i].at = BEFORE_ALL;
}

static uint32_t most_ports(const struct tb_network *net)
{
	uint32_t most = 1;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		if (net->first_out[sw + 1] - net->first_out[sw] > most)
			most = net->first_out[sw + 1] - net->first_out[sw];
	return most;
}

static void make_lines(struct oracle *oracle)
{
	const struct tb_network *net = oracle->net;
	struct credits *credits = oracle->credits;
	uint32_t ports = most_ports(net);
	credits->lines = oracle_zeroed(net->n_links, sizeof *credits->lines);
	for (uint32_t i = 0; i < net->n_links; i++) {
		struct line *line = &credits->lines[i];
		line->lanes = oracle_zeroed(credits->n_vls, sizeof *line->lanes);
		for (uint32_t v = 0; v < credits->n_vls; v++)
			make_lane(&line->lanes[v], &net->links[i], ports);
		if (credits->high.n)
			line->high.weight_left = credits->high.at[0].weight;
		if (credits->low.n)
			line->low.weight_left = credits->low.at[0].weight;
	}
}

static void make_adapters(struct oracle *oracle)
{
	uint64_t rate = oracle->credits->params->pcie_bytes_per_s;
	uint32_t n = oracle->net->n_nodes;
	oracle->credits->adapters = oracle_zeroed(n, sizeof(struct adapter));
	for (uint32_t i = 0; i < n; i++) {
		struct adapter *adapter = &oracle->credits->adapters[i];
		const uint64_t *drains = oracle->net->drains;
		adapter->byte_q20[OUT] = byte_time(rate);
		adapter->byte_q20[IN] = byte_time(drains && drains[i] ? drains[i] : rate);
	}
}

void credits_make(struct oracle *oracle)
{
	const struct tb_network_params *params = &oracle->net->params;
	struct credits *credits = oracle_zeroed(1, sizeof *credits);
	oracle->credits = credits;
	credits->params = tb_credit_params(params);
	credits->n_vls = params->n_vcs;
	if (tb_vl_table_read(&credits->high, tb_credit_params(params)->vl_high,
		    params->n_vcs, false) != TB_OK ||
		tb_vl_table_read(&credits->low, tb_credit_params(params)->vl_low,
			params->n_vcs, true) != TB_OK ||
		tb_sl_to_vl_read(credits->vl_of, tb_credit_params(params)->sl_to_vl,
			params->n_vcs) != TB_OK)
		oracle_fail(
			oracle, TB_EUSAGE, "the oracle cannot read its lanes' tables");
	make_lines(oracle);
	make_adapters(oracle);
	credits->crossbars =
		oracle_zeroed(oracle->net->n_switches, sizeof *credits->crossbars);
	credits->now.ids = oracle_zeroed(oracle->net->n_switches, sizeof(uint32_t));
}

static void unmake_line(const struct line *line, uint32_t n_vls)
{
	for (uint32_t v = 0; v < n_vls; v++) {
		free(line->lanes[v].known.list);
		free(line->lanes[v].blocks);
		free(line->lanes[v].queue);
		free(line->lanes[v].left);
	}
	free(line->lanes);
}

void credits_unmake(struct oracle *oracle)
{
	struct credits *credits = oracle->credits;
	if (!credits)
		return;
	for (uint32_t i = 0; i < oracle->net->n_links; i++)
		unmake_line(&credits->lines[i], credits->n_vls);
	for (uint32_t i = 0; i < oracle->net->n_switches; i++)
		free(credits->crossbars[i].came);
	for (uint32_t i = 0; i < oracle->net->n_nodes; i++) {
		free(credits->adapters[i].pairs);
		free(credits->adapters[i].begun);
		free(credits->adapters[i].sent);
	}
	free(credits->lines);
	free(credits->crossbars);
	free(credits->adapters);
	free(credits->paces);
	free(credits->updates.list);
	free(credits->now.ids);
	free(credits);
}
