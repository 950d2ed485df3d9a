#include "network_params.h"

#include "circuit_params.h"
#include "credit_params.h"
#include "ethernet_params.h"

#include <stddef.h>

const char *const tb_ascent_words[] = {
	[TB_ASCENT_ADAPTIVE] = "adaptive",
	[TB_ASCENT_ADAPTIVE_LOWEST] = "adaptive-lowest",
	[TB_ASCENT_ADAPTIVE_ROUND_ROBIN] = "adaptive-round-robin",
	[TB_ASCENT_DETERMINISTIC] = "deterministic",
	[TB_ASCENT_SOURCE] = "source",
	[TB_ASCENT_RANDOM] = "random",
	[TB_ASCENT_ECMP] = "ecmp",
	[TB_ASCENT_TABLE] = "table",
	NULL,
};

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
	link = lower_rate(link, tb_circuit_bus_rate(params, false));
	return lower_rate(lower_rate(link, tb_circuit_bus_rate(params, true)),
		tb_credit_params(params)->pcie_bytes_per_s);
}

const char *const tb_tcp_words[] = {
	[TB_TCP_CUBIC] = "cubic",
	[TB_TCP_RENO] = "reno",
	[TB_TCP_BBR] = "bbr",
	NULL,
};

const char *const tb_handshake_words[] = {
	[TB_HANDSHAKE_NONE] = "none",
	[TB_HANDSHAKE_READ] = "read",
	[TB_HANDSHAKE_RENDEZVOUS] = "rendezvous",
	NULL,
};

const char *const tb_local_words[] = {
	[TB_LOCAL_NETWORK] = "network",
	[TB_LOCAL_MEMORY] = "memory",
	[TB_LOCAL_LINKS] = "links",
	NULL,
};

const char *const tb_rails_policy_words[] = {
	[TB_RAILS_STRIPING] = "striping",
	[TB_RAILS_ROUND_ROBIN] = "round-robin",
	[TB_RAILS_STATIC] = "static",
	[TB_RAILS_LOCAL] = "local",
	[TB_RAILS_RESERVE] = "reserve",
	[TB_RAILS_BY_RANK] = "by-rank",
	NULL,
};

const char *const tb_between_rails_words[] = {
	[TB_BETWEEN_PXN] = "pxn",
	[TB_BETWEEN_SPINE] = "spine",
	NULL,
};

bool tb_host_does_nothing(const struct tb_host_params *host)
{
	return !host->launch_ps && !host->channel_bytes_per_s && !host->issue_ps &&
	       !host->notice_ps && !host->wake_ps && !host->copy_bytes_per_s &&
	       !host->eager_copy_bytes_per_s && !host->largest_bytes &&
	       !host->n_outstanding && host->handshake == TB_HANDSHAKE_NONE &&
	       host->local == TB_LOCAL_NETWORK && host->rails_policy != TB_RAILS_RESERVE;
}
