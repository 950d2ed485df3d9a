#include "fabric_readers.h"

#include "array.h"

#include "cabling_rates.h"
#include "name_ranges.h"
#include "units.h"

#include "text_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"

// The keys of a line.
enum slurm_key { KEY_SWITCH, KEY_NODES, KEY_SWITCHES, KEY_SPEED, N_KEYS };
static const char *const keys[N_KEYS] = {"SwitchName", "Nodes", "Switches", "LinkSpeed"};

struct slurm_reading {
	struct tb_cabling *cabling;
	uint64_t line, left;  // names that there still may be
	char *values[N_KEYS]; // of the line; NULL: not given
	uint32_t device;      // the line's switch
	bool are_switches;    // what is being listed
	uint64_t bytes_per_s;
};

#define REFUSE(reading, ...)                                                             \
	tb_cabling_refuse((reading)->cabling, (reading)->line, __VA_ARGS__)

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
				"'%.60s': expected SwitchName=, Nodes=, Switches= or "
				"LinkSpeed=",
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

// slurm_begin_switch finds the line's switch, which no other line may be of.
static int slurm_begin_switch(struct slurm_reading *reading)
{
	const char *name = reading->values[KEY_SWITCH];
	if (!name)
		return REFUSE(reading, "expected SwitchName=");
	int status = tb_cabling_find_named(
		reading->cabling, name, reading->line, &reading->device);
	if (status != TB_OK)
		return status;
	struct tb_cabling_device *at = &reading->cabling->devices[reading->device];
	if (at->line)
		return REFUSE(reading, "'%s' is here a second time, after line %" PRIu64,
			at->name, at->line);
	at->kind = TB_DEVICE_SWITCH;
	at->line = reading->line;
	return TB_OK;
}

// join_one joins a host or switch of the line's list.
static int join_one(void *context, const char *name)
{
	struct slurm_reading *reading = context;
	struct tb_cabling *cabling = reading->cabling;
	const struct tb_cabling_port seen = {
		.line = reading->line, .bytes_per_s = reading->bytes_per_s};
	uint32_t device = 0;
	int status = tb_cabling_find_named(cabling, name, reading->line, &device);
	if (status != TB_OK)
		return status;
	struct tb_cabling_device *at = &cabling->devices[device];
	bool is_new = at->n_ports == 0 && at->line == 0;
	bool is_switch = at->kind == TB_DEVICE_SWITCH;
	if (!is_new && is_switch != reading->are_switches)
		return REFUSE(reading, "'%s' is called a host and a switch", at->name);
	if (reading->are_switches) {
		at->kind = TB_DEVICE_SWITCH; // whose line may come, or not
		tb_cabling_note(cabling, TB_REMARK_ONE_CABLE_EACH, "%.60s and %.60s",
			cabling->devices[reading->device].name, at->name);
	} else
		at->line = reading->line;
	return tb_cabling_join(cabling, reading->device, device, &seen);
}

static int join_all(struct slurm_reading *reading, char *list)
{
	struct tb_error why = {0};
	int status = TB_OK;
	bool more = list != NULL;
	while (status == TB_OK && more) {
		char *end = tb_name_ranges_end(list);
		more = *end == ',';
		*end = '\0';
		if (*list)
			status = tb_name_ranges_expand(
				list, &reading->left, join_one, reading, &why);
		list = end + 1;
	}
	return why.code == TB_EUSAGE ? REFUSE(reading, "%s", why.text) : status;
}

static int slurm_read_line(struct slurm_reading *reading, char *line)
{
	line[strcspn(line, "#")] = '\0';
	if (line[strspn(line, BLANKS)] == '\0')
		return TB_OK;
	int status = slurm_split(reading, line);
	if (status == TB_OK)
		status = slurm_begin_switch(reading);
	if (status != TB_OK)
		return status;
	// Take a rate with a unit, in bits or bytes, or InfiniBand's "4xHDR".
	const char *value = reading->values[KEY_SPEED];
	uint64_t rate = 0;
	reading->bytes_per_s = 0;
	if (value) {
		reading->bytes_per_s = tb_cabling_rate_parse(value, strlen(value));
		if (tb_parse_rate(value, &rate) == TB_OK && rate >= 1000000 &&
			rate <= UINT64_C(1000000000000))
			reading->bytes_per_s = rate;
		if (reading->bytes_per_s == 0)
			tb_cabling_note(reading->cabling, TB_REMARK_NO_SPEED,
				"line %" PRIu64 ": %.40s", reading->line, value);
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
};

// add_part appends a line: 1 when it goes on in the next one, 0 when not, TB_ENOMEM.
static int add_part(struct slurm_line *whole, const char *text)
{
	size_t n = strlen(text);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	bool goes_on = n > 0 && text[n - 1] == '\\';
	n -= goes_on;
	if (TB_ARRAY_RESERVE(&whole->text, &whole->room, whole->n + n + 1) != TB_OK)
		return TB_ENOMEM;
	memcpy(whole->text + whole->n, text, n);
	whole->n += n;
	whole->text[whole->n] = '\0';
	return goes_on;
}

// check_switches refuses a switch that is only listed.
static int check_switches(const struct tb_cabling *cabling)
{
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		const struct tb_cabling_device *at = &cabling->devices[i];
		if (at->kind == TB_DEVICE_SWITCH && at->line == 0)
			return tb_cabling_refuse(cabling, at->ports[1].line,
				"the switch '%s' has no line of its own", at->name);
	}
	return TB_OK;
}

int tb_slurm_topology_read(struct tb_cabling *cabling, FILE *stream)
{
	struct slurm_reading reading = {
		.cabling = cabling, .left = TB_FABRIC_CABLES_MOST};
	struct slurm_line whole = {NULL, 0, 0};
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, cabling->file, cabling->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		int more = add_part(&whole, lines.text);
		if (more < 0)
			status = tb_cabling_no_memory(cabling);
		if (more != 0)
			continue;
		reading.line = lines.number;
		status = slurm_read_line(&reading, whole.text);
		whole.n = 0;
	}
	status = found < 0 ? found : status;
	if (status == TB_OK && whole.n > 0)
		status = tb_cabling_refuse(
			cabling, lines.number, "the file is cut off behind a backslash");
	free(whole.text);
	tb_text_lines_fini(&lines);
	return status == TB_OK ? check_switches(cabling) : status;
}
