#include "fabric_readers.h"

#include "map.h"
#include "text_lines.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"

struct anynet_reading {
	struct tb_cabling *cabling;
	uint64_t line;
	struct tb_map joined; // pairs of devices that a cable joins
};

#define REFUSE(reading, ...)                                                             \
	tb_cabling_refuse((reading)->cabling, (reading)->line, __VA_ARGS__)

bool tb_anynet_is(const char *line)
{
	const char *at = line;
	uint64_t number;
	while (tb_line_eat(&at, "router") || tb_line_eat(&at, "Router")) {
		if (!tb_line_eat_number(&at, 10, UINT32_MAX, &number))
			return false;
		if (tb_line_eat(&at, "node ") || tb_line_eat(&at, "router ") ||
			tb_line_eat(&at, "Router ") || tb_line_eat(&at, "Node "))
			return true;
	}
	return false;
}

// take_device reads "router 3" or "node 5" and finds the device.
static int anynet_take(
	struct anynet_reading *reading, char **rest, bool *is_router, uint32_t *device)
{
	char *word = strtok_r(*rest, BLANKS, rest);
	char *number = word ? strtok_r(*rest, BLANKS, rest) : NULL;
	char name[40];
	uint64_t id;
	*is_router = word && strcasecmp(word, "router") == 0;
	if (!word || (!*is_router && strcasecmp(word, "node") != 0))
		return REFUSE(reading, "'%.20s': expected router N or node N",
			word ? word : "");
	if (!number || tb_parse_count(number, 0, UINT32_MAX, &id) != TB_OK)
		return REFUSE(reading, "%s '%.20s': expected its number from 0", word,
			number ? number : "");
	int n = snprintf(
		name, sizeof name, "%s%" PRIu64, *is_router ? "router" : "node", id);
	int status = tb_cabling_find(reading->cabling,
		*is_router ? TB_DEVICE_SWITCH : TB_DEVICE_ADAPTER, 2 * id + *is_router,
		device);
	if (status == TB_OK && !reading->cabling->devices[*device].name)
		status = tb_cabling_name(reading->cabling, *device, name, (size_t)n);
	if (status == TB_OK)
		reading->cabling->devices[*device].line = reading->line;
	return status;
}

// anynet_join joins two devices once: another line may say so, too.
static int anynet_join(struct anynet_reading *reading, uint32_t router, uint32_t peer)
{
	const struct tb_cabling_port seen = {.line = reading->line};
	uint64_t lower = router < peer ? router : peer, upper = router ^ peer ^ lower;
	uint32_t unused;
	if (tb_map_find(&reading->joined, lower << 32 | upper, &unused))
		return TB_OK;
	if (reading->joined.n_used == TB_FABRIC_CABLES_MOST)
		return REFUSE(reading, "more than %u cables", TB_FABRIC_CABLES_MOST);
	if (tb_map_put(&reading->joined, lower << 32 | upper, 1) != TB_OK)
		return tb_cabling_no_memory(reading->cabling);
	return tb_cabling_join(reading->cabling, router, peer, &seen);
}

static int anynet_read_line(void *context, struct tb_text_lines *lines)
{
	struct anynet_reading *reading = context;
	char *rest = lines->text + strspn(lines->text, BLANKS);
	uint32_t router = 0, peer = 0;
	bool is_router;
	reading->line = lines->number;
	if (*rest == '\0' || *rest == '#' || strncmp(rest, "//", 2) == 0)
		return TB_OK;
	int status = anynet_take(reading, &rest, &is_router, &router);
	if (status == TB_OK && !is_router)
		return REFUSE(reading, "expected a router first: router N node N ...");
	while (status == TB_OK && *(rest += strspn(rest, BLANKS))) {
		size_t digits = strspn(rest, "0123456789");
		if (digits > 0 && strchr(BLANKS, rest[digits])) {
			tb_cabling_note(reading->cabling, TB_REMARK_CYCLES,
				"line %" PRIu64 ": %.*s", reading->line, (int)digits,
				rest);
			rest += digits;
			continue;
		}
		status = anynet_take(reading, &rest, &is_router, &peer);
		if (status == TB_OK && peer == router)
			status = REFUSE(reading, "a router is joined to itself");
		if (status == TB_OK)
			status = anynet_join(reading, router, peer);
	}
	return status;
}

int tb_anynet_read(struct tb_cabling *cabling, FILE *stream)
{
	struct anynet_reading reading = {.cabling = cabling};
	int status = tb_fabric_each_line(cabling, stream, anynet_read_line, &reading);
	tb_map_fini(&reading.joined);
	return status;
}
