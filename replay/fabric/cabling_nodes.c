#include "cabling_nodes.h"

#include "cabling_levels.h"
#include "cabling_names.h"
#include "hash.h"
#include "name_ranges.h"
#include "names.h"
#include "order.h"
#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_SIZE = TB_IDENTITY_NAME_MOST + 16 };

// Where kinds of adapter have one rate, servers alone tell a network of storage from a
// rail: several, and as many as this share of the hosts that have adapters of other
// kinds.
#define SERVERS_SHARE 8

// Hosts, in their order.
enum host_class { WITH_NAMES, WITH_GUIDS, ROUTERS };

// A node while it is chosen and ordered.
struct sorted {
	struct tb_cabling_node node;
	const char *name;
	enum host_class class;
	uint64_t family;      // of its host: the name without digits, as a hash
	uint64_t bytes_per_s; // usual of the adapters of this name and family
	uint32_t kind;	      // of adapter: by part and that rate
	bool is_out;	      // set aside
	uint32_t n_odd; // of a host that has more or fewer adapters than most: those
};

struct nodes_choice {
	struct tb_cabling *cabling;
	struct tb_cabling_nodes *nodes;
	enum tb_cabling_nics nics;
	const char *adapters; // those that count; NULL: all
	struct sorted *sorted;
	uint32_t n;
};

void tb_cabling_nodes_fini(struct tb_cabling_nodes *nodes)
{
	free(nodes->nodes);
	*nodes = (struct tb_cabling_nodes){0};
}

static int compare_hosts(const struct sorted *a, const struct sorted *b)
{
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return tb_cabling_compare(
		a->name, a->node.n_host_bytes, b->name, b->node.n_host_bytes);
}

static int by_order(const void *one, const void *other)
{
	const struct sorted *a = one, *b = other;
	int order = compare_hosts(a, b);
	if (order == 0 && a->node.part != b->node.part)
		return a->node.part < b->node.part ? -1 : 1;
	if (order == 0)
		order = tb_cabling_compare(
			a->name, strlen(a->name), b->name, strlen(b->name));
	if (order != 0)
		return order;
	if (a->node.device != b->node.device)
		return a->node.device < b->node.device ? -1 : 1;
	return a->node.port < b->node.port ? -1 : a->node.port > b->node.port;
}

// label_of writes what an adapter is called on its host: "mlx5_0", of one of several
// ports "mlx5_0:2".
static void label_of(const struct sorted *at, char label[LABEL_SIZE])
{
	const char *rest = at->name + at->node.n_host_bytes;
	rest += *rest ? strspn(rest, " -_.:/") : 0;
	if (at->node.is_one_of_many)
		snprintf(label, LABEL_SIZE, "%s:%u", rest, at->node.port);
	else
		snprintf(label, LABEL_SIZE, "%s", rest);
}

// is_label ends an expansion, with 1, at the name of an adapter, or of its port.
static int is_label(void *context, const char *name)
{
	const char *label = context;
	size_t n = strlen(name);
	return strncmp(label, name, n) == 0 && (label[n] == '\0' || label[n] == ':');
}

// counts returns whether an adapter is one of those that count: 1, 0 or negative.
static int counts(const struct nodes_choice *choice, const struct sorted *at)
{
	char label[LABEL_SIZE], *list = strdup(choice->adapters), *rest = list;
	uint64_t left = 4096; // names, more than any host has adapters
	int found = list ? 0 : tb_cabling_no_memory(choice->cabling);
	label_of(at, label);
	for (char *name; found == 0 && (name = tb_name_ranges_next(&rest));)
		found = tb_name_ranges_expand(
			name, &left, is_label, label, choice->cabling->error);
	free(list);
	return found;
}

static uint32_t n_plugged(const struct tb_cabling_device *device)
{
	uint32_t n = 0;
	for (size_t port = 0; port < device->n_ports; port++)
		n += device->ports[port].is_used;
	return n;
}

static bool cabling_is_end(const struct tb_cabling_device *device)
{
	return device->kind != TB_DEVICE_SWITCH && !device->is_left_out;
}

static uint64_t family_of(const struct sorted *at)
{
	char text[TB_IDENTITY_NAME_MOST + 8];
	size_t n = 0;
	for (size_t i = 0; i < at->node.n_host_bytes && n < sizeof text - 1; i++)
		if (!isdigit((unsigned char)at->name[i]))
			text[n++] = at->name[i];
	text[n] = '\0';
	return tb_hash_text(TB_HASH_BEGIN, text) + at->class;
}

static int list_nodes(struct nodes_choice *choice)
{
	struct tb_cabling *cabling = choice->cabling;
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		const struct tb_cabling_device *at = &cabling->devices[i];
		enum host_class class = at->kind == TB_DEVICE_ROUTER   ? ROUTERS
					: tb_cabling_is_guid(at->name) ? WITH_GUIDS
								       : WITH_NAMES;
		size_t n_host = tb_cabling_host_bytes(at->name);
		if (class == WITH_NAMES && n_host == strlen(at->name))
			n_host = tb_names_host_bytes(at->name);
		for (uint32_t port = 0; cabling_is_end(at) && port < at->n_ports;
			port++) {
			const struct tb_cabling_port *own = &at->ports[port];
			if (!own->is_used || !tb_cabling_is_switch(cabling, own->peer))
				continue;
			struct sorted made = {
				.node = {.device = i,
					.port = port,
					.part = cabling->devices[own->peer].part,
					.n_host_bytes = n_host,
					.is_one_of_many = n_plugged(at) > 1},
				.name = at->name,
				.class = class,
				.bytes_per_s = own->bytes_per_s};
			int counted = choice->adapters ? counts(choice, &made) : 1;
			if (counted < 0)
				return counted;
			if (counted)
				choice->sorted[choice->n++] = made;
		}
	}
	if (choice->n == 0 && choice->adapters)
		return tb_fail_in(cabling->error, TB_EUSAGE, cabling->file,
			"adapters=%s: no adapter of a host is called so",
			choice->adapters);
	return TB_OK;
}

// number_hosts sorts the nodes and numbers their hosts. A name that only its end would
// make another host's (tb_names_host_bytes) is whole where it is the only such.
static void number_hosts(struct nodes_choice *choice)
{
	struct sorted *sorted = choice->sorted;
	qsort(sorted, choice->n, sizeof *sorted, by_order);
	for (uint32_t i = 0, end; i < choice->n; i = end) {
		for (end = i + 1;
			end < choice->n && compare_hosts(&sorted[end], &sorted[i]) == 0;)
			end++;
		if (end == i + 1 &&
			!sorted[i].name[tb_cabling_host_bytes(sorted[i].name)])
			sorted[i].node.n_host_bytes = strlen(sorted[i].name);
	}
	qsort(sorted, choice->n, sizeof *sorted, by_order);
	choice->nodes->n_hosts = 0;
	for (uint32_t i = 0; i < choice->n; i++) {
		choice->nodes->n_hosts +=
			i == 0 || compare_hosts(&sorted[i], &sorted[i - 1]) != 0;
		sorted[i].node.host = choice->nodes->n_hosts - 1;
		sorted[i].family = family_of(&sorted[i]);
	}
}

// number_parts numbers parts in the order of the nodes, and leaves out those without.
static int number_parts(struct nodes_choice *choice)
{
	struct tb_cabling *cabling = choice->cabling;
	uint32_t *number = malloc((cabling->n_parts + 1u) * sizeof *number), n = 0;
	if (!number)
		return tb_cabling_no_memory(cabling);
	for (uint32_t i = 0; i < cabling->n_parts; i++)
		number[i] = UINT32_MAX;
	for (uint32_t i = 0; i < choice->n; i++) {
		uint32_t *own = &number[choice->sorted[i].node.part];
		*own = *own == UINT32_MAX ? n++ : *own;
		choice->sorted[i].node.part = *own;
	}
	for (uint32_t i = 0; i < cabling->n_devices; i++) {
		struct tb_cabling_device *at = &cabling->devices[i];
		if (!tb_cabling_is_switch(cabling, i))
			continue;
		at->part = number[at->part];
		at->is_left_out = at->part == UINT32_MAX;
	}
	cabling->n_parts = n;
	free(number);
	return TB_OK;
}

// refuse_parts names parts that no host has adapters in beside the first: `group` has for
// each part a lower one that hosts join it with.
static int refuse_parts(const struct nodes_choice *choice, uint32_t *group)
{
	const struct tb_cabling *cabling = choice->cabling;
	char text[300] = "";
	size_t used = 0;
	uint32_t n = 0;
	for (uint32_t part = 0; part < cabling->n_parts; part++) {
		uint32_t n_switches = 0, n_adapters = 0, first = 0;
		char switches[32], adapters[32];
		if (group[part] != part || n++ >= 4)
			continue;
		for (uint32_t i = cabling->n_devices; i-- > 0;)
			if (tb_cabling_is_switch(cabling, i) &&
				tb_cabling_boss(group, cabling->devices[i].part) ==
					part) {
				n_switches++;
				first = i;
			}
		for (uint32_t i = 0; i < choice->n; i++)
			n_adapters += tb_cabling_boss(
					      group, choice->sorted[i].node.part) == part;
		if (used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used,
				"%sone of %s and %s with '%.40s'", n > 1 ? ", " : "",
				tb_format_counted(n_switches, "switch|switches", switches,
					sizeof switches),
				tb_format_counted(
					n_adapters, "adapter", adapters, sizeof adapters),
				cabling->devices[first].name);
	}
	return tb_cabling_refuse_at(cabling, 0,
		"holds %u fabrics that no cable and no host joins: %s%s. part=SWITCH "
		"behind the file's name takes that of one",
		n, text, n > 4 ? ", ..." : "");
}

// check_parts refuses parts that no host joins, and the ports of hosts as nodes of their
// own where they do not reach each other.
static int check_parts(struct nodes_choice *choice)
{
	struct tb_cabling *cabling = choice->cabling;
	uint32_t *group = malloc((cabling->n_parts + 1u) * sizeof *group);
	int status = group ? TB_OK : tb_cabling_no_memory(cabling);
	for (uint32_t part = 0; part < cabling->n_parts && status == TB_OK; part++)
		group[part] = part;
	for (uint32_t i = 1; i < choice->n && status == TB_OK; i++) {
		const struct sorted *at = &choice->sorted[i], *before = at - 1;
		if (at->node.host != before->node.host)
			continue;
		uint32_t one = tb_cabling_boss(group, at->node.part);
		uint32_t other = tb_cabling_boss(group, before->node.part);
		group[one > other ? one : other] = one < other ? one : other;
	}
	bool is_one = true;
	for (uint32_t part = 0; part < cabling->n_parts && status == TB_OK; part++)
		is_one = is_one && tb_cabling_boss(group, part) == 0;
	if (status == TB_OK && !is_one)
		status = refuse_parts(choice, group);
	free(group);
	if (status == TB_OK && choice->nics == TB_NICS_PORT)
		status = tb_fail_in(cabling->error, TB_EUSAGE, cabling->file,
			"nics=port: no cable joins the %u parts of this fabric, so "
			"adapters do not all reach each other: nics=host makes rails of "
			"them, adapters=LIST takes some",
			cabling->n_parts);
	return status;
}

// What adapters of one name, on hosts of one family, have in common.
struct name_rate {
	uint64_t name, bytes_per_s;
	uint32_t at; // in `sorted`
};

TB_ORDER_BY(by_name_and_rate, struct name_rate, TB_UP(name) TB_UP(bytes_per_s) TB_UP(at))

// usual_rates gives each node the rate that most adapters of its name and its host's
// family have, so that a cable that runs slower makes no kind of its own.
static int usual_rates(struct nodes_choice *choice)
{
	struct name_rate *rates = malloc((choice->n + 1u) * sizeof *rates);
	if (!rates)
		return tb_cabling_no_memory(choice->cabling);
	for (uint32_t i = 0; i < choice->n; i++) {
		char label[LABEL_SIZE];
		label_of(&choice->sorted[i], label);
		rates[i] = (struct name_rate){tb_hash_text(TB_HASH_BEGIN, label) * 31 +
						      choice->sorted[i].family,
			choice->sorted[i].bytes_per_s, i};
	}
	qsort(rates, choice->n, sizeof *rates, by_name_and_rate);
	for (uint32_t i = 0, end; i < choice->n; i = end) {
		uint32_t most = 0;
		uint64_t usual = 0;
		for (end = i; end < choice->n && rates[end].name == rates[i].name;) {
			uint32_t first = end;
			while (end < choice->n && rates[end].name == rates[i].name &&
				rates[end].bytes_per_s == rates[first].bytes_per_s)
				end++;
			if (end - first >= most) {
				most = end - first;
				usual = rates[first].bytes_per_s;
			}
		}
		for (uint32_t k = i; k < end; k++)
			choice->sorted[rates[k].at].bytes_per_s = usual;
	}
	free(rates);
	return TB_OK;
}

// A kind of adapter, and the hosts that have it.
struct adapter_kind {
	uint64_t bytes_per_s;
	uint32_t last_host; // that was counted, from 1
	uint32_t n_servers; // hosts that have no other kind, of families of their own
	uint32_t n_several; // hosts that have others, too
	bool is_out;
};

// find_kinds numbers kinds.
static int find_kinds(
	struct nodes_choice *choice, struct adapter_kind *kinds, uint32_t *n)
{
	struct tb_map kind_of = {0};
	int status = TB_OK;
	*n = 0;
	for (uint32_t i = 0; i < choice->n && status == TB_OK; i++) {
		struct sorted *at = &choice->sorted[i];
		// Rates are 10^12 at most, and parts as many as switches.
		uint64_t key = at->bytes_per_s << 20 | (at->node.part & 0xfffff);
		if (tb_map_find(&kind_of, key, &at->kind))
			continue;
		at->kind = (*n)++;
		kinds[at->kind].bytes_per_s = at->bytes_per_s;
		if (tb_map_put(&kind_of, key, at->kind) != TB_OK)
			status = tb_cabling_no_memory(choice->cabling);
	}
	tb_map_fini(&kind_of);
	return status;
}

// end_of_host returns where the nodes of a host end that begin at `i`.
static uint32_t end_of_host(const struct nodes_choice *choice, uint32_t i)
{
	uint32_t end = i + 1;
	while (end < choice->n &&
		choice->sorted[end].node.host == choice->sorted[i].node.host)
		end++;
	return end;
}

static bool has_several(const struct nodes_choice *choice, uint32_t i, uint32_t end)
{
	for (uint32_t k = i + 1; k < end; k++)
		if (choice->sorted[k].kind != choice->sorted[i].kind)
			return true;
	return false;
}

// count_hosts counts the hosts of each kind. `families` gets those whose hosts have
// several.
static int count_hosts(
	struct nodes_choice *choice, struct adapter_kind *kinds, struct tb_map *families)
{
	for (uint32_t i = 0, end; i < choice->n; i = end) {
		end = end_of_host(choice, i);
		if (!has_several(choice, i, end))
			continue;
		if (tb_map_put(families, choice->sorted[i].family, 1) != TB_OK)
			return tb_cabling_no_memory(choice->cabling);
		for (uint32_t k = i; k < end; k++) {
			struct adapter_kind *kind = &kinds[choice->sorted[k].kind];
			kind->n_several += kind->last_host != i + 1;
			kind->last_host = i + 1;
		}
	}
	for (uint32_t i = 0, end; i < choice->n; i = end) {
		uint32_t unused;
		end = end_of_host(choice, i);
		if (choice->sorted[i].class == WITH_NAMES &&
			!has_several(choice, i, end) &&
			!tb_map_find(families, choice->sorted[i].family, &unused))
			kinds[choice->sorted[i].kind].n_servers++;
	}
	return TB_OK;
}

// drop_servers sets kinds of adapter aside that lead to servers: the slower ones, and of
// the fastest those with servers enough, unless all would be.
static int drop_servers(struct nodes_choice *choice)
{
	struct adapter_kind *kinds = calloc(choice->n + 1u, sizeof *kinds);
	struct tb_map families = {0};
	uint64_t fastest = 0;
	bool is_any_left = false;
	if (!kinds)
		return tb_cabling_no_memory(choice->cabling);
	uint32_t n = 0;
	int status = find_kinds(choice, kinds, &n);
	if (status == TB_OK)
		status = count_hosts(choice, kinds, &families);
	for (uint32_t i = 0; i < n; i++)
		if (kinds[i].n_several && kinds[i].bytes_per_s > fastest)
			fastest = kinds[i].bytes_per_s;
	for (uint32_t i = 0; i < n; i++) {
		bool is_fast = kinds[i].bytes_per_s >= fastest;
		kinds[i].is_out =
			kinds[i].n_servers > 0 && fastest > 0 &&
			(!is_fast ||
				(kinds[i].n_servers > 1 &&
					kinds[i].n_servers * (uint64_t)SERVERS_SHARE >=
						kinds[i].n_several));
		is_any_left |= is_fast && kinds[i].n_several > 0 && !kinds[i].is_out;
	}
	for (uint32_t i = 0; i < n && !is_any_left; i++)
		kinds[i].is_out &= kinds[i].bytes_per_s < fastest;
	for (uint32_t i = 0; i < choice->n; i++)
		choice->sorted[i].is_out = kinds[choice->sorted[i].kind].is_out;
	tb_map_fini(&families);
	free(kinds);
	return status;
}

// remove_dropped notes nodes that are set aside, and takes them out.
static void remove_dropped(struct nodes_choice *choice)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < choice->n; i++) {
		const struct sorted *at = &choice->sorted[i];
		bool is_first = i == 0 || at->node.host != (at - 1)->node.host;
		if (at->n_odd > 0 && is_first)
			tb_cabling_note(choice->cabling, TB_REMARK_ODD_HOST, "%.*s (%u)",
				(int)at->node.n_host_bytes, at->name, at->n_odd);
		else if (at->is_out && at->n_odd == 0)
			tb_cabling_note(
				choice->cabling, TB_REMARK_SET_ASIDE, "%s", at->name);
		if (!at->is_out)
			choice->sorted[n++] = *at;
	}
	if (n != choice->n) {
		choice->n = n;
		number_hosts(choice);
	}
}

// A host with the parts that its adapters are in.
struct host_form {
	uint64_t form; // a hash of the parts
	uint32_t first, n;
};

TB_ORDER_BY(by_form, struct host_form, TB_UP(form) TB_UP(first))

// usual_form finds the form of the hosts that have most adapters together, of several the
// one with more to a host, then the first host's.
static struct host_form usual_form(struct host_form *hosts, uint32_t n)
{
	struct host_form best = {0};
	uint64_t most = 0;
	qsort(hosts, n, sizeof *hosts, by_form);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && hosts[end].form == hosts[i].form;)
			end++;
		uint64_t n_adapters = (uint64_t)(end - i) * hosts[i].n;
		bool is_better = n_adapters > most;
		if (n_adapters == most && hosts[i].n != best.n)
			is_better = hosts[i].n > best.n;
		else if (n_adapters == most)
			is_better = hosts[i].first < best.first;
		if (is_better) {
			most = n_adapters;
			best = hosts[i];
		}
	}
	return best;
}

// list_forms lists the hosts; `hosts` has room for as many as there are nodes.
static uint32_t list_forms(const struct nodes_choice *choice, struct host_form *hosts)
{
	uint32_t n = 0;
	for (uint32_t i = 0, end; i < choice->n; i = end) {
		end = end_of_host(choice, i);
		hosts[n] = (struct host_form){.first = i, .n = end - i};
		for (uint32_t k = i; k < end; k++)
			hosts[n].form = tb_hash_word(
				hosts[n].form, choice->sorted[k].node.part + 1);
		n++;
	}
	return n;
}

// refuse_odd_hosts names hosts that are not of the usual form.
static int refuse_odd_hosts(const struct nodes_choice *choice,
	const struct host_form *hosts, uint32_t n, const struct host_form *usual)
{
	char names[200] = "";
	size_t length = 0;
	uint32_t n_odd = 0, n_named = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct sorted *at = &choice->sorted[hosts[i].first];
		if (hosts[i].form == usual->form)
			continue;
		if (n_odd++ > 0 && length > 80)
			continue;
		length += (size_t)snprintf(names + length, sizeof names - length,
			"%s%.*s (%u%s)", n_named++ ? ", " : "",
			(int)(at->node.n_host_bytes < 40 ? at->node.n_host_bytes : 40),
			at->name, hosts[i].n,
			hosts[i].n == usual->n ? ", in other parts" : "");
	}
	return tb_cabling_refuse_at(choice->cabling, 0,
		"nics = host: every host needs as many network interfaces as the others, "
		"%u as most have; %u of %u hosts do not: %s%s. adapters=LIST behind the "
		"file's name takes those that all have; with -H none each is a node",
		usual->n, n_odd, n, names, n_named < n_odd ? ", ..." : "");
}

TB_ORDER_BY(by_first, struct host_form, TB_UP(first))

// settle_hosts sets aside hosts of families of which none has the usual form, and refuses
// others that do not have it, or leaves them out where nobody asked for rails.
static int settle_hosts(struct nodes_choice *choice)
{
	struct host_form *hosts = malloc((choice->n + 1u) * sizeof *hosts);
	struct tb_map families = {0};
	bool leaves_out = choice->nics == TB_NICS_AS_FITS; // nobody asked for rails
	int status = hosts ? TB_OK : tb_cabling_no_memory(choice->cabling);
	if (status != TB_OK)
		return status;
	uint32_t n = list_forms(choice, hosts), n_odd = 0, unused;
	struct host_form usual = usual_form(hosts, n);
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		if (hosts[i].form == usual.form &&
			tb_map_put(&families, choice->sorted[hosts[i].first].family, 1) !=
				TB_OK)
			status = tb_cabling_no_memory(choice->cabling);
	qsort(hosts, n, sizeof *hosts, by_first);
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		const struct sorted *at = &choice->sorted[hosts[i].first];
		// What hosts those with GUIDs are of is not known.
		bool is_kin = at->class == WITH_GUIDS ||
			      tb_map_find(&families, at->family, &unused);
		bool is_odd = is_kin && hosts[i].form != usual.form;
		n_odd += is_odd;
		for (uint32_t k = hosts[i].first; k < hosts[i].first + hosts[i].n; k++) {
			choice->sorted[k].is_out = !is_kin || (is_odd && leaves_out);
			choice->sorted[k].n_odd = is_odd ? hosts[i].n : 0;
		}
	}
	if (status == TB_OK && n_odd > 0 && !leaves_out)
		status = refuse_odd_hosts(choice, hosts, n, &usual);
	tb_map_fini(&families);
	free(hosts);
	if (status == TB_OK)
		remove_dropped(choice);
	choice->nodes->n_rails = usual.n;
	return status;
}

static int choose_nodes(struct nodes_choice *choice)
{
	int status = list_nodes(choice);
	if (status != TB_OK)
		return status;
	number_hosts(choice);
	status = number_parts(choice);
	// Within a host parts go first, now that they have numbers.
	number_hosts(choice);
	choice->nodes->n_rails = 1;
	bool has_parts = choice->cabling->n_parts > 1;
	if (status == TB_OK && has_parts)
		status = check_parts(choice);
	if (status == TB_OK && (has_parts || choice->nics == TB_NICS_HOST)) {
		status = TB_OK;
		if (!choice->adapters) {
			status = usual_rates(choice);
			if (status == TB_OK)
				status = drop_servers(choice);
			if (status == TB_OK)
				remove_dropped(choice);
		}
		status = status == TB_OK ? settle_hosts(choice) : status;
	}
	if (status == TB_OK)
		status = number_parts(choice);
	// Note the parts that are left, or that it is one of several.
	for (uint32_t i = 0, part = 0; i < choice->n && status == TB_OK && has_parts;
		i++) {
		const struct tb_cabling_device *devices = choice->cabling->devices;
		const struct tb_cabling_node *node = &choice->sorted[i].node;
		if (node->part != part)
			continue;
		part++;
		tb_cabling_note(choice->cabling, TB_REMARK_PARTS, "%s",
			devices[devices[node->device].ports[node->port].peer].name);
	}
	return status;
}

int tb_cabling_nodes_init(struct tb_cabling_nodes *nodes, struct tb_cabling *cabling,
	enum tb_cabling_nics nics, const char *adapters)
{
	size_t most = 0;
	for (uint32_t i = 0; i < cabling->n_devices; i++)
		if (cabling_is_end(&cabling->devices[i]))
			most += n_plugged(&cabling->devices[i]);
	struct nodes_choice choice = {.cabling = cabling,
		.nodes = nodes,
		.nics = nics,
		.adapters = adapters,
		.sorted = malloc((most + 1) * sizeof *choice.sorted)};
	*nodes = (struct tb_cabling_nodes){
		.nodes = malloc((most + 1) * sizeof *nodes->nodes)};
	int status = choice.sorted && nodes->nodes ? choose_nodes(&choice)
						   : tb_cabling_no_memory(cabling);
	nodes->n = choice.n;
	uint32_t n_rails = nodes->n_rails;
	for (uint32_t i = 0; i < choice.n && status == TB_OK; i++)
		nodes->nodes[n_rails > 1 ? i % n_rails * nodes->n_hosts + i / n_rails
					 : i] = choice.sorted[i].node;
	free(choice.sorted);
	if (status != TB_OK)
		tb_cabling_nodes_fini(nodes);
	return status;
}
