// What a run has once: its configuration and its network, of which a store has each once,
// and its result.
#include "store_impl.h"

#include "parameters.h"
#include "stored_tables.h"
#include "switchings.h"
#include "version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

// Networks, each stored once by its digest.

#define RECORD struct stored_node
struct stored_node {
	char *host, *guid;
	uint32_t lid;
	char host_text[TB_NAME_SIZE], guid_text[20];
};
static const struct tb_stored_table topology_nodes = {.name = "topology_node",
	.owner = "topology",
	.number = "node",
	TB_STORED_HAS(RECORD, TB_COLUMN("host", host),
		TB_COLUMN_WITH("guid", guid, TB_STORED_OR_NULL), TB_COLUMN("lid", lid))};
#undef RECORD

#define RECORD struct stored_switch
struct stored_switch {
	const char *name;
	char *guid;
	struct tb_identity own;
	struct tb_switch_info at;
	char name_text[TB_NAME_SIZE], guid_text[20];
};
static const struct tb_stored_table topology_switches = {.name = "topology_switch",
	.owner = "topology",
	.number = "switch",
	TB_STORED_HAS(RECORD, TB_COLUMN("name", name),
		TB_COLUMN_WITH("guid", guid, TB_STORED_OR_NULL),
		TB_COLUMN("lid", own.lid), TB_COLUMN("level", at.level),
		TB_COLUMN("index_in_level", at.index),
		TB_COLUMN("n_down_ports", at.n_down_ports),
		TB_COLUMN("n_up_ports", at.n_up_ports), TB_COLUMN("rail", at.rail))};
#undef RECORD

static const char *link_kind_word(uint32_t kind)
{
	static const char *const words[] = {[TB_LINK_INJECTION] = "injection",
		[TB_LINK_UP] = "up",
		[TB_LINK_DOWN] = "down",
		[TB_LINK_EJECTION] = "ejection"};
	return kind < sizeof words / sizeof *words ? words[kind] : NULL;
}

// A network on its way into the tables.
struct network_rows {
	const struct tb_network *network;
	uint32_t next, n;
	const void *(*make)(struct network_rows *rows, uint32_t i);
	union {
		struct stored_node node;
		struct stored_switch in_switch;
		struct tb_link_row link;
	};
};

static char *write_guid(uint64_t guid, char text[20])
{
	snprintf(text, 20, "0x%016llx", (unsigned long long)guid);
	return guid ? text : NULL;
}

// write_host writes the fabric's name of a host: with rails, which are its network
// interfaces, without theirs.
static char *write_host(
	const struct tb_network *network, uint32_t node, char host[TB_NAME_SIZE])
{
	struct tb_identity own =
		tb_network_node_identity(network, (struct tb_node){node});
	size_t n = tb_network_n_rails(network) > 1 && own.n_host_bytes ? own.n_host_bytes
								       : strlen(own.name);
	snprintf(host, TB_NAME_SIZE, "%.*s", (int)n, own.name);
	return host;
}

static const void *make_node(struct network_rows *rows, uint32_t i)
{
	struct stored_node *row = &rows->node;
	struct tb_identity own =
		tb_network_node_identity(rows->network, (struct tb_node){i});
	row->host = write_host(rows->network, i, row->host_text);
	row->guid = write_guid(own.guid, row->guid_text);
	row->lid = own.lid;
	return row;
}

static const void *make_switch(struct network_rows *rows, uint32_t i)
{
	const struct tb_switch id = {i};
	struct stored_switch *row = &rows->in_switch;
	row->at = tb_network_switch(rows->network, id);
	row->own = tb_network_switch_identity(rows->network, id);
	row->name =
		tb_names_switch(rows->network, id, row->name_text, sizeof row->name_text);
	row->guid = write_guid(row->own.guid, row->guid_text);
	return row;
}

static struct tb_link_row_end stored_end(
	const struct tb_network *network, bool is_node, uint32_t id, uint32_t port)
{
	if (is_node)
		return (struct tb_link_row_end){
			id % tb_network_n_hosts(network), TB_ID_NONE, port, 0};
	return (struct tb_link_row_end){TB_ID_NONE, id, port,
		tb_network_port_number(network, (struct tb_switch){id}, port)};
}

static const void *make_link(struct network_rows *rows, uint32_t i)
{
	const struct tb_network *network = rows->network;
	struct tb_link_row *row = &rows->link;
	row->at = tb_network_link(network, (struct tb_link){i});
	row->from = stored_end(network, row->at.kind == TB_LINK_INJECTION, row->at.from,
		row->at.from_port);
	row->to = stored_end(
		network, row->at.kind == TB_LINK_EJECTION, row->at.to, row->at.to_port);
	return row;
}

static const void *next_network_row(void *context)
{
	struct network_rows *rows = context;
	return rows->next < rows->n ? rows->make(rows, rows->next++) : NULL;
}

#define RECORD struct tb_link_row
#define END(name, member)                                                                \
	TB_COLUMN_AS(TB_STORED_NODE | TB_STORED_OR_NULL, name "_node", member.node),     \
		TB_COLUMN_AS(TB_STORED_SWITCH | TB_STORED_OR_NULL, name "_switch",       \
			member.in_switch),                                               \
		TB_COLUMN(name "_port", member.port),                                    \
		TB_COLUMN(name "_number", member.number)
const struct tb_stored_table tb_topology_links = {.name = "topology_link",
	.owner = "topology",
	.number = "link",
	TB_STORED_HAS(RECORD, TB_COLUMN_WORD("kind", at.kind, link_kind_word),
		END("from", from), END("to", to), TB_COLUMN("reverse", at.reverse),
		TB_COLUMN("bytes_per_s", at.bytes_per_s),
		TB_COLUMN("latency_ps", at.latency_ps))};
#undef RECORD

static const struct {
	const struct tb_stored_table *table;
	uint32_t (*count)(const struct tb_network *network);
	const void *(*make)(struct network_rows *rows, uint32_t i);
} network_tables[] = {
	{&topology_nodes, tb_network_n_hosts, make_node},
	{&topology_switches, tb_network_n_switches, make_switch},
	{&tb_topology_links, tb_network_n_links, make_link},
};
enum { NETWORK_TABLES = sizeof network_tables / sizeof *network_tables };

// digest_network stores the digest of the rows, in the order of tables and columns,
// without the topology's number, and how many there are of each.
static void digest_network(const struct tb_network *network, char digest[TB_DIGEST_SIZE])
{
	struct tb_row_hash hash;
	struct network_rows rows = {.network = network};
	tb_row_hash_begin(&hash);
	for (size_t t = 0; t < NETWORK_TABLES; t++) {
		uint32_t n = network_tables[t].count(network);
		tb_row_hash_table(&hash, n);
		for (uint32_t i = 0; i < n; i++)
			tb_row_hash_add(&hash, network_tables[t].table,
				network_tables[t].make(&rows, i));
	}
	tb_row_hash_end(&hash, digest);
}

#define RECORD struct digest_row
struct digest_row {
	char *digest;
};
static const struct tb_stored_table topologies = {.name = "topology",
	.owner = "topology",
	TB_STORED_HAS(RECORD, TB_COLUMN("digest", digest))};
#undef RECORD

int tb_store_has_topology(sqlite3 *db, const char *path, int64_t topology,
	const char *digest, bool *has, struct tb_error *error)
{
	struct tb_row_reader reader = tb_row_reader_open(
		db, path, &topologies, "topology WHERE topology = ?1", NULL, error);
	struct digest_row row;
	*has = false;
	tb_row_bind(&reader, 1, topology);
	while (tb_row_read(&reader, &row)) {
		*has |= strcmp(row.digest, digest) == 0;
		free(row.digest);
	}
	return tb_row_reader_end(&reader);
}

// write_topology stores the network unless a run on it is there, and its number.
static int write_topology(struct tb_row_writer *writer, const struct tb_network *network,
	int64_t *topology, struct tb_error *error)
{
	char digest[TB_DIGEST_SIZE], first[13];
	bool has = false;
	digest_network(network, digest);
	snprintf(first, sizeof first, "%.12s", digest);
	*topology = strtoll(first, NULL, 16);
	int status = tb_store_has_topology(
		writer->db, writer->path, *topology, digest, &has, error);
	writer->owner = *topology;
	if (!status && !has)
		status = tb_rows_put(
			writer, &topologies, &(struct digest_row){digest}, 1, error);
	for (size_t t = 0; t < NETWORK_TABLES && !status && !has; t++) {
		struct network_rows rows = {.network = network,
			.n = network_tables[t].count(network),
			.make = network_tables[t].make};
		status = tb_rows_put_each(
			writer, network_tables[t].table, next_network_row, &rows, error);
	}
	return status;
}

// The run's own row.

#define RECORD struct run_row
struct run_row {
	struct tb_run_config config;
	const char *seed, *version, *network, *switching, *leads;
	uint32_t n_nodes, n_switches, n_links, n_levels;
	int64_t topology;
	bool is_chosen;
};
static const struct tb_stored_table runs = TB_STORED_TABLE("run", RECORD,
	TB_COLUMN("input_name", config.input_name), TB_COLUMN("chosen", is_chosen),
	TB_COLUMN("input_kind", config.input_kind),
	TB_COLUMN("input_digest", config.input_digest),
	TB_COLUMN("input_bytes", config.input_bytes),
	TB_COLUMN("options", config.options), TB_COLUMN("time_scale", config.time_scale),
	TB_COLUMN("seed", seed), TB_COLUMN("program_version", version),
	TB_COLUMN("n_nodes", n_nodes), TB_COLUMN("n_switches", n_switches),
	TB_COLUMN("n_links", n_links), TB_COLUMN("n_levels", n_levels),
	TB_COLUMN("n_jobs", config.n_jobs), TB_COLUMN("network", network),
	TB_COLUMN("switching", switching), TB_COLUMN("leads", leads),
	TB_COLUMN("routes_name", config.routes_name),
	TB_COLUMN("routes_digest", config.routes_digest),
	TB_COLUMN_AS(TB_STORED_SIGNED, "topology", topology));
#undef RECORD

// A value of a parameter goes into a column of any type: by the table of its type.
#define RECORD struct tb_parameter
static const struct tb_stored_table parameters[] = {
	[TB_VALUE_WHOLE] = TB_STORED_TABLE("run_parameter", RECORD, TB_COLUMN("key", key),
		TB_COLUMN_AS(TB_STORED_SIGNED, "value", value.whole)),
	[TB_VALUE_REAL] = TB_STORED_TABLE("run_parameter", RECORD, TB_COLUMN("key", key),
		TB_COLUMN("value", value.real)),
	[TB_VALUE_WORD] = TB_STORED_TABLE("run_parameter", RECORD, TB_COLUMN("key", key),
		TB_COLUMN("value", value.word)),
};
#undef RECORD

#define RECORD struct environment_row
struct environment_row {
	const char *host, *machine;
};
static const struct tb_stored_table environments = TB_STORED_TABLE("run_environment",
	RECORD, TB_COLUMN("host", host), TB_COLUMN("machine", machine));
#undef RECORD

// Nodes are named by their endpoints, where they have one. At first, most have none or
// are called as their host, and then have no row.
#define RECORD struct node_names
struct node_names {
	const struct tb_network *network; // NULL: every name has a row
	const char *const *names;
	struct tb_node node; // the last one named
	const char *name;
	uint32_t next, n;
};
static const struct tb_stored_table node_names = TB_STORED_TABLE(
	"node_name", RECORD, TB_COLUMN("node", node), TB_COLUMN("name", name));
static const struct tb_stored_table node_renames = {.name = "node_name",
	.replaces = true,
	TB_STORED_HAS(RECORD, TB_COLUMN("node", node), TB_COLUMN("name", name))};
#undef RECORD

static const void *next_node_name(void *context)
{
	struct node_names *names = context;
	char host[TB_NAME_SIZE];
	for (; names->next < names->n; names->next++) {
		const char *name = names->names[names->next];
		if (!*name ||
			(names->network && strcmp(name, write_host(names->network,
								names->next, host)) == 0))
			continue;
		names->name = name;
		names->node.id = names->next++;
		return names;
	}
	return NULL;
}

#define RECORD struct tb_run_job
static const struct tb_stored_table jobs = {.name = "job",
	.number = "job",
	TB_STORED_HAS(RECORD, TB_COLUMN("name", name), TB_COLUMN("input", input),
		TB_COLUMN("start_ps", start_ps), TB_COLUMN("placement", placement))};
#undef RECORD

#define RECORD struct tb_run_place
static const struct tb_stored_table places = TB_STORED_TABLE("job_node", RECORD,
	TB_COLUMN("job", job), TB_COLUMN("rank", rank), TB_COLUMN("node", node));
#undef RECORD

#define RECORD struct tb_note
static const struct tb_stored_table notes = {.name = "note",
	.number = "note",
	TB_STORED_HAS(RECORD, TB_COLUMN_WITH("job", job, TB_STORED_OR_NULL),
		TB_COLUMN("text", text))};
#undef RECORD

#define RECORD struct fault_rows
struct fault_rows {
	const struct tb_faults *faults;
	size_t next;
	uint32_t link, in_switch; // TB_ID_NONE: it is the other
	tb_time_ps at_ps;
};
static const struct tb_stored_table faults = {.name = "fault",
	.number = "fault",
	TB_STORED_HAS(RECORD, TB_COLUMN_WITH("link", link, TB_STORED_OR_NULL),
		TB_COLUMN_WITH("switch", in_switch, TB_STORED_OR_NULL),
		TB_COLUMN("at_ps", at_ps))};
#undef RECORD

static const void *next_fault(void *context)
{
	struct fault_rows *rows = context;
	if (!rows->faults || rows->next == tb_faults_n(rows->faults))
		return NULL;
	struct tb_fault fault = tb_faults_at(rows->faults, rows->next++);
	rows->link = fault.is_switch ? TB_ID_NONE : fault.id;
	rows->in_switch = fault.is_switch ? fault.id : TB_ID_NONE;
	rows->at_ps = fault.at_ps;
	return rows;
}

int tb_store_find_next_run(
	sqlite3 *db, const char *path, int64_t *run, struct tb_error *error)
{
	return tb_sql_number(db, path,
		"SELECT 1 + max(coalesce((SELECT max(run) FROM run), 0), "
		"coalesce((SELECT max(run) FROM sweep_point), 0))",
		0, run, error);
}

int tb_store_write_setup(struct tb_row_writer *writer, const struct tb_network *network,
	const struct tb_run_config *config, struct tb_error *error)
{
	int64_t topology = 0, run = config->run;
	struct utsname system = {0};
	uname(&system);
	const struct environment_row environment = {system.nodename, system.machine};
	struct node_names names = {.network = network,
		.names = config->node_names,
		.n = config->node_names ? tb_network_n_hosts(network) : 0};
	struct fault_rows fault_rows = {.faults = config->faults};
	int status = run ? TB_OK
			 : tb_store_find_next_run(writer->db, writer->path, &run, error);
	if (!status)
		status = write_topology(writer, network, &topology, error);
	writer->owner = run;
	if (!status) {
		const struct tb_network_params *params = tb_network_params(network);
		const struct tb_switching_kind *switching = tb_switching_of(params);
		char seed[24];
		snprintf(seed, sizeof seed, "%llu", (unsigned long long)config->seed);
		const struct run_row row = {.config = *config,
			.is_chosen = !config->is_default,
			.seed = seed,
			.version = tb_version,
			.network = params->name,
			.switching = params->switching,
			.leads = tb_wait_lead_words[switching ? switching->leads : 0],
			.n_nodes = tb_network_n_hosts(network),
			.n_switches = tb_network_n_switches(network),
			.n_links = tb_network_n_links(network),
			.n_levels = tb_network_n_levels(network),
			.topology = topology};
		status = tb_rows_put(writer, &runs, &row, 1, error);
	}
	if (!status) {
		struct tb_network_params params = *tb_network_params(network);
		struct tb_parameter list[TB_PARAMETERS_MOST];
		// a built graph does not have it
		params.n_rails = tb_network_n_rails(network);
		size_t n = tb_parameters(&params, list);
		for (size_t i = 0; i < n && !status; i++)
			status = tb_rows_put(writer, &parameters[list[i].value.type],
				&list[i], 1, error);
	}
	if (!status)
		status = tb_rows_put(writer, &environments, &environment, 1, error);
	if (!status)
		status = tb_rows_put_each(
			writer, &node_names, next_node_name, &names, error);
	if (!status)
		status = tb_rows_put(writer, &jobs, config->jobs, config->n_jobs, error);
	if (!status)
		status = tb_rows_put(
			writer, &places, config->places, config->n_places, error);
	if (!status)
		status = tb_rows_put(
			writer, &notes, config->notes, config->n_notes, error);
	if (!status)
		status =
			tb_rows_put_each(writer, &faults, next_fault, &fault_rows, error);
	return status;
}

#define RECORD struct tb_run_result
static const struct tb_stored_table results = {.name = "run",
	.updates = true,
	TB_STORED_HAS(RECORD, TB_COLUMN("complete", complete),
		TB_COLUMN("simulated_ps", simulated_ps),
		TB_COLUMN("n_messages", n_messages), TB_COLUMN("n_packets", n_packets),
		TB_COLUMN("delivered_bytes", delivered_bytes),
		TB_COLUMN("n_retries", n_retries),
		TB_COLUMN("n_undelivered", n_undelivered), TB_COLUMN("n_lost", n_lost),
		TB_COLUMN("n_resent", n_resent),
		TB_COLUMN("input_summary", input_summary))};
static const struct tb_stored_table wall_times = {.name = "run_environment",
	.updates = true,
	TB_STORED_HAS(RECORD, TB_COLUMN("wall_s", wall_s))};
#undef RECORD

int tb_store_write_result(struct tb_row_writer *writer,
	const struct tb_run_result *result, struct tb_error *error)
{
	struct tb_run_result row = *result;
	struct node_names names = {.names = result->node_names,
		.n = result->node_names ? result->n_named : 0};
	row.input_summary = row.input_summary ? row.input_summary : "{}";
	int status = tb_rows_put(writer, &results, &row, 1, error);
	if (!status)
		status = tb_rows_put_each(
			writer, &node_renames, next_node_name, &names, error);
	if (!status)
		status = tb_rows_put(
			writer, &places, result->places, result->n_places, error);
	return status ? status : tb_rows_put(writer, &wall_times, &row, 1, error);
}

#define RECORD struct run_table_name
struct run_table_name {
	char *name;
};
static const struct tb_stored_table tables_of_runs =
	TB_STORED_TABLE("sqlite_schema", RECORD, TB_COLUMN("t.name", name));
#undef RECORD

int tb_store_delete_run(
	sqlite3 *db, const char *path, int64_t run, struct tb_error *error)
{
	static const char of_topology[] = "topology NOT IN (SELECT topology FROM run)";
	sqlite3_str *sql = sqlite3_str_new(db);
	struct tb_row_reader reader = tb_row_reader_open(db, path, &tables_of_runs,
		"sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE "
		"t.type = 'table' AND c.name = 'run' AND t.name NOT IN "
		"('sweep_point', 'sweep_value')",
		NULL, error);
	struct run_table_name row;
	while (tb_row_read(&reader, &row)) {
		sqlite3_str_appendf(sql, "DELETE FROM \"%w\" WHERE run = %lld;", row.name,
			(long long)run);
		free(row.name);
	}
	int status = tb_row_reader_end(&reader);
	// and the networks of which no run is left
	sqlite3_str_appendf(sql,
		"DELETE FROM topology_link WHERE %s;DELETE FROM topology_switch WHERE "
		"%s;DELETE FROM topology_node WHERE %s;DELETE FROM topology WHERE %s",
		of_topology, of_topology, of_topology, of_topology);
	char *text = sqlite3_str_finish(sql);
	if (!status)
		status = text ? tb_sql_exec(db, path, text, error)
			      : tb_fail_memory_in(error, path, "what failed");
	sqlite3_free(text);
	return status;
}
