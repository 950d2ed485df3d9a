// Reads captures before they are replayed, to find who takes part and who talks to whom.
//
// The files are read twice this way, so standard input cannot be surveyed. In the map
// that it makes, each endpoint has the node that a replay without a map would give it.
#ifndef TB_SURVEY_H
#define TB_SURVEY_H

#include "map_file.h"
#include "packets.h"

// tb_survey reads the captures to their ends and stores a map of their endpoints, which
// the caller frees. With `group`, endpoints that talk to each other, directly or through
// others, become a job, named by `group` and a number: "group 1" contains the first node,
// and so on; or by `names` in that order, separated by commas (NULL: none): TB_EUSAGE
// when there are fewer jobs. Without `group` (NULL), the map names no jobs. A capture
// that is cut off is surveyed up to there. TB_EUSAGE when an input cannot be read twice
// (standard input, a pipe) or when nothing in the captures is to be replayed; other
// errors as tb_packets_open.
int tb_survey(struct tb_map_file **map, const char *const *paths, size_t n,
	const struct tb_packets_options *options, const char *group, const char *names,
	struct tb_error *error) TB_MUST_USE;

// tb_survey_can_reread returns whether a file can be read a second time: standard input
// and pipes cannot.
bool tb_survey_can_reread(const char *path);

#endif
