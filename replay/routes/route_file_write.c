#include "route_file_write.h"

#include "distances.h"
#include "memory.h"
#include "names.h"
#include "order.h"
#include "route_file.h"
#include "route_table.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PORT_MOST = 254 };

// Who has a LID.
struct lid_owner {
	uint32_t lid;
	bool is_switch;
	uint32_t id; // of the switch or node
};

struct route_file_writing {
	FILE *stream;
	const struct tb_network *net;
	struct tb_error *error;
	struct lid_owner *owners; // by LID
	size_t n_owners;
	uint32_t first_port; // as tb_route_table_first_port
	bool is_counted;     // nodes have no LIDs
	uint32_t *between;   // by switch and switch: the link that leads on
};

TB_ORDER_BY(by_lid, struct lid_owner, TB_UP(lid) TB_UP(is_switch) TB_UP(id))

static struct tb_identity lft_identity_of(
	const struct tb_network *net, const struct lid_owner *owner)
{
	return owner->is_switch
		       ? tb_network_switch_identity(net, (struct tb_switch){owner->id})
		       : tb_network_node_identity(net, (struct tb_node){owner->id});
}

static char *lft_name_of(const struct tb_network *net, const struct lid_owner *owner,
	char *buffer, size_t size)
{
	return owner->is_switch
		       ? tb_names_switch(net, (struct tb_switch){owner->id}, buffer, size)
		       : tb_names_node(net, (struct tb_node){owner->id}, buffer, size);
}

// add_owner lists the LIDs of a switch or node.
static void add_owner(struct route_file_writing *writing, bool is_switch, uint32_t id)
{
	struct lid_owner owner = {.is_switch = is_switch, .id = id};
	struct tb_identity own = lft_identity_of(writing->net, &owner);
	uint32_t n = own.lid ? UINT32_C(1) << own.lmc : 0;
	if (writing->is_counted) {
		own.lid = id + 1;
		n = is_switch ? 0 : 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		owner.lid = own.lid + i;
		writing->owners[writing->n_owners++] = owner;
	}
}

// measure returns how many LIDs there are, and whether nodes have any.
static uint64_t lft_count_lids(struct route_file_writing *writing)
{
	const struct tb_network *net = writing->net;
	uint64_t n = (uint64_t)net->n_switches * 128;
	writing->is_counted = true;
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		struct tb_identity own =
			tb_network_node_identity(net, (struct tb_node){i});
		n += UINT64_C(1) << own.lmc;
		writing->is_counted &= i >= net->node_identities.n || own.lid == 0;
	}
	return n;
}

// check_nodes: a node without a LID among others with one is reached by no table.
static int check_nodes(const struct route_file_writing *writing)
{
	const struct tb_network *net = writing->net;
	char name[TB_NAME_SIZE];
	for (uint32_t i = 0; i < net->n_nodes && !writing->is_counted; i++)
		if (tb_network_node_identity(net, (struct tb_node){i}).lid == 0)
			return tb_fail(writing->error, TB_EUSAGE,
				"forwarding tables name hosts by LID, and %s has none",
				tb_names_node(
					net, (struct tb_node){i}, name, sizeof name));
	return TB_OK;
}

static int list_owners(struct route_file_writing *writing)
{
	const struct tb_network *net = writing->net;
	writing->owners = malloc(lft_count_lids(writing) * sizeof *writing->owners);
	if (!writing->owners)
		return tb_fail_memory(writing->error, "the network's LIDs");
	for (uint32_t i = 0; i < net->n_nodes; i++)
		add_owner(writing, false, i);
	for (uint32_t i = 0; i < net->n_switches; i++)
		add_owner(writing, true, i);
	qsort(writing->owners, writing->n_owners, sizeof *writing->owners, by_lid);
	for (size_t i = 1; i < writing->n_owners; i++) {
		const struct lid_owner *one = &writing->owners[i - 1], *other = one + 1;
		char name[TB_NAME_SIZE], twin[TB_NAME_SIZE];
		if (one->lid == other->lid)
			return tb_fail(writing->error, TB_EUSAGE,
				"forwarding tables go by LID, and 0x%04x is that of %s "
				"and %s",
				(unsigned)one->lid,
				lft_name_of(net, one, name, sizeof name),
				lft_name_of(net, other, twin, sizeof twin));
	}
	return check_nodes(writing);
}

// lft_port_of is the number of a link's port in the file.
static uint32_t lft_port_of(const struct route_file_writing *writing, uint32_t link)
{
	const struct tb_network *net = writing->net;
	struct tb_switch sw = {net->links[link].from};
	return tb_network_port_number(net, sw, net->links[link].from_port) +
	       writing->first_port;
}

static int check_ports(const struct route_file_writing *writing)
{
	const struct tb_network *net = writing->net;
	char name[TB_NAME_SIZE];
	for (uint32_t i = 0; i < net->n_links; i++) {
		if (net->links[i].kind == TB_LINK_INJECTION)
			continue;
		uint32_t port = lft_port_of(writing, i);
		if (port == 0 || port > PORT_MOST)
			return tb_fail(writing->error, TB_EUSAGE,
				"forwarding tables have ports from 1 to %u, and switch "
				"%s a port %u",
				PORT_MOST,
				tb_names_switch(net,
					(struct tb_switch){net->links[i].from}, name,
					sizeof name),
				port);
	}
	return TB_OK;
}

static int lft_check(const struct route_file_writing *writing)
{
	const struct tb_network *net = writing->net;
	bool has_guids = false;
	for (uint32_t i = 0; i < net->n_switches; i++)
		has_guids |=
			tb_network_switch_identity(net, (struct tb_switch){i}).guid != 0;
	if (!tb_route_table_is_whole(net))
		return tb_fail(writing->error, TB_EUSAGE,
			"there are no forwarding tables: with ascent=%s switches choose "
			"among links; ascent=deterministic has tables",
			tb_ascent_words[net->params.ascent]);
	if (net->n_rails > 1 && !has_guids)
		return tb_fail(writing->error, TB_EUSAGE,
			"forwarding tables are of one network: leave out rails=%u",
			net->n_rails);
	return check_ports(writing);
}

// find_ways finds the links that lead on from each switch to each with a LID.
static int find_ways(struct route_file_writing *writing)
{
	const struct tb_network *net = writing->net;
	size_t n = (size_t)net->n_switches * net->n_switches;
	struct tb_distances ways = {0};
	uint32_t *links = malloc((tb_network_most_ports(net) + 1u) * sizeof *links);
	int status = tb_memory_check(n * sizeof *writing->between,
		"the ways between switches", writing->error);
	writing->between = status == TB_OK ? malloc(n * sizeof *writing->between) : NULL;
	if (status == TB_OK && (!links || !writing->between ||
				       tb_distances_init(&ways, net, NULL, 0) != TB_OK))
		status = tb_fail_memory(writing->error, "the ways between switches");
	for (uint32_t home = 0; home < net->n_switches && status == TB_OK; home++) {
		tb_distances_measure(&ways, home);
		for (uint32_t sw = 0; sw < net->n_switches; sw++) {
			uint32_t k = sw == home ? 0 : tb_distances_on(&ways, sw, links);
			writing->between[(size_t)sw * net->n_switches + home] =
				k ? links[home % k] : TB_ROUTE_NONE;
		}
	}
	tb_distances_fini(&ways);
	free(links);
	return status;
}

// put_entry writes the line of a LID in the table of a switch, if a way leads there.
static bool put_entry(
	const struct route_file_writing *writing, uint32_t sw, const struct lid_owner *to)
{
	const struct tb_network *net = writing->net;
	struct tb_identity own = lft_identity_of(net, to);
	char name[TB_NAME_SIZE];
	bool is_self = to->is_switch && to->id == sw;
	uint32_t link = TB_ROUTE_NONE;
	if (to->is_switch && !is_self)
		link = writing->between[(size_t)sw * net->n_switches + to->id];
	else if (!is_self)
		link = tb_route_table_link(net, sw, to->id);
	if (!is_self && link == TB_ROUTE_NONE)
		return false;
	fprintf(writing->stream, "0x%04x %03u # %s", (unsigned)to->lid,
		is_self ? 0 : lft_port_of(writing, link),
		to->is_switch ? "Switch" : "Channel Adapter");
	if (own.guid)
		fprintf(writing->stream, " portguid 0x%016" PRIx64, own.guid);
	fprintf(writing->stream, ": '%s'\n", lft_name_of(net, to, name, sizeof name));
	return true;
}

static void lft_put_switch(const struct route_file_writing *writing, uint32_t sw)
{
	const struct tb_network *net = writing->net;
	struct tb_identity own = tb_network_switch_identity(net, (struct tb_switch){sw});
	char name[TB_NAME_SIZE];
	unsigned n = 0;
	fprintf(writing->stream, "Unicast lids [0-%u] of switch Lid %u",
		writing->n_owners ? (unsigned)writing->owners[writing->n_owners - 1].lid
				  : 0,
		(unsigned)own.lid);
	if (own.guid)
		fprintf(writing->stream, " guid 0x%016" PRIx64, own.guid);
	fprintf(writing->stream, " ('%s'):\n",
		tb_names_switch(net, (struct tb_switch){sw}, name, sizeof name));
	for (size_t i = 0; i < writing->n_owners; i++)
		n += put_entry(writing, sw, &writing->owners[i]);
	fprintf(writing->stream, "%u lids dumped\n", n);
}

int tb_route_file_write(
	FILE *stream, const struct tb_network *net, struct tb_error *error)
{
	struct route_file_writing writing = {.stream = stream,
		.net = net,
		.error = error,
		.first_port = tb_route_table_first_port(net)};
	int status = lft_check(&writing);
	if (status == TB_OK)
		status = list_owners(&writing);
	if (status == TB_OK)
		status = find_ways(&writing);
	if (status == TB_OK) {
		uint32_t n = writing.net->n_left_out;
		if (writing.is_counted)
			fprintf(writing.stream, "%s\n", TB_ROUTE_FILE_COUNTS);
		if (n > 0)
			fprintf(writing.stream,
				"# without the %u LID%s of aggregation nodes (SHARP)\n",
				n, n == 1 ? "" : "s");
		for (uint32_t sw = 0; sw < net->n_switches; sw++)
			lft_put_switch(&writing, sw);
	}
	free(writing.owners);
	free(writing.between);
	return status;
}
