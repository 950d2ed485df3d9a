// Decodes a captured frame as far as a replay needs it: who sent it to whom, how large it
// was, and whether the job sent it or a protocol of the captured network.
//
// What is decoded: link types (frame_link.c), labels and tags
// (frame_ethernet.c), tunnels (frame_ip.c).
//
// The endpoints are the IP addresses if there is IP, also in fragments; the GIDs if there
// is an InfiniBand global route header (also in RoCE v1), otherwise the LIDs; and for all
// other frames the MACs. Of a tunnel the inner packet counts, with the tunnel's headers
// as bytes on the wire; if the inner addresses are not readable (encrypted, cut off, a
// fragment), the ends of the tunnel are the endpoints. ERSPAN mirrors traffic, so the
// inner frame counts with its own length.
//
// Switches and taps may slice a frame before it is captured, so that its wire length is
// that of the slice. Then the sizes are those that its headers state.
//
// Pure functions on values; thread safe.
#ifndef TB_FRAME_H
#define TB_FRAME_H

#include "address.h"
#include "bytes.h"
#include "frame_type.h"

enum tb_frame_kind {
	TB_FRAME_DATA, // between two endpoints; only these are replayed
	TB_FRAME_BROADCAST,
	TB_FRAME_MULTICAST,
	TB_FRAME_CONTROL,     // link protocols: ARP, IPv6 neighbour discovery, LLDP, PFC
	TB_FRAME_UNDECODABLE, // cut off before its addresses, broken, or of an unknown
			      // type
};

enum tb_transport {
	TB_TRANSPORT_OTHER,
	TB_TRANSPORT_TCP,
	TB_TRANSPORT_RC, // InfiniBand reliable connection, also in RoCE
};

#define TB_TCP_FIN 0x01u
#define TB_TCP_SYN 0x02u
#define TB_TCP_RST 0x04u
#define TB_TCP_PSH 0x08u
#define TB_TCP_ACK 0x10u

// Flags of RC frames.
#define TB_RC_ENDS    0x01u // the last or only packet of a message, or a request
#define TB_RC_REQUEST 0x02u // a read or atomic request: its response is the answer

// A frame without its addresses. It is small because thousands wait in the reorder
// window.
struct tb_frame {
	uint64_t digest;     // equal for copies of one frame; 0 unless asked for
	uint32_t point;	     // interface and direction, if the capture has them;
			     // 0: it has not
	uint32_t wire_bytes; // of the frame without FCS; with an Ethernet header in place
			     // of other link headers
	uint32_t payload_bytes; // carried by the transport for its user
	uint32_t channel;	// TCP, UDP: both ports; RC: the destination's queue pair
	uint32_t sequence;	// TCP: number of the first byte; RC: of the packet
	uint32_t acknowledged;	// TCP: the next byte that its sender expects
	uint16_t header_bytes;	// before the payload
	uint16_t network_header_bytes; // part of them, from the network header on
	uint16_t type;		       // where decoding ended, a number of `registry`
	uint16_t mss;		       // TCP: from the option; 0: none
	uint16_t window;	       // TCP: as it stands there, not scaled
	uint8_t tcp_options;	       // TCP: bytes of options
	uint8_t flags;		       // TCP: TB_TCP_..., RC: TB_RC_...
	uint8_t registry : 4;	       // of `type`; TB_REGISTRY_NONE: decoded to the end
	uint8_t kind : 4;	       // enum tb_frame_kind
	uint8_t transport : 4;	       // enum tb_transport
	uint8_t window_scale : 4;      // TCP: of a SYN, the shift + 1; 0: none
	bool marked : 1; // CE (RFC 3168) in one of its IP headers, or InfiniBand's FECN
	bool cnp : 1;	 // a congestion notification packet of RoCE v2
	bool not_ready : 1;	  // an RNR NAK: the receiver had no buffer for a message
	bool acknowledgement : 1; // a pure acknowledgement
	bool offloadable : 1;	  // a network card may have segmented it later
	bool response : 1;	  // RC: from the responder, with the requester's sequence
				  // numbers
	bool sliced : 1; // cut before it was captured: sizes are those of its headers
	uint8_t origin;	 // kept for the cleaning, which sets it (clean.c)
};
_Static_assert(sizeof(struct tb_frame) == 48, "one held back is a cache line");

// What a frame of IEEE 802.3x or 802.1Qbb asks its neighbour for: to stop sending frames
// of some classes for so many times 512 bits; 0 lets it go on.
struct tb_frame_pause {
	uint8_t classes; // bit by class of which it says something; 0: no such frame
	bool whole_port; // 802.3x: all classes, with quanta[0]
	uint16_t quanta[8];
};

struct tb_frame_ends {
	struct tb_address source;
	struct tb_address destination;
	struct tb_bytes sflow;	     // payload of a UDP datagram to sFlow's port
	struct tb_frame_pause pause; // of a TB_FRAME_CONTROL, between MACs
};

// tb_frame_reads_link_type returns whether frames of this link type (libpcap's DLT_) can
// be decoded.
bool tb_frame_reads_link_type(int link_type);

// tb_frame_tells_network returns whether frames of this link type are those of the
// network itself. Those of PPP, say, or cooked by Linux, may come from any.
bool tb_frame_tells_network(int link_type);

// tb_frame_has_point returns whether frames of this link type come with the point that
// saw them. Those of cooked v1, an old format of `any` captures, do not: it has no
// interface.
bool tb_frame_has_point(int link_type);

// tb_frame_decode decodes the captured `bytes` of a frame that was `wire_bytes` long. It
// fills `frame` and, if it is data, `ends`. It never fails: a frame that cannot be
// decoded is TB_FRAME_UNDECODABLE. With `digest` it computes the digest, from fields that
// are the same at every capture point (not the link header, hop counts or checksums).
void tb_frame_decode(struct tb_frame *frame, struct tb_frame_ends *ends, int link_type,
	struct tb_bytes bytes, uint32_t wire_bytes, bool digest);

#endif
