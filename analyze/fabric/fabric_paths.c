#include "fabric_paths.h"
#include "array.h"
#include "fabric_report.h"
#include "fabric_traffic.h"
#include "flow_pairs.h"
#include "json.h"
#include "route_walk.h"
#include "speed_text.h"
#include "visible.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int tb_fabric_traffic_nodes(
	const char *path, int64_t id, uint32_t *n_nodes, struct tb_error *error)
{
	struct tb_run *run = NULL;
	int status = tb_run_open(&run, path, id, error);
	if (status == TB_OK)
		*n_nodes = tb_run_info(run)->n_nodes;
	tb_run_free(run);
	return status;
}

// check_run_nodes refuses the run of another network.
static int check_run_nodes(struct tb_run *run, const struct tb_network *network,
	const char *path, struct tb_error *error)
{
	uint32_t n = tb_network_n_hosts(network);
	if (tb_run_info(run)->n_nodes != n)
		return tb_fail_in(error, TB_EUSAGE, path,
			"its network has %u nodes, and this one %u",
			tb_run_info(run)->n_nodes, n);
	for (uint32_t i = 0; i < n; i++) {
		const char *theirs = tb_run_node_name(run, (struct tb_node){i});
		const char *ours =
			tb_network_node_identity(network, (struct tb_node){i}).name;
		if (*theirs && *ours && strcmp(theirs, ours) != 0)
			return tb_fail_in(error, TB_EUSAGE, path,
				"its traffic is of another network: node %u is called %s "
				"there, and %s here",
				i, theirs, ours);
	}
	return TB_OK;
}

// take_pair adds what one host sends to another, to each rail an equal part.
static void take_pair(
	void *context, struct tb_node source, struct tb_node destination, uint64_t bytes)
{
	struct tb_route_traffic *traffic = context;
	uint32_t n_hosts = tb_network_n_hosts(traffic->network);
	uint32_t n_rails = tb_network_n_rails(traffic->network);
	for (uint32_t rail = 0; rail < n_rails; rail++)
		tb_route_traffic_add(traffic,
			(struct tb_node){rail * n_hosts + source.id},
			(struct tb_node){rail * n_hosts + destination.id},
			bytes / n_rails);
}

static int read_traffic(struct tb_run *run, struct tb_route_traffic *traffic,
	const char *path, struct tb_error *error)
{
	uint64_t n = 0;
	int status = tb_flow_pairs_read(
		run, &(struct tb_flow_taker){take_pair, traffic}, &n, error);
	if (status == TB_OK && n == 0)
		status = tb_fail_in(error, TB_EUSAGE, path,
			"run %" PRId64 " has no flows: %s", tb_run_info(run)->id,
			tb_run_info(run)->complete ? "nothing was delivered"
						   : "it did not end");
	return status;
}

int tb_fabric_traffic_route(struct tb_network *network, struct tb_run *run,
	const char *name, struct tb_route_gain *gain, struct tb_error *error)
{
	struct tb_route_traffic traffic = {0};
	int status = check_run_nodes(run, network, name, error);
	if (status == TB_OK)
		status = tb_route_traffic_init(&traffic, network, error);
	if (status == TB_OK)
		status = read_traffic(run, &traffic, name, error);
	if (status == TB_OK)
		status = tb_route_traffic_apply(network, &traffic, name, gain, error);
	tb_route_traffic_fini(&traffic);
	return status;
}

int tb_fabric_traffic_apply(
	struct tb_network *network, const char *path, int64_t id, struct tb_error *error)
{
	struct tb_run *run = NULL;
	struct tb_route_gain gain;
	int status = tb_run_open(&run, path, id, error);
	if (status == TB_OK)
		status = tb_fabric_traffic_route(network, run, path, &gain, error);
	tb_run_free(run);
	return status;
}

#define DIGITS 10

struct path {
	uint32_t from, to; // nodes
	uint32_t first, n; // links
};

struct tb_fabric_paths {
	const struct tb_network *net;
	struct path *all;
	size_t n, room;
	struct tb_link *links; // of all paths, one after the other
	size_t n_links, link_room;
};

void tb_fabric_paths_free(struct tb_fabric_paths *paths)
{
	if (!paths)
		return;
	free(paths->all);
	free(paths->links);
	free(paths);
}

static int add_path(struct tb_fabric_paths *paths, uint32_t from, uint32_t to,
	uint64_t seed, struct tb_error *error)
{
	size_t longest = tb_route_walk_most(paths->net) + 1u;
	if (TB_ARRAY_RESERVE(&paths->all, &paths->room, paths->n + 1) != TB_OK ||
		TB_ARRAY_RESERVE(&paths->links, &paths->link_room,
			paths->n_links + longest) != TB_OK)
		return tb_fail_memory(error, "paths");
	struct path path = {from, to, (uint32_t)paths->n_links, 0};
	path.n = tb_route_walk(paths->net, (struct tb_node){from}, (struct tb_node){to},
		seed, paths->links + path.first);
	if (path.n == 0) {
		char ends[2][TB_NAME_SIZE];
		return tb_fail(error, TB_EFORMAT, "no route leads from '%s' to '%s'",
			tb_names_node(paths->net, (struct tb_node){from}, ends[0],
				sizeof ends[0]),
			tb_names_node(paths->net, (struct tb_node){to}, ends[1],
				sizeof ends[1]));
	}
	paths->n_links += path.n;
	paths->all[paths->n++] = path;
	return TB_OK;
}

static int add_paths(struct tb_fabric_paths *paths, struct tb_named_nodes from,
	struct tb_named_nodes to, uint64_t seed, struct tb_error *error)
{
	uint32_t n_hosts = tb_network_n_hosts(paths->net);
	int status = TB_OK;
	for (uint32_t i = 0; i < from.n; i++)
		for (uint32_t j = 0; j < to.n && status == TB_OK; j++) {
			uint32_t one = from.first + i * from.step;
			uint32_t other = to.first + j * to.step;
			if (one != other && one / n_hosts == other / n_hosts)
				status = add_path(paths, one, other, seed, error);
		}
	if (status == TB_OK && paths->n == 0)
		return tb_fail(error, TB_EUSAGE, "a path leads to another host%s",
			tb_network_n_rails(paths->net) > 1 ? " of the same rail" : "");
	return status;
}

int tb_fabric_paths_new(struct tb_fabric_paths **paths, const struct tb_network *network,
	struct tb_named_nodes from, struct tb_named_nodes to, uint64_t seed,
	struct tb_error *error)
{
	struct tb_fabric_paths *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "paths");
	made->net = network;
	int status = add_paths(made, from, to, seed, error);
	if (status != TB_OK) {
		tb_fabric_paths_free(made);
		return status;
	}
	*paths = made;
	return TB_OK;
}

void tb_fabric_paths_text(const struct tb_fabric_paths *paths, FILE *stream)
{
	for (size_t i = 0; i < paths->n; i++) {
		const struct path *path = &paths->all[i];
		if (paths->n > 1) {
			const struct tb_network *net = paths->net;
			const uint32_t ends[] = {path->from, path->to};
			for (int k = 0; k < 2; k++) {
				char name[TB_NAME_SIZE], shown[TB_NAME_SIZE * 4];
				tb_names_node(net, (struct tb_node){ends[k]}, name,
					sizeof name);
				fprintf(stream, "%s%s", k ? " to " : "",
					tb_visible(name, shown, sizeof shown));
			}
			fputs(":\n", stream);
		}
		for (uint32_t j = path->first; j < path->first + path->n; j++) {
			struct tb_link link = paths->links[j];
			char name[TB_FABRIC_LINK_TEXT], speed[32];
			double rate =
				(double)tb_network_link(paths->net, link).bytes_per_s;
			fprintf(stream, "%13s  %s\n",
				tb_speed_text(rate, speed, sizeof speed),
				tb_fabric_link_text(paths->net, link, name, sizeof name));
		}
	}
}

static json_t *path_json(const struct tb_fabric_paths *paths, const struct path *path)
{
	struct tb_json_object object = tb_json_object_new();
	char name[TB_LINK_NAME_SIZE];
	json_t *links = json_array();
	tb_json_add(&object, "from",
		tb_json_text(tb_names_node(
			paths->net, (struct tb_node){path->from}, name, sizeof name)));
	tb_json_add(&object, "to",
		tb_json_text(tb_names_node(
			paths->net, (struct tb_node){path->to}, name, sizeof name)));
	for (uint32_t j = path->first; j < path->first + path->n; j++) {
		struct tb_link link = paths->links[j];
		struct tb_json_object at = tb_json_object_new();
		tb_json_add(&at, "link_name",
			tb_json_text(tb_names_link(paths->net, link, name, sizeof name)));
		tb_json_add_count(&at, "bytes_per_s",
			tb_network_link(paths->net, link).bytes_per_s);
		links = tb_json_append(links, tb_json_object_take(&at));
	}
	tb_json_add(&object, "links", links);
	return tb_json_object_take(&object);
}

int tb_fabric_paths_json(const struct tb_fabric_paths *paths, FILE *stream)
{
	struct tb_json_object object = tb_json_object_new();
	json_t *list = json_array();
	for (size_t i = 0; i < paths->n; i++)
		list = tb_json_append(list, path_json(paths, &paths->all[i]));
	tb_json_add(&object, "paths", list);
	return tb_json_write(tb_json_object_take(&object), DIGITS, stream);
}
