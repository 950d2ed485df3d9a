#include "frame_type.h"

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>

struct type_name {
	uint16_t number;
	const char *name;
};

static const struct type_name ether_names[] = {
	{0x0800, "IPv4"},
	{0x0806, "ARP"},
	{0x0842, "Wake-on-LAN"},
	{0x2000, "CDP"},
	{0x22ea, "SRP"},
	{0x22f0, "AVTP"},
	{0x22f3, "TRILL"},
	{0x6002, "DEC MOP"},
	{0x6003, "DECnet"},
	{0x6558, "bridged Ethernet"},
	{0x8035, "RARP, SLARP"},
	{0x809b, "AppleTalk"},
	{0x80f3, "AppleTalk ARP"},
	{0x8100, "VLAN tag"},
	{0x8137, "IPX"},
	{0x86dd, "IPv6"},
	{0x8808, "pause"},
	{0x8809, "LACP"},
	{0x880b, "PPP"},
	{0x8847, "MPLS"},
	{0x8848, "MPLS"},
	{0x8863, "PPPoE discovery"},
	{0x8864, "PPPoE"},
	{0x886d, "Intel ANS"},
	{0x8870, "jumbo LLC"},
	{0x888e, "EAPOL"},
	{0x8892, "PROFINET"},
	{0x8899, "Realtek"},
	{0x88a2, "ATA over Ethernet"},
	{0x88a4, "EtherCAT"},
	{0x88a8, "service VLAN tag"},
	{0x88b5, "local experiment 1"},
	{0x88b6, "local experiment 2"},
	{0x88b8, "GOOSE"},
	{0x88ba, "sampled values"},
	{0x88ca, "TIPC"},
	{0x88cc, "LLDP"},
	{0x88e5, "MACsec"},
	{0x88e7, "PBB"},
	{0x88f5, "MVRP"},
	{0x88f7, "PTP"},
	{0x8902, "CFM"},
	{0x8903, "FabricPath"},
	{0x8906, "FCoE"},
	{0x8909, "Cisco metadata"},
	{0x890d, "TDLS"},
	{0x8914, "FIP"},
	{0x8915, "InfiniBand"},
	{0x8926, "VN-tag"},
	{0x892d, "PRP, HSR supervision"},
	{0x892f, "HSR"},
	{0x893f, "802.1BR E-tag"},
	{0x894f, "NSH"},
	{0x8998, "BATMAN"},
	{0x9000, "loopback test"},
	{0x9100, "VLAN tag"},
	{0xcafe, "Veritas LLT"},
	{0xd28b, "Arista time stamp"},
	{0xfefe, "OSI"},
};

static const struct type_name llc_names[] = {
	{0x00, "null"},
	{0x06, "IP"},
	{0x42, "spanning tree"},
	{0x98, "ARP"},
	{0xaa, "SNAP"},
	{0xe0, "IPX"},
	{0xf0, "NetBIOS"},
	{0xfe, "OSI"},
	{0xff, "IPX without LLC"},
};

static const struct type_name cisco_names[] = {
	{0x0104, "PAgP"},
	{0x010b, "spanning tree per VLAN"},
	{0x0111, "UDLD"},
	{0x2000, "CDP"},
	{0x2003, "VTP"},
	{0x2004, "DTP"},
};

static const struct type_name ip_names[] = {
	{4, "IPv4"},
	{6, "TCP"},
	{17, "UDP"},
	{41, "IPv6"},
	{47, "GRE"},
	{58, "IPv6 neighbour discovery"}, // all other ICMPv6 is data
	{137, "MPLS"},
};

static const struct type_name udp_names[] = {
	{6343, "sFlow"},
};

static const struct type_name ppp_names[] = {
	{0x0021, "IPv4"},
	{0x0023, "OSI"},
	{0x002b, "IPX"},
	{0x002d, "compressed TCP"},
	{0x002f, "uncompressed TCP"},
	{0x0031, "bridging"},
	{0x003d, "multilink"},
	{0x0053, "encrypted"},
	{0x0057, "IPv6"},
	{0x00fb, "compressed link"},
	{0x00fd, "compressed"},
	{0x0281, "MPLS"},
	{0x0283, "MPLS"},
	{0x8021, "IPCP"},
	{0x8057, "IPV6CP"},
	{0x80fd, "CCP"},
	{0x8281, "MPLSCP"},
	{0xc021, "LCP"},
	{0xc023, "PAP"},
	{0xc025, "link quality"},
	{0xc223, "CHAP"},
	{0xc227, "EAP"},
};

static const struct type_name nlpid_names[] = {
	{0x08, "Q.933"},
	{0x09, "LMI"},
	{0x80, "SNAP"},
	{0x81, "CLNP"},
	{0x82, "ES-IS"},
	{0x83, "IS-IS"},
	{0x8e, "IPv6"},
	{0xb0, "compressed"},
	{0xb1, "fragment"},
	{0xcc, "IPv4"},
	{0xcf, "PPP"},
};

static const struct type_name wlan_names[] = {
	{0x00, "association request"},
	{0x01, "association response"},
	{0x02, "reassociation request"},
	{0x03, "reassociation response"},
	{0x04, "probe request"},
	{0x05, "probe response"},
	{0x08, "beacon"},
	{0x0a, "disassociation"},
	{0x0b, "authentication"},
	{0x0c, "deauthentication"},
	{0x0d, "action"},
	{0x18, "block ack request"},
	{0x19, "block ack"},
	{0x1a, "power-save poll"},
	{0x1b, "request to send"},
	{0x1c, "clear to send"},
	{0x1d, "ack"},
	{0x20, "data"},
	{0x24, "no data"},
	{0x28, "QoS data"},
	{0x2c, "no data"},
};

static const struct type_name sunatm_names[] = {
	{0, "raw"},
	{1, "LAN emulation"},
	{2, "LLC"},
	{3, "MARS"},
	{4, "IFMP"},
	{5, "ILMI"},
	{6, "Q.2931"},
};

static const struct type_name erf_names[] = {
	{1, "HDLC"},
	{2, "Ethernet"},
	{3, "ATM"},
	{4, "AAL5"},
	{5, "channelised HDLC"},
	{12, "channelised ATM"},
	{17, "AAL2"},
	{21, "InfiniBand"},
	{22, "IPv4"},
	{23, "IPv6"},
	{24, "raw link"},
	{25, "InfiniBand link"},
	{27, "metadata"},
	{48, "padding"},
};

#define N(names) (names), sizeof(names) / sizeof *(names)

static const struct registry {
	const char *prefix;
	int hex_digits; // 4, 2, or 0: decimal
	const struct type_name *names;
	size_t n_names;
} registries[] = {
	[TB_REGISTRY_LINK] = {"link type", 0, NULL, 0}, // see link_name
	[TB_REGISTRY_ETHER] = {"EtherType", 4, N(ether_names)},
	[TB_REGISTRY_LLC] = {"LLC", 2, N(llc_names)},
	[TB_REGISTRY_CISCO] = {"Cisco SNAP", 4, N(cisco_names)},
	[TB_REGISTRY_IP] = {"IP protocol", 0, N(ip_names)},
	[TB_REGISTRY_PPP] = {"PPP protocol", 4, N(ppp_names)},
	[TB_REGISTRY_NLPID] = {"NLPID", 2, N(nlpid_names)},
	[TB_REGISTRY_WLAN] = {"802.11 type", 2, N(wlan_names)},
	[TB_REGISTRY_SUNATM] = {"SunATM type", 0, N(sunatm_names)},
	[TB_REGISTRY_ERF] = {"ERF type", 0, N(erf_names)},
	[TB_REGISTRY_UDP] = {"UDP port", 0, N(udp_names)},
};

// Types for private use, for which libpcap has no names.
static const char *const user_names[] = {"USER0", "USER1", "USER2", "USER3", "USER4",
	"USER5", "USER6", "USER7", "USER8", "USER9", "USER10", "USER11", "USER12",
	"USER13", "USER14", "USER15"};

static const char *protocol_name(struct tb_frame_type type, uint16_t number)
{
	const struct registry *registry = &registries[type.registry];
	if (type.registry == TB_REGISTRY_LINK) {
		if (number >= DLT_USER0 && number <= DLT_USER15)
			return user_names[number - DLT_USER0];
		return pcap_datalink_val_to_name(number);
	}
	for (size_t i = 0; i < registry->n_names; i++)
		if (registry->names[i].number == number)
			return registry->names[i].name;
	return NULL;
}

char *tb_frame_type_format(struct tb_frame_type type, char *buffer, size_t size)
{
	if (type.registry == TB_REGISTRY_NONE || type.registry >= TB_REGISTRY_OTHERS) {
		snprintf(buffer, size, "others");
		return buffer;
	}
	const struct registry *registry = &registries[type.registry];
	bool wlan = type.registry == TB_REGISTRY_WLAN;
	uint16_t flags = wlan ? type.number & 0xff00 : 0;
	uint16_t number = type.number - flags;
	const char *name = protocol_name(type, number);
	char digits[8];
	if (registry->hex_digits == 4)
		snprintf(digits, sizeof digits, "0x%04x", number);
	else if (registry->hex_digits == 2)
		snprintf(digits, sizeof digits, "0x%02x", number);
	else
		snprintf(digits, sizeof digits, "%u", number);
	snprintf(buffer, size, "%s %s%s%s%s%s%s%s", registry->prefix, digits,
		name ? " (" : "", name ? name : "", name ? ")" : "",
		flags & TB_WLAN_ENCRYPTED ? ", encrypted" : "",
		flags & TB_WLAN_FRAGMENT ? ", fragment" : "",
		flags & TB_WLAN_BAD_FCS ? ", wrong FCS" : "");
	return buffer;
}
