// Point-to-point links, which have no addresses: PPP (RFC 1661, 1662), Cisco HDLC (RFC
// 1547, section 4.3.1), frame relay (RFC 2427), SLIP, SunATM.
#include "frame_walk.h"

#define PPP_FRAMING  2 // address and control
#define PPP_ADDRESS  0xff
#define PPP_CONTROL  0x03
#define PPP_IPV4     0x0021
#define PPP_IPV6     0x0057
#define PPP_MPLS     0x0281
#define PPP_MPLS_2   0x0283
#define PPP_NETWORKS 0x8000 // from here on: protocols that set up networks and the link

#define HDLC_UNICAST   0x0f
#define HDLC_BROADCAST 0x8f
#define HDLC_BYTES     4

#define UNNUMBERED_INFORMATION 0x03
#define NLPID_Q933	       0x08
#define NLPID_LMI	       0x09
#define NLPID_SNAP	       0x80
#define NLPID_CLNP	       0x81
#define NLPID_IS_IS	       0x83
#define NLPID_IPV6	       0x8e
#define NLPID_IPV4	       0xcc
#define NLPID_PPP	       0xcf

#define SLIP_BYTES 16 // direction, and the compressed header

#define SUNATM_BYTES   4
#define SUNATM_RAW     0
#define SUNATM_LANE    1
#define SUNATM_LLC     2
#define LANE_BYTES     2
#define LANE_CONTROL   0xff00
#define ATM_BRIDGE_PAD 2 // RFC 2684, section 5.2

// ppp_header measures address and control, which may be missing, and the protocol, which
// may be a single odd byte (RFC 1661, section 6.5). libpcap's DLT_PPP_PPPD has the
// direction, 0 or 1, instead of the address.
static bool ppp_header(struct tb_bytes bytes, uint32_t *n, uint16_t *protocol)
{
	uint8_t address;
	uint8_t control;
	uint8_t first;
	if (!tb_bytes_u8(bytes, 0, &address) || !tb_bytes_u8(bytes, 1, &control))
		return false;
	bool framed = control == PPP_CONTROL && (address == PPP_ADDRESS || address <= 1);
	uint32_t at = framed ? PPP_FRAMING : 0;
	if (!tb_bytes_u8(bytes, at, &first))
		return false;
	*n = at + (first & 1 ? 1 : 2);
	*protocol = first;
	return (first & 1) || tb_bytes_u16(bytes, at, protocol);
}

static void walk_ppp_protocol(struct tb_walk *walk, uint16_t protocol)
{
	tb_walk_type(walk, TB_REGISTRY_PPP, protocol);
	switch (protocol) {
	case PPP_IPV4:
		tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV4);
		break;
	case PPP_IPV6:
		tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV6);
		break;
	case PPP_MPLS:
	case PPP_MPLS_2:
		tb_walk_ether_type(walk, TB_ETHER_TYPE_MPLS);
		break;
	default:
		if (protocol >= PPP_NETWORKS)
			walk->frame->kind = TB_FRAME_CONTROL;
		else
			tb_walk_between_macs(walk);
	}
}

void tb_walk_ppp(struct tb_walk *walk)
{
	uint32_t n;
	uint16_t protocol;
	if (!ppp_header(walk->bytes, &n, &protocol)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	tb_walk_on(walk, n);
	walk_ppp_protocol(walk, protocol);
}

void tb_walk_ppp_link(struct tb_walk *walk)
{
	uint32_t n;
	uint16_t protocol;
	uint8_t address = 0;
	(void)tb_bytes_u8(walk->bytes, 0, &address);
	// DLT_PPP_SERIAL may also be Cisco HDLC, which begins with 0x0f or 0x8f. PPP has
	// no such protocols.
	if (address == HDLC_UNICAST || address == HDLC_BROADCAST) {
		tb_walk_hdlc(walk);
		return;
	}
	if (!ppp_header(walk->bytes, &n, &protocol)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	tb_walk_as_ethernet(walk, n);
	walk_ppp_protocol(walk, protocol);
}

// Cisco HDLC: address, a zero byte, EtherType.
void tb_walk_hdlc(struct tb_walk *walk)
{
	uint8_t address;
	uint16_t type;
	if (!tb_bytes_u8(walk->bytes, 0, &address) ||
		!tb_bytes_u16(walk->bytes, 2, &type)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	if (address == HDLC_BROADCAST)
		walk->frame->kind = TB_FRAME_BROADCAST;
	tb_walk_as_ethernet(walk, HDLC_BYTES);
	tb_walk_ether_type(walk, type);
}

// address_bytes measures Q.922's address: two to four bytes, only the last of them odd.
static bool address_bytes(struct tb_bytes bytes, uint32_t *n)
{
	uint8_t byte;
	if (!tb_bytes_u8(bytes, 0, &byte) || (byte & 1))
		return false;
	for (*n = 2; tb_bytes_u8(bytes, *n - 1, &byte) && *n <= 4; ++*n)
		if (byte & 1)
			return true;
	return false;
}

// Frame relay (RFC 2427, section 3): address, control, a pad byte that may be missing,
// NLPID. Cisco's own encapsulation has an EtherType after the address.
void tb_walk_frame_relay(struct tb_walk *walk)
{
	uint32_t n;
	uint8_t control;
	uint8_t nlpid;
	if (!address_bytes(walk->bytes, &n) || !tb_bytes_u8(walk->bytes, n, &control) ||
		!tb_bytes_u8(walk->bytes, n + 1, &nlpid)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	if (control != UNNUMBERED_INFORMATION) {
		tb_walk_as_ethernet(walk, n + 2);
		tb_walk_ether_type(walk, (uint16_t)(control << 8 | nlpid));
		return;
	}
	n += 1;
	if (nlpid == 0)
		n += 1;
	if (!tb_bytes_u8(walk->bytes, n, &nlpid)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	tb_walk_as_ethernet(walk, n + 1);
	tb_walk_type(walk, TB_REGISTRY_NLPID, nlpid);
	switch (nlpid) {
	case NLPID_IPV4:
		tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV4);
		break;
	case NLPID_IPV6:
		tb_walk_ether_type(walk, TB_ETHER_TYPE_IPV6);
		break;
	case NLPID_SNAP:
		tb_walk_snap(walk, true, 0);
		break;
	case NLPID_PPP: // RFC 1973
		tb_walk_ppp(walk);
		break;
	default:
		walk->frame->kind =
			nlpid == NLPID_Q933 || nlpid == NLPID_LMI ||
					(nlpid >= NLPID_CLNP && nlpid <= NLPID_IS_IS)
				? TB_FRAME_CONTROL
				: TB_FRAME_UNDECODABLE;
	}
}

// BSD decompresses the header before it hands the packet out, so IP follows.
void tb_walk_slip(struct tb_walk *walk)
{
	tb_walk_as_ethernet(walk, SLIP_BYTES);
	tb_walk_ip(walk);
}

// SunATM: direction and kind of traffic, path, channel (two bytes). Raw traffic is IP if
// the channel carries nothing else (RFC 2684, section 6.1).
void tb_walk_sunatm(struct tb_walk *walk)
{
	uint8_t kind;
	if (!tb_bytes_u8(walk->bytes, 0, &kind)) {
		walk->frame->kind = TB_FRAME_UNDECODABLE;
		return;
	}
	kind &= 0x0f;
	tb_walk_type(walk, TB_REGISTRY_SUNATM, kind);
	tb_walk_as_ethernet(walk, SUNATM_BYTES);
	if (kind == SUNATM_RAW)
		tb_walk_ip(walk);
	else if (kind == SUNATM_LANE) {
		// LAN emulation (ATM Forum af-lane-0021): the sender's identifier, or a
		// mark for control frames, then Ethernet.
		uint16_t client;
		if (!tb_bytes_u16(walk->bytes, 0, &client)) {
			walk->frame->kind = TB_FRAME_UNDECODABLE;
		} else if (client == LANE_CONTROL) {
			walk->frame->kind = TB_FRAME_CONTROL;
		} else {
			tb_walk_drop(walk, LANE_BYTES);
			tb_walk_ethernet(walk);
		}
	} else if (kind == SUNATM_LLC)
		tb_walk_llc(walk, true, ATM_BRIDGE_PAD);
	else
		walk->frame->kind = TB_FRAME_CONTROL;
}
