#include "placement.h"

#include "ids.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// cut_rail ends a name before what names a rail: a word of these, with digits and
// underscores behind it, behind a dash, dot or underscore.
static void cut_rail(char *name)
{
	static const char *const words[] = {
		"ib", "hca", "hfi", "opa", "mlx4", "mlx5", "eth", "hsn", "roce", "rail"};
	size_t n = strlen(name);
	for (size_t at = n; at-- > 1;) {
		if (name[at] != '-' && name[at] != '_' && name[at] != '.')
			continue;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
			size_t length = strlen(words[i]);
			const char *rest = name + at + 1;
			if (strncmp(rest, words[i], length) == 0 &&
				strspn(rest + length, "0123456789_-") ==
					strlen(rest + length)) {
				name[at] = '\0';
				return;
			}
		}
	}
}

// hosts_match_make_key writes the first `n` bytes of a name as a rule sees them.
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
		cut_rail(key);
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

// hosts_match_take_range stores which of the sorted names have a key.
static void hosts_match_take_range(const struct fabric_name *named, uint32_t n,
	const char *key, uint32_t *first, uint32_t *count)
{
	uint32_t low = 0, high = n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (strcmp(named[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*first = low;
	*count = 0;
	while (low + *count < n && strcmp(named[low + *count].key, key) == 0)
		++*count;
}

static void name_host(struct tb_hosts_match *match, const char *host, const char *what)
{
	size_t at = strlen(match->text);
	// Whole names only, and room for the dots.
	if (at + strlen(host) + strlen(what) + 12 < sizeof match->text)
		snprintf(match->text + at, sizeof match->text - at, "%s%s%s",
			at ? ", " : "", host, what);
	else if (at > 0 && match->text[at - 1] != '.')
		snprintf(match->text + at, sizeof match->text - at, ", ...");
}

// place_host places the ranks of a host, of which several names may be meant; it returns
// whether the rule has decided.
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
		name_host(match, ranks[0].host, " (ambiguous)");
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
		name_host(match, sorted[i].host ? sorted[i].host : "(unknown)", "");
	}
}

void tb_hosts_match_fini(struct tb_hosts_match *match)
{
	free(match->node_of_rank);
	*match = (struct tb_hosts_match){0};
}

int tb_hosts_match(struct tb_hosts_match *match, const struct tb_network *network,
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
