// What the readers of counters share. Private to capture/counters.
#ifndef TB_COUNTERS_READING_H
#define TB_COUNTERS_READING_H

#include "counters.h"

#include <stdio.h>

#define COUNTER_NAME_MOST 160 // of a device, an interface

// The columns of a table of text.
#define COLUMNS_MOST 256

enum column_role {
	COLUMN_OTHER,
	COLUMN_COUNTER,
	COLUMN_GUID,
	COLUMN_PORT_GUID,
	COLUMN_LID,
	COLUMN_PORT,
	COLUMN_DEVICE,
	COLUMN_TIME
};

// A counter's name in the tools, without case, blanks and signs.
struct counter_name {
	const char *name; // NULL: none
	enum tb_counter counter;
	unsigned scale; // bytes, or microseconds, of one
	unsigned bits;	// it counts no further than they hold
	bool adds;	// several of them come to the sum
	unsigned class; // of these, as in class_us
};

struct counter_column {
	enum column_role role;
	struct counter_name name; // of a counter
	size_t end;		  // where it stands in a line
	unsigned half;		  // of "3/2": 1 or 2; 0: there is one number
};

// A dump being read.
struct counters_reading {
	struct tb_counters *counters;
	const char *file;
	uint64_t line;
	struct tb_error *error;
	unsigned format;		  // that reads the lines; see counters_formats
	char source[COUNTER_NAME_MOST];	  // what the file or the section is called
	char nodename[COUNTER_NAME_MOST]; // as node_exporter names it; "": unknown
	size_t first_of_section;	  // among the ports
	uint32_t n_sections;
	struct tb_counter_port *port; // that lines are about; NULL: none
	struct counter_column columns[COLUMNS_MOST];
	size_t n_columns;
	bool has_rule;	  // the line of dashes below a heading was read
	bool is_held;	  // no line begins another format
	bool is_of_nodes; // a table of ibdiagnet's
	bool is_pfc_sent;
	bool is_wide;	   // of a section of PortCountersExtended
	uint32_t parts_of; // the port and format of which parts are being added up
	unsigned parts_format;
	uint64_t parts[TB_N_COUNTERS];
	struct tb_map of_node; // ibdiagnet's GUIDs of nodes, to
	char **nodes;	       // what these are called; owned
	size_t n_nodes, nodes_room;
	char text[COUNTER_NAME_MOST]; // scratch: a device's name in ibqueryerrors
};

// counter_name_find returns the counter of that name, with `name` NULL for others.
struct counter_name counter_name_find(const char *name, size_t n);

// counter_name_plain writes a name without case, blanks and signs.
void counter_name_plain(const char *name, size_t n, char *buffer, size_t size);

// counters_port makes `reading->port` the one that is so named; the strings are copied.
// TB_EFORMAT when this format has described it before.
int counters_port(struct counters_reading *reading, const struct tb_counter_port *named,
	bool is_new) TB_MUST_USE;

// counters_put gives reading->port a counter. Of several of one port the largest holds,
// of equal ones the widest; priorities come to their sum.
void counters_put(struct counters_reading *reading, const struct counter_name *name,
	uint64_t value);

// counters_put_text does so with text: a decimal, with commas between thousands, or
// hexadecimal behind 0x. "N/A", "NA" and "" are passed over; TB_EFORMAT for others.
int counters_put_text(struct counters_reading *reading, const struct counter_name *name,
	const char *text, size_t n) TB_MUST_USE;

// counters_put_named does so with the counter of that name. counters_unread takes note of
// one that has none, if its name tells of loss or congestion.
int counters_put_named(struct counters_reading *reading, const char *name, size_t name_n,
	const char *text, size_t n) TB_MUST_USE;
void counters_unread(
	struct counters_reading *reading, const char *name, size_t n, uint64_t value);

// COUNTERS_REFUSE fails with TB_EFORMAT at the line.
#define COUNTERS_REFUSE(reading, ...)                                                    \
	tb_fail_at((reading)->error, TB_EFORMAT, (reading)->file, TB_PLACE_LINE,         \
		(reading)->line, __VA_ARGS__)

// counters_time notes when the dump was printed, unless that is known.
void counters_time(struct counters_reading *reading, int64_t time_us);

// counters_date reads a time such as "2026-11-27T10:00:00.5+01:00"; a blank may stand for
// the T, and without a zone it is UTC. False where there is none.
bool counters_date(const char *text, int64_t *time_us);

// counters_epoch makes microseconds of a number of s, ms, us or ns since 1970.
int64_t counters_epoch(double number);

// counters_hex reads hexadecimal digits, behind 0x or not; 0 when there are none.
uint64_t counters_hex(const char *text);

// A format. `begins` is whether a line begins what it reads, and then takes it; `take`
// takes a line that begins nothing else. A loose one begins where no format reads.
struct counters_format {
	bool (*begins)(const char *line);
	int (*begin)(struct counters_reading *reading, char *line);
	int (*take)(struct counters_reading *reading, char *line);
	bool is_loose;
};

extern const struct counters_format counters_perfquery, counters_ibqueryerrors,
	counters_pm, counters_db, counters_csv, counters_prometheus, counters_ethtool,
	counters_ethtool_lines, counters_sonic, counters_pfc, counters_pfc_history,
	counters_pfc_watchdog;

#endif
