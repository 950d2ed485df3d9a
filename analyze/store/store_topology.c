// Networks, each stored once by its digest.
#include "store_impl.h"

#include "digest.h"
#include "names.h"
#include "store_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_guid(struct tb_row *row, uint64_t guid)
{
	char text[20];
	snprintf(text, sizeof text, "0x%016llx", (unsigned long long)guid);
	if (guid)
		tb_row_put_text(row, text);
	else
		tb_row_put_null(row);
}

void tb_store_name_host(
	const struct tb_network *network, uint32_t node, char *host, size_t size)
{
	struct tb_identity own =
		tb_network_node_identity(network, (struct tb_node){node});
	size_t n = tb_network_n_rails(network) > 1 && own.n_host_bytes ? own.n_host_bytes
								       : strlen(own.name);
	snprintf(host, size, "%.*s", (int)n, own.name);
}

static void topology_put_node(
	struct tb_row *row, const struct tb_network *network, uint32_t i)
{
	struct tb_identity own = tb_network_node_identity(network, (struct tb_node){i});
	char host[TB_NAME_SIZE];
	tb_store_name_host(network, i, host, sizeof host);
	tb_row_put_text(row, host);
	put_guid(row, own.guid);
	tb_row_put(row, own.lid);
}

static void topology_put_switch(
	struct tb_row *row, const struct tb_network *network, uint32_t i)
{
	struct tb_switch_info at = tb_network_switch(network, (struct tb_switch){i});
	struct tb_identity own =
		tb_network_switch_identity(network, (struct tb_switch){i});
	char name[TB_NAME_SIZE];
	tb_row_put_text(
		row, tb_names_switch(network, (struct tb_switch){i}, name, sizeof name));
	put_guid(row, own.guid);
	tb_row_put(row, own.lid);
	tb_row_put(row, at.level);
	tb_row_put(row, at.index);
	tb_row_put(row, at.n_down_ports);
	tb_row_put(row, at.n_up_ports);
	tb_row_put(row, at.rail);
}

static const char *link_kind_name(enum tb_link_kind kind)
{
	switch (kind) {
	case TB_LINK_INJECTION:
		return "injection";
	case TB_LINK_UP:
		return "up";
	case TB_LINK_DOWN:
		return "down";
	case TB_LINK_EJECTION:
		break;
	}
	return "ejection";
}

// topology_put_end puts a node and a switch, one of which there is not, a port and its
// number.
static void topology_put_end(struct tb_row *row, const struct tb_network *network,
	bool is_node, uint32_t id, uint32_t port)
{
	if (is_node)
		tb_row_put(row, id % tb_network_n_hosts(network));
	tb_row_put_null(row);
	if (!is_node)
		tb_row_put(row, id);
	tb_row_put(row, port);
	tb_row_put(row,
		is_node ? 0
			: tb_network_port_number(network, (struct tb_switch){id}, port));
}

static void topology_put_link(
	struct tb_row *row, const struct tb_network *network, uint32_t i)
{
	struct tb_link_info at = tb_network_link(network, (struct tb_link){i});
	tb_row_put_text(row, link_kind_name(at.kind));
	topology_put_end(
		row, network, at.kind == TB_LINK_INJECTION, at.from, at.from_port);
	topology_put_end(row, network, at.kind == TB_LINK_EJECTION, at.to, at.to_port);
	tb_row_put(row, at.reverse.id);
	tb_row_put(row, (int64_t)at.bytes_per_s);
	tb_row_put(row, at.latency_ps);
}

// A table of a network: how many rows it has, and what is in one behind its number.
struct topology_table {
	const char *insert;
	uint32_t (*count)(const struct tb_network *network);
	void (*put)(struct tb_row *row, const struct tb_network *network, uint32_t i);
};

static const struct topology_table tables[] = {
	{"INSERT INTO topology_node (topology, node, host, guid, lid) SELECT c1, c2, c3, "
	 "c4, c5 FROM feed",
		tb_network_n_hosts, topology_put_node},
	{"INSERT INTO topology_switch (topology, switch, name, guid, lid, level, "
	 "index_in_level, n_down_ports, n_up_ports, rail) SELECT c1, c2, c3, c4, c5, c6, "
	 "c7, c8, c9, c10 FROM "
	 "feed",
		tb_network_n_switches, topology_put_switch},
	{"INSERT INTO topology_link (topology, link, kind, from_node, from_switch, "
	 "from_port, from_number, to_node, to_switch, to_port, to_number, reverse, "
	 "bytes_per_s, latency_ps) SELECT c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, "
	 "c12, c13, c14 FROM feed",
		tb_network_n_links, topology_put_link},
};
enum { TABLES = sizeof tables / sizeof *tables };

// digest_of stores the digest of the rows, in the order of tables and columns, without
// the topology's number, and how many there are of each.
static void digest_of(const struct tb_network *network, char digest[TB_DIGEST_SIZE])
{
	struct tb_row_hash hash;
	tb_row_hash_begin(&hash);
	for (size_t t = 0; t < TABLES; t++) {
		uint32_t n = tables[t].count(network);
		struct tb_row row = tb_row_hashed(&hash);
		tb_row_put(&row, n);
		tb_row_end(&row);
		for (uint32_t i = 0; i < n; i++) {
			tables[t].put(&row, network, i);
			tb_row_end(&row);
		}
	}
	tb_row_hash_end(&hash, digest);
}

// The rows of one of these tables, on their way into it.
struct topology_rows {
	const struct topology_table *table;
	const struct tb_network *network;
	int64_t topology;
};

static void topology_make_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct topology_rows *rows = feed->records;
	struct tb_row row = tb_row_fed(fed);
	tb_row_put(&row, rows->topology);
	tb_row_put(&row, (int64_t)i);
	rows->table->put(&row, rows->network, (uint32_t)i);
}

static int write_rows(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct topology_rows *rows, struct tb_error *error)
{
	feed->records = rows;
	feed->n = rows->table->count(rows->network);
	feed->row = topology_make_row;
	feed->has_texts = true;
	return tb_store_feed_write(db, path, feed, rows->table->insert, error);
}

static int write_digest(sqlite3 *db, const char *path, int64_t topology,
	const char *digest, struct tb_error *error)
{
	struct tb_row row = tb_row_into(
		db, path, "INSERT INTO topology (topology, digest) VALUES (?,?)", error);
	tb_row_put(&row, topology);
	tb_row_put_text(&row, digest);
	tb_row_end(&row);
	return tb_row_done(&row);
}

int tb_store_has_topology(sqlite3 *db, const char *path, int64_t topology,
	const char *digest, bool *has, struct tb_error *error)
{
	sqlite3_stmt *query = NULL;
	int status = tb_sql_prepare(db, path,
		"SELECT 1 FROM topology WHERE topology = ?1 AND digest = ?2", &query,
		error);
	if (status)
		return status;
	sqlite3_bind_int64(query, 1, topology);
	sqlite3_bind_text(query, 2, digest, -1, SQLITE_STATIC);
	int code = sqlite3_step(query);
	*has = code == SQLITE_ROW;
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		status = tb_sql_fail(error, db, path);
	sqlite3_finalize(query);
	return status;
}

int tb_store_write_topology(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_network *network, int64_t *topology, struct tb_error *error)
{
	char digest[TB_DIGEST_SIZE], first[13];
	bool has = false;
	digest_of(network, digest);
	snprintf(first, sizeof first, "%.12s", digest);
	int64_t id = strtoll(first, NULL, 16);
	int status = tb_store_has_topology(db, path, id, digest, &has, error);
	if (!status && !has)
		status = write_digest(db, path, id, digest, error);
	for (size_t t = 0; t < TABLES && !status && !has; t++)
		status = write_rows(db, path, feed,
			&(struct topology_rows){&tables[t], network, id}, error);
	if (!status)
		*topology = id;
	return status;
}

int tb_store_drop_topologies(sqlite3 *db, const char *path, struct tb_error *error)
{
#define DROP(table)                                                                      \
	"DELETE FROM " table " WHERE topology NOT IN (SELECT topology FROM run);"
	return tb_sql_exec(db, path,
		DROP("topology_link") DROP("topology_switch") DROP("topology_node")
			DROP("topology"),
		error);
#undef DROP
}
