#include "array.h"
#include "cabling_rates.h"
#include "fabric_readers.h"
#include "hash.h"
#include "text_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Ports of one adapter have GUIDs that are as near as this.
#define GUIDS_OF_ADAPTER 8

enum { PORTS_MOST = 254, LIDS_MOST = 0xBFFF };

// What a line says of an end. The kind is that of the line's section or word.
enum end_kind { END_UNKNOWN, END_SWITCH, END_ADAPTER, END_ROUTER };

struct report_end {
	enum end_kind kind;
	uint32_t lid, port;
	uint64_t guid; // 0: the form does not give it
	char *name;    // owned; NULL: none
};

struct report_link {
	struct report_end own, peer;
	bool is_up;
	uint64_t bytes_per_s, line;
};

struct link_report {
	struct tb_cabling *cabling;
	struct report_link *links;
	size_t n, room;
	struct tb_map of_lid;	// LID to device
	struct tb_map n_of_lid; // LID to the number of lines that are its own
	struct tb_map of_name;	// hash of an adapter's name to the last one
	enum end_kind section;	// of iblinkinfo
	char *section_name;	// owned
	uint64_t section_guid;
	const char *at; // in the line
	// What reads a line of the format at hand.
	int (*read)(struct link_report *, struct report_link *);
};

static int report_cannot_read(const struct link_report *report, const char *expected)
{
	return REFUSE(report, "expected %s before '%.40s'", expected, report->at);
}

static int keep_name(struct report_end *end, const char *name, size_t n)
{
	while (n > 0 && *name == ' ') {
		name++;
		n--;
	}
	end->name = strndup(name, n);
	return end->name ? TB_OK : TB_ENOMEM;
}

// read_quoted takes a name up to the last such quote before `until`, for a name may have
// quotes itself.
static int read_quoted(
	struct link_report *report, struct report_end *end, char quote, const char *until)
{
	tb_line_skip_blanks(&report->at);
	const char *stop = until ? strstr(report->at, until) : NULL;
	size_t n = stop ? (size_t)(stop - report->at) : strlen(report->at);
	const char *last = memrchr(report->at, quote, n);
	if (*report->at != quote || !last || last == report->at)
		return report_cannot_read(report, "a name in quotes");
	const char *name = report->at + 1;
	report->at = last + 1;
	return keep_name(end, name, (size_t)(last - name));
}

// read_numbers takes "LID PORT"; a port that is down may have LID 0.
static int read_numbers(struct link_report *report, struct report_end *end)
{
	uint64_t lid, port;
	if (!tb_line_eat_number(&report->at, 10, LIDS_MOST, &lid))
		return report_cannot_read(report, "a LID from 1 to 49151");
	if (!tb_line_eat_number(&report->at, 10, PORTS_MOST, &port) || port == 0)
		return report_cannot_read(report, "a port from 1 to 254");
	end->lid = (uint32_t)lid;
	end->port = (uint32_t)port;
	return TB_OK;
}

// What iblinkinfo prints of a lane's speed, and InfiniBand's word for it. FDR10 has the
// signalling rate of QDR and is told by a remark alone, so its cables count as QDR.
static const struct {
	const char *gbps, *word;
} speeds[] = {
	{"2.5", "SDR"},
	{"5.0", "DDR"},
	{"10.0", "QDR"},
	{"14.0625", "FDR"},
	{"25.78125", "EDR"},
	{"53.125", "HDR"},
	{"106.25", "NDR"},
	{"212.5", "XDR"},
};

// report_rate_of joins "4X" and a word for the speed, or the number that stands for it.
static uint64_t report_rate_of(
	const char *width, size_t n_width, const char *speed, size_t n)
{
	char word[32];
	const char *name = speed;
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
		if (strlen(speeds[i].gbps) == n &&
			memcmp(speeds[i].gbps, speed, n) == 0) {
			name = speeds[i].word;
			n = strlen(name);
		}
	if (n_width < 2 || n_width > 3 || n > 8)
		return 0;
	int length = snprintf(
		word, sizeof word, "%.*sx%.*s", (int)n_width - 1, width, (int)n, name);
	return tb_cabling_rate_parse(word, (size_t)length);
}

static void report_read_rate(struct link_report *report, struct report_link *link)
{
	tb_line_skip_blanks(&report->at);
	const char *width = report->at;
	size_t n_width = strcspn(width, " \t");
	report->at += n_width;
	tb_line_skip_blanks(&report->at);
	size_t n = strcspn(report->at, " \t");
	link->bytes_per_s = report_rate_of(width, n_width, report->at, n);
	report->at += n;
}

static void free_link(struct report_link *link)
{
	free(link->own.name);
	free(link->peer.name);
}

static int report_add_link(struct link_report *report, struct report_link *link)
{
	uint32_t n = 0;
	tb_map_find(&report->n_of_lid, link->own.lid, &n);
	if (TB_ARRAY_RESERVE(&report->links, &report->room, report->n + 1) != TB_OK ||
		tb_map_put(&report->n_of_lid, link->own.lid, n + 1) != TB_OK)
		return tb_fail_memory_in(
			report->cabling->error, report->cabling->file, "its cables");
	report->links[report->n++] = *link;
	*link = (struct report_link){.line = 0};
	return TB_OK;
}

// read_arrow reads what stands behind an end of iblinkinfo's:
//
//     [  ] ==( 4X  25.78125 Gbps Active/  LinkUp)==>  0xGUID  4  1[  ] "node01 HCA-1" ( )
static int read_arrow(struct link_report *report, struct report_link *link)
{
	uint64_t guid = 0;
	if (!tb_line_eat(&report->at, "[") || !(report->at = strstr(report->at, "==(")))
		return REFUSE(report, "expected [ ] ==( behind a port");
	report->at += strlen("==(");
	const char *arrow = strstr(report->at, ")==>");
	if (!arrow)
		return report_cannot_read(report, ")==>");
	link->is_up = memmem(report->at, (size_t)(arrow - report->at), "LinkUp",
			      strlen("LinkUp")) != NULL;
	if (!link->is_up)
		return TB_OK;
	report_read_rate(report, link);
	report->at = arrow + strlen(")==>");
	if (tb_line_eat(&report->at, "0x")) {
		report->at -= 2;
		if (!tb_line_eat_number(&report->at, 16, UINT64_MAX, &guid))
			return report_cannot_read(report, "a GUID");
		link->peer.guid = guid;
	}
	int status = read_numbers(report, &link->peer);
	report->at += strcspn(report->at, "\"");
	return status == TB_OK ? read_quoted(report, &link->peer, '"', NULL) : status;
}

// begin_section reads "CA: node01 HCA-1:" or "Switch: 0x0002c90200408ab8 leaf 1:".
static int begin_section(struct link_report *report, enum end_kind kind)
{
	size_t n;
	report->section = kind;
	report->section_guid = 0;
	tb_line_skip_blanks(&report->at);
	if (strncmp(report->at, "0x", 2) == 0 &&
		!tb_line_eat_number(&report->at, 16, UINT64_MAX, &report->section_guid))
		return report_cannot_read(report, "a GUID");
	tb_line_skip_blanks(&report->at);
	n = strlen(report->at);
	while (n > 0 && (report->at[n - 1] == ':' || report->at[n - 1] == ' '))
		n--;
	free(report->section_name);
	report->section_name = strndup(report->at, n);
	return report->section_name ? TB_OK
				    : tb_fail_memory_in(report->cabling->error,
					      report->cabling->file, "a name");
}

static int read_iblinkinfo(struct link_report *report, struct report_link *link)
{
	static const struct {
		const char *word;
		enum end_kind kind;
	} sections[] = {{"CA: ", END_ADAPTER}, {"Switch: ", END_SWITCH},
		{"RT: ", END_ROUTER}, {"Router: ", END_ROUTER}};
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		if (tb_line_eat(&report->at, sections[i].word))
			return begin_section(report, sections[i].kind);
	if (!strstr(report->at, "==(")) {
		tb_line_skip_blanks(&report->at);
		if (*report->at && *report->at != '#')
			tb_cabling_note(report->cabling, TB_REMARK_STRAY_LINE,
				"line %" PRIu64 ": %.60s", report->cabling->line,
				report->at);
		return TB_OK;
	}
	// Read an end with its section, or, of iblinkinfo --line, its name, and
	// the arrow behind it.
	int status = TB_OK;
	uint64_t guid = 0;
	link->own.kind = report->section;
	link->own.guid = report->section_guid;
	tb_line_skip_blanks(&report->at);
	if (strncmp(report->at, "0x", 2) == 0) {
		if (!tb_line_eat_number(&report->at, 16, UINT64_MAX, &guid))
			return report_cannot_read(report, "a GUID");
		link->own.guid = guid;
	}
	tb_line_skip_blanks(&report->at);
	if (*report->at == '"') {
		link->own.kind = END_UNKNOWN;
		status = read_quoted(report, &link->own, '"', "[");
	} else if (report->section_name)
		status = keep_name(
			&link->own, report->section_name, strlen(report->section_name));
	else
		return report_cannot_read(
			report, "a line such as CA: node01 HCA-1: first");
	if (status == TB_OK)
		status = read_numbers(report, &link->own);
	return status == TB_OK ? read_arrow(report, link) : status;
}

static bool eat_kind(struct link_report *report, enum end_kind *kind)
{
	*kind = tb_line_eat(&report->at, "SW ")	  ? END_SWITCH
		: tb_line_eat(&report->at, "CA ") ? END_ADAPTER
		: tb_line_eat(&report->at, "RT ") ? END_ROUTER
						  : END_UNKNOWN;
	return *kind != END_UNKNOWN;
}

static int report_read_port(struct link_report *report, struct report_end *end)
{
	int status = read_numbers(report, end);
	if (status == TB_OK &&
		!tb_line_eat_number(&report->at, 16, UINT64_MAX, &end->guid))
		return report_cannot_read(report, "a GUID such as 0x0002c90200408ab8");
	return status;
}

// read_ports_line reads a line of ibnetdiscover --ports:
//
//     SW  2 16 0x0002c90200408ab8 4x QDR - CA  4  1 0x0002c903000e0b73 ( 'leaf' - 'n1' )
//
// which ends with the own name alone where nothing is plugged in.
static int read_ports_line(struct link_report *report, struct report_link *link)
{
	tb_line_skip_blanks(&report->at);
	if (*report->at == '\0' || *report->at == '#')
		return TB_OK;
	if (!eat_kind(report, &link->own.kind)) {
		tb_cabling_note(report->cabling, TB_REMARK_STRAY_LINE,
			"line %" PRIu64 ": %.60s", report->cabling->line, report->at);
		return TB_OK;
	}
	int status = report_read_port(report, &link->own);
	if (status != TB_OK)
		return status;
	report_read_rate(report, link);
	link->is_up = tb_line_eat(&report->at, "- ");
	if (!link->is_up)
		return read_quoted(report, &link->own, '\'', NULL);
	if (!eat_kind(report, &link->peer.kind))
		return report_cannot_read(report, "SW, CA or RT");
	status = report_read_port(report, &link->peer);
	if (status == TB_OK && !tb_line_eat(&report->at, "("))
		return report_cannot_read(report, "( 'NAME' - 'NAME' )");
	if (status == TB_OK)
		status = read_quoted(report, &link->own, '\'', " - '");
	if (status == TB_OK && !tb_line_eat(&report->at, "-"))
		return report_cannot_read(report, "- 'NAME'");
	return status == TB_OK ? read_quoted(report, &link->peer, '\'', NULL) : status;
}

// is_port_of returns whether an adapter has this port: the name is its, and the GUID
// follows its own.
static bool is_port_of(
	const struct tb_cabling_device *device, const struct report_end *end)
{
	uint64_t apart = end->guid > device->guid ? end->guid - device->guid
						  : device->guid - end->guid;
	bool is_free = end->port >= device->n_ports || !device->ports[end->port].guid;
	return end->guid != 0 && apart <= GUIDS_OF_ADAPTER && is_free &&
	       device->kind == TB_DEVICE_ADAPTER && device->name &&
	       strcmp(device->name, end->name ? end->name : "") == 0;
}

static enum tb_device_kind report_kind_of(
	const struct link_report *report, const struct report_end *end)
{
	uint32_t n = 0;
	if (end->kind == END_UNKNOWN)
		tb_map_find(&report->n_of_lid, end->lid, &n);
	if (end->kind == END_SWITCH || n > 1)
		return TB_DEVICE_SWITCH;
	return end->kind == END_ROUTER ? TB_DEVICE_ROUTER : TB_DEVICE_ADAPTER;
}

static int make_device(
	struct link_report *report, const struct report_end *end, uint32_t *device)
{
	struct tb_cabling *cabling = report->cabling;
	const char *name = end->name ? end->name : "";
	enum tb_device_kind kind = report_kind_of(report, end);
	uint64_t hash = tb_hash_text(TB_HASH_BEGIN, name);
	bool joins = kind == TB_DEVICE_ADAPTER &&
		     tb_map_find(&report->of_name, hash, device) &&
		     is_port_of(&cabling->devices[*device], end);
	if (joins)
		return TB_OK;
	cabling->has_guids = cabling->has_guids && end->guid != 0;
	// Without a GUID the LID, which no GUID of a vendor is as small as, is one.
	int status =
		tb_cabling_find(cabling, kind, end->guid ? end->guid : end->lid, device);
	if (status == TB_OK)
		status = tb_cabling_name(cabling, *device, name, strlen(name));
	if (status == TB_OK && kind == TB_DEVICE_SWITCH)
		cabling->devices[*device].lid = end->lid;
	if (status == TB_OK && kind == TB_DEVICE_ADAPTER &&
		tb_map_put(&report->of_name, hash, *device) != TB_OK)
		return tb_fail_memory_in(cabling->error, cabling->file, "its devices");
	return status;
}

// find_device stores the device that has an end's LID.
static int find_device(
	struct link_report *report, const struct report_end *end, uint32_t *device)
{
	struct tb_cabling_port *port;
	if (tb_map_find(&report->of_lid, end->lid, device))
		return TB_OK;
	int status = make_device(report, end, device);
	if (status != TB_OK)
		return status;
	if (tb_map_put(&report->of_lid, end->lid, *device) != TB_OK)
		return tb_fail_memory_in(
			report->cabling->error, report->cabling->file, "its devices");
	if (report->cabling->devices[*device].kind == TB_DEVICE_SWITCH)
		return TB_OK;
	status = tb_cabling_port(report->cabling, *device, end->port, &port);
	if (status == TB_OK) {
		port->guid = end->guid;
		port->lid = end->lid;
	}
	return status;
}

static int report_plug(struct link_report *report, const struct report_link *link)
{
	struct tb_cabling_port seen = {.line = link->line,
		.bytes_per_s = link->bytes_per_s,
		.peer_port = link->peer.port};
	uint32_t device;
	report->cabling->line = link->line;
	int status = find_device(report, &link->own, &device);
	if (status == TB_OK && link->is_up)
		status = find_device(report, &link->peer, &seen.peer);
	if (status != TB_OK)
		return status;
	struct tb_cabling_device *at = &report->cabling->devices[device];
	at->line = at->line ? at->line : link->line;
	if (!link->is_up)
		return TB_OK;
	if (at->kind != TB_DEVICE_SWITCH) {
		seen.guid = link->own.guid;
		seen.lid = link->own.lid;
	}
	return tb_cabling_plug(report->cabling, device, link->own.port, &seen);
}

static int read_report_line(void *context, struct tb_text_lines *lines)
{
	struct link_report *report = context;
	struct report_link link = {.line = lines->number};
	report->at = lines->text;
	int status = report->read(report, &link);
	if (status == TB_ENOMEM)
		status = tb_fail_memory_in(
			report->cabling->error, report->cabling->file, "a name");
	if (status == TB_OK && link.is_up && !(link.own.lid && link.peer.lid))
		status = REFUSE(report, "a link that is up has LID 0: expected a fabric "
					"that its manager has set up");
	if (status == TB_OK && link.own.lid)
		status = report_add_link(report, &link);
	free_link(&link);
	return status;
}

static int read_report(struct tb_cabling *cabling, FILE *stream,
	int (*read)(struct link_report *, struct report_link *))
{
	struct link_report report = {.cabling = cabling, .read = read};
	int status = tb_fabric_each_line(cabling, stream, read_report_line, &report);
	if (status == TB_OK) {
		report.cabling->has_guids = true;
		for (size_t i = 0; i < report.n && status == TB_OK; i++) {
			uint32_t device;
			// First those with lines of their own, which have more of them.
			cabling->line = report.links[i].line;
			status = find_device(&report, &report.links[i].own, &device);
		}
		for (size_t i = 0; i < report.n && status == TB_OK; i++)
			status = report_plug(&report, &report.links[i]);
	}
	for (size_t i = 0; i < report.n; i++)
		free_link(&report.links[i]);
	free(report.links);
	free(report.section_name);
	tb_map_fini(&report.of_lid);
	tb_map_fini(&report.n_of_lid);
	tb_map_fini(&report.of_name);
	return status;
}

bool tb_iblinkinfo_is(const char *line)
{
	size_t n = strlen(line);
	bool begins =
		strncmp(line, "CA: ", 4) == 0 || strncmp(line, "Switch: 0x", 10) == 0;
	return (strstr(line, "==(") && strstr(line, ")==>")) ||
	       (begins && line[n - 1] == ':');
}

int tb_iblinkinfo_read(struct tb_cabling *cabling, FILE *stream)
{
	return read_report(cabling, stream, read_iblinkinfo);
}

bool tb_ibnetdiscover_ports_is(const char *line)
{
	return (strncmp(line, "SW ", 3) == 0 || strncmp(line, "CA ", 3) == 0) &&
	       strstr(line, " 0x") && strstr(line, "x ");
}

int tb_ibnetdiscover_ports_read(struct tb_cabling *cabling, FILE *stream)
{
	return read_report(cabling, stream, read_ports_line);
}
