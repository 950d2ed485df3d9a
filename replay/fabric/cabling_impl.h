// The steps from a fabric's cables to its network: the part that hangs together, its
// levels, its nodes. Private to this room.
#ifndef TB_CABLING_IMPL_H
#define TB_CABLING_IMPL_H

#include "cabling.h"
#include "network.h"

#include <signal.h>
#include <stdio.h>

// Keeps of a fabric the one part that hangs together and has hosts.

// tb_cabling_keep_joined leaves out devices that no cable joins to a host. TB_EFORMAT
// when two parts of the fabric have hosts, or none has.
int tb_cabling_keep_joined(struct tb_cabling *cabling) TB_MUST_USE;

// The levels and the order of a fabric's switches.
//
// A leaf is a switch with many hosts: at least a quarter of what the switch with most
// has, and at least half as many as it has cables to other switches. Leaves are level 0.
// The others are placed from there, wave by wave: a switch is a level above the lowest
// that it is cabled to, unless it is cabled like one that lies a level below these
// (cabling_place.c), a leaf for instance. Then it is of that level, with few hosts or
// none. Within a level switches go by their names, and a cable between two of them leads
// up to the later one. Levels that cables and hosts leave open are marked as doubtful.
//
// Where not every host reaches every other up and then down by these levels, a switch is
// as many levels up as cables lie between it and the nearest leaf; where not by these
// either, levels are counted from a root: the switch from which the farthest is nearest
// is the top, and the others are as many levels below as cables lie between; all
// are doubtful. From roots that somebody named they are counted so, and are not.

struct tb_cabling_levels {
	uint32_t *level;    // by device; switches that are not left out
	uint32_t *switches; // devices in order: level by level, within one by name
	bool *is_doubtful;  // by device
	uint32_t n_switches;
	uint32_t n_levels;
};

// tb_cabling_levels_init finds them in a settled fabric whose devices have names of their
// own and hang together. `is_root`, by device, has at least one root; NULL: none is
// named. TB_EFORMAT when from roots that are named not every host reaches every other;
// TB_ENOMEM; TB_ECAPACITY beyond 64 levels. Cost: cables times levels, and as
// tb_cabling_reach; per switch above the leaves the cables of those that it can match.
int tb_cabling_levels_init(struct tb_cabling_levels *levels, struct tb_cabling *cabling,
	const bool *is_root) TB_MUST_USE;
void tb_cabling_levels_fini(struct tb_cabling_levels *levels);

// tb_cabling_place fills in level and is_doubtful of all switches but the leaves, the
// first `n` devices of the queue, which has room for all. TB_ENOMEM.
int tb_cabling_place(struct tb_cabling_levels *levels, const struct tb_cabling *cabling,
	const uint32_t *n_hosts, const uint32_t *n_trunks, uint32_t *queue,
	uint32_t n) TB_MUST_USE;

// tb_cabling_is_switch returns whether a device is a switch that is not left out.
bool tb_cabling_is_switch(const struct tb_cabling *cabling, uint32_t device);

// The roots of a fabric, named in a file as OpenSM's root_guid_file does: a GUID per line
// (what follows it is a comment), or the name of a switch, which may be as short as on
// the command line. Lines that begin with '#' are comments.

// tb_cabling_roots_read stores by device which switches are roots, for the caller to
// free. Those that the fabric does not have are noted. TB_EFORMAT with the line of a name
// that several switches have, or when no root is left; TB_EIO, TB_ENOMEM.
int tb_cabling_roots_read(
	bool **is_root, struct tb_cabling *cabling, const char *path) TB_MUST_USE;

// The names that a site gives devices, in a file as --node-name-map of infiniband-diags
// takes it: a GUID and a name in double quotes per line. Lines that begin with '#' are
// comments. GUIDs are those of devices, or of their ports, which is all that iblinkinfo
// prints.

// tb_cabling_names_read names devices so. GUIDs that the fabric does not have are noted.
// TB_EUSAGE for a fabric without GUIDs; TB_EFORMAT with the line that is none; TB_EIO,
// TB_ENOMEM.
int tb_cabling_names_read(struct tb_cabling *cabling, const char *path) TB_MUST_USE;

// Whether the hosts of a fabric reach each other by going up and then down.

// tb_cabling_reach returns 1 when a path leads up and then down between every two
// switches with hosts, by the order of `levels`; 0 when not; TB_ENOMEM. Cost: cables
// times switches with hosts, 256 of these at once; memory grows with devices.
int tb_cabling_reach(const struct tb_cabling *cabling,
	const struct tb_cabling_levels *levels) TB_MUST_USE;

// The nodes of a fabric in their order: the ports of its adapters and routers.

struct tb_cabling_node {
	uint32_t device, port;
	uint32_t host;	     // from 0, in order
	size_t n_host_bytes; // of the device's name
	bool is_one_of_many; // of its device's ports
};

struct tb_cabling_nodes {
	struct tb_cabling_node *nodes;
	uint32_t n, n_hosts;
};

int tb_cabling_nodes_init(
	struct tb_cabling_nodes *nodes, const struct tb_cabling *cabling) TB_MUST_USE;
void tb_cabling_nodes_fini(struct tb_cabling_nodes *nodes);

// tb_cabling_nodes_by_rail puts the first node of every host before every second, and so
// on, and stores how many each host has. TB_EFORMAT names hosts that have more or fewer.
int tb_cabling_nodes_by_rail(struct tb_cabling_nodes *nodes,
	const struct tb_cabling *cabling, uint32_t *n_rails) TB_MUST_USE;

// Makes a network of a fabric that was read from a file.
//
// Each port of an adapter is a node, in the order of its host's name, of the adapter's
// and of the port (digits by their number: n2 before n10); adapters that go by their GUID
// follow, routers and gateways come last. So the ranks of a host that are placed side by
// side have a network interface each. Switches stand in the order of cabling_impl.h,
// and their ports in that of the fabric's numbers, those down first.

struct tb_cabling_options {
	const struct tb_network_params *params; // of all that the file does not give
	bool nics_are_rails; // the ports of a host are its rails, instead of nodes
	const char *roots;   // the file that names the top switches; NULL: none does
	const char *names;   // the file that names devices, likewise
	const volatile sig_atomic_t *stop; // NULL: never
	bool leaves_out_routes;		   // as tb_network_builder_leave_out_routes
};

// tb_cabling_build builds the network of a fabric as its reader left it; the fabric is
// spent and must still be freed. TB_EFORMAT names what contradicts itself, hosts that do
// not reach each other and, with rails, hosts that have another number of ports than the
// others; TB_ECAPACITY, TB_ENOMEM, TB_ESTOPPED. Cost: as a network_builder.h's.
int tb_cabling_build(struct tb_network **network, struct tb_cabling *cabling,
	const struct tb_cabling_options *options, struct tb_error *error) TB_MUST_USE;

// Reads what InfiniBand's ibnetdiscover prints (infiniband-diags; also kept as .topo).
//
// The text lists switches, then host channel adapters and routers. An entry is a line
//
//     Switch  24 "S-005442ba00003080"    # "ISR9024 Voltaire" base port 0 lid 6 lmc 0
//     Ca      2 "H-0008f10403960984"     # "node7 HCA-1"
//
// with the number of ports, the GUID and what the device calls itself, and a line for
// each port with a cable: of a switch
//
//     [22] "H-0008f10403961354"[1](8f10403961355)  # "node7 HCA-1" lid 4 4xSDR
//     [10] "S-0008f10400410015"[1]                 # "SW-6IB4 Voltaire" lid 3 4xSDR
//
// its number, the peer's GUID, the peer's port (and the GUID of that, if it is no
// switch), the peer's name and LID, and the cable's width and speed; of an adapter
//
//     [1](8f10403960985) "S-0008f10400410015"[6]   # lid 16 lmc 1 "SW-6IB4" lid 3 4xSDR
//
// the port's own GUID, LID and LMC before those of the switch. Lines of any other kind
// (remarks, vendors, chassis, error messages that got between) are passed over.

// tb_ibnetdiscover_is returns whether a line is one that no other file has.
bool tb_ibnetdiscover_is(const char *line);

// tb_ibnetdiscover_read adds what the stream holds. TB_EFORMAT with the line that cannot
// be understood; TB_EIO; TB_ENOMEM. Cost: linear.
int tb_ibnetdiscover_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Reads ibdiagnet's database, ibdiagnet2.db_csv: tables between START_NAME and END_NAME,
// each with a heading, of which NODES, PORTS and LINKS have the fabric.
//
//     START_NODES
//     NodeDesc,NumPorts,NodeType,...,NodeGUID,PortGUID,DeviceID,...
//     "MF0;leaf01:MQM9700/U1",65,2,...,0x1,0x1,54002,...
//     END_NODES
//     START_PORTS
//     NodeGuid,PortGuid,PortNum,...,LID,...,LinkWidthActv,...,LinkSpeedActv,...,LMC,...
//     END_PORTS
//     START_LINKS
//     NodeGuid1,PortNum1,NodeGuid2,PortNum2
//     END_LINKS
//
// Types of nodes are 1 adapters, 2 switches, 3 routers; widths are 1, 2, 4, 8, 16 for 1x,
// 4x, 8x, 12x, 2x; speeds are 1, 2, 4 for SDR, DDR, QDR and from 256 on FDR, EDR, HDR,
// NDR, XDR, by powers of two (ibutils, IBLinkSpeed; IBTA, PortInfo). Errors as of
// tb_ibnetdiscover_read.
bool tb_ibdiagnet_is(const char *line);
int tb_ibdiagnet_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Reads what infiniband-diags print a line per port of: iblinkinfo, with or without
// --line, and ibnetdiscover --ports. Lines have of each end LID, port and name; GUIDs are
// those of ports. iblinkinfo without --line has a section per device:
//
//     CA: node01 HCA-1:
//         0x0002c903000e0b73  4  1[  ] ==( 4X  25.78125 Gbps Active/  LinkUp)==>  2  16[
//         ] "leaf 1" ( )
//     Switch: 0x0002c90200408ab8 leaf 1:
//          2  17[  ] ==(                Down/ Polling)==>             [  ] "" ( )
//
//     SW  2 16 0x0002c90200408ab8 4x EDR - CA  4  1 0x0002c903000e0b73 ( 'leaf 1' -
//     'node01 HCA-1' )
//
// Ports of one name whose GUIDs follow each other are one adapter's. What has several
// lines with its LID, where nothing says what it is, is a switch.

// tb_iblinkinfo_is and tb_ibnetdiscover_ports_is return whether a line is such a one.
bool tb_iblinkinfo_is(const char *line);
bool tb_ibnetdiscover_ports_is(const char *line);

// These add what the stream holds. TB_EFORMAT with the line that cannot be understood;
// TB_EIO; TB_ENOMEM. Cost: linear.
int tb_iblinkinfo_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;
int tb_ibnetdiscover_ports_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Devices that go by names alone, which are then their own, as in an edge list.

// tb_cabling_find_named stores the device of that name, in its visible form, which is
// what others show. A new one is an adapter without an entry. TB_EFORMAT, at the line,
// for a name that is empty or too long.
int tb_cabling_find_named(struct tb_cabling *cabling, const char *name, uint64_t line,
	uint32_t *device) TB_MUST_USE;

// tb_cabling_has_named returns whether there is a device of that name.
bool tb_cabling_has_named(const struct tb_cabling *cabling, const char *name);

// tb_cabling_join plugs a cable between the next ports of two devices, counted from 1.
// `seen` has its rate, latency and line. TB_EFORMAT when a device has no port left.
int tb_cabling_join(struct tb_cabling *cabling, uint32_t one, uint32_t other,
	const struct tb_cabling_port *seen) TB_MUST_USE;

// The ports of an edge list: numbers, or names, which are numbered from 1 on their device
// in the order in which the file has them.

// A zeroed struct is empty.
struct tb_edge_ports {
	struct tb_map of_key;
	struct tb_cabling_port_name *ports;
	uint32_t n;
	size_t room;
};

// tb_edge_ports_give hands the names over to the cabling and frees the rest.
void tb_edge_ports_give(struct tb_edge_ports *ports, struct tb_cabling *cabling);

// tb_edge_ports_has returns whether a word can be a port: a number up to
// TB_CABLING_PORT_MOST, or a name with a letter and a digit that is no rate or time.
bool tb_edge_ports_has(const char *word);

// tb_edge_ports_find stores the number of a device's port, which tb_edge_ports_has.
// TB_EFORMAT when the device has ports of the other kind.
int tb_edge_ports_find(struct tb_edge_ports *ports, struct tb_cabling *cabling,
	uint32_t device, char *word, uint64_t line, uint32_t *number) TB_MUST_USE;

// tb_edge_hash hashes a name.
uint64_t tb_edge_hash(const char *name);

// Reads an edge list: any network as a list of its cables, a line each.
//
//     # two leaves and a spine
//     leaf0 1 n0 0                      a cable: NAME PORT NAME PORT
//     leaf0 2 "n1 mlx5_0" 1             names with blanks in quotes, \" and \\ in them
//     leaf0 9 spine 0 400Gbit/s 150ns   its rate, and the latency of a hop over it
//     leaf1 9 spine 1 400Gbit/s
//     host n7                           n7 is a host, with however many cables
//     switch leaf1                      leaf1 is a switch, though it has but one cable
//
// Ports are numbers from 0 to 65534 that are a device's own, or names such as swp1 (see
// cabling_impl.h). What has one cable is a
// host, what has more is a switch, unless a line "host" or "switch" says otherwise. '#'
// begins a comment. What a line does not give comes from the preset.

// tb_edge_list_is returns whether a line is one of an edge list.
bool tb_edge_list_is(const char *line);

// tb_edge_list_lacks_ports returns whether a line could be a cable without its ports: two
// or three words, and nothing of a "key = value".
bool tb_edge_list_lacks_ports(const char *line);

// tb_edge_list_read adds what the stream holds. TB_EFORMAT with the line that cannot be
// understood; TB_EIO; TB_ENOMEM. Cost: linear.
int tb_edge_list_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

#endif
