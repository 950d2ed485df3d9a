// What the files of `tailback network` share.
#ifndef TB_CMD_NETWORK_H
#define TB_CMD_NETWORK_H

#include "fabric_report.h"
#include "picture_args.h"

struct network_options {
	const char *network, *routes, *roots, *names;
	const char *traffic;   // store of a run; NULL: none
	int64_t run;	       // in it; 0: the newest
	const char *hosts;     // that send and receive; NULL: all
	const char *from, *to; // of a path; NULL: none is asked for
	const char *store;     // NULL: none
	bool view, list;
	struct tb_route_study_options study;
	uint32_t top;
	struct tb_picture_args picture;
};

// network_list prints what networks there are and what they take;
// text in `width` columns, 0: those of the terminal.
int network_list(bool as_json, uint64_t width) TB_MUST_USE;

// network_view shows the tree in a window, from a store in a temporary folder;
// network_draw writes its picture.
int network_view(const struct network_options *options,
	const struct tb_fabric_report *report, struct tb_error *error) TB_MUST_USE;
int network_draw(const struct network_options *options,
	const struct tb_fabric_report *report, struct tb_error *error) TB_MUST_USE;

#endif
