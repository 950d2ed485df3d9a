// The type at which the decoder stopped: a number from one of the registries with which
// headers identify their content. A summary lists undecoded frames by it.
#ifndef TB_FRAME_TYPE_H
#define TB_FRAME_TYPE_H

#include <stddef.h>
#include <stdint.h>

enum tb_frame_registry {
	TB_REGISTRY_NONE,   // the decoder reached the network addresses
	TB_REGISTRY_LINK,   // libpcap's DLT_
	TB_REGISTRY_ETHER,  // EtherType (IEEE, IANA ieee-802-numbers)
	TB_REGISTRY_LLC,    // destination SAP of IEEE 802.2
	TB_REGISTRY_CISCO,  // protocol of 802.2 SNAP with organisation 00000c
	TB_REGISTRY_IP,	    // IANA protocol-numbers
	TB_REGISTRY_PPP,    // IANA ppp-numbers
	TB_REGISTRY_NLPID,  // IANA nlpids, ISO/IEC TR 9577
	TB_REGISTRY_WLAN,   // IEEE 802.11: type * 16 + subtype, plus the bits below
	TB_REGISTRY_SUNATM, // tcpdump.org, LINKTYPE_SUNATM
	TB_REGISTRY_ERF,    // Endace's record types
	TB_REGISTRY_UDP,    // IANA service-names-port-numbers
	TB_REGISTRY_OTHERS, // all types that have no row of their own in a table
};

#define TB_WLAN_ENCRYPTED 0x100
#define TB_WLAN_FRAGMENT  0x200
#define TB_WLAN_BAD_FCS	  0x400

struct tb_frame_type {
	uint16_t number;
	uint8_t registry; // enum tb_frame_registry
};

#define TB_FRAME_TYPE_TEXT_SIZE 80

// tb_frame_type_format writes "EtherType 0x88cc (LLDP)", "link type 147 (USER0)", "PPP
// protocol 0xc021 (LCP)", or only the number if it knows no name, and returns buffer. The
// text has no quotes or control characters. TB_FRAME_TYPE_TEXT_SIZE bytes suffice.
char *tb_frame_type_format(struct tb_frame_type type, char *buffer, size_t size);

#endif
