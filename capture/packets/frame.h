// One captured frame as a replay needs it: who sent it to whom, how large it was, and
// what tells a frame of the job from one that the old network's protocols added.
//
// What is read stands in docs/packets.md: link types (frame_link.c, frame_wan.c,
// frame_wlan.c), labels and tags (frame_shim.c), tunnels (frame_tunnel.c).
//
// Endpoints: with IP the IP addresses, in fragments too; with an InfiniBand global route
// header (also RoCE v1) the GIDs, else the LIDs; otherwise the MACs. Of tunnels the
// packet within counts, with the tunnel's headers on the wire; where its addresses are
// not there (encrypted, cut, fragments), the ends of the tunnel. ERSPAN is a mirror, so
// the frame within it counts with its own length.
//
// Pure functions on values; thread safe.
#ifndef TB_FRAME_H
#define TB_FRAME_H

#include "address.h"
#include "bytes.h"
#include "frame_type.h"

enum tb_frame_kind {
	TB_FRAME_DATA, // between two endpoints; all other kinds are not for replay
	TB_FRAME_BROADCAST,
	TB_FRAME_MULTICAST,
	TB_FRAME_CONTROL, // ARP, IPv6 neighbour discovery, LLDP, PFC: the links' own talk
	TB_FRAME_UNDECODABLE, // cut before its addresses, broken, or of a type not read
};

enum tb_transport {
	TB_TRANSPORT_OTHER,
	TB_TRANSPORT_TCP,
	TB_TRANSPORT_RC, // InfiniBand reliable connection, also in RoCE
};

#define TB_TCP_FIN 0x01u
#define TB_TCP_SYN 0x02u
#define TB_TCP_RST 0x04u
#define TB_TCP_ACK 0x10u

// Without its addresses, and small: thousands of frames wait in the reorder window.
struct tb_frame {
	uint64_t digest;	// equal for copies of one frame; 0 unless asked for
	uint32_t point;		// by what interface and in what direction, where the
				// capture says so; 0: it does not
	uint32_t wire_bytes;	// of the frame, as Ethernet where the capture kept no
				// real link header; without FCS
	uint32_t payload_bytes; // what the transport carried for its user
	uint32_t channel;	// TCP, UDP: both ports; RC: the queue pair it goes to
	uint32_t sequence;	// TCP: of the first byte; RC: of the packet
	uint16_t header_bytes;	// before the payload
	uint16_t network_header_bytes; // of them, from the network header on
	uint16_t type;		       // at which decoding ended, see `registry`
	uint16_t mss;		       // TCP: of the option; 0: none
	uint8_t tcp_options;	       // TCP: bytes of options
	uint8_t flags;		       // TCP's
	uint8_t kind;		       // enum tb_frame_kind
	uint8_t transport;	       // enum tb_transport
	uint8_t registry;	       // of `type`; TB_REGISTRY_NONE: decoded to the end
	bool acknowledgement;	       // nothing but one
	bool offloadable;	       // a segmenting network card may have cut it later
	bool response; // RC: from the responder, which numbers as the requester did
};

struct tb_frame_ends {
	struct tb_address source;
	struct tb_address destination;
};

// tb_frame_reads_link_type says whether frames of libpcap's DLT_ type can be decoded.
bool tb_frame_reads_link_type(int link_type);

// tb_frame_tells_point says whether frames of one `any` capture can be told apart by the
// point that saw them; cooked v1 keeps no interface.
bool tb_frame_tells_point(int link_type);

// tb_frame_decode fills `frame` and, where it is data, `ends` from what was captured of a
// frame that was `wire_bytes` long. It never fails: what cannot be decoded is of that
// kind. `digest` asks for the digest, over what stays the same from one capture point to
// the next (not the link's header, nor hop counts or checksums).
void tb_frame_decode(struct tb_frame *frame, struct tb_frame_ends *ends, int link_type,
	struct tb_bytes bytes, uint32_t wire_bytes, bool digest);

#endif
