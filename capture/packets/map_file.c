#include "map_file.h"

#include "array.h"
#include "hash.h"
#include "input_files.h"
#include "map.h"
#include "order.h"
#include "text_lines.h"
#include "units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"

struct tb_map_file {
	struct tb_endpoints endpoints;
	struct tb_node *nodes; // by endpoint
	size_t nodes_room;
	uint32_t *job_of_node; // job + 1, 0: none
	size_t jobs_of_nodes;
	char **job_names;
	uint32_t n_jobs;
	size_t jobs_room;
	char **hosts; // by node; NULL: nodes are numbers
	uint32_t n_hosts;
	size_t hosts_room;
	struct tb_map host_of; // hash of its name to the host
};

void tb_map_file_free(struct tb_map_file *map)
{
	if (!map)
		return;
	tb_endpoints_fini(&map->endpoints);
	free(map->nodes);
	free(map->job_of_node);
	for (uint32_t i = 0; i < map->n_jobs; i++)
		free(map->job_names[i]);
	free(map->job_names);
	for (uint32_t i = 0; i < map->n_hosts; i++)
		free(map->hosts[i]);
	free(map->hosts);
	tb_map_fini(&map->host_of);
	free(map);
}

// The current line, for messages. Without a file `path` is "" and `number` is 0.
struct map_line {
	const char *path;
	uint64_t number;
	struct tb_error *error;
};

#define REFUSE(line, ...)                                                                \
	tb_fail_at((line)->error, TB_EUSAGE, (line)->path,                               \
		(line)->number ? TB_PLACE_LINE : TB_PLACE_NONE, (line)->number,          \
		__VA_ARGS__)

static int add_endpoint(struct tb_map_file *map, const char *name, struct tb_node node,
	const struct map_line *line)
{
	struct tb_address address;
	uint32_t number;
	if (tb_address_parse(name, &address) != TB_OK)
		return REFUSE(line,
			"'%s' is no endpoint: expected an IPv4, IPv6 or MAC address, "
			"lid:NUMBER or gid:ADDRESS",
			name);
	if (tb_endpoints_find(&map->endpoints, &address, &number))
		return REFUSE(line, "'%s' is named a second time", name);
	if (tb_endpoints_add(&map->endpoints, &address, &number) != TB_OK)
		return tb_fail_memory_in(line->error, line->path, "it");
	if (TB_ARRAY_RESERVE(&map->nodes, &map->nodes_room, number + (size_t)1) != TB_OK)
		return tb_fail_memory_in(line->error, line->path, "it");
	map->nodes[number] = node;
	return TB_OK;
}

static int find_or_add_job(struct tb_map_file *map, const char *name,
	const struct map_line *line, uint32_t *job)
{
	for (uint32_t i = 0; i < map->n_jobs; i++)
		if (strcmp(map->job_names[i], name) == 0) {
			*job = i;
			return TB_OK;
		}
	if (map->n_jobs == TB_MAP_FILE_JOBS_MAX)
		return REFUSE(line, "'%s' is one job too many: %d can be told apart",
			name, TB_MAP_FILE_JOBS_MAX);
	if (TB_ARRAY_RESERVE(&map->job_names, &map->jobs_room, map->n_jobs + 1) != TB_OK)
		return tb_fail_memory_in(line->error, line->path, "it");
	map->job_names[map->n_jobs] = strdup(name);
	if (!map->job_names[map->n_jobs])
		return tb_fail_memory_in(line->error, line->path, "it");
	*job = map->n_jobs++;
	return TB_OK;
}

static int map_add_job(struct tb_map_file *map, struct tb_node node, const char *name,
	const struct map_line *line)
{
	uint32_t job = 0;
	int status = find_or_add_job(map, name, line, &job);
	if (status != TB_OK)
		return status;
	if (TB_ARRAY_RESERVE_ZEROED(
		    &map->job_of_node, &map->jobs_of_nodes, node.id + (size_t)1) != TB_OK)
		return tb_fail_memory_in(line->error, line->path, "it");
	uint32_t known = map->job_of_node[node.id];
	if (known != 0 && known != job + 1)
		return REFUSE(line, "node %u works for '%s' already, not for '%s'",
			node.id, map->job_names[known - 1], name);
	map->job_of_node[node.id] = job + 1;
	return TB_OK;
}

static int read_node(struct tb_map_file *map, const char *text,
	const struct map_line *line, struct tb_node *node)
{
	uint64_t number;
	bool is_name = strspn(text, "+-0123456789") != strlen(text);
	if (map->endpoints.n > 0 && is_name != (map->n_hosts > 0))
		return REFUSE(line, "'%s' is %s: expected %s, as in the lines before",
			text, is_name ? "a name" : "a number",
			is_name ? "a number" : "the name of a host");
	if (is_name) {
		// Number the hosts.
		uint32_t *host = &node->id;
		uint64_t key = tb_hash_text(TB_HASH_BEGIN, text);
		for (; tb_map_find(&map->host_of, key, host); key++)
			if (strcmp(map->hosts[*host], text) == 0)
				return TB_OK;
		if (map->n_hosts == TB_MAP_FILE_NODES_MAX)
			return REFUSE(line, "'%s' is one host too many", text);
		if (TB_ARRAY_RESERVE(&map->hosts, &map->hosts_room,
			    map->n_hosts + (size_t)1) != TB_OK)
			return tb_fail_memory_in(line->error, line->path, "it");
		char *copy = strdup(text);
		if (!copy || tb_map_put(&map->host_of, key, map->n_hosts) != TB_OK) {
			free(copy);
			return tb_fail_memory_in(line->error, line->path, "it");
		}
		map->hosts[map->n_hosts] = copy;
		*host = map->n_hosts++;
		return TB_OK;
	}
	if (tb_parse_count(text, 0, TB_MAP_FILE_NODES_MAX - 1, &number) != TB_OK)
		return REFUSE(line,
			"'%s' is no node: expected a number from 0 to %u, or the name of "
			"a host",
			text, TB_MAP_FILE_NODES_MAX - 1);
	node->id = (uint32_t)number;
	return TB_OK;
}

static int read_map_line(struct tb_map_file *map, char *text, const struct map_line *line)
{
	text[strcspn(text, "#")] = '\0';
	char *rest;
	const char *endpoint = strtok_r(text, BLANKS, &rest);
	if (!endpoint)
		return TB_OK;
	const char *place = strtok_r(NULL, BLANKS, &rest);
	const char *job = strtok_r(NULL, BLANKS, &rest);
	const char *more = strtok_r(NULL, BLANKS, &rest);
	if (!place)
		return REFUSE(line, "no node after '%s': expected ENDPOINT NODE [JOB]",
			endpoint);
	if (more)
		return REFUSE(
			line, "'%s' is too much: expected ENDPOINT NODE [JOB]", more);
	struct tb_node id = {0};
	int status = read_node(map, place, line, &id);
	TB_THEN(status, add_endpoint(map, endpoint, id, line));
	if (status == TB_OK && job)
		status = map_add_job(map, id, job, line);
	return status;
}

static int read_map_lines(struct tb_map_file *map, FILE *file, struct map_line *line)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, file, line->path, line->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		line->number = lines.number;
		status = read_map_line(map, lines.text, line);
	}
	status = found < 0 ? found : status;
	tb_text_lines_fini(&lines);
	if (status == TB_OK && map->endpoints.n == 0)
		status = tb_fail_in(
			line->error, TB_EUSAGE, line->path, "the map names no endpoint");
	return status;
}

int tb_map_file_new(struct tb_map_file **map, struct tb_error *error)
{
	struct tb_map_file *new = calloc(1, sizeof *new);
	if (!new)
		return tb_fail_memory(error, "the map");
	*map = new;
	return TB_OK;
}

int tb_map_file_add(struct tb_map_file *map, const char *endpoint, struct tb_node node,
	const char *job, struct tb_error *error)
{
	const struct map_line line = {.path = "", .error = error};
	int status = add_endpoint(map, endpoint, node, &line);
	return status == TB_OK && job ? map_add_job(map, node, job, &line) : status;
}

int tb_map_file_read(struct tb_map_file **map, const char *path, struct tb_error *error)
{
	FILE *file = tb_input_fopen(path);
	if (!file)
		return tb_fail_in(
			error, TB_EIO, path, "cannot open: %s", strerror(errno));
	struct map_line line = {.path = path, .error = error};
	struct tb_map_file *new = calloc(1, sizeof *new);
	int status = new ? read_map_lines(new, file, &line)
			 : tb_fail_memory_in(error, path, "it");
	fclose(file);
	if (status == TB_OK)
		*map = new;
	else
		tb_map_file_free(new);
	return status;
}

bool tb_map_file_node(const struct tb_map_file *map, const struct tb_address *address,
	struct tb_node *node)
{
	uint32_t number;
	if (!tb_endpoints_find(&map->endpoints, address, &number))
		return false;
	*node = map->nodes[number];
	return true;
}

uint32_t tb_map_file_job(const struct tb_map_file *map, struct tb_node node)
{
	uint32_t job = node.id < map->jobs_of_nodes ? map->job_of_node[node.id] : 0;
	return job == 0 ? TB_ID_NONE : job - 1;
}

uint32_t tb_map_file_n_jobs(const struct tb_map_file *map)
{
	return map->n_jobs;
}

bool tb_map_file_leaves_jobs(const struct tb_map_file *map)
{
	for (uint32_t i = 0; i < map->endpoints.n; i++)
		if (tb_map_file_job(map, map->nodes[i]) == TB_ID_NONE)
			return true;
	return false;
}

uint32_t tb_map_file_n_nodes(const struct tb_map_file *map)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < map->endpoints.n; i++)
		if (map->nodes[i].id >= n)
			n = map->nodes[i].id + 1;
	return n;
}

const char *const *tb_map_file_hosts(const struct tb_map_file *map)
{
	return map->n_hosts > 0 ? (const char *const *)map->hosts : NULL;
}

uint32_t tb_map_file_n_endpoints(const struct tb_map_file *map)
{
	return map->endpoints.n;
}

struct tb_node tb_map_file_node_at(const struct tb_map_file *map, uint32_t endpoint)
{
	return map->nodes[endpoint];
}

const char *tb_map_file_job_name(const struct tb_map_file *map, uint32_t job)
{
	return map->job_names[job];
}

// list_nodes stores the nodes of the map in their order, and returns how many there are.
static uint32_t list_nodes(const struct tb_map_file *map, uint32_t *nodes)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < map->endpoints.n; i++)
		nodes[i] = map->nodes[i].id;
	qsort(nodes, map->endpoints.n, sizeof *nodes, tb_order_u32);
	for (uint32_t i = 0; i < map->endpoints.n; i++)
		if (i == 0 || nodes[i] != nodes[n - 1])
			nodes[n++] = nodes[i];
	return n;
}

// add_dense adds an endpoint of `map`, whose nodes are listed.
static int add_dense(struct tb_map_file *dense, const struct tb_map_file *map, uint32_t i,
	const uint32_t *nodes, uint32_t n_nodes, const struct map_line *line)
{
	char text[TB_ADDRESS_TEXT_SIZE];
	const uint32_t *at =
		bsearch(&map->nodes[i].id, nodes, n_nodes, sizeof *nodes, tb_order_u32);
	struct tb_node node = {(uint32_t)(at - nodes)};
	uint32_t job = tb_map_file_job(map, map->nodes[i]);
	tb_address_format(&map->endpoints.addresses[i], text, sizeof text);
	int status = add_endpoint(dense, text, node, line);
	return status == TB_OK && job != TB_ID_NONE
		       ? map_add_job(dense, node, map->job_names[job], line)
		       : status;
}

int tb_map_file_dense(struct tb_map_file **dense, uint32_t **nodes,
	const struct tb_map_file *map, struct tb_error *error)
{
	const struct map_line line = {.path = "", .error = error};
	struct tb_map_file *made = NULL;
	uint32_t *list = calloc(map->endpoints.n + UINT64_C(1), sizeof *list);
	uint32_t job, n_nodes = list ? list_nodes(map, list) : 0;
	int status = list ? tb_map_file_new(&made, error)
			  : tb_fail_memory_in(error, NULL, "it");
	// Jobs keep their numbers.
	for (uint32_t i = 0; status == TB_OK && i < map->n_jobs; i++)
		status = find_or_add_job(made, map->job_names[i], &line, &job);
	for (uint32_t i = 0; status == TB_OK && i < map->endpoints.n; i++)
		status = add_dense(made, map, i, list, n_nodes, &line);
	if (status != TB_OK) {
		tb_map_file_free(made);
		free(list);
		return status;
	}
	*dense = made;
	*nodes = list;
	return TB_OK;
}
