// From records to what the job sent: decoded, put in order, freed of copies, of
// retransmissions and of pure acknowledgements.
//
// Memory grows with endpoints; windows and tables are bounded. One thread at a time per
// object.
#ifndef TB_CLEAN_H
#define TB_CLEAN_H

#include "endpoints.h"
#include "inputs.h"
#include "packets.h"

struct tb_clean; // opaque

// One record that is to be replayed: one or more frames that left together.
struct tb_burst {
	int64_t at_ns;
	uint32_t source; // numbers of endpoints, different ones
	uint32_t destination;
	uint32_t wire_bytes; // of the record's frame
	uint32_t payload_bytes;
	uint32_t header_bytes;	// that each frame cut from it has before its payload
	uint32_t segment_bytes; // payload of each such frame but the last; 0: not to be
				// cut
};

// tb_clean_new borrows the inputs and counts what it drops in `summary`.
int tb_clean_new(struct tb_clean **clean, struct tb_inputs *inputs,
	const struct tb_packets_options *options,
	struct tb_packets_summary *summary) TB_MUST_USE;
void tb_clean_free(struct tb_clean *clean);

// tb_clean_next gives the next burst, in the order of time: 1, 0 at the end, or negative,
// after everything that was whole.
int tb_clean_next(struct tb_clean *clean, struct tb_burst *burst,
	struct tb_error *error) TB_MUST_USE;

const struct tb_endpoints *tb_clean_endpoints(const struct tb_clean *clean);

// tb_clean_type is tb_packets_type.
const struct tb_packets_type *tb_clean_type(
	const struct tb_clean *clean, enum tb_packets_list list, uint32_t i);

#endif
