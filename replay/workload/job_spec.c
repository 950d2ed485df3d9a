#include "job_spec.h"

#include "credit_params.h"
#include "nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tb_job_spec_fini(struct tb_job_spec *spec)
{
	free(spec->text);
	*spec = (struct tb_job_spec){0};
}

static int set_start(struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	if (tb_parse_time(value, &spec->start_ps) != TB_OK)
		return tb_fail(error, TB_EUSAGE,
			"start=%s: expected a time with its unit, such as 5ms", value);
	return TB_OK;
}

static int set_service_level(
	struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	uint64_t level = 0;
	if (tb_parse_count(value, 0, TB_SLS - 1, &level) != TB_OK)
		return tb_fail(error, TB_EUSAGE,
			"sl=%s: expected a service level from 0 to %d", value,
			TB_SLS - 1);
	spec->service_level = (uint8_t)level;
	return TB_OK;
}

static int set_placement(
	struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	return tb_placement_parse(&spec->placement, value, error);
}

static int set_per_node(
	struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	uint64_t n = 0;
	if (strpbrk(value, "(,")) {
		spec->placement.tasks = value;
		return TB_OK;
	}
	if (tb_parse_count(value, 1, TB_PER_NODE_MAX, &n) != TB_OK)
		return tb_fail(error, TB_EUSAGE,
			"per-node=%s: expected a number of ranks from 1 to %d, or those "
			"of each host as in 4(x3),2",
			value, TB_PER_NODE_MAX);
	spec->placement.per_node = (uint32_t)n;
	return TB_OK;
}

static int job_spec_set_nodes(
	struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	(void)error;
	spec->placement.nodes = value;
	return TB_OK;
}

static int set_hosts(struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	(void)error;
	spec->placement.hosts = value;
	return TB_OK;
}

static int set_map(struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	(void)error;
	spec->placement.map = value;
	return TB_OK;
}

static int set_name(struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	if (!*value)
		return tb_fail(error, TB_EUSAGE, "name=: expected a name");
	spec->name = value;
	return TB_OK;
}

#define CLOSED_LOOP "closed-loop"

static int set_closed_loop(
	struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	if (*value)
		return tb_fail(error, TB_EUSAGE,
			"job '%s': %s=%s: expected nothing behind %s", spec->file,
			CLOSED_LOOP, value, CLOSED_LOOP);
	spec->closed_loop = true;
	return TB_OK;
}

static int set_shared(struct tb_job_spec *spec, const char *value, struct tb_error *error)
{
	if (*value)
		return tb_fail(error, TB_EUSAGE,
			"job '%s': shared=%s: expected nothing behind shared", spec->file,
			value);
	spec->placement.shared = true;
	return TB_OK;
}

static const struct job_spec_key {
	const char *name;
	int (*set)(struct tb_job_spec *spec, const char *value, struct tb_error *error);
	bool places;
	bool word; // without a value
} keys[] = {
	{"start", set_start, false, false},
	{"sl", set_service_level, false, false},
	{"placement", set_placement, true, false},
	{"per-node", set_per_node, true, false},
	{"nodes", job_spec_set_nodes, true, false},
	{"hosts", set_hosts, true, false},
	{"map", set_map, true, false},
	{"name", set_name, false, false},
	{CLOSED_LOOP, set_closed_loop, false, true},
	{"shared", set_shared, false, true},
};

#define N_KEYS (sizeof keys / sizeof *keys)

static const struct job_spec_key *job_spec_find_key(const char *part)
{
	size_t length = strcspn(part, "=");
	bool alone = !part[length];
	for (size_t i = 0; i < N_KEYS; i++)
		if (strlen(keys[i].name) == length &&
			strncmp(keys[i].name, part, length) == 0 &&
			(!alone || keys[i].word))
			return &keys[i];
	return NULL;
}

static bool is_word(const char *part)
{
	size_t length = strcspn(part, ",");
	for (size_t i = 0; i < N_KEYS; i++)
		if (keys[i].word && strlen(keys[i].name) == length &&
			strncmp(part, keys[i].name, length) == 0)
			return true;
	return false;
}

// next_part cuts at the next comma before "word=" or a word that takes no value; all
// other commas belong to lists.
static char *next_part(char **rest)
{
	char *part = *rest;
	char *end = part;
	while ((end = strchr(end, ',')) != NULL) {
		size_t word = strspn(++end, "abcdefghijklmnopqrstuvwxyz-_");
		if ((word > 0 && end[word] == '=') || is_word(end))
			break;
	}
	if (end)
		end[-1] = '\0';
	*rest = end;
	return part;
}

static int set_part(
	struct tb_job_spec *spec, char *part, unsigned *seen, struct tb_error *error)
{
	const struct job_spec_key *key = job_spec_find_key(part);
	if (!key) {
		part[strcspn(part, "=")] = '\0';
		struct tb_hint hint;
		return tb_fail(error, TB_EUSAGE, "job '%s': no key is called '%s'%s",
			spec->file, part,
			tb_hint_choice(&hint, part, &keys[0].name, N_KEYS, sizeof *keys));
	}
	unsigned bit = 1u << (key - keys);
	if (*seen & bit)
		return tb_fail(error, TB_EUSAGE, "job '%s': %s is given twice",
			spec->file, key->name);
	*seen |= bit;
	spec->placed |= key->places;
	part += strcspn(part, "=");
	return key->set(spec, *part ? part + 1 : part, error);
}

static int job_spec_check(struct tb_job_spec *spec, unsigned seen, struct tb_error *error)
{
	struct tb_placement *placement = &spec->placement;
	int n = (placement->nodes != NULL) + (placement->hosts != NULL) +
		(placement->map != NULL);
	bool dealt = false;
	for (size_t i = 0; i < N_KEYS; i++)
		dealt |= keys[i].set == set_placement && (seen & 1u << i);
	if (placement->shared && n == 0)
		return tb_fail(error, TB_EUSAGE,
			"job '%s': shared is for a job with nodes, hosts or a map: which "
			"of others' nodes it sits on",
			spec->file);
	if (n > 1)
		return tb_fail(error, TB_EUSAGE,
			"job '%s': nodes, hosts and map exclude each other", spec->file);
	if (placement->map && dealt)
		return tb_fail(error, TB_EUSAGE,
			"job '%s': a map places every rank, so there is no placement "
			"beside it",
			spec->file);
	if (placement->tasks && !placement->nodes)
		return tb_fail(error, TB_EUSAGE,
			"job '%s': per-node=%s gives the ranks of each host of nodes=, "
			"which is missing",
			spec->file, placement->tasks);
	if (placement->per_node && placement->hosts)
		return tb_fail(error, TB_EUSAGE,
			"job '%s': a host file gives the ranks per node, so there is no "
			"per-node beside it",
			spec->file);
	if (placement->kind == TB_PLACE_TRACE && (n > 0 || placement->per_node))
		return tb_fail(error, TB_EUSAGE,
			"job '%s': the trace places every rank, so there is no nodes, "
			"hosts or per-node beside placement=trace",
			spec->file);
	if (placement->map)
		placement->kind = TB_PLACE_MAP;
	if (!*spec->file)
		return tb_fail(error, TB_EUSAGE,
			"a job begins with its file: FILE,key=value,...");
	return TB_OK;
}

int tb_job_spec_parse(struct tb_job_spec *spec, const char *text, struct tb_error *error)
{
	struct tb_job_spec made = {.text = strdup(text)};
	if (!made.text)
		return tb_fail_memory(error, "a job");
	char *rest = made.text;
	made.file = next_part(&rest);
	unsigned seen = 0;
	int status = TB_OK;
	while (status == TB_OK && rest)
		status = set_part(&made, next_part(&rest), &seen, error);
	if (status == TB_OK)
		status = job_spec_check(&made, seen, error);
	if (status != TB_OK) {
		tb_job_spec_fini(&made);
		return status;
	}
	if (!made.name) {
		const char *slash = strrchr(made.file, '/');
		made.name = slash ? slash + 1 : made.file;
	}
	*spec = made;
	return TB_OK;
}
