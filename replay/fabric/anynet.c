#include "fabric_readers.h"

#include "text_lines.h"
#include "units.h"

#include <inttypes.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"

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

// anynet_take reads "router 3" or "node 5" and finds the device.
static int anynet_take(
	struct tb_cabling *cabling, char **rest, bool *is_router, uint32_t *device)
{
	char *word = strtok_r(*rest, BLANKS, rest);
	char *number = word ? strtok_r(*rest, BLANKS, rest) : NULL;
	uint64_t id;
	*is_router = word && strcasecmp(word, "router") == 0;
	if (!word || (!*is_router && strcasecmp(word, "node") != 0))
		return tb_cabling_refuse(cabling, "'%.20s': expected router N or node N",
			word ? word : "");
	if (!number || tb_parse_count(number, 0, UINT32_MAX, &id) != TB_OK)
		return tb_cabling_refuse(cabling,
			"%s '%.20s': expected its number from 0", word,
			number ? number : "");
	return tb_cabling_find_numbered(cabling,
		*is_router ? TB_DEVICE_SWITCH : TB_DEVICE_ADAPTER, 2 * id + *is_router,
		device, "%s%" PRIu64, *is_router ? "router" : "node", id);
}

static int anynet_read_line(void *context, struct tb_text_lines *lines)
{
	struct tb_cabling *cabling = context;
	const struct tb_cabling_port seen = {.bytes_per_s = 0};
	char *rest = lines->text + strspn(lines->text, BLANKS);
	uint32_t router = 0, peer = 0;
	bool is_router;
	if (*rest == '\0' || *rest == '#' || strncmp(rest, "//", 2) == 0)
		return TB_OK;
	int status = anynet_take(cabling, &rest, &is_router, &router);
	if (status == TB_OK && !is_router)
		return tb_cabling_refuse(
			cabling, "expected a router first: router N node N ...");
	while (status == TB_OK && *(rest += strspn(rest, BLANKS))) {
		size_t digits = strspn(rest, "0123456789");
		if (digits > 0 && strchr(BLANKS, rest[digits])) {
			tb_cabling_note(cabling, TB_REMARK_CYCLES,
				"line %" PRIu64 ": %.*s", lines->number, (int)digits,
				rest);
			rest += digits;
			continue;
		}
		status = anynet_take(cabling, &rest, &is_router, &peer);
		if (status == TB_OK && peer == router)
			status = tb_cabling_refuse(
				cabling, "a router is joined to itself");
		if (status == TB_OK && cabling->joined.n_used == TB_FABRIC_CABLES_MOST)
			status = tb_cabling_refuse(
				cabling, "more than %u cables", TB_FABRIC_CABLES_MOST);
		// Another line may join them, too.
		if (status == TB_OK)
			status = tb_cabling_join_once(cabling, router, peer, &seen);
	}
	return status;
}

int tb_anynet_read(struct tb_cabling *cabling, FILE *stream)
{
	return tb_fabric_each_line(cabling, stream, anynet_read_line, cabling);
}
