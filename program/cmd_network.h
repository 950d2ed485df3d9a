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
	struct tb_given given;
};

// network_report studies the network and puts the report where it is asked for;
// network_copy writes the network itself, network_paths the ways between two hosts.
int network_report(const struct tb_network *network,
	const struct network_options *options, struct tb_error *error) TB_MUST_USE;
int network_copy(const struct tb_network *network, const struct network_options *options,
	struct tb_error *error) TB_MUST_USE;
int network_paths(const struct tb_network *network, const struct network_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif
