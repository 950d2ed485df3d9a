// NCCL's topology of a node (NCCL_TOPO_DUMP_FILE, and what NCCL_TOPO_FILE is given): its
// GPUs and adapters, and which share a switch of PCIe.
//
// Format (src/graph/xml.cc of NCCL 2.4 to 2.29, and RCCL's likewise): XML elements within
// each other,
//
//   <system><cpu numaid=".."><pci busid=".." class=".." link_speed="16.0 GT/s PCIe"
//   link_width="16"><gpu dev="0" sm="90" rank="0"><nvlink target=".." count="18"/>
//   <nic><net name="mlx5_0" speed="400000" guid="0x.."/>
//
// of which these are read. `speed` is in Mbit/s. A file may hold several systems, one
// after the other (MNNVL); each is a node.
//
// Rules:
//
// 1. Of all adapters those that share the innermost element with a GPU are its nearest.
// 2. An adapter's ports are told apart by `guid` and `name`; those that other nodes'
//    dumps repeat are counted once.
// 3. NVLink's rate is the count of links times that of one, by the GPU's `sm`
//    (src/graph/topo.h: 18, 20, 12, 20, 20.6, 40.1 GB/s for 60, 70, 86, 80, 90, 100);
//    xGMI's of RCCL by its `gcn` (src/graph/topo.h: 48 GB/s for gfx94 and gfx95, 36 for
//    gfx90a, 24 for others).
// 4. Adapters of a network are alike: those of unlike speed have their mean.
#ifndef TB_NODE_XML_H
#define TB_NODE_XML_H

#include "bytes.h"
#include "reading.h"

#define TB_NODE_PARTS_MAX 64

struct tb_node_gpu {
	uint32_t dev, rank; // UINT32_MAX: not said
	uint32_t sm;	    // 0: not said
	uint32_t n_links;   // of NVLink, or xGMI
	char gcn[12];	    // of AMD's: "gfx942"; "": another's
	uint64_t pcie_bps;  // bytes per second one way; 0: not said
	uint64_t link_bps;  // of its links together; 0: none, or unknown
	uint64_t nearest;   // bit i: adapter i is among its nearest
	bool shares_switch; // with these; else only a cpu or less
};

struct tb_node_nic {
	char name[32];
	uint64_t bits_per_s; // 0: not said
	uint64_t pcie_bps;
};

// One node.
struct tb_node_inside {
	struct tb_node_gpu gpus[TB_NODE_PARTS_MAX];
	struct tb_node_nic nics[TB_NODE_PARTS_MAX];
	uint32_t n_gpus, n_nics, n_cpus;
};

// tb_node_network adds the fact "as a network": "-n ib-ndr,rails=2" and more behind it,
// the preset whose ports are nearest to bits_per_s, with its rate where that is another;
// "-n NETWORK" if bits_per_s is 0.
// `kind` is "IB", "RoCE" or, of sockets, anything else.
void tb_node_network(struct tb_facts *facts, const char *kind, uint64_t bits_per_s,
	uint32_t n_ports, const char *more);

// tb_node_xml_begins returns whether text has the outermost element of such a file.
bool tb_node_xml_begins(struct tb_bytes first);

// tb_node_xml_open reads the file's first node. TB_EFORMAT, with the line, for elements
// that do not end or lie in each other wrongly; TB_ECAPACITY beyond 64 GPUs or adapters.
int tb_node_xml_open(struct tb_node_inside *node, const char *path,
	struct tb_error *error) TB_MUST_USE;

// tb_node_xml_read is a tb_calls_read, which refuses: a node called nothing.
// tb_node_xml_facts adds what is in it, and the keys by which a network has such nodes.
int tb_node_xml_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;
int tb_node_xml_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error) TB_MUST_USE;

#endif
