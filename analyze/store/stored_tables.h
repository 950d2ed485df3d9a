// Rows that are written by this room and read by others, and their tables. Private to
// analyze/.
#ifndef TB_STORED_TABLES_H
#define TB_STORED_TABLES_H

#include "network.h"
#include "stored_rows.h"

// A link of a network.
struct tb_link_row {
	struct tb_link_row_end {
		uint32_t node, in_switch; // TB_ID_NONE: it is at the other one
		uint32_t port;
		uint32_t number; // what the port goes by
	} from, to;
	struct tb_link_info at;
};
extern const struct tb_stored_table tb_topology_links;

#endif
