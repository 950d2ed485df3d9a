// Neighbours as LLDP tells them, from JSON to records. Private to this room.
#ifndef TB_LLDP_IMPL_H
#define TB_LLDP_IMPL_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a neighbour says that it is.
enum tb_lldp_kind { TB_LLDP_UNSAID, TB_LLDP_STATION, TB_LLDP_BRIDGE };

// A neighbour of a port. Texts live for the call that hands it over.
struct tb_lldp_neighbor {
	const char *device; // whose port it is
	const char *port;   // by its own name
	const char *peer, *peer_port;
	enum tb_lldp_kind peer_kind;
	uint64_t bytes_per_s; // 0: not told
};

typedef int tb_lldp_take(void *context, const struct tb_lldp_neighbor *neighbor);

// tb_lldp_documents hands on the neighbours in a text of JSON, in the order of the text:
// what lldpcli prints of `device` with -f json or json0, or an object that has such by
// the names of their devices. TB_EFORMAT with a sentence, without a place, when it is
// not; what `take` returns; TB_ENOMEM. Memory: some 24 times the text.
int tb_lldp_documents(const char *text, size_t n, const char *device, tb_lldp_take *take,
	void *context, struct tb_error *error) TB_MUST_USE;

#endif
