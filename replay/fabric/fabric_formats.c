#include "fabric_formats.h"
#include "fabric_readers.h"
#include "infile.h"
#include "preset.h"
#include "text_lines.h"

#include <ctype.h>
#include <string.h>

static const struct tb_fabric_format formats[] = {
	{"ibnetdiscover", "ib-", tb_ibnetdiscover_is, tb_ibnetdiscover_read},
	{"ibnetdiscover --ports", "ib-", tb_ibnetdiscover_ports_is,
		tb_ibnetdiscover_ports_read},
	{"iblinkinfo", "ib-", tb_iblinkinfo_is, tb_iblinkinfo_read},
	{"ibdiagnet2.db_csv", "ib-", tb_ibdiagnet_is, tb_ibdiagnet_read},
	{"ibsim net", "ib-", tb_ibsim_net_is, tb_ibsim_net_read},
	{"Slurm's topology.conf", "ib-", tb_slurm_topology_is, tb_slurm_topology_read},
	{"Slurm's topology.yaml", "ib-", tb_slurm_yaml_is, tb_slurm_yaml_read},
	{"htsim .topo", "roce-", tb_htsim_topology_is, tb_htsim_topology_read},
	{"ns-3 topology.txt", "roce-", tb_ns3_topology_is, tb_ns3_topology_read},
	{"BookSim anynet", "ib-", tb_anynet_is, tb_anynet_read},
	{"SimGrid platform", "ib-", tb_simgrid_platform_is, tb_simgrid_platform_read},
	{"table of cables (CSV)", "ib-", tb_cable_table_is, tb_cable_table_read},
	{"ASTRA-sim .yml", "ib-", tb_astra_network_is, tb_astra_network_read},
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

// fabric_foreign returns what a file with this line is, and what to do instead ("is a
// graph of Graphviz ..."), where it is of a format that is known and not read; else NULL.
static const char *fabric_foreign(const char *line)
{
	if (is_ibdm(line))
		return "is a topology of ibdm (ibdiagnet): " AS_IB;
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

// Tells what kind of network a file holds, by its first lines.

// How many lines are looked at: remarks and error messages may stand at the head.
enum { LINES_LOOKED_AT = 1000 };

// What the first lines of a file told.
struct kind_look {
	const char *file;
	struct tb_error *error;
	const struct tb_fabric_format *format; // NULL: not yet
	bool has_text;			       // a line that is no comment
	uint64_t bare_line;  // that could be a cable without its ports; 0: none
	bool is_strange;     // it begins neither a preset nor a section of one
	bool is_table;	     // its first line has commas
	const char *foreign; // what the file is, which is not read
};

static bool is_section(const char *line)
{
	return line[0] == '[' && isalpha((unsigned char)line[1]);
}

// refuse_unknown refuses a file that is of no kind.
static int refuse_unknown(const struct kind_look *look, const char *is)
{
	return tb_fail_in(look->error, TB_EFORMAT, look->file,
		look->is_table ? "%s: expected of a table of cables a heading such as "
				 "src,src_port,dst,dst_port,bandwidth_gbps"
			       : "%s: expected a network's INI file, or a fabric in one "
				 "of the formats that 'tailback network --list' has",
		is);
}

// check_text refuses a first line that is of no kind and holds no text: nothing at all
// (NULL), or control characters.
static int check_text(const struct kind_look *look, const char *line)
{
	const char *is = !line ? "is empty" : NULL;
	for (; line && *line && !is; line++)
		if (iscntrl((unsigned char)*line) && !isspace((unsigned char)*line))
			is = "is no text";
	return is ? refuse_unknown(look, is) : TB_OK;
}

static bool is_remark(const char *line)
{
	return strchr("#;", line[strspn(line, " \t\r\n")]) != NULL; // or nothing at all
}

// is_setting returns whether a line could be a preset's "key = value", perhaps mistyped.
static bool is_setting(const char *line)
{
	char key[64];
	line += strspn(line, " \t");
	size_t n = strcspn(line, "=:");
	if (line[n] == '\0' || n >= sizeof key)
		return false;
	while (n > 0 && isspace((unsigned char)line[n - 1]))
		n--;
	memcpy(key, line, n);
	key[n] = '\0';
	return tb_network_has_key(key) || tb_network_near_key(key);
}

// look_at looks at a line: 1 to go on, 0 when no later line can tell more of the file's
// kind, or negative.
static int look_at(struct kind_look *look, const struct tb_text_lines *lines)
{
	const char *line = lines->text;
	int status = TB_OK;
	look->foreign = is_remark(line) ? NULL : fabric_foreign(line);
	if (look->foreign)
		return 0;
	look->format = tb_fabric_format_of(line);
	if (look->format)
		return 0;
	if (lines->number == 1)
		status = check_text(look, line);
	if (status == TB_OK && !look->has_text && !is_remark(line)) {
		look->has_text = true;
		look->is_table = strchr(line, ',') != NULL;
		look->is_strange = !is_section(line) && !is_setting(line);
		look->bare_line = tb_edge_list_lacks_ports(line) ? lines->number : 0;
	}
	return status != TB_OK || is_section(line) ? status : 1;
}

// conclude refuses what is neither a fabric that is read nor a preset.
static int conclude(const struct kind_look *look)
{
	if (look->foreign)
		return tb_fail_in(
			look->error, TB_EFORMAT, look->file, "%s", look->foreign);
	if (look->format || !look->is_strange)
		return TB_OK;
	if (!look->bare_line)
		return refuse_unknown(look, "is of no kind that is known");
	return tb_fail_at(look->error, TB_EFORMAT, look->file, TB_PLACE_LINE,
		look->bare_line,
		"expected a cable with its ports, A PORT B PORT, or key = value");
}

int tb_fabric_kind(
	const struct tb_fabric_format **format, const char *path, struct tb_error *error)
{
	struct tb_text_lines lines;
	struct kind_look look = {.file = path, .error = error};
	FILE *stream = NULL;
	struct tb_infile *file = NULL;
	int status = tb_infile_open(&stream, &file, path, error);
	if (status)
		return status;
	tb_text_lines_init(&lines, stream, path, error);
	// Look at the first lines.
	int go_on = 1;
	while (go_on > 0 && lines.number < LINES_LOOKED_AT) {
		int found = tb_text_lines_next(&lines);
		if (found > 0)
			go_on = look_at(&look, &lines);
		else if (found == 0 && lines.number == 0)
			go_on = check_text(&look, NULL);
		else
			go_on = found;
		// A first line with a byte 0 is of no text file.
		if (found == TB_EFORMAT && lines.number == 1)
			go_on = check_text(&look, "\1");
	}
	status = go_on < 0 ? go_on : TB_OK;
	tb_text_lines_fini(&lines);
	fclose(stream);
	if (status == TB_OK)
		status = conclude(&look);
	if (status == TB_OK)
		*format = look.format;
	return status;
}

int tb_fabric_each_line(struct tb_cabling *cabling, FILE *stream,
	tb_fabric_take_line *take, void *reading)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, cabling->file, cabling->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		cabling->line = lines.number;
		status = take(reading, &lines);
	}
	cabling->line = 0;
	tb_text_lines_fini(&lines);
	return found < 0 ? found : status;
}

char *tb_fabric_cell(char **at)
{
	char *cell = *at;
	if (!cell)
		return NULL;
	cell += strspn(cell, " \t");
	char *quote = *cell == '"' ? strchr(cell + 1, '"') : NULL;
	char *comma = strchr(quote ? quote : cell, ',');
	*at = comma ? comma + 1 : NULL;
	if (comma)
		*comma = '\0';
	if (quote) {
		*quote = '\0';
		return cell + 1;
	}
	for (size_t n = strlen(cell); n > 0 && isspace((unsigned char)cell[n - 1]);)
		cell[--n] = '\0';
	return cell;
}

bool tb_fabric_column(struct tb_fabric_columns *columns, uint8_t field)
{
	if (columns->n == TB_FABRIC_COLUMNS_MOST)
		return false;
	columns->fields[columns->n++] = field;
	return true;
}

int tb_fabric_row(const struct tb_cabling *cabling,
	const struct tb_fabric_columns *columns, char *line, char **values,
	size_t n_fields)
{
	size_t n = 0;
	memset(values, 0, n_fields * sizeof *values);
	for (char *cell; n < columns->n && (cell = tb_fabric_cell(&line)) != NULL; n++)
		if (columns->fields[n] < n_fields)
			values[columns->fields[n]] = cell;
	return n == columns->n ? TB_OK
			       : tb_cabling_refuse(cabling,
					 "%zu columns, not the %zu of the heading", n,
					 columns->n);
}

void tb_fabric_refuse(struct tb_error *error)
{
	const struct tb_fabric_format *format = NULL;
	struct tb_error unused;
	if (error->code != TB_EFOREIGN || error->file[0] == '\0' ||
		strcmp(error->file, "-") == 0)
		return;
	char file[sizeof error->file];
	memcpy(file, error->file, sizeof file);
	if (tb_fabric_kind(&format, file, &unused) != TB_OK || !format ||
		format->is == tb_edge_list_is)
		return;
	tb_fail_in(error, TB_EFORMAT, file,
		"is a fabric (%s): 'tailback network %s' reports it, and 'tailback "
		"replay TRACE -n %s' replays on it",
		format->name, file, file);
}
