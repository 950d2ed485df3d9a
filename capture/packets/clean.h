// Turns records into what the job sent: decodes them, puts them in order, and drops
// copies, retransmissions and pure acknowledgements.
//
// Memory grows with the endpoints; windows and tables are bounded. One thread at a time
// per object.
#ifndef TB_CLEAN_H
#define TB_CLEAN_H

#include "endpoints.h"
#include "inputs.h"
#include "packets.h"

struct tb_clean; // opaque

// One record to replay. A record that was captured before the network card segmented it
// stands for several frames.
struct tb_cleaned {
	uint8_t transport; // enum tb_transport
	uint8_t flags;	   // as in struct tb_frame
	bool acknowledgement;
	bool response;
	bool repeated;				  // all of its bytes were sent before
	uint32_t channel, sequence, acknowledged; // as in struct tb_frame
	int64_t at_ns;
	uint32_t source; // number of an endpoint, never equal to destination
	uint32_t destination;
	uint32_t wire_bytes; // of the record's frame
	uint32_t payload_bytes;
	uint32_t header_bytes;	// before the payload, in each frame cut from it
	uint32_t full_bytes;	// TCP: payload of a full segment, as far as is known
	uint32_t segment_bytes; // payload of each frame but the last; 0: do not cut
};

// tb_clean_new borrows `inputs` and `summary`, in which it counts what it drops.
int tb_clean_new(struct tb_clean **clean, struct tb_inputs *inputs,
	const struct tb_packets_options *options,
	struct tb_packets_summary *summary) TB_MUST_USE;
void tb_clean_free(struct tb_clean *clean);

// tb_clean_next returns the next record to replay, in the order of time: 1, 0 at the end,
// or negative after all whole records of a damaged input.
int tb_clean_next(struct tb_clean *clean, struct tb_cleaned *cleaned,
	struct tb_error *error) TB_MUST_USE;

const struct tb_endpoints *tb_clean_endpoints(const struct tb_clean *clean);

// tb_clean_type: see tb_packets_type.
const struct tb_packets_type *tb_clean_type(
	const struct tb_clean *clean, enum tb_packets_list list, uint32_t i);

#endif
