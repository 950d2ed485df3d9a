#include "network_params.h"

static const char *const ascents[] = {
	[TB_ASCENT_ADAPTIVE] = "adaptive",
	[TB_ASCENT_ADAPTIVE_LOWEST] = "adaptive-lowest",
	[TB_ASCENT_ADAPTIVE_ROUND_ROBIN] = "adaptive-round-robin",
	[TB_ASCENT_DETERMINISTIC] = "deterministic",
	[TB_ASCENT_SOURCE] = "source",
	[TB_ASCENT_RANDOM] = "random",
	[TB_ASCENT_ECMP] = "ecmp",
	[TB_ASCENT_TABLE] = "table",
};

const char *tb_ascent_name(enum tb_ascent ascent)
{
	return ascents[ascent];
}

static uint64_t lower_rate(uint64_t rate, uint64_t limit)
{
	return limit > 0 && limit < rate ? limit : rate;
}

uint64_t tb_network_payload_rate(const struct tb_network_params *params)
{
	double payload = params->packet_payload_bytes;
	double wire = payload + params->packet_overhead_bytes;
	double rate = (double)params->link_bytes_per_s * payload / wire;
	uint64_t link = rate < 1 ? 1 : (uint64_t)rate;
	return lower_rate(lower_rate(link, params->bus_bytes_per_s),
		params->credits.pcie_bytes_per_s);
}
