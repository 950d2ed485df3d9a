// The options by which packet captures are read: which span is meant (--from, --to), what
// of it is replayed, when, and whether messages wait for each other. For cmd_*.c only: a
// mistake on the command line ends the program through argp_error.
#ifndef TB_CAPTURE_ARGS_H
#define TB_CAPTURE_ARGS_H

#include "options.h"
#include "packets.h"

struct tb_cmd_captures {
	struct tb_packets_options packets;
	bool closed_loop;
	bool given; // any of the options
};

// Rows for a table of options; their target is a struct tb_cmd_captures. The first have
// the span alone, the second what captures that become jobs have, too, the third all that
// a replay has.
extern const struct tb_option tb_span_options[], tb_loop_options[], tb_capture_options[];

#endif
