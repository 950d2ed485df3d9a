// The hosts whose traffic is looked at: all of a network, or some.
#ifndef TB_FABRIC_HOSTS_H
#define TB_FABRIC_HOSTS_H

#include "network.h"

// A zeroed struct stands for all hosts.
struct tb_fabric_hosts {
	uint32_t *of; // in order, the nodes of the first rail; NULL: all
	uint32_t n;
	bool *is_in;	  // by host
	bool *rail_is_in; // by rail; NULL: all
	uint32_t n_rails; // those
};

// tb_fabric_hosts_init takes the hosts of `n` nodes, each once and in their order, on the
// rails of these; n = 0: all but routers and gateways, which send nothing. TB_EUSAGE when
// fewer than two are left, or hosts have nodes on different rails; TB_ENOMEM.
int tb_fabric_hosts_init(struct tb_fabric_hosts *hosts, const struct tb_network *network,
	const uint32_t *nodes, uint32_t n, struct tb_error *error) TB_MUST_USE;
void tb_fabric_hosts_fini(struct tb_fabric_hosts *hosts);

static inline uint32_t tb_fabric_hosts_n(
	const struct tb_fabric_hosts *hosts, const struct tb_network *network)
{
	return hosts->of ? hosts->n : tb_network_n_hosts(network);
}

static inline uint32_t tb_fabric_hosts_at(const struct tb_fabric_hosts *hosts, uint32_t i)
{
	return hosts->of ? hosts->of[i] : i;
}

static inline uint32_t tb_fabric_hosts_n_rails(
	const struct tb_fabric_hosts *hosts, const struct tb_network *network)
{
	return hosts->rail_is_in ? hosts->n_rails : tb_network_n_rails(network);
}

static inline bool tb_fabric_hosts_uses(
	const struct tb_fabric_hosts *hosts, uint32_t rail)
{
	return !hosts->rail_is_in || hosts->rail_is_in[rail];
}

static inline bool tb_fabric_hosts_has(const struct tb_fabric_hosts *hosts, uint32_t host)
{
	return !hosts->of || hosts->is_in[host];
}

#endif
