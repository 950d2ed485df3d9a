// Hosts on the wrong leaf, by their names.
//
// Where hosts are numbered in runs by leaf, one that sits in the run of another leaf was
// cabled to the wrong one, or swapped with another. Hosts of one kind of name (and of one
// adapter) are a sequence, judged by itself: leaves are put in the order of their middle
// hosts, and the most hosts are kept that so are in order. Only where nearly all are does
// the order mean something. A few of a leaf together are more likely its second run.
#include "fabric_impl.h"
#include "names.h"
#include "order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS_LEAST	8
#define HOSTS_PER_LEAF	3  // on the mean, at least
#define KEPT_OF_DROPPED 7  // so many hosts are in order for each that is not
#define TOGETHER	2  // hosts side by side that may be misplaced
#define HOSTS_OF_GONE	16 // for each whose name is left out

struct seat {
	uint64_t family; // of the host's name; 0: it is not numbered
	uint32_t node, sw, link;
	uint32_t leaf;			    // in the order of leaves
	bool is_kept, is_named;		    // in order; in a sentence
	const struct seat *before, *behind; // the next in order; NULL: none
};

struct seat_leaf {
	uint32_t middle, sw, n; // the middle host's node
};

struct order_search {
	struct tb_fabric *fabric;
	struct seat *seats, *by_switch;
	struct seat_leaf *leaves;
	uint32_t *leaf_of;	   // by switch
	uint64_t *n_on;		   // hosts, by leaf
	uint32_t *tails, *earlier; // of the longest sequences in order, see keep_most
};

TB_ORDER_BY(by_family, struct seat, TB_UP(family) TB_UP(node))
TB_ORDER_BY(by_seat_switch, struct seat, TB_UP(sw) TB_UP(node))
TB_ORDER_BY(by_middle, struct seat_leaf, TB_UP(middle) TB_UP(sw))

uint64_t tb_fabric_host_family(const struct tb_identity *own)
{
	uint64_t family = TB_HASH_BEGIN;
	for (uint32_t i = 0; i < own->n_host_bytes; i++)
		if (own->name[i] < '0' || own->name[i] > '9')
			family = tb_hash_word(family, (unsigned char)own->name[i]);
	return family;
}

uint64_t tb_fabric_family(const struct tb_identity *own)
{
	return tb_hash_text(
		tb_hash_word(tb_fabric_host_family(own), 0xff), tb_names_adapter(own));
}

static const char *seat_name(const struct tb_network *net, uint32_t node)
{
	return tb_network_node_identity(net, (struct tb_node){node}).name;
}

// is_off_rail returns whether a node's link has been reported already.
static bool is_off_rail(const struct tb_fabric *fabric, uint32_t link)
{
	for (uint32_t i = 0; i < fabric->n_oddities; i++)
		if (fabric->oddities[i].kind == TB_ODDITY_OFF_RAIL &&
			fabric->oddities[i].link.id == link)
			return true;
	return false;
}

// list_seats lists the nodes whose hosts are numbered, by family, and returns how many.
static uint32_t list_seats(struct order_search *search)
{
	const struct tb_network *net = search->fabric->network;
	uint32_t n = 0, n_hosts = tb_network_n_hosts(net);
	for (uint32_t link = 0; link < tb_network_n_links(net); link++) {
		struct tb_link_info at = tb_network_link(net, (struct tb_link){link});
		if (at.kind != TB_LINK_INJECTION)
			continue;
		struct tb_identity own =
			tb_network_node_identity(net, (struct tb_node){at.from});
		if (strcspn(own.name, "0123456789") >= own.n_host_bytes)
			continue;
		search->seats[n++] = (struct seat){
			.family = tb_hash_word(tb_fabric_family(&own), at.from / n_hosts),
			.node = at.from,
			.sw = at.to,
			.link = link};
	}
	qsort(search->seats, n, sizeof *search->seats, by_family);
	return n;
}

// order_leaves finds the leaves of a sequence and returns how many there are.
static uint32_t order_leaves(struct order_search *search, struct seat *seats, uint32_t n)
{
	struct seat *by_switch = search->by_switch;
	uint32_t n_leaves = 0;
	memcpy(by_switch, seats, n * sizeof *seats);
	qsort(by_switch, n, sizeof *by_switch, by_seat_switch);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && by_switch[end].sw == by_switch[i].sw; end++)
			continue;
		search->leaves[n_leaves++] = (struct seat_leaf){
			by_switch[(i + end) / 2].node, by_switch[i].sw, end - i};
	}
	qsort(search->leaves, n_leaves, sizeof *search->leaves, by_middle);
	for (uint32_t i = 0; i < n_leaves; i++)
		search->leaf_of[search->leaves[i].sw] = i;
	for (uint32_t i = 0; i < n; i++)
		seats[i].leaf = search->leaf_of[seats[i].sw];
	return n_leaves;
}

// keep_most keeps the most hosts whose leaves do not go back, and returns how many: the
// longest such sequence, from the least last leaf of each length.
static uint32_t keep_most(struct order_search *search, struct seat *seats, uint32_t n)
{
	uint32_t *tails = search->tails, *earlier = search->earlier, longest = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t low = 0, high = longest;
		while (low < high) {
			uint32_t middle = (low + high) / 2;
			if (seats[tails[middle]].leaf <= seats[i].leaf)
				low = middle + 1;
			else
				high = middle;
		}
		earlier[i] = low ? tails[low - 1] : TB_ID_NONE;
		tails[low] = i;
		longest += low == longest;
	}
	for (uint32_t i = tails[longest - 1]; i != TB_ID_NONE; i = earlier[i])
		seats[i].is_kept = true;
	for (uint32_t i = 1; i < n; i++)
		seats[i].before =
			seats[i - 1].is_kept ? &seats[i - 1] : seats[i - 1].before;
	for (uint32_t i = n - 1; i-- > 0;)
		seats[i].behind =
			seats[i + 1].is_kept ? &seats[i + 1] : seats[i + 1].behind;
	return longest;
}

static bool is_beside_leaf(const struct seat *at, uint32_t leaf)
{
	return (at->before && at->before->leaf == leaf) ||
	       (at->behind && at->behind->leaf == leaf);
}

static bool is_few_together(const struct seat *seats, uint32_t n, uint32_t at)
{
	uint32_t first = at, end = at + 1, leaf = seats[at].leaf;
	while (first > 0 && seats[first - 1].leaf == leaf)
		first--;
	while (end < n && seats[end].leaf == leaf)
		end++;
	return end - first <= TOGETHER;
}

// find_partner finds the host on a leaf beside `own` that would be in its place on the
// leaf of that one: one out of order, or else at an end of its run, if no other out of
// order belongs there. NULL: none.
static struct seat *find_partner(struct seat *seats, uint32_t n, const struct seat *own)
{
	struct seat *found = NULL;
	bool is_others = false; // the leaf that it is on
	for (uint32_t i = 0; i < n && !(found && !found->is_kept); i++) {
		bool belongs = is_beside_leaf(&seats[i], own->leaf);
		is_others |= belongs && !seats[i].is_kept && &seats[i] != own;
		if (seats[i].leaf != own->leaf && !seats[i].is_named &&
			(!found || !seats[i].is_kept) && belongs &&
			is_beside_leaf(own, seats[i].leaf))
			found = &seats[i];
	}
	return found && found->is_kept && is_others ? NULL : found;
}

// name_seat reports a host out of order. With another such it was swapped; with one at an
// end of its run where both leaves have as many hosts as they would, else it was moved.
static void name_seat(struct order_search *search, struct seat *own, struct seat *partner)
{
	const struct seat *before = own->before, *behind = own->behind;
	if (is_off_rail(search->fabric, own->link))
		return;
	struct tb_oddity odd = {
		.kind = TB_ODDITY_OUT_OF_ORDER, .link = {own->link}, .sw = {own->sw}};
	if (partner && (!partner->is_kept || search->leaves[own->leaf].n <=
						     search->leaves[partner->leaf].n)) {
		partner->is_named = true;
		odd.n = odd.usual = partner->node;
		odd.other.id = partner->sw;
	} else if (before && behind && before->leaf == behind->leaf) {
		odd.n = before->node;
		odd.usual = behind->node;
		odd.other.id = before->sw;
	} else if (before && behind) {
		// At an end of a run: on the leaf that lacks one.
		uint32_t n_before = search->leaves[before->leaf].n;
		uint32_t n_behind = search->leaves[behind->leaf].n;
		const struct seat *beside = n_before < n_behind ? before : behind;
		if (n_before == n_behind ||
			search->leaves[beside->leaf].n >= search->leaves[own->leaf].n)
			return;
		odd.n = beside->node;
		odd.usual = TB_ID_NONE;
		odd.other.id = beside->sw;
	} else {
		return;
	}
	tb_fabric_add_oddity(search->fabric, odd);
}

// is_cabled_elsewhere tells whether a host has the name of a node's host with another
// number: it may be cabled otherwise.
static bool is_cabled_elsewhere(const struct tb_network *net, uint32_t node,
	const struct tb_name_numbers *at, uint64_t number)
{
	struct tb_identity own = tb_network_node_identity(net, (struct tb_node){node});
	char name[TB_IDENTITY_NAME_MOST + 24];
	size_t end = at->begins + at->n;
	if (end > own.n_host_bytes)
		return true; // it is no number of a host
	size_t n = (size_t)snprintf(name, sizeof name, "%.*s%0*" PRIu64 "%.*s",
		(int)at->begins, own.name, (int)at->n, number,
		(int)(own.n_host_bytes - end), own.name + end);
	for (uint32_t i = 0; i < tb_network_n_nodes(net); i++) {
		struct tb_identity other =
			tb_network_node_identity(net, (struct tb_node){i});
		if (other.n_host_bytes == n && memcmp(other.name, name, n) == 0)
			return true;
	}
	return false;
}

// name_gaps reports hosts that the numbers of names leave out, where the leaf beside has
// fewer than most; not where that is so of many.
static void name_gaps(struct order_search *search, const struct seat *seats, uint32_t n,
	uint32_t n_leaves)
{
	const struct tb_network *net = search->fabric->network;
	uint32_t n_alike;
	uint64_t n_gone = 0;
	for (uint32_t i = 0; i < n_leaves; i++)
		search->n_on[i] = search->leaves[i].n;
	uint64_t usual = tb_fabric_usual(search->n_on, n_leaves, &n_alike);
	if (2 * n_alike <= n_leaves)
		return;
	for (int reports = 0; reports < 2 && n_gone * HOSTS_OF_GONE <= n; reports++)
		for (uint32_t i = 0; i + 1 < n; i++) {
			struct tb_name_numbers at;
			const struct seat *own = &seats[i];
			if (!tb_fabric_name_numbers(seat_name(net, own->node),
				    seat_name(net, own[1].node), &at) ||
				at.other <= at.one + 1)
				continue;
			const struct seat_leaf *leaf = &search->leaves[own->leaf];
			if (search->leaves[own[1].leaf].n < leaf->n)
				leaf = &search->leaves[own[1].leaf];
			uint64_t gone = at.other - at.one - 1;
			n_gone += reports ? 0 : gone;
			if (reports && leaf->n + gone <= usual &&
				!is_cabled_elsewhere(net, own->node, &at, at.one + 1))
				tb_fabric_add_oddity(search->fabric,
					(struct tb_oddity){.kind = TB_ODDITY_NO_HOST,
						.sw = {leaf->sw},
						.link = {own->link},
						.n = leaf->n,
						.usual = usual,
						.group = own[1].node});
		}
}

static void look_at_seats(struct order_search *search, struct seat *seats, uint32_t n)
{
	uint32_t n_leaves = n < HOSTS_LEAST ? 0 : order_leaves(search, seats, n);
	if (n_leaves < 2 || n < HOSTS_PER_LEAF * n_leaves)
		return;
	uint32_t n_kept = keep_most(search, seats, n);
	if (n_kept < KEPT_OF_DROPPED * (n - n_kept))
		return;
	for (uint32_t i = 0; i < n; i++)
		if (!seats[i].is_kept && !seats[i].is_named &&
			is_few_together(seats, n, i))
			name_seat(search, &seats[i], find_partner(seats, n, &seats[i]));
	name_gaps(search, seats, n, n_leaves);
}

void tb_fabric_look_at_order(struct tb_fabric *fabric)
{
	size_t n_nodes = tb_network_n_nodes(fabric->network);
	size_t n_switches = tb_network_n_switches(fabric->network);
	struct order_search search = {.fabric = fabric,
		.seats = malloc(n_nodes * sizeof *search.seats),
		.by_switch = malloc(n_nodes * sizeof *search.by_switch),
		.leaves = malloc(n_switches * sizeof *search.leaves),
		.leaf_of = malloc(n_switches * sizeof *search.leaf_of),
		.n_on = malloc(n_switches * sizeof *search.n_on),
		.tails = malloc(n_nodes * sizeof *search.tails),
		.earlier = malloc(n_nodes * sizeof *search.earlier)};
	bool ready = search.seats && search.by_switch && search.leaves &&
		     search.leaf_of && search.n_on && search.tails && search.earlier;
	uint32_t n = ready ? list_seats(&search) : 0;
	fabric->lacks_memory |= !ready;
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i;
			end < n && search.seats[end].family == search.seats[i].family;)
			end++;
		look_at_seats(&search, search.seats + i, end - i);
	}
	free(search.seats);
	free(search.by_switch);
	free(search.leaves);
	free(search.leaf_of);
	free(search.n_on);
	free(search.tails);
	free(search.earlier);
}
