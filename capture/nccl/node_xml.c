#include "node_xml.h"

#include "infile.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_DEPTH_MAX 64
#define NODE_BYTES_MAX ((size_t)16 << 20)
#define NODE_VALUE_MAX 64
#define NODE_UNSAID    UINT32_MAX

// An open element. `serial` numbers elements: two things are within the same element if
// their serials at that depth are equal.
struct inside_element {
	char name[16];
	uint32_t serial;
	uint64_t pcie_bps;
};

// Where in the node a GPU or adapter is.
struct inside_place {
	uint32_t depth;
	uint32_t serials[NODE_DEPTH_MAX];
};

struct inside_reading {
	struct tb_node_inside *node;
	struct inside_place gpus[TB_NODE_PARTS_MAX], nics[TB_NODE_PARTS_MAX];
	uint64_t guids[TB_NODE_PARTS_MAX];
	struct inside_element path[NODE_DEPTH_MAX];
	uint32_t depth, n_elements;
	bool is_over; // the first system has ended
	uint64_t line;
	const char *file;
	struct tb_error *error;
};

static int node_refuse(const struct inside_reading *reading, const char *sentence)
{
	return tb_fail_at(reading->error, TB_EFORMAT, reading->file, TB_PLACE_LINE,
		reading->line, "%s", sentence);
}

// node_value copies the value of a tag's attribute, name="value", and returns whether the
// tag has it.
static bool node_value(
	const char *tag, size_t n, const char *name, char value[NODE_VALUE_MAX])
{
	size_t length = strlen(name);
	for (size_t i = 1; i + length + 2 < n; i++) {
		if (!isspace((unsigned char)tag[i - 1]) ||
			memcmp(tag + i, name, length) != 0 || tag[i + length] != '=')
			continue;
		char quote = tag[i + length + 1];
		const char *from = tag + i + length + 2;
		const char *to = quote == '"' || quote == '\''
					 ? memchr(from, quote, n - (size_t)(from - tag))
					 : NULL;
		if (!to)
			return false;
		snprintf(value, NODE_VALUE_MAX, "%.*s", (int)(to - from), from);
		return true;
	}
	return false;
}

static uint32_t node_number(const char *tag, size_t n, const char *name)
{
	char value[NODE_VALUE_MAX];
	uint64_t number;
	if (!node_value(tag, n, name, value) ||
		tb_parse_count(value, 0, NODE_UNSAID - 1, &number) != TB_OK)
		return NODE_UNSAID;
	return (uint32_t)number;
}

// pcie_rate converts "16.0 GT/s PCIe" and a width to bytes per second: PCIe 3 and later
// carry 128 of 130 bits, earlier ones 8 of 10.
static uint64_t pcie_rate(const char *tag, size_t n)
{
	char value[NODE_VALUE_MAX];
	double transfers =
		node_value(tag, n, "link_speed", value) ? strtod(value, NULL) : 0;
	uint32_t width = node_number(tag, n, "link_width");
	if (!(transfers > 0 && transfers < 1000) || width == 0 || width > 64)
		return 0;
	double share = transfers < 8 ? 0.8 : 128.0 / 130;
	return (uint64_t)(transfers * 1e9 * share / 8 * width + 0.5);
}

// nvlink_rate returns the rate of one link, one way.
static uint64_t nvlink_rate(uint32_t sm)
{
	return sm >= 100  ? UINT64_C(40100000000)
	       : sm >= 90 ? UINT64_C(20600000000)
	       : sm == 86 ? UINT64_C(12000000000)
	       : sm >= 70 ? UINT64_C(20000000000)
	       : sm >= 60 ? UINT64_C(18000000000)
			  : 0;
}

static uint64_t xgmi_rate(const char *gcn)
{
	return strncmp(gcn, "gfx94", 5) == 0 || strncmp(gcn, "gfx95", 5) == 0
		       ? UINT64_C(48000000000)
	       : strncmp(gcn, "gfx90a", 6) == 0 ? UINT64_C(36000000000)
						: UINT64_C(24000000000);
}

static void node_keep_place(
	const struct inside_reading *reading, struct inside_place *place)
{
	place->depth = reading->depth;
	for (uint32_t i = 0; i < reading->depth; i++)
		place->serials[i] = reading->path[i].serial;
}

// node_pcie returns the rate of the innermost enclosing element that has one.
static uint64_t node_pcie(const struct inside_reading *reading)
{
	uint32_t i = reading->depth;
	while (i > 0 && !reading->path[i - 1].pcie_bps)
		i--;
	return i > 0 ? reading->path[i - 1].pcie_bps : 0;
}

static int node_add_nic(struct inside_reading *reading, const char *tag, size_t n)
{
	struct tb_node_inside *node = reading->node;
	char value[NODE_VALUE_MAX] = "";
	struct tb_node_nic nic = {.name = ""};
	uint64_t guid = node_value(tag, n, "guid", value) ? strtoull(value, NULL, 16) : 0;
	if (node_value(tag, n, "name", value) || node_value(tag, n, "dev", value))
		snprintf(nic.name, sizeof nic.name, "%.31s", value);
	uint32_t speed = node_number(tag, n, "speed");
	nic.bits_per_s = speed == NODE_UNSAID ? 0 : (uint64_t)speed * 1000000;
	nic.pcie_bps = node_pcie(reading);
	for (uint32_t i = 0; i < node->n_nics; i++)
		if (guid && reading->guids[i] == guid &&
			strcmp(node->nics[i].name, nic.name) == 0)
			return TB_OK;
	if (node->n_nics == TB_NODE_PARTS_MAX)
		return tb_fail_in(reading->error, TB_ECAPACITY, reading->file,
			"has more than %d adapters in a node", TB_NODE_PARTS_MAX);
	reading->guids[node->n_nics] = guid;
	node->nics[node->n_nics] = nic;
	node_keep_place(reading, &reading->nics[node->n_nics++]);
	return TB_OK;
}

// node_begin handles the beginning of an element; `tag` is the text between < and >.
static int node_begin(struct inside_reading *reading, const char *tag, size_t n)
{
	size_t length = 0;
	while (length < n && !isspace((unsigned char)tag[length]) && tag[length] != '/')
		length++;
	if (reading->depth == NODE_DEPTH_MAX)
		return node_refuse(reading, "elements lie within more than 64 others");
	struct inside_element *element = &reading->path[reading->depth++];
	*element = (struct inside_element){.serial = ++reading->n_elements};
	snprintf(element->name, sizeof element->name, "%.*s",
		length < 15 ? (int)length : 15, tag);
	if (strcmp(element->name, "pci") == 0)
		element->pcie_bps = pcie_rate(tag, n);
	reading->node->n_cpus += strcmp(element->name, "cpu") == 0;
	if (strcmp(element->name, "gpu") == 0) {
		struct tb_node_inside *node = reading->node;
		if (node->n_gpus == TB_NODE_PARTS_MAX)
			return tb_fail_in(reading->error, TB_ECAPACITY, reading->file,
				"has more than %d GPUs in a node", TB_NODE_PARTS_MAX);
		struct tb_node_gpu *gpu = &node->gpus[node->n_gpus];
		*gpu = (struct tb_node_gpu){.dev = node_number(tag, n, "dev"),
			.rank = node_number(tag, n, "rank")};
		uint32_t sm = node_number(tag, n, "sm");
		gpu->sm = sm == NODE_UNSAID ? 0 : sm;
		char gcn[NODE_VALUE_MAX];
		if (node_value(tag, n, "gcn", gcn))
			snprintf(gpu->gcn, sizeof gpu->gcn, "%.11s", gcn);
		gpu->pcie_bps = node_pcie(reading);
		node_keep_place(reading, &reading->gpus[node->n_gpus++]);
		return TB_OK;
	}
	if (strcmp(element->name, "net") == 0)
		return node_add_nic(reading, tag, n);
	bool is_link = strcmp(element->name, "nvlink") == 0 ||
		       strcmp(element->name, "xgmi") == 0;
	if (is_link && reading->node->n_gpus > 0 && reading->depth > 1 &&
		strcmp(reading->path[reading->depth - 2].name, "gpu") == 0) {
		uint32_t count = node_number(tag, n, "count");
		struct tb_node_gpu *gpu = &reading->node->gpus[reading->node->n_gpus - 1];
		if (count < 1000)
			gpu->n_links += count;
		gpu->link_bps = gpu->n_links * (gpu->gcn[0] ? xgmi_rate(gpu->gcn)
							    : nvlink_rate(gpu->sm));
	}
	return TB_OK;
}

static int node_end(struct inside_reading *reading, const char *tag, size_t n)
{
	const struct inside_element *element =
		reading->depth ? &reading->path[reading->depth - 1] : NULL;
	size_t length = 0;
	while (length < n && !isspace((unsigned char)tag[length]))
		length++;
	size_t known = element ? strlen(element->name) : 0;
	if (!element ||
		memcmp(element->name, tag, known < length ? known : length) != 0 ||
		(known < 15 && known != length))
		return node_refuse(reading, "an element ends that did not begin here");
	reading->is_over |= strcmp(element->name, "system") == 0;
	reading->depth--;
	return TB_OK;
}

// node_tags handles the tags of a text one after another.
static int node_tags(struct inside_reading *reading, const char *text, size_t n)
{
	int status = TB_OK;
	const char *at = text, *end = text + n;
	while (status == TB_OK && !reading->is_over) {
		const char *open = memchr(at, '<', (size_t)(end - at));
		for (const char *c = at; c < (open ? open : end); c++)
			reading->line += *c == '\n';
		if (!open)
			break;
		bool is_remark = end - open > 4 && memcmp(open, "<!--", 4) == 0;
		const char *close = is_remark
					    ? memmem(open, (size_t)(end - open), "-->", 3)
					    : memchr(open, '>', (size_t)(end - open));
		if (!close)
			return node_refuse(reading, "the file ends within an element");
		const char *tag = open + 1;
		size_t length = (size_t)(close - tag);
		if (!is_remark && length > 0 && *tag == '/')
			status = node_end(reading, tag + 1, length - 1);
		else if (!is_remark && length > 0 && *tag != '?' && *tag != '!') {
			status = node_begin(reading, tag, length);
			if (status == TB_OK && tag[length - 1] == '/')
				reading->depth--;
		}
		for (const char *c = open; c < close; c++)
			reading->line += *c == '\n';
		at = close + (is_remark ? 3 : 1);
	}
	if (status == TB_OK && reading->depth > 0 && !reading->is_over)
		status = node_refuse(reading, "the file ends before its elements do");
	return status;
}

static void node_find_nearest(struct inside_reading *reading, uint32_t cpu_depth)
{
	struct tb_node_inside *node = reading->node;
	for (uint32_t g = 0; g < node->n_gpus; g++) {
		uint32_t deepest = 0;
		for (uint32_t i = 0; i < node->n_nics; i++) {
			const struct inside_place *one = &reading->gpus[g];
			const struct inside_place *other = &reading->nics[i];
			uint32_t depth = 0;
			while (depth < one->depth && depth < other->depth &&
				one->serials[depth] == other->serials[depth])
				depth++;
			if (depth > deepest)
				node->gpus[g].nearest = 0;
			deepest = depth > deepest ? depth : deepest;
			if (depth == deepest)
				node->gpus[g].nearest |= UINT64_C(1) << i;
		}
		node->gpus[g].shares_switch = deepest > cpu_depth;
	}
}

bool tb_node_xml_begins(struct tb_bytes first)
{
	return memmem(first.data, first.n, "<system version=", 16) != NULL;
}

int tb_node_xml_open(
	struct tb_node_inside *node, const char *path, struct tb_error *error)
{
	FILE *stream;
	struct tb_infile *file;
	struct inside_reading *reading = calloc(1, sizeof *reading);
	if (!reading)
		return tb_fail_memory_in(error, path, "it");
	int status = tb_infile_open(&stream, &file, path, error);
	if (status != TB_OK) {
		free(reading);
		return status;
	}
	uint8_t *text = NULL;
	size_t n = 0;
	status = tb_infile_read_all(stream, path, NODE_BYTES_MAX, &text, &n, error);
	int cause = tb_infile_check(file, error);
	fclose(stream);
	status = cause != TB_OK ? cause : status;
	*node = (struct tb_node_inside){.n_gpus = 0};
	*reading = (struct inside_reading){
		.node = node, .line = 1, .file = path, .error = error};
	if (status == TB_OK)
		status = node_tags(reading, (const char *)text, n);
	if (status == TB_OK && node->n_gpus + node->n_nics == 0)
		status = tb_fail_in(
			error, TB_EFORMAT, path, "has neither a GPU nor an adapter");
	if (status == TB_OK) // below system and cpu lie the ports and switches of PCIe
		node_find_nearest(reading, 2);
	free(text);
	free(reading);
	return status;
}

int tb_node_xml_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	(void)calls, (void)reading, (void)n, (void)made;
	return tb_fail_in(error, TB_EFORMAT, paths[0],
		"is NCCL's topology of a node (NCCL_TOPO_DUMP_FILE), not a trace: its "
		"log "
		"is (NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL)");
}

static void facts_add_gpu(
	const struct tb_node_inside *node, uint32_t g, struct tb_facts *facts)
{
	const struct tb_node_gpu *gpu = &node->gpus[g];
	char text[512], names[200], number[48];
	uint32_t n_sharing = 0;
	for (uint32_t i = 0; i < node->n_gpus; i++)
		n_sharing += i != g && (node->gpus[i].nearest & gpu->nearest) != 0;
	size_t n = (size_t)snprintf(
		text, sizeof text, "%" PRIu32, gpu->dev == NODE_UNSAID ? g : gpu->dev);
	if (gpu->rank != NODE_UNSAID)
		n += (size_t)snprintf(
			text + n, sizeof text - n, " (rank %" PRIu32 ")", gpu->rank);
	// List the nearest adapters of a GPU.
	uint64_t nearest = gpu->nearest;
	size_t size = sizeof names;
	size_t at = 0;
	names[0] = '\0';
	for (uint32_t i = 0; i < node->n_nics && at < size; i++)
		if (nearest >> i & 1)
			at += (size_t)snprintf(names + at, size - at, "%s%s",
				at ? ", " : "", node->nics[i].name);
	if (gpu->nearest)
		n += (size_t)snprintf(text + n, sizeof text - n,
			": nearest %s, behind %s", names,
			gpu->shares_switch ? "the same switch" : "its processor");
	if (gpu->nearest && n_sharing)
		n += (size_t)snprintf(text + n, sizeof text - n, ", shared with %s",
			tb_format_counted(n_sharing, "GPU", number, sizeof number));
	if (gpu->pcie_bps)
		n += (size_t)snprintf(text + n, sizeof text - n, "; PCIe %s",
			tb_format_rate((double)gpu->pcie_bps, number, sizeof number));
	if (gpu->n_links)
		snprintf(text + n, sizeof text - n, "; %s to other GPUs",
			tb_format_counted(gpu->n_links, "link", number, sizeof number));
	tb_facts_add(facts, "GPU", "%s", text);
}

void tb_node_network(struct tb_facts *facts, const char *kind, uint64_t bits_per_s,
	uint32_t n_ports, const char *more)
{
	static const struct {
		const char *kind, *preset;
		uint64_t gbits_per_s;
	} presets[] = {{"IB", "ib-edr", 100}, {"IB", "ib-hdr", 200},
		{"IB", "ib-ndr", 400}, {"IB", "ib-xdr", 800}, {"RoCE", "roce-100", 100},
		{"RoCE", "roce-400", 400}};
	const char *preset = NULL;
	uint64_t gbits = bits_per_s / 1000000000, nearest = 0;
	char rails[32] = "", rate[48] = "";
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		uint64_t own = presets[i].gbits_per_s;
		if (strcmp(kind, presets[i].kind) != 0 ||
			(preset && nearest * own > gbits * gbits))
			continue;
		preset = presets[i].preset;
		nearest = own;
	}
	if (bits_per_s && (!preset || nearest * 1000000000 != bits_per_s))
		snprintf(rate, sizeof rate, ",rate=%" PRIu64 "B/s", bits_per_s / 8);
	if (n_ports > 1)
		snprintf(rails, sizeof rails, ",rails=%" PRIu32, n_ports);
	tb_facts_add(facts, "as a network", "-n %s%s%s%s",
		bits_per_s == 0 ? "NETWORK"
		: preset	? preset
				: "ethernet",
		rate, rails, more);
}

// node_add_network adds the keys by which a network has such nodes.
static void node_add_network(const struct tb_node_inside *node, struct tb_facts *facts)
{
	uint64_t link_bps = node->n_gpus ? node->gpus[0].link_bps : 0, sum = 0;
	uint32_t n_known = 0;
	bool is_even = true, is_alike = true;
	if (node->n_gpus == 0 || node->n_nics == 0)
		return;
	for (uint32_t g = 0; g < node->n_gpus; g++)
		is_even &= node->gpus[g].link_bps == link_bps;
	for (uint32_t i = 0; i < node->n_nics; i++) {
		is_alike &= node->nics[i].bits_per_s == node->nics[0].bits_per_s;
		sum += node->nics[i].bits_per_s;
		n_known += node->nics[i].bits_per_s > 0;
	}
	if (!is_alike)
		tb_facts_add(facts, "adapter",
			"they differ: the network has as many, of their mean");
	char more[96] = "", local[48] = "";
	if (is_even && link_bps)
		snprintf(local, sizeof local, ",local_rate=%.1fGB/s",
			(double)link_bps / 1e9);
	snprintf(more, sizeof more, "%s -H nccl%s --per-node %" PRIu32, local,
		node->gpus[0].gcn[0] ? " --library rccl" : "", node->n_gpus);
	tb_node_network(facts, "IB", n_known ? sum / n_known : 0, node->n_nics, more);
}

int tb_node_xml_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error)
{
	struct tb_node_inside *node = malloc(sizeof *node);
	char number[3][48];
	(void)reading, (void)n;
	if (!node)
		return tb_fail_memory_in(error, paths[0], "it");
	int status = tb_node_xml_open(node, paths[0], error);
	if (status == TB_OK) {
		tb_facts_add(facts, "node", "%s, %s, %s",
			tb_format_counted(node->n_cpus, "processor", number[0], 48),
			tb_format_counted(node->n_gpus, "GPU", number[1], 48),
			tb_format_counted(node->n_nics, "adapter", number[2], 48));
		for (uint32_t g = 0; g < node->n_gpus; g++)
			facts_add_gpu(node, g, facts);
		for (uint32_t i = 0; i < node->n_nics; i++) {
			const struct tb_node_nic *nic = &node->nics[i];
			tb_facts_add(facts, "adapter", "%s: %s%s%s%s", nic->name,
				nic->bits_per_s
					? tb_format_rate((double)nic->bits_per_s / 8,
						  number[0], 48)
					: "speed unknown",
				nic->pcie_bps ? "; PCIe " : "",
				nic->pcie_bps ? tb_format_rate((double)nic->pcie_bps,
							number[1], 48)
					      : "",
				nic->pcie_bps && nic->bits_per_s / 8 > nic->pcie_bps
					? ", less than the adapter"
					: "");
		}
		node_add_network(node, facts);
	}
	free(node);
	return status == TB_OK ? tb_facts_check(facts, error) : status;
}
