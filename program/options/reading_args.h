// The options by which traces of calls are read (reading.h): --library, --collective,
// --lenient, --clone-ranks. For cmd_*.c only: a mistake on the command line ends the
// program through argp_error.
#ifndef TB_READING_ARGS_H
#define TB_READING_ARGS_H

#include "options.h"
#include "reading.h"

#include <stdio.h>

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
