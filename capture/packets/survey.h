// A look at captures before they are replayed: who takes part, and who talks to whom.
//
// Costs a reading of the files, so standard input cannot be surveyed. The map that it
// makes gives each endpoint the node that a replay without a map would give it.
#ifndef TB_SURVEY_H
#define TB_SURVEY_H

#include "map_file.h"
#include "packets.h"

// tb_survey reads the captures to their ends and stores a map of their endpoints, to be
// freed by the caller. With a `group`, endpoints that talk to each other, directly or
// over others, are a job of their own, called by that name and a number: "group 1" is
// that of the first node, and so on; without (NULL), the map names no jobs. A capture
// that breaks off is surveyed up to there. TB_EUSAGE when an input is no file that can be
// read twice (standard input, a pipe) or nothing in them is to be replayed; other errors
// as of tb_packets_open.
int tb_survey(struct tb_map_file **map, const char *const *paths, size_t n,
	const struct tb_packets_options *options, const char *group,
	struct tb_error *error) TB_MUST_USE;

#endif
