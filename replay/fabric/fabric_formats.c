#include "fabric_formats.h"

#include "cabling_impl.h"
#include "fabric_readers.h"

#include <string.h>

static const struct tb_fabric_format formats[] = {
	{"ibnetdiscover", "ib-", tb_ibnetdiscover_is, tb_ibnetdiscover_read},
	{"ibnetdiscover --ports", "ib-", tb_ibnetdiscover_ports_is,
		tb_ibnetdiscover_ports_read},
	{"iblinkinfo", "ib-", tb_iblinkinfo_is, tb_iblinkinfo_read},
	{"ibdiagnet2.db_csv", "ib-", tb_ibdiagnet_is, tb_ibdiagnet_read},
	{"ibsim net", "ib-", tb_ibsim_net_is, tb_ibsim_net_read},
	{"Slurm's topology.conf", "ib-", tb_slurm_topology_is, tb_slurm_topology_read},
	{"htsim .topo", "roce-", tb_htsim_topology_is, tb_htsim_topology_read},
	{"lldpcli -f json", "roce-", tb_lldp_neighbors_is, tb_lldp_neighbors_read},
	{"list of cables", "ib-", tb_edge_list_is, tb_edge_list_read},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

const struct tb_fabric_format *tb_fabric_format(size_t i)
{
	return i < N_FORMATS ? &formats[i] : NULL;
}

const struct tb_fabric_format *tb_fabric_format_of(const char *line)
{
	for (size_t i = 0; i < N_FORMATS; i++)
		if (formats[i].is(line))
			return &formats[i];
	return NULL;
}

char *tb_fabric_formats_text(char *buffer, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < N_FORMATS && n < size; i++)
		n += (size_t)snprintf(
			buffer + n, size - n, "%s%s", i ? ", " : "", formats[i].name);
	return buffer;
}

// What to do instead.
#define AS_EDGES   "convert it to a list of cables (A PORT B PORT RATE)"
#define AS_IB	   "ibnetdiscover or iblinkinfo print the fabric as it is read"
#define AS_DB	   "take the ibdiagnet2.db_csv beside it, which has the fabric whole"
#define AS_LLDP	   "take what 'lldpcli show neighbors -f json' prints on its switches"
#define AS_TABLES  "it goes behind --routes"
#define NO_NETWORK "it holds no cables between hosts"

// Formats that are not read. A line tells that begins, behind blanks, with the one and
// has the other; NULL: anything will do.
static const struct foreign_format {
	const char *begins, *has, *sentence;
} foreign[] = {
	{"num_ranks ", NULL, "is a job, no network"},
	{"router ", " node ", "is a topology of BookSim (anynet): " AS_EDGES},
	{"router ", " router ", "is a topology of BookSim (anynet): " AS_EDGES},
	{"graph [", NULL, "is a graph in GML: " AS_EDGES},
	{"graph\t[", NULL, "is a graph in GML: " AS_EDGES},
	{"Creator \"", NULL, "is a graph in GML: " AS_EDGES},
	{"digraph", "{", "is a graph of Graphviz (DOT): " AS_EDGES},
	{"graph", "{", "is a graph of Graphviz (DOT): " AS_EDGES},
	{"strict ", "{", "is a graph of Graphviz (DOT): " AS_EDGES},
	{NULL, "<graphml", "is a graph in GraphML: " AS_EDGES},
	{NULL, "<gexf", "is a graph in GEXF: " AS_EDGES},
	{NULL, "\"multigraph\":", "is a graph of NetworkX (JSON): " AS_EDGES},
	{NULL, "\"DEVICE_METADATA\":", "is a configuration of SONiC: " AS_LLDP},
	{NULL, "\"DEVICE_NEIGHBOR\":", "is a configuration of SONiC: " AS_LLDP},
	{NULL, "<DeviceMiniGraph", "is a minigraph of SONiC: " AS_LLDP},
	{"LocalPort ", "RemoteDevice", "is SONiC's 'show lldp table': " AS_LLDP},
	{"LLDP neighbors:", NULL, "is what lldpcli prints for people: add -f json"},
	{"lldp.", ".via=", "is what lldpcli prints with -f keyvalue: take -f json"},
	{NULL, "<lldp label=", "is what lldpcli prints with -f xml: take -f json"},
	{NULL, "\"lldpNeighbors\":", "is LLDP as Arista's switches print it: " AS_EDGES},
	{"Device ID ", "Local Intf", "is LLDP as Cisco's switches print it: " AS_EDGES},
	{NULL, ": IB# : Sta : ", "is a list of ports of ibdiagnet (.net_dump): " AS_DB},
	{"\"", ", LID ", "is a list of ports of ibdiagnet (.net_dump): " AS_DB},
	{"Ty ", " Conn LID", "is a list of ports of ibdiagnet (.net_dump_ext): " AS_DB},
	{"SW :", " : ACT : ", "is a list of ports of ibdiagnet (.net_dump_ext): " AS_DB},
	{"{ SW Ports:", NULL, "is a list of links of ibdiagnet (.lst): " AS_IB},
	{"{ CA Ports:", NULL, "is a list of links of ibdiagnet (.lst): " AS_IB},
	{"{ CA-SW Ports:", NULL, "is a list of links of ibdiagnet (.lst): " AS_IB},
	{NULL, "\"source_guid\":", "is a list of links of UFM: " AS_IB},
	{NULL, "\"total_alarms\":", "is a list of systems of UFM: " AS_IB},
	{"Rate MTU NodeGUID", NULL, "is a report of Omni-Path (opareport): " AS_EDGES},
	{NULL, "dump_ucast_routes: Switch", "is a forwarding table (.fdbs): " AS_TABLES},
	{"Unicast lids", NULL, "is a forwarding table (dump_lfts): " AS_TABLES},
	{"BlockName=", NULL, "is Slurm's topology of blocks: " NO_NETWORK},
	{"- topology:", NULL, "is Slurm's topology.yaml: take its topology.conf"},
	{"topology:", "[", "is a network of ASTRA-sim: write it as an INI file (shape)"},
	{NULL, "<platform", "is a platform of SimGrid: " AS_EDGES},
	{NULL, "\"hwloc", "is a machine's inside (hwloc): " NO_NETWORK},
	{NULL, "\thwloc", "is a machine's inside (hwloc): " NO_NETWORK},
	{NULL, "<!DOCTYPE topology", "is a machine's inside (hwloc): " NO_NETWORK},
	{"<system ", "version=", "is a machine's inside (NCCL): " NO_NETWORK},
	{"GPU0", "GPU1", "is a machine's inside (nvidia-smi topo): " NO_NETWORK},
	{"network ", "{", "is a network of OMNeT++ (NED): " AS_EDGES},
	{"package ", ";", "is a network of OMNeT++ (NED): " AS_EDGES},
	{"import ", ";", "is a network of OMNeT++ (NED): " AS_EDGES},
};
enum { N_FOREIGN = sizeof foreign / sizeof *foreign };

// is_ns3: "348 28 800", how many nodes, switches and links, or "0 320 25Gbps 1000ns 0.0",
// a link with rate, delay and errors: of HPCC's simulations with ns-3, and of others that
// took their form.
static bool is_ns3(const char *line)
{
	unsigned from, to, n;
	char rate[16], delay[16], errors[16], more;
	if (sscanf(line, "%u %u %u %c", &from, &to, &n, &more) == 3)
		return true;
	return sscanf(line, "%u %u %15s %15s %15s %c", &from, &to, rate, delay, errors,
		       &more) == 5 &&
	       strstr(rate, "bps") && strchr(delay, 's') && !strchr(rate, '/');
}

// is_ibdm: "P1 -> Cougar H01 P1", "L2/P1 -8X-5G-> MT23108 H-2 P1", a port and what its
// cable leads to, or "Gazelle GZ1 CFG: leaf1=R", a system of which parts are missing.
static bool is_ibdm(const char *line)
{
	char port[64], arrow[32], system[64], name[64], other[64];
	if (sscanf(line, "%63s %31s %63s %63s %63s", port, arrow, system, name, other) <
		4)
		return false;
	size_t n = strlen(arrow);
	return (arrow[0] == '-' && n >= 2 && strcmp(arrow + n - 2, "->") == 0) ||
	       (strcmp(system, "CFG:") == 0 && strchr(name, '='));
}

const char *tb_fabric_foreign(const char *line)
{
	if (is_ibdm(line))
		return "is a topology of ibdm (ibdiagnet): " AS_IB;
	if (is_ns3(line))
		return "is a topology of ns-3 (HPCC): " AS_EDGES;
	line += strspn(line, " \t");
	for (size_t i = 0; i < N_FOREIGN; i++) {
		const struct foreign_format *at = &foreign[i];
		bool begins =
			!at->begins || strncmp(line, at->begins, strlen(at->begins)) == 0;
		if (begins && (!at->has || strstr(line, at->has)))
			return at->sentence;
	}
	return NULL;
}
