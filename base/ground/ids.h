// Ids, which rooms pass to each other instead of pointers. They are one-field structs, so
// that the compiler refuses a node where a link is expected.
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

struct tb_link {     // one direction of a cable
	uint32_t id; // 0 .. number of links - 1
};

#endif
