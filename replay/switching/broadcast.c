// The branches of a broadcast, found by the routes to its receivers.
#include "broadcast.h"

uint32_t tb_broadcast_end(
	const struct tb_network *network, const struct tb_message *message)
{
	uint32_t source = message->source.id, first = message->destination.id;
	uint32_t last = first + message->n_receivers - 1;
	uint32_t to_first = tb_network_ascending(network, source, first);
	bool last_is_further = tb_network_ascending(network, source, last) >= to_first;
	return last_is_further && last != source ? last : first;
}

static uint32_t broadcast_link_at(const struct tb_network *network, uint32_t node,
	uint32_t apex, uint32_t ascending, uint32_t depth)
{
	uint32_t link = tb_network_route(network, apex, node, ascending, ascending);
	for (uint32_t i = 1; i <= depth; i++)
		link = tb_network_route(
			network, network->links[link].to, node, ascending + i, ascending);
	return link;
}

// Nodes of a contiguous range that share a link follow each other.
uint32_t tb_broadcast_links(const struct tb_network *network,
	const struct tb_message *message, uint32_t apex, uint32_t ascending,
	uint32_t depth, uint32_t *links)
{
	uint32_t n = 0, first = message->destination.id;
	for (uint32_t node = first; node < first + message->n_receivers; node++) {
		uint32_t link = broadcast_link_at(network, node, apex, ascending, depth);
		if (n == 0 || links[n - 1] != link)
			links[n++] = link;
	}
	return n;
}

const char *tb_broadcast_refusal(const struct tb_network *network,
	const struct tb_message *message, bool with_faults)
{
	if (with_faults)
		return "a broadcast cannot be replayed on a network with faults";
	if (!network->regular || network->n_rails > 1)
		return "a broadcast can be replayed on a k-ary n-tree of one rail only";
	if (message->destination.id >= network->n_nodes ||
		message->n_receivers > network->n_nodes - message->destination.id)
		return "a broadcast names nodes that the network does not have";
	return NULL;
}
