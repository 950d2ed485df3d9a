// Reads the packets that a datagram of sFlow version 5 samples.
//
// Format: sflow.org/sflow_version_5.txt. Numbers are big-endian words; the datagram holds
// its agent's address and samples, each with a type, a length and records of the same
// form. Samples of flows, plain (1) and expanded (3), state how many packets each stands
// for. Of their records the packet's header (1) is read, else its fields of IPv4 (3) or
// IPv6 (4); counters and all other records are passed over.
//
// Value struct; it borrows the datagram's bytes. Thread safe on different objects.
#ifndef TB_SFLOW_H
#define TB_SFLOW_H

#include "bytes.h"

#define TB_SFLOW_PORT 6343

struct tb_sflow {
	struct tb_bytes left; // samples that are still to be read
	uint32_t n_left;
	uint8_t header[48]; // of IP, made from fields
};

struct tb_sflow_sample {
	struct tb_bytes bytes; // they live until the next sample is read
	uint32_t wire_bytes;   // of the whole packet, without FCS
	int link_type;	       // libpcap's DLT_ value; 65535 if it has none
	uint32_t stands_for;   // packets, at least 1
};

// tb_sflow_begin returns whether the payload of a UDP datagram is sFlow of version 5.
bool tb_sflow_begin(struct tb_sflow *sflow, struct tb_bytes payload);

// tb_sflow_next returns whether there is another sample of a packet. What is cut off or
// broken ends the datagram.
bool tb_sflow_next(struct tb_sflow *sflow, struct tb_sflow_sample *sample);

#endif
