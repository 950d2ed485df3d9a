// The options by which traces are read. Of packet captures: which span is meant (--from,
// --to), what of it is replayed, when, and whether messages wait for each other. Of
// traces of calls (reading.h): --library, --collective, --lenient, --clone-ranks.
#ifndef TB_TRACE_ARGS_H
#define TB_TRACE_ARGS_H

#include "options.h"
#include "packets.h"
#include "reading.h"

#include <stdio.h>

struct tb_cmd_captures {
	struct tb_packets_options packets;
	bool closed_loop;
	bool given; // any of the options
};

// Rows for a table of options; their target is a struct tb_cmd_captures. The first have
// the span alone, the second what captures that become jobs have, too, the third all that
// a replay has.
extern const struct tb_option tb_span_options[], tb_loop_options[], tb_capture_options[];

struct tb_cmd_reading {
	struct tb_reading reading; // but for its collectives: tb_cmd_reading_of
	struct tb_texts collectives;
	bool given; // any of the options
};

// Rows for a table of options; their target is a struct tb_cmd_reading.
extern const struct tb_option tb_reading_options[];

// tb_cmd_reading_of returns what the options ask for; NULL when none was given. It is
// valid while `reading` is.
const struct tb_reading *tb_cmd_reading_of(struct tb_cmd_reading *reading);

// tb_cmd_put_notes prints the notes of a job (job.h), each on a line behind `indent`, and
// of more than `most` how many there are beyond; nothing for NULL.
void tb_cmd_put_notes(FILE *stream, const char *notes, const char *indent, size_t most);

#endif
