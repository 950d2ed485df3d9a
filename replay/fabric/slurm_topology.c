#include "fabric_readers.h"

#include "array.h"

#include "cabling_names.h"
#include "cabling_rates.h"
#include "name_ranges.h"
#include "units.h"

#include "text_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"

// The keys of a line, and those of topology.yaml that say the same.
enum slurm_key { KEY_SWITCH, KEY_NODES, KEY_SWITCHES, KEY_SPEED, KEY_LEVEL, N_KEYS };
static const char *const keys[N_KEYS] = {
	"SwitchName", "Nodes", "Switches", "LinkSpeed", "Level"};
static const char *const yaml_keys[] = {"switch", "nodes", "children"};
enum { N_YAML_KEYS = sizeof yaml_keys / sizeof *yaml_keys };

struct slurm_reading {
	struct tb_cabling *cabling;
	uint64_t left;	      // names that there still may be
	char *values[N_KEYS]; // of the line; NULL: not given
	uint32_t device;      // the line's switch
	bool are_switches;    // what is being listed
	uint64_t bytes_per_s;
	struct slurm_line *whole;	     // of topology.conf
	struct slurm_topologies *topologies; // of topology.yaml
};

// What is kept of a device in its LMC, which these files do not have.
#define HAS_UPPER 1 // a switch lists it

bool tb_slurm_topology_is(const char *line)
{
	line += strspn(line, BLANKS);
	return strncasecmp(line, "SwitchName=", strlen("SwitchName=")) == 0;
}

// slurm_split finds the values of a line's keys, in place.
static int slurm_split(struct slurm_reading *reading, char *line)
{
	memset(reading->values, 0, sizeof reading->values);
	for (char *word; (word = strtok_r(line, BLANKS, &line)) != NULL;) {
		size_t key = 0, n = strcspn(word, "=");
		while (key < N_KEYS &&
			(strncasecmp(word, keys[key], n) != 0 || keys[key][n] != '\0'))
			key++;
		if (key == N_KEYS || word[n] != '=' || n == 0)
			return REFUSE(reading,
				"'%.60s': expected SwitchName=, Nodes=, Switches=, "
				"LinkSpeed= or Level=",
				word);
		if (reading->values[key])
			return REFUSE(reading, "%s stands twice", keys[key]);
		char *value = word + n + 1;
		value += *value == '"';
		value[strcspn(value, "\"")] = '\0';
		reading->values[key] = value;
	}
	return TB_OK;
}

// join_one joins a host or switch of the line's list.
static int join_one(void *context, const char *name)
{
	struct slurm_reading *reading = context;
	struct tb_cabling *cabling = reading->cabling;
	const struct tb_cabling_port seen = {.bytes_per_s = reading->bytes_per_s};
	uint32_t device = 0;
	int status = tb_cabling_find_named(cabling, name, &device);
	if (status != TB_OK)
		return status;
	struct tb_cabling_device *at = &cabling->devices[device];
	bool is_new = at->n_ports == 0 && at->line == 0;
	bool is_switch = at->kind == TB_DEVICE_SWITCH;
	if (!is_new && is_switch != reading->are_switches)
		return REFUSE(reading, "'%s' is called a host and a switch", at->name);
	if (reading->are_switches) {
		at->kind = TB_DEVICE_SWITCH; // whose line may come, or not
		at->lmc = HAS_UPPER;
		tb_cabling_note(cabling, TB_REMARK_ONE_CABLE_EACH, "%.60s and %.60s",
			cabling->devices[reading->device].name, at->name);
	} else
		at->line = reading->cabling->line;
	return tb_cabling_join(cabling, reading->device, device, &seen);
}

static int join_all(struct slurm_reading *reading, char *list)
{
	struct tb_error why = {0};
	int status = TB_OK;
	for (char *name; status == TB_OK && (name = tb_name_ranges_next(&list));)
		if (*name)
			status = tb_name_ranges_expand(
				name, &reading->left, join_one, reading, &why);
	return why.code == TB_EUSAGE ? REFUSE(reading, "%s", why.text) : status;
}

// slurm_take_switch takes a switch by its values.
static int slurm_take_switch(struct slurm_reading *reading)
{
	const char *name = reading->values[KEY_SWITCH];
	if (!name)
		return REFUSE(reading, "expected the name of a switch");
	int status = tb_cabling_find_new(
		reading->cabling, name, TB_DEVICE_SWITCH, &reading->device);
	if (status != TB_OK)
		return status;
	// Take a rate with a unit, in bits or bytes, or InfiniBand's "4xHDR".
	const char *value = reading->values[KEY_SPEED];
	const char *level = reading->values[KEY_LEVEL];
	uint64_t rate = 0;
	reading->bytes_per_s = 0;
	// What scontrol prints has LinkSpeed=1 where nobody gave one, and of an upper
	// switch all the nodes below.
	if (level && strcmp(level, "0") != 0 && reading->values[KEY_SWITCHES])
		reading->values[KEY_NODES] = NULL;
	if (value && !(level && strcmp(value, "1") == 0)) {
		reading->bytes_per_s = tb_cabling_rate_parse(value, strlen(value));
		if (tb_parse_rate(value, &rate) == TB_OK && rate >= 1000000 &&
			rate <= UINT64_C(1000000000000))
			reading->bytes_per_s = rate;
		if (reading->bytes_per_s == 0)
			tb_cabling_note(reading->cabling, TB_REMARK_NO_SPEED,
				"line %" PRIu64 ": %.40s", reading->cabling->line, value);
	}
	reading->are_switches = false;
	status = join_all(reading, reading->values[KEY_NODES]);
	reading->are_switches = true;
	return status == TB_OK ? join_all(reading, reading->values[KEY_SWITCHES])
			       : status;
}

// A line, with those before it that a backslash joins to it.
struct slurm_line {
	char *text; // owned
	size_t n, room;
	uint64_t last; // number of the last of them
};

static int slurm_read_line(void *context, struct tb_text_lines *lines)
{
	struct slurm_reading *reading = context;
	struct slurm_line *whole = reading->whole;
	size_t n = strlen(lines->text);
	while (n > 0 && isspace((unsigned char)lines->text[n - 1]))
		n--;
	bool goes_on = n > 0 && lines->text[n - 1] == '\\';
	n -= goes_on;
	if (TB_ARRAY_RESERVE(&whole->text, &whole->room, whole->n + n + 1) != TB_OK)
		return tb_cabling_no_memory(reading->cabling);
	memcpy(whole->text + whole->n, lines->text, n);
	whole->n += n;
	whole->text[whole->n] = '\0';
	whole->last = lines->number;
	if (goes_on)
		return TB_OK;
	char *line = whole->text;
	whole->n = 0;
	line[strcspn(line, "#")] = '\0';
	if (line[strspn(line, BLANKS)] == '\0')
		return TB_OK;
	int status = slurm_split(reading, line);
	return status == TB_OK ? slurm_take_switch(reading) : status;
}

static int slurm_by_name(const void *one, const void *other)
{
	const char *const *a = one, *const *b = other;
	return tb_cabling_compare(*a, strlen(*a), *b, strlen(*b));
}

// refuse_roots names the roots, and the line that would join them.
static int refuse_roots(const struct slurm_reading *reading, const char **roots, size_t n)
{
	char list[200], names[160] = "";
	const struct tb_cabling *cabling = reading->cabling;
	const char *name = tb_cabling_has_named(cabling, "root") ? "top" : "root";
	bool is_yaml = reading->topologies != NULL;
	size_t used = 0;
	qsort(roots, n, sizeof *roots, slurm_by_name);
	tb_name_ranges_format(list, sizeof list, roots, n);
	for (size_t i = 0; i < n && i <= 8 && used < 100; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%.40s",
			i ? ", " : "", i < 8 ? roots[i] : "...");
	return tb_cabling_refuse_at(cabling, 0,
		"no switch joins the %zu trees that it holds, of %s: add a line such as "
		"%s%s%s%s%s",
		n, names, is_yaml ? "'- switch: " : "SwitchName=", name,
		is_yaml ? "' with 'children: " : " Switches=", list, is_yaml ? "'" : "");
}

// slurm_check_switches refuses a switch that is only listed, and several roots.
static int slurm_check_switches(const struct slurm_reading *reading)
{
	struct tb_cabling *cabling = reading->cabling;
	const char **roots = malloc((cabling->n_devices + 1u) * sizeof *roots);
	size_t n = 0;
	int status = roots ? TB_OK : tb_cabling_no_memory(cabling);
	for (uint32_t i = 0; i < cabling->n_devices && status == TB_OK; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		if (at->kind != TB_DEVICE_SWITCH)
			continue;
		if (at->line == 0)
			status = tb_cabling_refuse_at(cabling, at->ports[1].line,
				"the switch '%s' has no line of its own", at->name);
		if (at->lmc != HAS_UPPER)
			roots[n++] = at->name;
		at->lmc = 0;
	}
	if (status == TB_OK && n > 1)
		status = refuse_roots(reading, roots, n);
	free(roots);
	cabling->are_cables_unknown = true;
	return status;
}

int tb_slurm_topology_read(struct tb_cabling *cabling, FILE *stream)
{
	struct slurm_line whole = {.n = 0};
	struct slurm_reading reading = {
		.cabling = cabling, .left = TB_FABRIC_CABLES_MOST, .whole = &whole};
	int status = tb_fabric_each_line(cabling, stream, slurm_read_line, &reading);
	if (status == TB_OK && whole.n > 0)
		status = tb_cabling_refuse_at(
			cabling, whole.last, "the file is cut off behind a backslash");
	free(whole.text);
	return status == TB_OK ? slurm_check_switches(&reading) : status;
}

// topology.yaml has several topologies, of which one is taken when all are known.

struct slurm_entry {
	char *values[N_YAML_KEYS]; // owned
	uint64_t line;
	size_t topology;
};

struct slurm_named {
	char name[60];
	char kind[20]; // "tree"; "": not told yet
	bool is_default;
};

struct slurm_topologies {
	struct slurm_entry *entries;
	size_t n, room;
	struct slurm_named *named;
	size_t n_named, named_room;
};

bool tb_slurm_yaml_is(const char *line)
{
	static const char *const begins[] = {"topology:", "cluster_default:", "tree:"};
	if (line[0] != '-' || !isblank((unsigned char)line[1]))
		return false;
	line += 1 + strspn(line + 1, " \t");
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

// yaml_value takes the quotes or brackets off a value, and the blanks at its end.
static char *yaml_value(char *value)
{
	value += strspn(value, BLANKS);
	for (size_t n = strlen(value); n > 0 && isspace((unsigned char)value[n - 1]);)
		value[--n] = '\0';
	size_t n = strlen(value);
	bool is_quoted = n > 1 && strchr("\"'", value[0]) && value[n - 1] == value[0];
	if (is_quoted || (n > 1 && value[0] == '[' && value[n - 1] == ']')) {
		value[n - 1] = '\0';
		value++;
	}
	return value;
}

static int yaml_begin_topology(struct slurm_reading *reading)
{
	struct slurm_topologies *all = reading->topologies;
	if (TB_ARRAY_RESERVE(&all->named, &all->named_room, all->n_named + 1) != TB_OK)
		return tb_cabling_no_memory(reading->cabling);
	all->named[all->n_named++] = (struct slurm_named){.is_default = false};
	return TB_OK;
}

// yaml_take_entry keeps a value of a tree's switch, which an item begins.
static int yaml_take_entry(
	struct slurm_reading *reading, size_t key, const char *value, bool is_item)
{
	struct slurm_topologies *all = reading->topologies;
	if (is_item) {
		if (TB_ARRAY_RESERVE(&all->entries, &all->room, all->n + 1) != TB_OK)
			return tb_cabling_no_memory(reading->cabling);
		all->entries[all->n++] = (struct slurm_entry){
			.line = reading->cabling->line, .topology = all->n_named - 1};
	}
	if (all->n == 0 || all->entries[all->n - 1].topology != all->n_named - 1)
		return REFUSE(reading, "expected '- switch: NAME' first");
	char **kept = &all->entries[all->n - 1].values[key];
	if (*kept)
		return REFUSE(reading, "%s stands twice", yaml_keys[key]);
	*kept = strdup(value);
	return *kept ? TB_OK : tb_cabling_no_memory(reading->cabling);
}

static int yaml_read_line(void *context, struct tb_text_lines *lines)
{
	static const char *const passed_over[] = {"switches", "flat"};
	struct slurm_reading *reading = context;
	struct slurm_topologies *all = reading->topologies;
	char *line = lines->text;
	for (char *hash = strchr(line, '#'); hash; hash = strchr(hash + 1, '#'))
		if (hash == line || isblank((unsigned char)hash[-1])) {
			*hash = '\0';
			break;
		}
	bool is_item = false, is_outer = line[0] == '-' && line[1] != '-';
	line += strspn(line, BLANKS);
	if (*line == '\0' || strncmp(line, "---", 3) == 0 || strcmp(line, "...") == 0)
		return TB_OK;
	if (line[0] == '-' && isspace((unsigned char)line[1])) {
		is_item = true;
		line += 1 + strspn(line + 1, BLANKS);
	}
	char *colon = strchr(line, ':');
	if (is_outer) {
		int status = yaml_begin_topology(reading);
		if (status != TB_OK)
			return status;
	}
	if (all->n_named == 0)
		return REFUSE(reading, "expected '- topology: NAME' first");
	struct slurm_named *topology = &all->named[all->n_named - 1];
	bool is_tree = strcmp(topology->kind, "tree") == 0;
	if (!colon)
		return is_tree ? REFUSE(reading, "'%.40s': expected KEY: VALUE", line)
			       : TB_OK;
	*colon = '\0';
	const char *value = yaml_value(colon + 1);
	if (strcmp(line, "topology") == 0)
		snprintf(topology->name, sizeof topology->name, "%s", value);
	else if (strcmp(line, "cluster_default") == 0)
		topology->is_default =
			strcmp(value, "true") == 0 || strcmp(value, "yes") == 0;
	else if (topology->kind[0] == '\0')
		snprintf(topology->kind, sizeof topology->kind, "%s", line);
	else if (is_tree) {
		for (size_t key = 0; key < N_YAML_KEYS; key++)
			if (strcmp(line, yaml_keys[key]) == 0)
				return yaml_take_entry(reading, key, value, is_item);
		for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++)
			if (strcmp(line, passed_over[i]) == 0)
				return TB_OK;
		return REFUSE(reading,
			"'%.40s': expected switch:, children: or nodes: of a tree", line);
	}
	return TB_OK;
}

// choose_tree finds the tree that is the cluster's default, or else the first; the others
// are noted.
static int choose_tree(struct slurm_reading *reading, size_t *chosen)
{
	const struct slurm_topologies *all = reading->topologies;
	size_t best = all->n_named;
	for (size_t i = 0; i < all->n_named; i++)
		if (strcmp(all->named[i].kind, "tree") == 0 &&
			(best == all->n_named || (all->named[i].is_default &&
							 !all->named[best].is_default)))
			best = i;
	if (best == all->n_named)
		return tb_cabling_refuse_at(reading->cabling, 0,
			"has no tree of switches%s%s: it holds no cables between hosts",
			all->n_named ? ", only a " : "",
			!all->n_named		? ""
			: all->named[0].kind[0] ? all->named[0].kind
						: "name");
	for (size_t i = 0; i < all->n_named; i++)
		if (i != best)
			tb_cabling_note(reading->cabling, TB_REMARK_OTHER_TOPOLOGY,
				"%s, a %s", all->named[i].name, all->named[i].kind);
	*chosen = best;
	return TB_OK;
}

int tb_slurm_yaml_read(struct tb_cabling *cabling, FILE *stream)
{
	struct slurm_topologies all = {.n = 0};
	struct slurm_reading reading = {
		.cabling = cabling, .left = TB_FABRIC_CABLES_MOST, .topologies = &all};
	size_t chosen = 0;
	int status = tb_fabric_each_line(cabling, stream, yaml_read_line, &reading);
	if (status == TB_OK)
		status = choose_tree(&reading, &chosen);
	for (size_t i = 0; i < all.n && status == TB_OK; i++) {
		if (all.entries[i].topology != chosen)
			continue;
		cabling->line = all.entries[i].line;
		memset(reading.values, 0, sizeof reading.values);
		memcpy(reading.values, all.entries[i].values,
			sizeof all.entries[i].values);
		status = slurm_take_switch(&reading);
	}
	if (status == TB_OK)
		status = slurm_check_switches(&reading);
	cabling->line = 0;
	for (size_t i = 0; i < all.n; i++)
		for (size_t key = 0; key < N_YAML_KEYS; key++)
			free(all.entries[i].values[key]);
	free(all.entries);
	free(all.named);
	return status;
}
