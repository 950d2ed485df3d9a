// The readers of fabrics, and the laws of their formats.
//
// Each `is` returns whether a line is one that no other file has. Each `read` adds what
// the stream holds: TB_EFORMAT with the line that cannot be understood, TB_EIO,
// TB_ENOMEM; its cost is linear in what it adds.
#ifndef TB_FABRIC_READERS_H
#define TB_FABRIC_READERS_H

#include "cabling.h"

#include <stdio.h>

// The nets of ibsim, a simulator of InfiniBand: as the text of ibnetdiscover, with names
// in place of GUIDs, and Hca for Ca.
//
//     Switch 8 "leaf0"
//     [1] "n0"[1]
//     [8] "spine"[1] w=8 s=4
//
//     Hca 2 "n0"
//     [1] "leaf0"[1]
//
// `w`, `s` and `e` behind a port, or `width`, `speed` and `extspeed` on a line of their
// own for what follows, are masks of widths, speeds and extended speeds, of which the
// highest counts. As in ibsim a port that a mask leaves out has 4x, SDR; a file without
// any gives no rates. `module "m"` puts "m#" before the names that follow. What else is
// for the simulator is refused where it changes cables: aliases, include, do.
bool tb_ibsim_net_is(const char *line);
int tb_ibsim_net_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Slurm's topology.conf: a tree of switches, with lists of hosts (name_ranges.h).
//
//     SwitchName=leaf0 Nodes=node[00-15]
//     SwitchName=spine Switches=leaf[0-3] LinkSpeed=400Gbit/s
//
// Keys are of any case, and a line goes on behind a backslash. The file has no ports:
// they are numbered in its order. LinkSpeed, whose unit Slurm leaves open, is that of the
// line's cables where it is a rate. What 'scontrol show topology' prints has a Level=,
// and names of an upper switch all nodes below, which are no hosts of its own. Several
// roots are refused: Slurm keeps a job below one, and no cable between them is known.
bool tb_slurm_topology_is(const char *line);
int tb_slurm_topology_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Slurm's topology.yaml (25.05): a list of topologies, of which the tree that is the
// cluster's default is read, or else the first tree. Blocks have no switches.
//
//     - topology: topo1
//       cluster_default: true
//       tree:
//         switches:
//           - switch: spine
//             children: leaf[0-3]
//           - switch: leaf0
//             nodes: node[00-15]
bool tb_slurm_yaml_is(const char *line);
int tb_slurm_yaml_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// The topologies of htsim, a simulator of datacenter networks (csg-htsim,
// fat_tree_topology.cpp): trees of two or three tiers.
//
//     Nodes 8
//     Tiers 3
//     Podsize 4
//     Tier 0
//     Downlink_speed_Gbps 200
//     Radix_Down 2
//     Radix_Up 2
//     Downlink_Latency_ns 1000
//     Switch_Latency_ns 100
//
// and so on. Tier 0 has the switches of hosts. Those of tier 1 are a pod's: each joins
// all of tier 0 in it, by `Bundle` cables. Switch i of a pod's tier 1 joins those of tier
// 2 whose number is i modulo the switches of tier 1 in a pod. The speed and latency of a
// tier are those of its cables down. A cable's latency is that of the cable, and half of
// each of its switches', so that the sum along every path is htsim's. They are called
// n0, tor0, agg0 and core0.
bool tb_htsim_topology_is(const char *line);
int tb_htsim_topology_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// The networks of ASTRA-sim's analytical model (astra-network-analytical, *.yml).
//
//     topology: [ FullyConnected, Switch ]
//     npus_count: [ 8, 4 ]
//     bandwidth: [ 400.0, 50.0 ]  # GB/s, of 2^30 bytes
//     latency: [ 100.0, 500.0 ]  # ns
//
// Each dimension joins the NPUs that differ in it alone. Read are one Switch, and two
// dimensions of which the second is a Switch: four nodes of eight NPUs, each with an
// adapter, and eight switches between them. What is within nodes comes from the preset
// (local_rate). They are called "node0 npu0", "npu0" and switch0.
bool tb_astra_network_is(const char *line);
int tb_astra_network_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Neighbours as lldpd's 'lldpcli show neighbors' prints them with -f json or json0, of
// one device or several: an object by the names of devices, or documents below headings
// "# NAME", or "==> NAME.json <==", which 'tail -n +1 *.json' prints. Without either the
// file's name is the device's.
//
// A cable is told by one end or both, which may know a port by other names. A device is a
// switch by the capabilities that its neighbours see, unless it has but one cable. The
// rate follows from a port's type (MAU), "100GbaseCR4", where that is told. Ports of
// management are set aside: by their name, by their rate, and where a switch has no other
// cable of the fabric. A document has at most 4 MiB.
bool tb_lldp_neighbors_is(const char *line);
int tb_lldp_neighbors_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

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
bool tb_ibnetdiscover_is(const char *line);
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
// NDR, XDR, by powers of two (ibutils, IBLinkSpeed; IBTA, PortInfo).
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
bool tb_iblinkinfo_is(const char *line);
bool tb_ibnetdiscover_ports_is(const char *line);
int tb_iblinkinfo_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;
int tb_ibnetdiscover_ports_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

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
// cabling.h). What has one cable is a host, what has more is a switch, unless a line
// "host" or "switch" says otherwise. '#' begins a comment. What a line does not give
// comes from the preset.
bool tb_edge_list_is(const char *line);

// tb_edge_list_lacks_ports returns whether a line could be a cable without its ports: two
// or three words, and nothing of a "key = value".
bool tb_edge_list_lacks_ports(const char *line);
int tb_edge_list_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Topologies of ns-3 as HPCC's simulations have them, and those that took their form
// (alibaba-edu/High-Precision-Congestion-Control; inet-tub/ns3-datacenter;
// conweave-project; aliyun/ns-3-alibabacloud, whose fields are read in common.h):
//
//     6 2 5                     NODES SWITCHES LINKS; PowerTCP has TORS before LINKS
//     4 5                       which of the nodes are switches
//     0 4 25Gbps 1us 0          A B RATE DELAY ERRORS, LINKS times
//     4 5 100000000000.0 1us 0
//
// SimAI's begin with NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS GPU, the NVSwitches
// come first among the switches, and their links are inside servers. Hosts are called n0,
// or "server0 gpu0", switches s4.
bool tb_ns3_topology_is(const char *line);
int tb_ns3_topology_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// The topologies of BookSim (anynet_file): a router per line, and what it is joined to.
//
//     router 0 node 0 node 1 router 1 5
//     router 1 node 2 node 3
//
// A number behind is the latency of one direction in cycles. Two devices have one cable,
// whether one line or both have it.
bool tb_anynet_is(const char *line);
int tb_anynet_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Platforms of SimGrid (XML; "Platform description", simgrid.org): flat clusters, whose
// hosts are joined to one switch, clusters that are a FAT_TREE, whose topo_parameters are
// those of a shape (shape.h), cabinets, and hosts and routers where routes of one link
// join them. Routes of several links are paths over such cables. A link that several
// zones share is a switch between them. Numbers without units are bytes per second, and
// seconds. A backbone, which all hosts of a cluster share, is passed over.
bool tb_simgrid_platform_is(const char *line);
int tb_simgrid_platform_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// Tables of cables with a heading, separated by commas (topo.csv, topology.csv): columns
// of both ends (src and dst, node1 and node2, ...), and perhaps of their ports, a rate
// and a latency, whose unit may stand in the heading. Other columns are passed over. What
// has one cable is a host, as in an edge list.
bool tb_cable_table_is(const char *line);
int tb_cable_table_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

// tb_fabric_each_line hands the lines of a file to `take`, up to its first failure, which
// it returns; else as tb_text_lines_next.
struct tb_text_lines;
typedef int tb_fabric_take_line(void *reading, struct tb_text_lines *lines);
int tb_fabric_each_line(struct tb_cabling *cabling, FILE *stream,
	tb_fabric_take_line *take, void *reading) TB_MUST_USE;

// Tables with a heading, whose cells are separated by commas.
#define TB_FABRIC_COLUMNS_MOST 128

// Which field of a reader's own each column has.
struct tb_fabric_columns {
	uint8_t fields[TB_FABRIC_COLUMNS_MOST];
	size_t n;
};

// tb_fabric_cell ends the cell at *at, takes blanks and quotes off it, and moves on; NULL
// behind the last.
char *tb_fabric_cell(char **at);

// tb_fabric_column adds a column; false when there are too many.
bool tb_fabric_column(struct tb_fabric_columns *columns, uint8_t field);

// tb_fabric_row stores the cells of a row by their fields, of which those from n_fields
// on are passed over; NULL for a field that it has none of. TB_EFORMAT for fewer cells
// than columns.
int tb_fabric_row(const struct tb_cabling *cabling,
	const struct tb_fabric_columns *columns, char *line, char **values,
	size_t n_fields) TB_MUST_USE;

// REFUSE fails at the line that a reader is at.
#define REFUSE(reading, ...) tb_cabling_refuse((reading)->cabling, __VA_ARGS__)

// The most cables of such a file: a short one should not take much memory.
#define TB_FABRIC_CABLES_MOST (UINT32_C(1) << 17)

#endif
