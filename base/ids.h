// Ids: what crosses from room to room instead of pointers. One-field structs, so that a
// node cannot be passed for a link.
#ifndef TB_IDS_H
#define TB_IDS_H

#include <stdint.h>

#define TB_ID_NONE UINT32_MAX

struct tb_node {
	uint32_t id; // 0 .. number of nodes - 1
};

struct tb_switch {
	uint32_t id; // 0 .. number of switches - 1
};

struct tb_link {     // a directed link
	uint32_t id; // 0 .. number of links - 1
};

#endif
