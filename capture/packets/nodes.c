#include "nodes.h"

#include "address.h"
#include "array.h"
#include "map.h"

#include <stdlib.h>

void tb_endpoints_fini(struct tb_endpoints *endpoints)
{
	free(endpoints->addresses);
	free(endpoints->slots);
	*endpoints = (struct tb_endpoints){0};
}

// endpoint_slot returns the slot of the address, or the free one where it belongs.
// Multiplying by the golden ratio (Knuth, TAOCP volume 3, section 6.4) spreads
// consecutive addresses.
static uint32_t *endpoint_slot(
	const struct tb_endpoints *endpoints, const struct tb_address *address)
{
	uint64_t word = (address->high ^ address->kind) * UINT64_C(0xc2b2ae3d27d4eb4f);
	uint64_t hash = (address->low ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t mask = endpoints->n_slots - 1;
	for (uint32_t i = (uint32_t)(hash >> endpoints->hash_shift);;
		i = (i + 1) & mask) {
		uint32_t *slot = &endpoints->slots[i];
		if (*slot == 0 ||
			tb_address_equal(&endpoints->addresses[*slot - 1], address))
			return slot;
	}
}

bool tb_endpoints_find(const struct tb_endpoints *endpoints,
	const struct tb_address *address, uint32_t *number)
{
	if (endpoints->n == 0)
		return false;
	uint32_t slot = *endpoint_slot(endpoints, address);
	if (slot == 0)
		return false;
	*number = slot - 1;
	return true;
}

// grow_endpoints doubles both arrays. The slots stay at most a quarter full, so that most
// lookups find their address at once.
static int grow_endpoints(struct tb_endpoints *endpoints)
{
	uint32_t capacity = endpoints->capacity ? endpoints->capacity * 2 : 64;
	size_t room = endpoints->capacity;
	if (TB_ARRAY_RESERVE(&endpoints->addresses, &room, capacity) != TB_OK)
		return TB_ENOMEM;
	uint32_t *slots = calloc((size_t)capacity * 4, sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	free(endpoints->slots);
	endpoints->slots = slots;
	endpoints->n_slots = capacity * 4;
	endpoints->hash_shift = 64 - (uint32_t)__builtin_ctz(capacity * 4);
	endpoints->capacity = capacity;
	for (uint32_t i = 0; i < endpoints->n; i++)
		*endpoint_slot(endpoints, &endpoints->addresses[i]) = i + 1;
	return TB_OK;
}

int tb_endpoints_add(struct tb_endpoints *endpoints, const struct tb_address *address,
	uint32_t *number)
{
	if (tb_endpoints_find(endpoints, address, number))
		return TB_OK;
	if (endpoints->n == endpoints->capacity && grow_endpoints(endpoints) != TB_OK)
		return TB_ENOMEM;
	endpoints->addresses[endpoints->n] = *address;
	*number = endpoints->n++;
	*endpoint_slot(endpoints, address) = *number + 1;
	return TB_OK;
}

#define N_UNPLACED_NAMES 8
#define SQUARE_SIDE_MAX	 1024 // 4 MiB

#define FIRST_PAIR 3 // after the values of enum tb_pairing

#define NOT_MET	 UINT32_MAX
#define UNPLACED (UINT32_MAX - 1)

struct node_label {
	char text[TB_ADDRESS_TEXT_SIZE];
};

struct tb_nodes {
	const struct tb_endpoints *endpoints;
	const struct tb_map_file *map;
	uint32_t n_max;
	struct tb_packets_summary *summary;
	uint32_t *node_of; // by endpoint
	size_t node_of_room;
	struct node_label *names; // by node
	size_t names_room;
	struct node_label unplaced[N_UNPLACED_NAMES];
	// Two endpoints to a pairing: FIRST_PAIR + the number of a pair of nodes, or the
	// reason why there is none, or 0 if unknown. There is a lookup per packet. The
	// square serves the first endpoints, mostly all of them, at half the cost of the
	// map.
	uint32_t *square;
	uint32_t square_side;	  // a power of two
	struct tb_map pairing_of; // endpoints beyond the square
	struct tb_map pair_of;	  // two nodes to the number of their pair
	struct tb_packets_pair *pairs;
	size_t pairs_room;
};

int tb_nodes_new(struct tb_nodes **nodes, const struct tb_endpoints *endpoints,
	const struct tb_map_file *map, uint32_t n_max, struct tb_packets_summary *summary)
{
	struct tb_nodes *new = calloc(1, sizeof *new);
	if (!new)
		return TB_ENOMEM;
	new->endpoints = endpoints;
	new->map = map;
	new->n_max = n_max ? n_max : UNPLACED;
	new->summary = summary;
	*nodes = new;
	return TB_OK;
}

void tb_nodes_limit(struct tb_nodes *nodes, uint32_t n_max)
{
	nodes->n_max = n_max ? n_max : UNPLACED;
}

void tb_nodes_free(struct tb_nodes *nodes)
{
	if (!nodes)
		return;
	free(nodes->node_of);
	free(nodes->names);
	free(nodes->square);
	tb_map_fini(&nodes->pairing_of);
	tb_map_fini(&nodes->pair_of);
	free(nodes->pairs);
	free(nodes);
}

static bool choose_node(
	struct tb_nodes *nodes, const struct tb_address *address, struct tb_node *node)
{
	if (nodes->map)
		return tb_map_file_node(nodes->map, address, node) &&
		       node->id < nodes->n_max;
	node->id = nodes->summary->n_endpoints;
	return node->id < nodes->n_max;
}

static int name_node_by_address(
	struct tb_nodes *nodes, struct tb_node node, const struct tb_address *address)
{
	if (TB_ARRAY_RESERVE_ZEROED(
		    &nodes->names, &nodes->names_room, node.id + (size_t)1) != TB_OK)
		return TB_ENOMEM;
	char *text = nodes->names[node.id].text;
	if (!text[0]) // the first of several endpoints names the node
		tb_address_format(address, text, TB_ADDRESS_TEXT_SIZE);
	if (node.id >= nodes->summary->n_nodes)
		nodes->summary->n_nodes = node.id + 1;
	return TB_OK;
}

// note_endpoint gives an endpoint its node when it is first met; if there is none then,
// it never gets one.
static int note_endpoint(struct tb_nodes *nodes, uint32_t endpoint, uint32_t *node_id)
{
	struct tb_packets_summary *summary = nodes->summary;
	size_t known = nodes->node_of_room;
	if (TB_ARRAY_RESERVE(
		    &nodes->node_of, &nodes->node_of_room, endpoint + (size_t)1) != TB_OK)
		return TB_ENOMEM;
	for (; known < nodes->node_of_room; known++)
		nodes->node_of[known] = NOT_MET;
	uint32_t *node_of = &nodes->node_of[endpoint];
	if (*node_of == NOT_MET) {
		const struct tb_address *address = &nodes->endpoints->addresses[endpoint];
		struct tb_node node;
		if (choose_node(nodes, address, &node)) {
			if (name_node_by_address(nodes, node, address) != TB_OK)
				return TB_ENOMEM;
			*node_of = node.id;
			summary->n_endpoints++;
		} else {
			uint32_t i = summary->n_endpoints_unplaced++;
			if (i < N_UNPLACED_NAMES)
				tb_address_format(address, nodes->unplaced[i].text,
					TB_ADDRESS_TEXT_SIZE);
			*node_of = UNPLACED;
		}
	}
	*node_id = *node_of;
	return TB_OK;
}

static int by_address(const void *a, const void *b, void *endpoints)
{
	const struct tb_address *addresses =
		((struct tb_endpoints *)endpoints)->addresses;
	return tb_address_compare(
		&addresses[*(const uint32_t *)a], &addresses[*(const uint32_t *)b]);
}

int tb_nodes_meet_sorted(struct tb_nodes *nodes, uint32_t *numbers, size_t n)
{
	struct tb_endpoints endpoints = *nodes->endpoints;
	qsort_r(numbers, n, sizeof *numbers, by_address, &endpoints);
	for (size_t i = 0; i < n; i++) {
		uint32_t node_id;
		if (note_endpoint(nodes, numbers[i], &node_id) != TB_OK)
			return TB_ENOMEM;
	}
	return TB_OK;
}

static int node_pair_number(struct tb_nodes *nodes, struct tb_node source,
	struct tb_node destination, uint32_t *number)
{
	// Several endpoints may be one node, so pairs of endpoints can share a pair of
	// nodes.
	uint64_t key = (uint64_t)source.id << 32 | destination.id;
	uint32_t pair;
	if (!tb_map_find(&nodes->pair_of, key, &pair)) {
		uint64_t n = nodes->summary->n_pairs;
		if (n >= UINT32_MAX - FIRST_PAIR ||
			TB_ARRAY_RESERVE(&nodes->pairs, &nodes->pairs_room, n + 1) !=
				TB_OK)
			return TB_ENOMEM;
		pair = (uint32_t)n;
		if (tb_map_put(&nodes->pair_of, key, pair) != TB_OK)
			return TB_ENOMEM;
		nodes->pairs[pair] = (struct tb_packets_pair){
			.source = source, .destination = destination};
		nodes->summary->n_pairs++;
	}
	*number = pair;
	return TB_OK;
}

// widen_square makes the square large enough for `endpoint`, unless that exceeds its
// limit.
static int widen_square(struct tb_nodes *nodes, uint32_t endpoint)
{
	uint32_t side = nodes->square_side ? nodes->square_side : 32;
	while (side <= endpoint && side <= SQUARE_SIDE_MAX)
		side *= 2;
	if (side > SQUARE_SIDE_MAX || side == nodes->square_side)
		return TB_OK;
	uint32_t *square = calloc((size_t)side * side, sizeof *square);
	if (!square)
		return TB_ENOMEM;
	for (size_t i = 0; i < nodes->square_side; i++)
		memcpy(square + i * side, nodes->square + i * nodes->square_side,
			nodes->square_side * sizeof *square);
	free(nodes->square);
	nodes->square = square;
	nodes->square_side = side;
	return TB_OK;
}

static int remember_pair(
	struct tb_nodes *nodes, uint32_t source, uint32_t destination, uint32_t pairing)
{
	uint32_t further = source > destination ? source : destination;
	if (widen_square(nodes, further) != TB_OK)
		return TB_ENOMEM;
	if (further >= nodes->square_side)
		return tb_map_put(&nodes->pairing_of,
			(uint64_t)source << 32 | destination, pairing);
	nodes->square[(size_t)source * nodes->square_side + destination] = pairing;
	return TB_OK;
}

static int new_pairing(
	struct tb_nodes *nodes, uint32_t source, uint32_t destination, uint32_t *pairing)
{
	struct tb_node from;
	struct tb_node to;
	uint32_t pair;
	if (note_endpoint(nodes, source, &from.id) != TB_OK ||
		note_endpoint(nodes, destination, &to.id) != TB_OK)
		return TB_ENOMEM;
	if (from.id == UNPLACED || to.id == UNPLACED)
		*pairing = TB_PAIRING_UNPLACED;
	else if (from.id == to.id)
		*pairing = TB_PAIRING_LOCAL;
	else if (node_pair_number(nodes, from, to, &pair) == TB_OK)
		*pairing = FIRST_PAIR + pair;
	else
		return TB_ENOMEM;
	return remember_pair(nodes, source, destination, *pairing);
}

uint32_t tb_nodes_of(const struct tb_nodes *nodes, uint32_t endpoint)
{
	uint32_t node =
		endpoint < nodes->node_of_room ? nodes->node_of[endpoint] : NOT_MET;
	return node < UNPLACED ? node : TB_ID_NONE;
}

int tb_nodes_pairing(struct tb_nodes *nodes, uint32_t source, uint32_t destination,
	struct tb_packets_pair **pair)
{
	uint32_t pairing = 0;
	if (source < nodes->square_side && destination < nodes->square_side)
		pairing =
			nodes->square[(size_t)source * nodes->square_side + destination];
	else
		(void)tb_map_find(&nodes->pairing_of,
			(uint64_t)source << 32 | destination, &pairing);
	if (pairing == 0 && new_pairing(nodes, source, destination, &pairing) != TB_OK)
		return TB_ENOMEM;
	if (pairing < FIRST_PAIR)
		return (int)pairing;
	*pair = &nodes->pairs[pairing - FIRST_PAIR];
	return TB_PAIRING_PLACED;
}

const char *tb_nodes_name(const struct tb_nodes *nodes, struct tb_node node)
{
	return node.id < nodes->names_room ? nodes->names[node.id].text : "";
}

const char *tb_nodes_unplaced(const struct tb_nodes *nodes, uint32_t i)
{
	return i < N_UNPLACED_NAMES && i < nodes->summary->n_endpoints_unplaced
		       ? nodes->unplaced[i].text
		       : NULL;
}

const struct tb_packets_pair *tb_nodes_pair(const struct tb_nodes *nodes, uint64_t pair)
{
	return &nodes->pairs[pair];
}
