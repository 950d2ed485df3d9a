// perfquery, ibqueryerrors and ibdiagnet2.pm.
#include "counters_impl.h"

#include "units.h"

#include <stdlib.h>
#include <string.h>

static bool line_starts(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

// text_after copies the word behind `mark` in a line; false when there is none.
static bool word_after(const char *line, const char *mark, char *word, size_t size)
{
	const char *at = strstr(line, mark);
	if (!at)
		return false;
	at += strlen(mark);
	size_t n = strcspn(at, " \t(:,;");
	if (n == 0 || n >= size)
		return false;
	memcpy(word, at, n);
	word[n] = '\0';
	return true;
}

// begin_port makes a port the one that lines are about. Port 255 and ALL are the sum of a
// switch's ports, port 0 is its own management: of these no link is.
static int begin_port(struct counters_reading *reading, const struct tb_counter_port *at)
{
	reading->port = NULL;
	if (strcmp(at->port, "255") == 0 || strcmp(at->port, "ALL") == 0 ||
		strcmp(at->port, "0") == 0)
		return TB_OK;
	if (at->port[strspn(at->port, "0123456789")])
		return counters_refuse(reading, "a port's number was expected");
	return counters_port(reading, at, true);
}

// "# Port extended counters: Lid 1719 port 2 (CapMask: 0x5300 ...)", and without
// "extended", whose counters are narrower.
static bool perfquery_begins(const char *line)
{
	return line_starts(line, "# Port extended counters:") ||
	       line_starts(line, "# Port counters:");
}

static int perfquery_begin(struct counters_reading *reading, char *line)
{
	char lid[32] = "", guid[32] = "", port[32] = "";
	uint64_t number = 0;
	word_after(line, "Lid ", lid, sizeof lid);
	word_after(line, "GUID ", guid, sizeof guid);
	if (*lid && tb_parse_count(lid, 1, 0xffffff, &number) != TB_OK)
		return counters_refuse(reading, "a LID was expected");
	if (!word_after(line, " port ", port, sizeof port) || !(*lid || *guid))
		return counters_refuse(reading, "a LID or GUID and a port were expected");
	// Of one port both kinds may stand in a dump.
	reading->is_wide = line_starts(line, "# Port extended");
	reading->format += reading->is_wide ? 0 : 16;
	int status =
		begin_port(reading, &(struct tb_counter_port){.guid = counters_hex(guid),
					    .lid = (uint32_t)number,
					    .device = reading->source,
					    .port = port});
	reading->format -= reading->is_wide ? 0 : 16;
	return status;
}

// "PortXmitWait:....................22730501"
static int perfquery_take(struct counters_reading *reading, char *line)
{
	char *colon = strchr(line, ':');
	if (!reading->port || !colon)
		return TB_OK;
	struct counter_name name = counter_name_find(line, (size_t)(colon - line));
	const char *value = colon + 1 + strspn(colon + 1, ". \t");
	return name.name
		       ? counters_put_text(reading, &name, value, strcspn(value, " \t("))
		       : TB_OK;
}

const struct counters_format counters_perfquery = {
	perfquery_begins, perfquery_begin, perfquery_take, false};

// 'Errors for 0x7cfe... "leaf1"', and below it a line a port.
static bool ibqueryerrors_begins(const char *line)
{
	return line_starts(line, "Errors for ") ||
	       (line_starts(line, "   GUID 0x") && strstr(line, " port "));
}

static int take_brackets(struct counters_reading *reading, const char *at)
{
	int status = TB_OK;
	while (status == TB_OK && (at = strchr(at, '[')) != NULL) {
		size_t n = strcspn(++at, " =]");
		struct counter_name name = counter_name_find(at, n);
		const char *value = at + n;
		value += strspn(value, " =");
		if (name.name && *at != ']')
			status = counters_put_text(
				reading, &name, value, strcspn(value, " ]("));
	}
	return status;
}

// port_fill_in: ibqueryerrors leaves out what stands at 0, but for traffic.
static void port_fill_in(struct tb_counter_port *port)
{
	for (int i = 0; i < TB_N_COUNTERS; i++)
		if (tb_counter_infos[i].class == TB_COUNTS_ERRORS ||
			i == TB_COUNTER_WAIT_TICKS)
			port->known |= UINT32_C(1) << i; // its end is 0 until it is put
}

static int ibqueryerrors_begin(struct counters_reading *reading, char *line)
{
	char guid[32], port[32];
	char *name = strchr(line, '"'), *end = strrchr(line, '"');
	if (line_starts(line, "Errors for ")) {
		reading->port = NULL;
		*reading->text = '\0';
		if (name && end > name)
			snprintf(reading->text, sizeof reading->text, "%.*s",
				(int)(end - name - 1), name + 1);
		return TB_OK;
	}
	if (!word_after(line, "GUID ", guid, sizeof guid) ||
		!word_after(line, " port ", port, sizeof port))
		return counters_refuse(reading, "a GUID and a port were expected");
	int status =
		begin_port(reading, &(struct tb_counter_port){.guid = counters_hex(guid),
					    .device = reading->text,
					    .port = port});
	if (status != TB_OK || !reading->port)
		return status;
	port_fill_in(reading->port);
	return take_brackets(reading, line);
}

// A port's counters may go on in the next line; "Link info" has none.
static int ibqueryerrors_take(struct counters_reading *reading, char *line)
{
	if (!reading->port || !strstr(line, " == ") || strstr(line, "Link info"))
		return TB_OK;
	return take_brackets(reading, line);
}

const struct counters_format counters_ibqueryerrors = {
	ibqueryerrors_begins, ibqueryerrors_begin, ibqueryerrors_take, false};

// "Port=1 Lid=0x0007 GUID=0x7cfe... Device=54000 Port Name=leaf1/1"
static bool pm_begins(const char *line)
{
	return line_starts(line, "Port=") && strstr(line, " GUID=");
}

static int pm_begin(struct counters_reading *reading, char *line)
{
	char port[32], lid[32] = "", guid[32];
	const char *name = strstr(line, "Port Name=");
	if (!word_after(line, "Port=", port, sizeof port) ||
		!word_after(line, " GUID=", guid, sizeof guid))
		return counters_refuse(reading, "a port and a GUID were expected");
	word_after(line, " Lid=", lid, sizeof lid);
	uint64_t number =
		line_starts(lid, "0x") ? counters_hex(lid) : strtoull(lid, NULL, 10);
	return begin_port(
		reading, &(struct tb_counter_port){.guid = counters_hex(guid),
				 .lid = (uint32_t)(number & 0xffffff),
				 .device = (char *)(uintptr_t)(name ? name + 10 : ""),
				 .port = port});
}

// "port_xmit_wait=0x0000000000000012"
static int pm_take(struct counters_reading *reading, char *line)
{
	char *equals = strchr(line, '=');
	if (!reading->port || !equals)
		return TB_OK;
	struct counter_name name = counter_name_find(line, (size_t)(equals - line));
	const char *value = equals + 1 + strspn(equals + 1, " ");
	return name.name ? counters_put_text(reading, &name, value, strcspn(value, " \t"))
			 : TB_OK;
}

const struct counters_format counters_pm = {pm_begins, pm_begin, pm_take, false};
