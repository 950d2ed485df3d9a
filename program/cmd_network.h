// What the files of `tailback network` share.
#ifndef TB_CMD_NETWORK_H
#define TB_CMD_NETWORK_H

#include "fabric_report.h"
#include "given_args.h"
#include "picture_args.h"

#define NETWORK_COMMAND "tailback network"
#define NETWORK_FORMATS (TB_FORMATS_OF_PICTURES | TB_FORMATS_OF_NETWORKS)

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
	struct tb_cmd_given given;
};

// network_parse takes the command line; a mistake ends the program. network_settle
// refuses options that have no effect on what is asked for: it returns 0 or an exit code,
// and the format is known.
void network_parse(struct network_options *options, int argc, char **argv);
int network_settle(const struct network_options *options) TB_MUST_USE;

// network_open opens the network, with the routes that the options name where what is
// asked for needs routes, and prints notes of what is odd about it.
int network_open(const struct network_options *options, struct tb_network **network,
	struct tb_error *error) TB_MUST_USE;

// network_report studies the network and puts the report where it is asked for;
// network_copy writes the network itself, network_paths the ways between two hosts.
int network_report(const struct tb_network *network,
	const struct network_options *options, struct tb_error *error) TB_MUST_USE;
int network_copy(const struct tb_network *network, const struct network_options *options,
	struct tb_error *error) TB_MUST_USE;
int network_paths(const struct tb_network *network, const struct network_options *options,
	struct tb_error *error) TB_MUST_USE;

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
