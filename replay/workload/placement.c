#include "placement.h"

#include "array.h"
#include "bisect.h"
#include "ids.h"
#include "names.h"
#include "order.h"
#include "random.h"
#include "units.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

struct tb_places {
	const struct tb_network *network;
	uint64_t seed;
	uint32_t *leaf_of;  // node to its leaf switch
	uint32_t *job_of;   // node to job, NOBODY
	const char **names; // of jobs
	size_t names_room;
	// The last job that was dealt to more nodes than its ranks fill, and these; 0:
	// none.
	uint32_t spread_job, n_spread, n_filled;
	char note[480]; // tb_places_note
};

int tb_placement_parse(
	struct tb_placement *placement, const char *text, struct tb_error *error)
{
	static const char *const names[] = {"block", "cyclic", "random"};
	uint64_t stride = 0;
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(text, names[i]) == 0) {
			placement->kind = (enum tb_placement_kind)i;
			return TB_OK;
		}
	if (strcmp(text, "trace") == 0) {
		placement->kind = TB_PLACE_TRACE;
		placement->must_match = true;
		return TB_OK;
	}
	if (strncmp(text, "stride:", 7) != 0)
		return tb_fail(error, TB_EUSAGE,
			"'%s' is no placement: expected block, cyclic, random, stride:N "
			"or trace",
			text);
	if (tb_parse_count(text + 7, 1, UINT32_MAX, &stride) != TB_OK)
		return tb_fail(error, TB_EUSAGE,
			"'%s': expected a whole number from 1 behind stride:", text);
	placement->kind = TB_PLACE_STRIDE;
	placement->stride = (uint32_t)stride;
	return TB_OK;
}

bool tb_placement_names_nodes(const struct tb_placement *placement)
{
	return placement->nodes || placement->hosts || placement->map;
}

void tb_places_free(struct tb_places *places)
{
	if (!places)
		return;
	free(places->leaf_of);
	free(places->job_of);
	free(places->names);
	free(places);
}

int tb_places_new(struct tb_places **places, const struct tb_network *network,
	uint64_t seed, struct tb_error *error)
{
	uint32_t n = tb_network_n_hosts(network);
	struct tb_places *made = calloc(1, sizeof *made);
	if (made) {
		made->network = network;
		made->seed = seed;
		made->leaf_of = calloc(n + 1u, sizeof *made->leaf_of);
		made->job_of = malloc((n + 1u) * sizeof *made->job_of);
	}
	if (!made || !made->leaf_of || !made->job_of) {
		tb_places_free(made);
		return tb_fail_memory(error, "the places of jobs");
	}
	for (uint32_t i = 0; i < n; i++)
		made->job_of[i] = NOBODY;
	for (uint32_t i = 0; i < tb_network_n_links(network); i++) {
		struct tb_link_info at = tb_network_link(network, (struct tb_link){i});
		if (at.kind == TB_LINK_INJECTION && at.from < n)
			made->leaf_of[at.from] = at.to;
	}
	*places = made;
	return TB_OK;
}

// The job that is being placed.
struct placing {
	struct tb_places *places;
	uint32_t job, n_ranks;
	const char *name;
	const struct tb_placement *placement;
	struct tb_error *error;
};

static int placement_no_memory(const struct placing *placing)
{
	return tb_fail_memory(placing->error, "the places of '%s'", placing->name);
}

// hint_of returns advice on how to get more nodes, if there is any.
static const char *hint_of(
	const struct placing *placing, uint64_t n_nodes, char *text, size_t size)
{
	text[0] = '\0';
	if (tb_network_grows(placing->places->network))
		snprintf(text, size, ": --nodes %llu raises the tree",
			(unsigned long long)n_nodes);
	return text;
}

static int check_node(const struct placing *placing, uint32_t node)
{
	char hint[64];
	const struct tb_places *places = placing->places;
	uint32_t n_nodes = tb_network_n_hosts(places->network);
	if (node >= n_nodes)
		return tb_fail(placing->error, TB_ECAPACITY,
			"job '%s' is to sit on node %u, the network has %u nodes%s",
			placing->name, node, n_nodes,
			hint_of(placing, node + 1, hint, sizeof hint));
	if (places->job_of[node] != NOBODY)
		return tb_fail(placing->error, TB_EUSAGE,
			"jobs '%s' and '%s' are both to sit on node %u",
			places->names[places->job_of[node]], placing->name, node);
	return TB_OK;
}

// slots_of returns how many ranks a node can hold, at most the job's, to save memory.
static uint32_t slots_of(const struct placing *placing)
{
	uint32_t per_node = placing->placement->per_node;
	if (per_node > placing->n_ranks)
		per_node = placing->n_ranks;
	return per_node ? per_node : 1;
}

// free_hosts lists the nodes that no job has.
static int free_hosts(const struct placing *placing, struct tb_hosts *hosts)
{
	const struct tb_places *places = placing->places;
	uint32_t n_nodes = tb_network_n_hosts(places->network);
	hosts->hosts = malloc((n_nodes + 1u) * sizeof *hosts->hosts);
	if (!hosts->hosts)
		return placement_no_memory(placing);
	for (uint32_t node = 0; node < n_nodes; node++)
		if (places->job_of[node] == NOBODY)
			hosts->hosts[hosts->n++] =
				(struct tb_host_slots){node, slots_of(placing)};
	return TB_OK;
}

static int list_hosts(const struct placing *placing, struct tb_hosts *hosts)
{
	const struct tb_placement *placement = placing->placement;
	int status = TB_OK;
	if (placement->nodes)
		status = tb_hosts_parse(hosts, placement->nodes, placement->tasks,
			placing->places->network, placing->error);
	else if (placement->hosts)
		status = tb_hosts_read(hosts, placement->hosts, placing->places->network,
			placing->error);
	else
		return free_hosts(placing, hosts);
	for (uint32_t i = 0; placement->nodes && i < hosts->n; i++)
		hosts->hosts[i].n_slots *= slots_of(placing);
	for (uint32_t i = 0; status == TB_OK && i < hosts->n; i++)
		status = check_node(placing, hosts->hosts[i].node);
	return status;
}

static uint64_t count_slots(const struct tb_hosts *hosts)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < hosts->n; i++)
		n += hosts->hosts[i].n_slots;
	return n;
}

static int refuse_crowd(const struct placing *placing, const struct tb_hosts *hosts)
{
	const struct tb_places *places = placing->places;
	uint32_t n_nodes = tb_network_n_hosts(places->network);
	unsigned long long n_slots = count_slots(hosts);
	uint32_t per_node = slots_of(placing);
	uint32_t wanted = (placing->n_ranks - 1) / per_node + 1; // nodes
	char ranks[48], nodes[48], hint[64];
	tb_format_counted(placing->n_ranks, "rank", ranks, sizeof ranks);
	tb_format_counted(n_nodes, "node", nodes, sizeof nodes);
	if (tb_placement_names_nodes(placing->placement))
		return tb_fail(placing->error, TB_ECAPACITY,
			"job '%s' has %s, its hosts have room for %llu", placing->name,
			ranks, n_slots);
	if (hosts->n == n_nodes)
		return tb_fail(placing->error, TB_ECAPACITY,
			"job '%s' has %s, the network %s%s", placing->name, ranks, nodes,
			hint_of(placing, wanted, hint, sizeof hint));
	if (places->n_spread > places->n_filled)
		return tb_fail(placing->error, TB_ECAPACITY,
			"job '%s' has %s, the other jobs leave %llu of %s: job '%s' is "
			"dealt to %u, and %u hold it (nodes=, placement=block)",
			placing->name, ranks, n_slots / per_node, nodes,
			places->names[places->spread_job], places->n_spread,
			places->n_filled);
	return tb_fail(placing->error, TB_ECAPACITY,
		"job '%s' has %s, the other jobs leave %llu of %s%s", placing->name,
		ranks, n_slots / per_node, nodes,
		hint_of(placing, n_nodes - n_slots / per_node + wanted, hint,
			sizeof hint));
}

// A slot that a rank may get: slots are sorted by their keys, then by their order.
struct rank_slot {
	uint32_t node;
	uint32_t leaf;	  // switch
	uint32_t n_ranks; // that follow each other
	uint64_t keys[2];
	uint32_t order;
};

static int by_keys(const void *left, const void *right)
{
	const struct rank_slot *a = left, *b = right;
	for (int i = 0; i < 2; i++)
		if (a->keys[i] != b->keys[i])
			return a->keys[i] < b->keys[i] ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

// fill_slots sets each slot's sort keys according to the placement, and returns how many
// there are.
static uint32_t fill_slots(const struct placing *placing, const struct tb_hosts *hosts,
	struct rank_slot *slots)
{
	const struct tb_placement *placement = placing->placement;
	uint32_t stride = placement->kind == TB_PLACE_STRIDE ? placement->stride : 1;
	uint32_t n = 0;
	for (uint32_t i = 0; i < hosts->n; i++) {
		uint32_t together = placement->together ? hosts->hosts[i].n_slots : 1;
		for (uint32_t s = 0; s < hosts->hosts[i].n_slots; s += together) {
			uint32_t node = hosts->hosts[i].node;
			slots[n] = (struct rank_slot){.node = node,
				.leaf = placing->places->leaf_of[node],
				.n_ranks = together,
				.keys = {i % stride},
				.order = n};
			n++;
		}
	}
	return n;
}

TB_ORDER_BY(placement_leaf_order, struct rank_slot, TB_UP(leaf) TB_UP(order))

// deal_nodes numbers the slots of one switch in the order in which it is dealt to its
// nodes: first a slot of each, then a second, and so on. The slots of a node stand
// together.
static void deal_nodes(struct rank_slot *slots, uint32_t n)
{
	for (uint32_t i = 0, round = 0; i < n; i++) {
		round = i > 0 && slots[i].node == slots[i - 1].node ? round + 1 : 0;
		slots[i].keys[0] = round;
	}
	qsort(slots, n, sizeof *slots, by_keys);
	for (uint32_t i = 0; i < n; i++) {
		slots[i].keys[0] = i;
		slots[i].keys[1] = slots[i].leaf;
	}
}

static int place_on_hosts(const struct placing *placing, uint32_t *nodes)
{
	struct tb_hosts hosts = {0};
	struct rank_slot *slots = NULL;
	int status = list_hosts(placing, &hosts);
	if (status == TB_OK && count_slots(&hosts) < placing->n_ranks)
		status = refuse_crowd(placing, &hosts);
	if (status == TB_OK && count_slots(&hosts) > TB_HOSTS_MAX)
		status = tb_fail(placing->error, TB_ECAPACITY,
			"job '%s': its hosts have more than %u slots", placing->name,
			TB_HOSTS_MAX);
	if (status == TB_OK) {
		uint32_t n = (uint32_t)count_slots(&hosts);
		slots = malloc((n + 1u) * sizeof *slots);
		if (!slots)
			status = placement_no_memory(placing);
	}
	if (status == TB_OK) {
		uint32_t n = fill_slots(placing, &hosts, slots);
		switch (placing->placement->kind) {
		case TB_PLACE_RANDOM: {
			struct tb_random random;
			tb_random_init(&random, placing->places->seed, placing->job);
			for (uint32_t i = n; i > 1; i--) {
				uint32_t other = (uint32_t)tb_random_below(&random, i);
				struct rank_slot taken = slots[i - 1];
				slots[i - 1] = slots[other];
				slots[other] = taken;
			}
		} break;
		case TB_PLACE_CYCLIC: {
			qsort(slots, n, sizeof *slots, placement_leaf_order);
			for (uint32_t first = 0, end; first < n; first = end) {
				for (end = first;
					end < n && slots[end].leaf == slots[first].leaf;)
					end++;
				deal_nodes(slots + first, end - first);
			}
			qsort(slots, n, sizeof *slots, by_keys);
		} break;
		case TB_PLACE_STRIDE:
			qsort(slots, n, sizeof *slots, by_keys);
			break;
		case TB_PLACE_BLOCK:
		case TB_PLACE_MAP:
		case TB_PLACE_TRACE:
			break;
		}
		uint32_t rank = 0;
		for (uint32_t i = 0; rank < placing->n_ranks; i++)
			for (uint32_t k = 0; k < slots[i].n_ranks; k++)
				if (rank < placing->n_ranks)
					nodes[rank++] = slots[i].node;
		if (tb_placement_names_nodes(placing->placement)) {
			// Keep the other jobs off all nodes of a list, as a resource
			// manager would.
			for (uint32_t i = 0; i < hosts.n; i++)
				placing->places->job_of[hosts.hosts[i].node] =
					placing->job;
		}
	}
	free(slots);
	tb_hosts_fini(&hosts);
	return status;
}

static int place_by_map(const struct placing *placing, uint32_t *nodes)
{
	uint32_t *mapped = NULL;
	int status = tb_rank_map(&mapped, placing->n_ranks, placing->places->network,
		placing->placement->map, placing->error);
	for (uint32_t rank = 0; status == TB_OK && rank < placing->n_ranks; rank++) {
		status = check_node(placing, mapped[rank]);
		nodes[rank] = mapped[rank];
	}
	free(mapped);
	return status;
}

const char *tb_places_note(const struct tb_places *places)
{
	return places->note;
}

// place_by_names looks the hosts up in the fabric. It returns 1 when that is done, 0 when
// the fabric lacks some that it need not have.
static int place_by_names(const struct placing *placing, uint32_t *nodes)
{
	struct tb_hosts_match match;
	char sum[400];
	struct tb_places *places = placing->places;
	int status = tb_hosts_match_find(&match, places->network,
		placing->placement->trace_hosts, placing->n_ranks, placing->error);
	if (status != TB_OK)
		return status;
	// Write "1 of 4 hosts: n7".
	size_t size = sizeof sum;
	snprintf(sum, size, "%u of its %u hosts: %s",
		match.n_unmatched + match.n_ambiguous, match.n_hosts, match.text);
	bool found = match.n_unmatched + match.n_ambiguous == 0;
	if (!found && placing->placement->must_match)
		status = tb_fail(placing->error, TB_EUSAGE,
			"job '%s' ran on hosts that the fabric does not have: %s",
			placing->name, sum);
	else if (!found)
		snprintf(places->note, sizeof places->note,
			"the fabric does not have %s; each host is on a free node "
			"instead",
			sum);
	for (uint32_t rank = 0; found && status == TB_OK && rank < placing->n_ranks;
		rank++) {
		nodes[rank] = match.node_of_rank[rank];
		status = check_node(placing, nodes[rank]);
	}
	if (found && status == TB_OK)
		snprintf(places->note, sizeof places->note,
			"ranks sit on the %u hosts of the trace, by their names",
			match.n_hosts);
	tb_hosts_match_fini(&match);
	return status == TB_OK ? found : status;
}

static int place_by_trace(const struct placing *placing, uint32_t *nodes)
{
	const struct tb_network *network = placing->places->network;
	bool has_names =
		tb_network_node_identity(network, (struct tb_node){0}).name[0] != '\0';
	int status = has_names ? place_by_names(placing, nodes) : 0;
	if (status == 0) {
		// Make hosts of free nodes, in the order in which ranks name them.
		struct tb_hosts free_nodes = {0};
		struct tb_places *places = placing->places;
		uint32_t n_hosts = 0;
		char ran_on[48], hint[64];
		status = tb_hosts_number(placing->placement->trace_hosts,
			placing->n_ranks, nodes, &n_hosts, placing->error);
		if (status == TB_OK)
			status = free_hosts(placing, &free_nodes);
		tb_format_counted(n_hosts, "host", ran_on, sizeof ran_on);
		if (status == TB_OK && free_nodes.n < n_hosts)
			status = tb_fail(placing->error, TB_ECAPACITY,
				"job '%s' ran on %s, and %u nodes are free%s",
				placing->name, ran_on, free_nodes.n,
				hint_of(placing,
					tb_network_n_hosts(places->network) -
						free_nodes.n + n_hosts,
					hint, sizeof hint));
		for (uint32_t rank = 0; status == TB_OK && rank < placing->n_ranks;
			rank++)
			nodes[rank] = free_nodes.hosts[nodes[rank]].node;
		if (status == TB_OK && !places->note[0])
			snprintf(places->note, sizeof places->note,
				"ranks sit as in the trace: %s, one node per host",
				ran_on);
		tb_hosts_fini(&free_nodes);
	}
	return status > 0 ? TB_OK : status;
}

static int placement_name_job(struct tb_places *places, uint32_t job, const char *name)
{
	if (TB_ARRAY_RESERVE(&places->names, &places->names_room, (size_t)job + 1) !=
		TB_OK)
		return TB_ENOMEM;
	places->names[job] = name;
	return TB_OK;
}

int tb_places_take(struct tb_places *places, uint32_t job, const char *name,
	struct tb_node node, struct tb_error *error)
{
	struct placing placing = {
		.places = places, .job = job, .name = name, .error = error};
	if (placement_name_job(places, job, name) != TB_OK)
		return placement_no_memory(&placing);
	uint32_t n_nodes = tb_network_n_hosts(places->network);
	if (node.id < n_nodes && places->job_of[node.id] == job)
		return TB_OK;
	int status = check_node(&placing, node.id);
	if (status == TB_OK)
		places->job_of[node.id] = job;
	return status;
}

int tb_places_put(struct tb_places *places, uint32_t job, const char *name,
	uint32_t n_ranks, const struct tb_placement *placement, uint32_t **node_of_rank,
	struct tb_error *error)
{
	struct placing placing = {places, job, n_ranks, name, placement, error};
	uint32_t *nodes = malloc((n_ranks + 1u) * sizeof *nodes);
	if (!nodes || placement_name_job(places, job, name) != TB_OK) {
		free(nodes);
		return placement_no_memory(&placing);
	}
	places->note[0] = '\0';
	int status = placement->kind == TB_PLACE_MAP ? place_by_map(&placing, nodes)
		     : placement->kind == TB_PLACE_TRACE
			     ? place_by_trace(&placing, nodes)
			     : place_on_hosts(&placing, nodes);
	if (status != TB_OK) {
		free(nodes);
		return status;
	}
	uint32_t n_nodes = 0, n_filled = (n_ranks - 1) / slots_of(&placing) + 1;
	for (uint32_t rank = 0; rank < n_ranks; rank++) {
		n_nodes += places->job_of[nodes[rank]] == NOBODY;
		places->job_of[nodes[rank]] = job;
	}
	if (n_nodes > n_filled && placement->kind <= TB_PLACE_STRIDE) {
		places->spread_job = job;
		places->n_spread = n_nodes;
		places->n_filled = n_filled;
	}
	*node_of_rank = nodes;
	return TB_OK;
}

#define KEY_MAX 128

enum rule { EXACTLY, SHORT, WITHOUT_RAIL, N_RULES };

// A host of the fabric, by its name under a rule.
struct fabric_name {
	char key[KEY_MAX];
	uint32_t node;
	uint32_t host; // number of the host that the node is of
};

struct rank_host {
	const char *host;
	uint32_t rank;
};

static int hosts_match_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the names of hosts");
}

// hosts_match_make_key writes the key of a name's first `n` bytes under a rule.
static void hosts_match_make_key(char *key, const char *name, size_t n, enum rule rule)
{
	size_t length = n < KEY_MAX - 1 ? n : KEY_MAX - 1;
	memcpy(key, name, length);
	key[length] = '\0';
	if (rule == EXACTLY)
		return;
	// An address is no name with a domain.
	if (!isdigit((unsigned char)key[0]) || strspn(key, "0123456789.") != length)
		key[strcspn(key, ".")] = '\0';
	for (char *at = key; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	if (rule == WITHOUT_RAIL)
		key[tb_names_host_bytes(key)] = '\0';
}

static int hosts_match_key_order(const void *left, const void *right)
{
	const struct fabric_name *a = left, *b = right;
	int order = strcmp(a->key, b->key);
	return order ? order : (a->node > b->node) - (a->node < b->node);
}

static int hosts_match_host_order(const void *left, const void *right)
{
	const struct rank_host *a = left, *b = right;
	if (!a->host || !b->host)
		return a->host || b->host ? (a->host ? 1 : -1)
					  : (a->rank > b->rank) - (a->rank < b->rank);
	int order = strcmp(a->host, b->host);
	return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static bool hosts_match_same_host(const struct rank_host *a, const struct rank_host *b)
{
	return a->host && b->host && strcmp(a->host, b->host) == 0;
}

// sort_ranks returns the ranks by their hosts' names.
static struct rank_host *sort_ranks(const char *const *hosts, uint32_t n)
{
	struct rank_host *sorted = malloc((n + 1u) * sizeof *sorted);
	if (!sorted)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct rank_host){hosts[i], i};
	qsort(sorted, n, sizeof *sorted, hosts_match_host_order);
	return sorted;
}

int tb_hosts_number(const char *const *hosts, uint32_t n_ranks, uint32_t *number,
	uint32_t *n_hosts, struct tb_error *error)
{
	struct rank_host *sorted = sort_ranks(hosts, n_ranks);
	if (!sorted)
		return hosts_match_no_memory(error);
	// First each rank gets the first rank of its host, then that one's number.
	for (uint32_t i = 0, first = 0; i < n_ranks; i++) {
		if (!hosts_match_same_host(&sorted[i], &sorted[first]))
			first = i;
		number[sorted[i].rank] = sorted[first].rank;
	}
	*n_hosts = 0;
	for (uint32_t i = 0; i < n_ranks; i++)
		number[i] = number[i] == i ? (*n_hosts)++ : number[number[i]];
	free(sorted);
	return TB_OK;
}

static void hosts_match_add_named(struct fabric_name *named,
	const struct tb_network *network, uint32_t node, enum rule rule, uint32_t *host)
{
	struct tb_identity own =
		tb_network_node_identity(network, (struct tb_node){node});
	size_t n = own.n_host_bytes ? own.n_host_bytes : strlen(own.name);
	hosts_match_make_key(named->key, own.name, n, rule);
	named->node = node;
	// The network interfaces of a host lie side by side.
	if (node > 0) {
		struct tb_identity last =
			tb_network_node_identity(network, (struct tb_node){node - 1});
		size_t n_last = last.n_host_bytes ? last.n_host_bytes : strlen(last.name);
		*host += n != n_last || memcmp(own.name, last.name, n) != 0;
	}
	named->host = *host;
}

// hosts_match_take_range stores the range of the sorted names with a key.
static void hosts_match_take_range(const struct fabric_name *named, uint32_t n,
	const char *key, uint32_t *first, uint32_t *count)
{
	uint32_t at;
	TB_BISECT(at, n, strcmp(named[at].key, key) < 0);
	*first = at;
	TB_BISECT(at, n, strcmp(named[at].key, key) <= 0);
	*count = at - *first;
}

static void hosts_match_name_host(
	struct tb_hosts_match *match, const char *host, const char *what)
{
	size_t at = strlen(match->text);
	// Whole names only, and room for the dots.
	if (at + strlen(host) + strlen(what) + 12 < sizeof match->text)
		snprintf(match->text + at, sizeof match->text - at, "%s%s%s",
			at ? ", " : "", host, what);
	else if (at > 0 && match->text[at - 1] != '.')
		snprintf(match->text + at, sizeof match->text - at, ", ...");
}

// place_host places the ranks of a host, which may match several names; it returns
// whether the rule was unambiguous.
static bool place_host(struct tb_hosts_match *match, const struct fabric_name *named,
	uint32_t count, const struct rank_host *ranks, uint32_t n_ranks, enum rule rule)
{
	bool several = false;
	for (uint32_t i = 1; i < count; i++)
		several |= named[i].host != named[0].host;
	if (count == 0)
		return false;
	if (several && rule != WITHOUT_RAIL) {
		match->n_ambiguous++;
		hosts_match_name_host(match, ranks[0].host, " (ambiguous)");
		return true;
	}
	for (uint32_t i = 0; i < n_ranks; i++)
		match->node_of_rank[ranks[i].rank] = named[i % count].node;
	return true;
}

static void match_all(struct tb_hosts_match *match, struct fabric_name *const *named,
	uint32_t n_named, const struct rank_host *sorted, uint32_t n_ranks)
{
	for (uint32_t i = 0, end; i < n_ranks; i = end) {
		for (end = i + 1;
			end < n_ranks && hosts_match_same_host(&sorted[i], &sorted[end]);)
			end++;
		match->n_hosts++;
		bool decided = false;
		for (int rule = 0; rule < N_RULES && sorted[i].host && !decided; rule++) {
			char key[KEY_MAX];
			uint32_t first, count;
			hosts_match_make_key(key, sorted[i].host, strlen(sorted[i].host),
				(enum rule)rule);
			hosts_match_take_range(named[rule], n_named, key, &first, &count);
			decided = key[0] && place_host(match, named[rule] + first, count,
						    sorted + i, end - i, (enum rule)rule);
		}
		if (decided)
			continue;
		match->n_unmatched++;
		hosts_match_name_host(
			match, sorted[i].host ? sorted[i].host : "(unknown)", "");
	}
}

void tb_hosts_match_fini(struct tb_hosts_match *match)
{
	free(match->node_of_rank);
	*match = (struct tb_hosts_match){0};
}

int tb_hosts_match_find(struct tb_hosts_match *match, const struct tb_network *network,
	const char *const *hosts, uint32_t n_ranks, struct tb_error *error)
{
	uint32_t n_nodes = tb_network_n_hosts(network);
	struct tb_hosts_match made = {
		.node_of_rank = malloc((n_ranks + 1u) * sizeof *made.node_of_rank)};
	struct rank_host *sorted = sort_ranks(hosts, n_ranks);
	struct fabric_name *named[N_RULES] = {NULL};
	bool has_memory = made.node_of_rank && sorted;
	for (int rule = 0; rule < N_RULES && has_memory; rule++) {
		uint32_t host = 0;
		named[rule] = malloc((n_nodes + 1u) * sizeof **named);
		has_memory = named[rule] != NULL;
		for (uint32_t i = 0; i < n_nodes && has_memory; i++)
			hosts_match_add_named(
				&named[rule][i], network, i, (enum rule)rule, &host);
		if (has_memory)
			qsort(named[rule], n_nodes, sizeof **named,
				hosts_match_key_order);
	}
	for (uint32_t i = 0; i < n_ranks && has_memory; i++)
		made.node_of_rank[i] = TB_ID_NONE;
	if (has_memory)
		match_all(&made, named, n_nodes, sorted, n_ranks);
	for (int rule = 0; rule < N_RULES; rule++)
		free(named[rule]);
	free(sorted);
	if (!has_memory) {
		tb_hosts_match_fini(&made);
		return hosts_match_no_memory(error);
	}
	*match = made;
	return TB_OK;
}
