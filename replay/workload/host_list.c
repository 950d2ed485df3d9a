#include "placement.h"

#include "array.h"
#include "ids.h"
#include "input_files.h"
#include "map.h"
#include "name_ranges.h"
#include "names.h"
#include "text_lines.h"
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"

// Names that the ranges of a file may stand for: a short one should not take much memory.
#define FILE_NAMES_MOST (UINT64_C(1) << 18)

struct host_list_reading {
	struct tb_hosts made;
	struct tb_map place_of;		  // node to its place in the list
	const struct tb_network *network; // that names hosts; NULL: none does
	const char *file;		  // NULL: a list on the command line
	const char *tasks; // those of the hosts to come, as tb_hosts_parse; NULL: none
	uint32_t n_tasks, n_same; // of each of the next n_same hosts
	uint64_t n_left;	  // names that ranges may still stand for
	uint64_t line;
	uint32_t n_slots; // of each host of a name with ranges
	bool is_slurm;	  // a file of lists: a host that comes again has no more slots
	struct tb_error *error;
};

void tb_hosts_fini(struct tb_hosts *hosts)
{
	free(hosts->hosts);
	*hosts = (struct tb_hosts){0};
}

#define REFUSE(reading, ...)                                                             \
	((reading)->file ? tb_fail_at((reading)->error, TB_EUSAGE, (reading)->file,      \
				   TB_PLACE_LINE, (reading)->line, __VA_ARGS__)          \
			 : tb_fail((reading)->error, TB_EUSAGE, __VA_ARGS__))

// host_list_add appends a host or gives it more slots: a repeated node is an error in a
// list, but one more slot in a file.
static int host_list_add(
	struct host_list_reading *reading, uint32_t node, uint32_t n_slots)
{
	struct tb_hosts *hosts = &reading->made;
	uint32_t place;
	if (tb_map_find(&reading->place_of, node, &place)) {
		if (!reading->file)
			return REFUSE(reading, "the host list names node %u twice", node);
		if (reading->is_slurm)
			return TB_OK;
		if (hosts->hosts[place].n_slots > TB_HOSTS_MAX - n_slots)
			return REFUSE(reading, "too many slots");
		hosts->hosts[place].n_slots += n_slots;
		return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&hosts->hosts, &hosts->room, (size_t)hosts->n + 1) !=
			TB_OK ||
		tb_map_put(&reading->place_of, node, hosts->n) != TB_OK)
		return tb_fail_memory(reading->error, "hosts");
	hosts->hosts[hosts->n++] = (struct tb_host_slots){node, n_slots};
	return TB_OK;
}

// host_list_naming returns the network if its nodes have names, else NULL.
static const struct tb_network *host_list_naming(const struct tb_network *network)
{
	if (!network)
		return NULL;
	bool has_names =
		tb_network_node_identity(network, (struct tb_node){0}).name[0] != '\0';
	return has_names ? network : NULL;
}

// add_host adds the nodes of a host of the fabric; 0: no host has this name.
static int add_host(struct host_list_reading *reading, const char *host, uint32_t n_slots)
{
	struct tb_node first;
	uint32_t n = 0;
	if (!reading->network || !tb_names_find_host(reading->network, host, &first, &n))
		return 0;
	// Each node of a list has a slot; a file or tasks give a host's.
	if (!reading->file && !reading->tasks)
		n_slots = n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t own = n_slots / n + (i < n_slots % n);
		int status = own ? host_list_add(reading, first.id + i, own) : TB_OK;
		if (status != TB_OK)
			return status;
	}
	return 1;
}

// next_tasks takes a host's tasks off those of a list, such as "4(x3),2".
static int next_tasks(struct host_list_reading *reading, uint32_t *n_slots)
{
	const char *at = reading->tasks;
	if (!at)
		return TB_OK;
	if (reading->n_same == 0) {
		bool fine = tb_name_ranges_number(&at, &reading->n_tasks) &&
			    reading->n_tasks > 0;
		reading->n_same = 1;
		if (fine && strncmp(at, "(x", 2) == 0) {
			at += 2;
			fine = tb_name_ranges_number(&at, &reading->n_same) &&
			       reading->n_same > 0 && *at++ == ')';
		}
		if (!fine || (*at && *at != ','))
			return *reading->tasks ? REFUSE(reading,
							 "'%s': expected the ranks of "
							 "each host, as in 4(x3),2",
							 reading->tasks)
					       : REFUSE(reading, "the host list has more "
								 "hosts than there are "
								 "numbers of ranks");
		reading->tasks = *at ? at + 1 : at;
	}
	reading->n_same--;
	*n_slots = reading->n_tasks;
	return TB_OK;
}

// number_at_end returns the number that a host's name ends with, which is its node where
// the network has no names (placement.h). Empty: none.
static const char *number_at_end(const char *host)
{
	const char *number = host + strlen(host);
	while (number > host && isdigit((unsigned char)number[-1]))
		number--;
	return number;
}

// host_list_add_named adds a host of the fabric by its name, or else the node of the
// number that the name ends with.
static int host_list_add_named(
	struct host_list_reading *reading, const char *host, uint32_t n_slots)
{
	int status = next_tasks(reading, &n_slots);
	if (status != TB_OK)
		return status;
	status = add_host(reading, host, n_slots);
	if (status != 0)
		return status < 0 ? status : TB_OK;
	const char *number = number_at_end(host);
	if (reading->network && number > host)
		return REFUSE(reading, "'%s' is no host of the network", host);
	uint32_t node;
	if (!tb_name_ranges_number(&number, &node))
		return REFUSE(reading,
			"host '%s' does not end with a number below %u, its node", host,
			TB_HOSTS_MAX);
	return host_list_add(reading, node, n_slots);
}

static int add_expanded(void *context, const char *host)
{
	struct host_list_reading *reading = context;
	return host_list_add_named(reading, host, reading->n_slots);
}

// host_list_add_ranges adds the hosts of a name with ranges.
static int host_list_add_ranges(
	struct host_list_reading *reading, const char *name, uint32_t n_slots)
{
	struct tb_error why = {0};
	reading->n_slots = n_slots;
	int status = tb_name_ranges_expand(
		name, &reading->n_left, add_expanded, reading, &why);
	return why.code ? REFUSE(reading, "%s", why.text) : status;
}

// add_plain reads a host without brackets: "node07", "7" or, for people, "4-7".
static int add_plain(struct host_list_reading *reading, const char *host)
{
	struct tb_node first;
	uint32_t n = 0;
	bool is_host = reading->network &&
		       tb_names_find_host(reading->network, host, &first, &n);
	const char *number = number_at_end(host);
	if (!is_host && isdigit((unsigned char)host[0])) {
		char *range;
		if (asprintf(&range, "[%s]", host) < 0)
			return tb_fail_memory(reading->error, "hosts");
		int status = host_list_add_ranges(reading, range, 1);
		free(range);
		return status;
	}
	if (!is_host && *number && number > host + 1 && number[-1] == '-' &&
		isdigit((unsigned char)number[-2]))
		return REFUSE(reading,
			"'%s' can be a host or a range: write a range as node[0-15]",
			host);
	return host_list_add_named(reading, host, 1);
}

static int host_list_read_list(struct host_list_reading *reading, char *text)
{
	int status = TB_OK;
	for (char *name; status == TB_OK && (name = tb_name_ranges_next(&text));) {
		if (!*name)
			return REFUSE(reading, "the host list has an empty place");
		status = strpbrk(name, "[]") ? host_list_add_ranges(reading, name, 1)
					     : add_plain(reading, name);
	}
	return status;
}

static int host_list_take_hosts(
	struct host_list_reading *reading, struct tb_hosts *hosts, int status)
{
	tb_map_fini(&reading->place_of);
	if (status != TB_OK)
		tb_hosts_fini(&reading->made);
	else
		*hosts = reading->made;
	return status;
}

int tb_hosts_parse(struct tb_hosts *hosts, const char *list, const char *tasks,
	const struct tb_network *network, struct tb_error *error)
{
	struct host_list_reading reading = {.network = host_list_naming(network),
		.tasks = tasks,
		.n_left = TB_HOSTS_MAX,
		.error = error};
	char *copy = strdup(list);
	if (!copy)
		return tb_fail_memory(error, "hosts");
	// Read lists with blanks between, as from lines: the output of
	// 'scontrol show hostnames'.
	char *text = copy;
	int status = TB_OK;
	text += strspn(text, BLANKS);
	do {
		char *word = text;
		text += strcspn(text, BLANKS);
		char *end = text;
		text += strspn(text, BLANKS);
		*end = '\0';
		status = host_list_read_list(&reading, word);
	} while (status == TB_OK && *text);
	free(copy);
	if (status == TB_OK && tasks && (*reading.tasks || reading.n_same > 0))
		status = REFUSE(&reading,
			"the host list has fewer hosts than '%s' has numbers of ranks",
			tasks);
	return host_list_take_hosts(&reading, hosts, status);
}

// What a list selects.
struct host_selection {
	const struct tb_network *network;
	uint32_t n_hosts, n_nodes;
	uint32_t *nodes;  // of hosts, in order
	bool *is_in;	  // by node: it is among these
	bool *is_adapter; // by node: its adapter or rail
	uint32_t n;	  // of `nodes`
	bool has_adapters;
	struct tb_error *error;
};

static void select_node(struct host_selection *selection, uint32_t node)
{
	if (!selection->is_in[node])
		selection->nodes[selection->n++] = node;
	selection->is_in[node] = true;
}

static void select_host(struct host_selection *selection, uint32_t node)
{
	for (; node < selection->n_nodes; node += selection->n_hosts)
		select_node(selection, node);
}

// select_adapters marks the nodes that are called so on their hosts.
static bool select_adapters(struct host_selection *selection, const char *name)
{
	bool found = false;
	size_t n = strlen(name);
	for (uint32_t node = 0; node < selection->n_nodes; node++) {
		struct tb_identity own = tb_network_node_identity(
			selection->network, (struct tb_node){node});
		const char *adapter = tb_names_adapter(&own);
		if (*adapter == '\0' || strncmp(adapter, name, n) != 0 ||
			(adapter[n] != '\0' && adapter[n] != ':'))
			continue;
		selection->is_adapter[node] = found = true;
	}
	selection->has_adapters |= found;
	return found;
}

static bool select_rail(struct host_selection *selection, const char *name)
{
	uint32_t rail, n_hosts = selection->n_hosts;
	const char *number = name + 4;
	if (strncmp(name, "rail", 4) != 0 || !tb_name_ranges_number(&number, &rail) ||
		*number || rail >= selection->n_nodes / n_hosts)
		return false;
	for (uint32_t host = 0; host < n_hosts; host++)
		selection->is_adapter[rail * n_hosts + host] = true;
	selection->has_adapters = true;
	return true;
}

static int select_name(void *context, const char *name)
{
	struct host_selection *selection = context;
	struct host_list_reading reading = {
		.network = host_list_naming(selection->network),
		.n_left = TB_HOSTS_MAX,
		.error = selection->error};
	struct tb_named_nodes nodes;
	struct tb_node first;
	uint32_t n = 0;
	if (reading.network && tb_names_find_host(reading.network, name, &first, &n)) {
		for (uint32_t i = 0; i < n; i++)
			select_host(selection, first.id + i);
		return TB_OK;
	}
	if (select_adapters(selection, name) || select_rail(selection, name))
		return TB_OK;
	if (reading.network && strchr(name, ':') &&
		tb_names_find_nodes(selection->network, name, &nodes, NULL) == TB_OK) {
		for (uint32_t i = 0; i < nodes.n; i++)
			select_node(selection, nodes.first + i * nodes.step);
		return TB_OK;
	}
	int status = add_plain(&reading, name);
	for (uint32_t i = 0; i < reading.made.n && status == TB_OK; i++) {
		uint32_t node = reading.made.hosts[i].node;
		if (node >= selection->n_hosts)
			status = tb_fail(selection->error, TB_EUSAGE,
				"'%s': the network has %u hosts", name,
				selection->n_hosts);
		else
			select_host(selection, node);
	}
	tb_hosts_fini(&reading.made);
	tb_map_fini(&reading.place_of);
	return status;
}

// select_list marks what the names of a list stand for, which commas or blanks separate.
static int select_list(struct host_selection *selection, char *list)
{
	uint64_t left = TB_HOSTS_MAX;
	int status = TB_OK;
	for (char *word; status == TB_OK && (word = strtok_r(list, BLANKS, &list));) {
		for (char *name; status == TB_OK && (name = tb_name_ranges_next(&word));)
			status = tb_name_ranges_expand(
				name, &left, select_name, selection, selection->error);
	}
	return status;
}

int tb_hosts_select(uint32_t **nodes, uint32_t *n, const char *list,
	const struct tb_network *network, struct tb_error *error)
{
	uint32_t n_nodes = tb_network_n_nodes(network), n_left = 0;
	char *copy = strdup(list);
	struct host_selection selection = {.network = network,
		.n_hosts = tb_network_n_hosts(network),
		.n_nodes = n_nodes,
		.nodes = malloc(n_nodes * sizeof *selection.nodes),
		.is_in = calloc(n_nodes, sizeof(bool)),
		.is_adapter = calloc(n_nodes, sizeof(bool)),
		.error = error};
	bool ready = copy && selection.nodes && selection.is_in && selection.is_adapter;
	int status =
		ready ? select_list(&selection, copy) : tb_fail_memory(error, "hosts");
	bool has_hosts = selection.n > 0;
	for (uint32_t node = 0; !has_hosts && status == TB_OK && node < n_nodes; node++)
		select_node(&selection, node);
	for (uint32_t i = 0; i < selection.n && status == TB_OK; i++)
		if (!selection.has_adapters || selection.is_adapter[selection.nodes[i]])
			selection.nodes[n_left++] = selection.nodes[i];
	free(copy);
	free(selection.is_in);
	free(selection.is_adapter);
	if (status == TB_OK) {
		*nodes = selection.nodes;
		*n = n_left;
	} else
		free(selection.nodes);
	return status;
}

// read_slots reads the words after a host: "slots=4" counts; others are for launchers,
// Open MPI's and MPICH's, and ignored.
static int read_slots(struct host_list_reading *reading, char *words, uint32_t *n_slots)
{
	static const char *const ignored[] = {"max_slots", "max-slots", "slots-max",
		"slots_max", "count", "cpu", "sockets", "cores", "boards", "user",
		"username", "port", "binding", "ifhn", "netmask", "rank", "slot"};
	enum { N_IGNORED = sizeof ignored / sizeof *ignored };
	uint64_t n;
	for (char *word; (word = strtok_r(words, BLANKS, &words)) != NULL;) {
		char *equals = strchr(word, '=');
		if (!equals)
			return REFUSE(
				reading, "'%s' behind the host: expected slots=N", word);
		size_t i = 0, length = (size_t)(equals - word);
		while (i < N_IGNORED && (strlen(ignored[i]) != length ||
						strncmp(word, ignored[i], length) != 0))
			i++;
		if (i < N_IGNORED)
			continue;
		if (strncmp(word, "slots=", 6) != 0)
			return REFUSE(
				reading, "'%s' behind the host: expected slots=N", word);
		if (tb_parse_count(equals + 1, 1, TB_HOSTS_MAX, &n) != TB_OK)
			return REFUSE(reading, "'%s': expected a number from 1", word);
		*n_slots = (uint32_t)n;
	}
	return TB_OK;
}

// host_list_is_heading: what sacct and squeue print above their lists.
static bool host_list_is_heading(struct host_list_reading *reading, const char *word)
{
	bool is = strcasecmp(word, "NodeList") == 0;
	bool is_rule = reading->is_slurm && word[strspn(word, "-")] == '\0';
	reading->is_slurm |= is;
	return is || is_rule;
}

// add_line adds the hosts of a line's first word: a host, or a list of Slurm's.
static int add_line(struct host_list_reading *reading, char *text, uint32_t n_slots)
{
	int status = TB_OK;
	if (*text && text[strlen(text) - 1] == '+')
		return REFUSE(reading,
			"'%.60s' is cut off: have sacct print all of it, as with -o "
			"NodeList%%1000 or -P",
			text);
	reading->is_slurm |= strpbrk(text, "[,") != NULL;
	for (char *name; status == TB_OK && (name = tb_name_ranges_next(&text));)
		status = *name ? host_list_add_ranges(reading, name, n_slots)
			       : REFUSE(reading, "the host list has an empty place");
	return status;
}

static int host_list_read_host(struct host_list_reading *reading, char *text)
{
	text[strcspn(text, "#")] = '\0';
	char *rest;
	char *host = strtok_r(text, BLANKS, &rest);
	if (!host || host_list_is_heading(reading, host))
		return TB_OK;
	uint32_t n_slots = 1;
	uint64_t n;
	char *colon = strrchr(host, ':');
	if (colon) {
		*colon = '\0';
		if (tb_parse_count(colon + 1, 1, TB_HOSTS_MAX, &n) != TB_OK)
			return REFUSE(reading,
				"'%s' behind the colon: expected how many ranks sit on "
				"%s",
				colon + 1, host);
		n_slots = (uint32_t)n;
	}
	int status = read_slots(reading, rest, &n_slots);
	return status == TB_OK ? add_line(reading, host, n_slots) : status;
}

static int host_list_read_file(struct host_list_reading *reading, FILE *file)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, file, reading->file, reading->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		reading->line = lines.number;
		status = host_list_read_host(reading, lines.text);
	}
	status = found < 0 ? found : status;
	tb_text_lines_fini(&lines);
	if (status == TB_OK && reading->made.n == 0)
		status = tb_fail_in(
			reading->error, TB_EUSAGE, reading->file, "names no host");
	return status;
}

int tb_hosts_read(struct tb_hosts *hosts, const char *path,
	const struct tb_network *network, struct tb_error *error)
{
	struct host_list_reading reading = {.network = host_list_naming(network),
		.file = path,
		.n_left = FILE_NAMES_MOST,
		.error = error};
	FILE *file = tb_input_fopen(path);
	if (!file)
		return tb_fail_in(
			error, TB_EIO, path, "cannot be opened: %s", strerror(errno));
	int status = host_list_read_file(&reading, file);
	fclose(file);
	return host_list_take_hosts(&reading, hosts, status);
}

struct rank_map_reading {
	const char *file;
	uint32_t *nodes;
	uint32_t n_ranks, n_nodes;
	const struct tb_network *network;
	uint64_t line;
	struct tb_error *error;
};

// rank_map_word trims blanks around a text; a name may contain some.
static char *rank_map_word(char *text)
{
	text += strspn(text, " \t");
	size_t n = strlen(text);
	while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		text[--n] = '\0';
	return text;
}

static int rank_map_find_node(
	struct rank_map_reading *reading, const char *text, uint64_t *node)
{
	struct tb_node found;
	uint32_t n = 0;
	if (tb_names_find_host(reading->network, text, &found, &n)) {
		*node = found.id;
		return n == 1 ? TB_OK
			      : REFUSE(reading,
					"the host has several network interfaces: "
					"expected one by its name");
	}
	if (tb_parse_count(text, 0, UINT32_MAX - 1, node) == TB_OK)
		return TB_OK;
	return REFUSE(reading, "%s",
		strpbrk(text, " \t") ? "expected 'RANK NODE'"
				     : "expected a node, a number from 0");
}

// split_rank_file splits "rank 3=node07 slot=0:1", as Open MPI's rank files have it;
// which slot of the host it is does not matter. False when it is another line.
static bool split_rank_file(char *rest, char **rank_text, char **node_text)
{
	char *equals = strchr(rest, '=');
	if (strcmp(*rank_text, "rank") != 0 || !equals)
		return false;
	*equals = '\0';
	*rank_text = rank_map_word(rest);
	char *host = rank_map_word(equals + 1);
	*node_text = strtok_r(host, " \t", &rest);
	if (!*node_text)
		*node_text = host;
	return true;
}

// rank_map_node_number returns the number at the end of the name of a host that the
// network does not know, or else the name.
static const char *rank_map_node_number(
	const struct rank_map_reading *reading, const char *host)
{
	struct tb_node found;
	uint32_t n_nodes;
	const char *number = number_at_end(host);
	if (!*number || tb_names_find_host(reading->network, host, &found, &n_nodes))
		return host;
	return number;
}

static int rank_map_read_line(struct rank_map_reading *reading, char *line)
{
	line[strcspn(line, "#\r\n")] = '\0';
	char *rest = line;
	char *rank_text = strtok_r(rest, " \t", &rest);
	if (!rank_text)
		return TB_OK;
	char *node_text;
	bool is_rank_file = split_rank_file(rest, &rank_text, &node_text);
	if (!is_rank_file)
		node_text = rank_map_word(rest);
	uint64_t rank = 0, node = 0;
	if (!*node_text)
		return REFUSE(reading, "expected 'RANK NODE'");
	if (tb_parse_count(rank_text, 0, reading->n_ranks - 1, &rank) != TB_OK)
		return REFUSE(reading, "expected a rank of the job, a number from 0");
	int status = rank_map_find_node(reading,
		is_rank_file ? rank_map_node_number(reading, node_text) : node_text,
		&node);
	if (status != TB_OK)
		return status;
	if (reading->nodes[rank] != TB_ID_NONE)
		return REFUSE(reading, "this rank has a node already");
	if (node >= reading->n_nodes)
		return tb_fail_at(reading->error, TB_ECAPACITY, reading->file,
			TB_PLACE_LINE, reading->line,
			"node %s: the network has %u nodes (--nodes raises the tree)",
			node_text, reading->n_nodes);
	reading->nodes[rank] = (uint32_t)node;
	return TB_OK;
}

static int rank_map_read_file(struct rank_map_reading *reading)
{
	FILE *stream = tb_input_fopen(reading->file);
	if (!stream)
		return tb_fail_in(reading->error, TB_EIO, reading->file,
			"cannot be read: %s", strerror(errno));
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, reading->file, reading->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		reading->line = lines.number;
		status = rank_map_read_line(reading, lines.text);
	}
	status = found < 0 ? found : status;
	tb_text_lines_fini(&lines);
	fclose(stream);
	for (uint32_t rank = 0; rank < reading->n_ranks && status == TB_OK; rank++)
		if (reading->nodes[rank] == TB_ID_NONE)
			status = tb_fail_in(reading->error, TB_EUSAGE, reading->file,
				"rank %u has no node", rank);
	return status;
}

int tb_rank_map(uint32_t **node_of_rank, uint32_t n_ranks,
	const struct tb_network *network, const char *map_file, struct tb_error *error)
{
	uint32_t *nodes = malloc(((size_t)n_ranks + 1) * sizeof *nodes);
	if (!nodes)
		return tb_fail_memory(error, "the places of %u ranks", n_ranks);
	for (uint32_t rank = 0; rank < n_ranks; rank++)
		nodes[rank] = TB_ID_NONE;
	struct rank_map_reading reading = {.file = map_file,
		.nodes = nodes,
		.n_ranks = n_ranks,
		.n_nodes = tb_network_n_hosts(network),
		.network = network,
		.error = error};
	int status = rank_map_read_file(&reading);
	if (status != TB_OK) {
		free(nodes);
		return status;
	}
	*node_of_rank = nodes;
	return TB_OK;
}
