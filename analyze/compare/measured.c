// What the counters of a live fabric did between two dumps, as a run in a store.
#include "measured.h"
#include "array.h"
#include "cabling_rates.h"
#include "credit_params.h"
#include "hash.h"
#include "port_change.h"
#include "store.h"
#include "store_added.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The links at a port; TB_ID_NONE where the network has none.
struct port_links {
	uint32_t sent, received;
};

// Which ports a network has, by what dumps call them.
struct port_index {
	const struct tb_network *network;
	struct tb_map of_port;	  // switch and number, to the link that begins there
	struct tb_map of_node;	  // node, to its injection
	struct tb_map of_guid;	  // to the place: a switch, or a node behind the switches
	struct tb_map of_adapter; // adapter's GUID and port, to the place
	struct tb_map of_lid;
	struct tb_map of_name;	// hash, to the place
	struct tb_map of_host;	// hash, to the place; PLACE_SEVERAL of several
	struct tb_map of_named; // hash of device and port, to the link that begins there
	bool has_guids;
};

// A figure of a link, and how well it is known.
struct link_amount {
	uint64_t amount;
	enum tb_known known;
};

// What is known of a link, before it becomes a sample.
struct link_state {
	struct link_amount stall_ps, bytes, packets;
};

// What the notes have to say: how many ports, and the first of them.
struct case_of {
	uint64_t n;
	char first[200];
};

struct measuring {
	struct tb_measured *measured;
	const struct tb_measured_options *options;
	struct tb_counters before, after;
	struct port_index index;
	struct link_state *links;
	struct case_of foreign, unseen, gone, reset, wrapped, full, unknown, long_stall,
		too_fast, bounded, unbounded, tickless, overlap;
	uint64_t n_lids, n_lids_foreign; // ports that a dump has by their LID alone
	struct tb_error *error;
};

int measuring_notes(struct measuring *measuring) TB_MUST_USE;

static int measured_note(struct tb_measured *measured, struct tb_error *error,
	const char *format, ...) TB_PRINTF(3, 4) TB_MUST_USE;

__extension__ typedef unsigned __int128 long_amount;

// How long a tick of PortXmitWait is, by the device that counts it: 8 bytes of the port's
// time on Quantum, Quantum-2 and Quantum-3, 32 bytes of each lane's on SwitchX, Switch-IB
// and Switch-IB 2 (NVIDIA, ibdiagnet manual, "Congestion assessment on InfiniBand
// links"). Where a fabric does not name the device, the fastest of its ports tells which
// of the two it is. Adapters count as the preset says.
#define PORT_TICK 8
#define LANE_TICK 32

// Device ids are those of PCI (pci.ids, 15b3).
static const struct {
	uint32_t device_id;
	bool of_lane;
} devices[] = {
	{0xc738, true},	 // SwitchX, SwitchX-2
	{0xcb20, true},	 // Switch-IB
	{0xcf08, true},	 // Switch-IB 2
	{0xd2f0, false}, // Quantum
	{0xd2f2, false}, // Quantum-2
	{0xd2f4, false}, // Quantum-3
};

// tick_of is that of a port of this rate; 0 where there is no word for the rate. `word`
// is that of the device's fastest port: lanes beyond EDR are Quantum's and later ones'.
static uint64_t tick_of(uint32_t device_id, uint64_t bytes_per_s, const char *word)
{
	char own[16];
	const char *text = tb_cabling_rate_text(bytes_per_s, own, sizeof own);
	bool of_lane = word && !strstr(word, "HDR") && !strstr(word, "NDR") &&
		       !strstr(word, "XDR");
	bool is_known = word != NULL;
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
		if (devices[i].device_id == device_id) {
			of_lane = devices[i].of_lane;
			is_known = true;
		}
	if (!is_known)
		return 0;
	if (!of_lane)
		return PORT_TICK;
	return text ? strtoull(text, NULL, 10) * LANE_TICK : 0;
}

// measured_ticks_find stores, by link, how much of its time a tick of its sender's
// PortXmitWait is, in bytes; 0: not known. With `is_given` it is the network's
// everywhere. TB_ENOMEM.
static int measured_ticks_find(uint32_t *tick_bytes, const struct tb_network *network,
	bool is_given, struct tb_error *error)
{
	uint32_t n_links = tb_network_n_links(network);
	uint32_t preset =
		tb_credit_params(tb_network_params(network))->xmit_wait_tick_bytes;
	uint64_t *fastest = calloc(tb_network_n_switches(network) + 1u, sizeof *fastest);
	if (!fastest)
		return tb_fail_memory(error, "the links");
	for (uint32_t i = 0; i < n_links; i++) {
		struct tb_link_info at = tb_network_link(network, (struct tb_link){i});
		if (at.kind != TB_LINK_INJECTION && at.bytes_per_s > fastest[at.from])
			fastest[at.from] = at.bytes_per_s;
	}
	for (uint32_t i = 0; i < n_links; i++) {
		char word[16];
		struct tb_link_info at = tb_network_link(network, (struct tb_link){i});
		uint64_t tick = 0;
		if (preset && !is_given && at.kind != TB_LINK_INJECTION)
			tick = tick_of(tb_network_switch_identity(
					       network, (struct tb_switch){at.from})
					       .device_id,
				at.bytes_per_s,
				tb_cabling_rate_text(
					fastest[at.from], word, sizeof word));
		tick_bytes[i] = tick ? (uint32_t)tick : preset;
	}
	free(fastest);
	return TB_OK;
}

// measured_time_ps is the time of `count` times `bytes` at a rate, to the nearest
// picosecond; UINT64_MAX beyond that.
static uint64_t measured_time_ps(uint64_t count, uint64_t bytes, uint64_t bytes_per_s)
{
	long_amount ps = (long_amount)count * bytes;
	if (bytes_per_s == 0 || ps > UINT64_MAX)
		return ps ? UINT64_MAX : 0;
	ps = (ps * UINT64_C(1000000000000) + bytes_per_s / 2) / bytes_per_s;
	return ps > UINT64_MAX ? UINT64_MAX : (uint64_t)ps;
}

// How a port's counters went on: full, wrapped, reset.

// end_of_counter is where a counter stops; 0: it is not known to.
static uint64_t end_of_counter(const struct tb_counter_port *before,
	const struct tb_counter_port *after, int counter)
{
	uint64_t end = after->ends[counter];
	return before && before->ends[counter] > end ? before->ends[counter] : end;
}

// may_wrap is whether a counter that went down may have gone through its end, as some
// devices' do: one of 32 bits of traffic, that was in the upper half.
static bool may_wrap(int counter, uint64_t before, uint64_t end)
{
	return tb_counter_infos[counter].class == TB_COUNTS_TRAFFIC && before < end &&
	       before > end / 2 && end <= 4 * UINT64_C(0xffffffff);
}

// was_reset: a counter went down that cannot have wrapped. Ports are reset as a whole.
static bool was_reset(
	const struct tb_counter_port *before, const struct tb_counter_port *after)
{
	for (int i = 0; i < TB_N_COUNTERS; i++)
		if ((before->known & after->known) >> i & 1 &&
			after->values[i] < before->values[i] &&
			!may_wrap(i, before->values[i], end_of_counter(before, after, i)))
			return true;
	return false;
}

static void change_counter(
	struct port_change *change, int i, uint64_t before, uint64_t after, uint64_t end)
{
	uint32_t bit = UINT32_C(1) << i;
	change->known |= bit;
	if (end && after >= end)
		change->full |= bit;
	if (end && after >= end && before >= end) {
		change->unknown |= bit;
		change->known &= ~bit;
	} else if (after >= before) {
		change->deltas[i] = after - before;
	} else {
		change->wrapped |= bit;
		// Words are counted, of 4 bytes each.
		change->deltas[i] =
			after + (end - before) + (end > UINT64_C(0xffffffff) ? 4 : 1);
	}
}

// bound_overlap makes the longest priority's time of the sum of several: pauses of
// priorities fall together, and how much of them did is not counted.
static void bound_overlap(struct port_change *change,
	const struct tb_counter_port *before, const struct tb_counter_port *after)
{
	for (int side = 0; side < 2; side++) {
		int counter = side ? TB_COUNTER_PAUSING_US : TB_COUNTER_PAUSED_US;
		uint32_t bit = UINT32_C(1) << counter;
		uint64_t longest = 0;
		for (int i = 0; i < TB_COUNTER_CLASSES; i++) {
			uint64_t to = after->class_us[side][i];
			uint64_t from = before ? before->class_us[side][i] : 0;
			uint64_t held = to < from ? to : to - from;
			longest = held > longest ? held : longest;
		}
		if (!(change->known & bit) || longest == 0 ||
			longest >= change->deltas[counter])
			continue;
		change->deltas[counter] = longest;
		change->overlap |= bit;
	}
	change->at_least |= change->overlap;
}

void port_change_find(struct port_change *change, const struct tb_counter_port *before,
	const struct tb_counter_port *after)
{
	*change = (struct port_change){.is_reset = before && was_reset(before, after)};
	uint32_t known = after->known & (before ? before->known : after->known);
	for (int i = 0; i < TB_N_COUNTERS; i++) {
		uint64_t from = before ? before->values[i] : 0, to = after->values[i];
		bool is_traffic = tb_counter_infos[i].class == TB_COUNTS_TRAFFIC;
		// Of traffic a part of the time is no figure.
		if (known >> i & 1 && !(change->is_reset && is_traffic))
			change_counter(change, i,
				change->is_reset && to < from ? 0 : from, to,
				end_of_counter(before, after, i));
	}
	change->at_least = change->is_reset
				   ? change->known
				   : (change->full | change->wrapped) & change->known;
	bound_overlap(change, before, after);
}

// Finds the port of a network that a dump's counters are of.

#define PLACE_SEVERAL UINT32_MAX

static void port_index_fini(struct port_index *index)
{
	tb_map_fini(&index->of_port);
	tb_map_fini(&index->of_node);
	tb_map_fini(&index->of_guid);
	tb_map_fini(&index->of_adapter);
	tb_map_fini(&index->of_lid);
	tb_map_fini(&index->of_name);
	tb_map_fini(&index->of_host);
	tb_map_fini(&index->of_named);
}

static uint64_t port_index_key(uint64_t device, uint64_t number)
{
	return device * UINT64_C(0x9e3779b97f4a7c15) + number;
}

static int index_ports_of_links(struct port_index *index)
{
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_links(index->network);
		i++) {
		struct tb_link_info at =
			tb_network_link(index->network, (struct tb_link){i});
		if (at.kind == TB_LINK_INJECTION)
			status = tb_map_put(&index->of_node, at.from, i);
		else
			status = tb_map_put(&index->of_port,
				port_index_key(
					at.from, tb_network_port_number(index->network,
							 (struct tb_switch){at.from},
							 at.from_port)),
				i);
	}
	return status;
}

// index_port_name puts a name, which several may have: then it stands for none.
static int index_port_name(struct tb_map *map, const char *name, size_t n, uint32_t place)
{
	uint32_t other;
	uint64_t key = tb_hash_bytes(TB_HASH_BEGIN, name, n);
	if (n == 0)
		return TB_OK;
	return tb_map_put(
		map, key, tb_map_find(map, key, &other) ? PLACE_SEVERAL : place);
}

static int index_switch_ports(struct port_index *index, uint32_t sw)
{
	struct tb_identity is =
		tb_network_switch_identity(index->network, (struct tb_switch){sw});
	int status = is.guid ? tb_map_put(&index->of_guid, is.guid, sw) : TB_OK;
	index->has_guids |= is.guid != 0;
	if (status == TB_OK)
		status = tb_map_put(&index->of_lid, is.lid, sw);
	return status == TB_OK
		       ? index_port_name(&index->of_name, is.name, strlen(is.name), sw)
		       : status;
}

static uint64_t hash_named(const char *device, size_t n, const char *port)
{
	return port_index_key(tb_hash_bytes(TB_HASH_BEGIN, device, n),
		tb_hash_bytes(TB_HASH_BEGIN, port, strlen(port)));
}

// index_named_port puts a port that the fabric's file names, by the name of its device.
static int index_named_port(struct port_index *index, const struct tb_port_name *named)
{
	struct tb_identity is = named->of_node
					? tb_network_node_identity(index->network,
						  (struct tb_node){named->id})
					: tb_network_switch_identity(index->network,
						  (struct tb_switch){named->id});
	size_t n = is.n_host_bytes ? is.n_host_bytes : strlen(is.name);
	uint32_t link;
	bool found = named->of_node
			     ? tb_map_find(&index->of_node, named->id, &link)
			     : tb_map_find(&index->of_port,
				       port_index_key(named->id, named->number), &link);
	return found ? tb_map_put(&index->of_named, hash_named(is.name, n, named->name),
			       link)
		     : TB_OK;
}

static int port_index_init(struct port_index *index, const struct tb_network *network,
	struct tb_error *error)
{
	*index = (struct port_index){.network = network};
	int status = index_ports_of_links(index);
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_switches(network); i++)
		status = index_switch_ports(index, i);
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_nodes(network); i++) {
		struct tb_identity is =
			tb_network_node_identity(index->network, (struct tb_node){i});
		uint32_t place = tb_network_n_switches(index->network) + i;
		status = is.guid ? tb_map_put(&index->of_guid, is.guid, place) : TB_OK;
		index->has_guids |= is.guid != 0;
		if (status == TB_OK && is.adapter_guid)
			status = tb_map_put(&index->of_adapter,
				port_index_key(is.adapter_guid, is.adapter_port), place);
		for (uint32_t j = 0; status == TB_OK && j < 1u << is.lmc; j++)
			status = tb_map_put(&index->of_lid, is.lid + j, place);
		if (status == TB_OK)
			status = index_port_name(
				&index->of_name, is.name, strlen(is.name), place);
		if (status == TB_OK)
			status = index_port_name(
				&index->of_host, is.name, is.n_host_bytes, place);
	}
	for (uint32_t i = 0; status == TB_OK && i < tb_network_n_port_names(network);
		i++) {
		struct tb_port_name named = tb_network_port_name(network, i);
		status = index_named_port(index, &named);
	}
	if (status == TB_OK)
		return TB_OK;
	port_index_fini(index);
	return tb_fail_memory(error, "the ports of the fabric");
}

static bool find_name(const struct tb_map *map, const char *name, size_t n, uint32_t *at)
{
	return n > 0 && tb_map_find(map, tb_hash_bytes(TB_HASH_BEGIN, name, n), at) &&
	       *at != PLACE_SEVERAL;
}

// place_of_device finds a device: by its whole name, by the host where it has one port.
static bool place_of_device(
	const struct port_index *index, const char *name, size_t n, uint32_t *place)
{
	return find_name(&index->of_name, name, n, place) ||
	       find_name(&index->of_host, name, n, place);
}

// place_by_name finds a device, also by host and interface as fabrics write them, and by
// the host's name without its domain.
static bool place_by_name(const struct port_index *index,
	const struct tb_counter_port *port, uint32_t *place)
{
	char whole[400];
	const char *device = port->device;
	snprintf(whole, sizeof whole, "%s %s", device, port->port);
	return place_of_device(index, device, strlen(device), place) ||
	       find_name(&index->of_name, whole, strlen(whole), place) ||
	       place_of_device(index, device, strcspn(device, " "), place) ||
	       place_of_device(index, device, strcspn(device, "."), place);
}

// find_named_port finds a port by the names of its device and its own.
static bool find_named_port(const struct port_index *index,
	const struct tb_counter_port *port, uint32_t *link)
{
	const char *device = port->device;
	return tb_map_find(&index->of_named,
		       hash_named(device, strlen(device), port->port), link) ||
	       tb_map_find(&index->of_named,
		       hash_named(device, strcspn(device, "."), port->port), link);
}

// port_number_of is the number of a port, or of the interface, whose digits are at its
// end.
static uint64_t port_number_of(const char *port)
{
	size_t n = strlen(port);
	while (n > 0 && port[n - 1] >= '0' && port[n - 1] <= '9')
		n--;
	uint64_t number = UINT64_MAX;
	return tb_parse_count(port + n, 0, UINT32_MAX, &number) == TB_OK ? number
									 : UINT64_MAX;
}

static bool find_place(const struct port_index *index, const struct tb_counter_port *port,
	uint64_t number, uint32_t *place)
{
	if (port->guid && !index->has_guids && *port->device)
		return place_by_name(index, port, place);
	if (port->guid)
		return tb_map_find(&index->of_adapter, port_index_key(port->guid, number),
			       place) ||
		       tb_map_find(&index->of_guid, port->guid, place);
	if (port->lid)
		return index->has_guids && tb_map_find(&index->of_lid, port->lid, place);
	return place_by_name(index, port, place);
}

// find_sent finds the link that begins at a port. Where the fabric names ports, only a
// host with one goes without its name.
static bool find_sent(const struct port_index *index, const struct tb_counter_port *port,
	uint32_t *link)
{
	uint32_t place, n_switches = tb_network_n_switches(index->network);
	uint64_t number = port_number_of(port->port);
	bool by_name = !port->guid && !port->lid;
	if (by_name && find_named_port(index, port, link))
		return true;
	if (!find_place(index, port, number, &place))
		return false;
	if (place >= n_switches)
		return tb_map_find(&index->of_node, place - n_switches, link);
	return !(by_name && index->of_named.n_used) &&
	       tb_map_find(&index->of_port, port_index_key(place, number), link);
}

// port_index_find finds the links at a port; false when the network lacks it.
static bool port_index_find(const struct port_index *index,
	const struct tb_counter_port *port, struct port_links *links)
{
	if (!find_sent(index, port, &links->sent))
		return false;
	links->received =
		tb_network_link(index->network, (struct tb_link){links->sent}).reverse.id;
	return true;
}

// Makes figures of links of the counters of ports.

static void add_case(struct case_of *what, const struct tb_counter_port *port)
{
	if (what->n++ == 0)
		tb_counter_port_text(port, what->first, sizeof what->first);
}

static int keep_count(struct measuring *measuring, uint32_t link, int counter,
	const struct port_change *change)
{
	struct tb_measured *measured = measuring->measured;
	if (TB_ARRAY_MORE(measured, counts) != TB_OK)
		return tb_fail_memory(measuring->error, "the counts");
	measured->counts[measured->n_counts++] =
		(struct tb_measured_count){link, (enum tb_counter)counter,
			change->deltas[counter], change->at_least >> counter & 1};
	return TB_OK;
}

static struct link_amount amount_of(const struct port_change *change, int counter)
{
	if (!(change->known >> counter & 1))
		return (struct link_amount){.known = TB_NOT_MEASURED};
	return (struct link_amount){change->deltas[counter],
		change->at_least >> counter & 1 ? TB_AT_LEAST : TB_EXACT};
}

// improve_amount takes what is better known: what is exact goes before a bound, and a
// bound from below, which was counted, before one from above.
static void improve_amount(struct link_amount *to, struct link_amount by)
{
	if (by.known < to->known)
		*to = by;
}

// frames_hold bounds how long pause frames held a link: at most for all of the time.
static struct link_amount frames_hold(struct measuring *measuring, uint32_t link,
	const struct port_change *change, int counter)
{
	const uint64_t most_bytes = UINT64_C(65535) * 512 / 8;
	const uint64_t all_ps = (uint64_t)measuring->measured->interval_ps;
	struct link_amount frames = amount_of(change, counter);
	if (frames.amount == 0)
		return frames.known == TB_EXACT
			       ? frames
			       : (struct link_amount){.known = TB_NOT_MEASURED};
	uint64_t rate =
		tb_network_link(measuring->measured->network, (struct tb_link){link})
			.bytes_per_s;
	uint64_t most_ps = measured_time_ps(frames.amount, most_bytes, rate);
	return (struct link_amount){
		frames.known == TB_EXACT && most_ps < all_ps ? most_ps : all_ps,
		TB_AT_MOST};
}

// take_sent takes what the sender of a link counted; it goes before what the receiver
// did.
static int take_sent(struct measuring *measuring, const struct tb_counter_port *port,
	uint32_t id, const struct port_change *change)
{
	const struct tb_network *network = measuring->measured->network;
	struct link_state *link = &measuring->links[id];
	improve_amount(&link->bytes, amount_of(change, TB_COUNTER_SENT_BYTES));
	improve_amount(&link->packets, amount_of(change, TB_COUNTER_SENT_PACKETS));
	struct link_amount paused = amount_of(change, TB_COUNTER_PAUSED_US);
	paused.amount = paused.amount > UINT64_MAX / 1000000 ? UINT64_MAX
							     : paused.amount * 1000000;
	improve_amount(&link->stall_ps, paused);
	struct link_amount ticks = amount_of(change, TB_COUNTER_WAIT_TICKS);
	if (ticks.known != TB_NOT_MEASURED) {
		uint64_t rate =
			tb_network_link(network, (struct tb_link){id}).bytes_per_s;
		uint64_t tick = measuring->measured->tick_bytes[id];
		if (tick == 0 && ticks.amount > 0) {
			add_case(&measuring->tickless, port);
			return keep_count(measuring, id, TB_COUNTER_WAIT_TICKS, change);
		}
		ticks.amount = measured_time_ps(ticks.amount, tick, rate);
		improve_amount(&link->stall_ps, ticks);
	}
	return TB_OK;
}

static void take_received(
	struct measuring *measuring, uint32_t id, const struct port_change *change)
{
	struct link_state *link = &measuring->links[id];
	improve_amount(&link->bytes, amount_of(change, TB_COUNTER_RECEIVED_BYTES));
	improve_amount(&link->packets, amount_of(change, TB_COUNTER_RECEIVED_PACKETS));
	struct link_amount paused = amount_of(change, TB_COUNTER_PAUSING_US);
	paused.amount = paused.amount > UINT64_MAX / 1000000 ? UINT64_MAX
							     : paused.amount * 1000000;
	improve_amount(&link->stall_ps, paused);
}

// take_frames takes pause frames, which bound what nobody timed; that one end counted
// none tells nothing where the other did.
static void take_frames(struct measuring *measuring, const struct tb_counter_port *port,
	uint32_t id, const struct port_change *change, int counter, bool none)
{
	struct link_amount *stall_ps = &measuring->links[id].stall_ps;
	const uint64_t all_ps = (uint64_t)measuring->measured->interval_ps;
	struct link_amount held = frames_hold(measuring, id, change, counter);
	if (stall_ps->known < TB_AT_MOST || (held.known == TB_EXACT) != none ||
		(stall_ps->known == TB_AT_MOST && (none || stall_ps->amount < all_ps)))
		return;
	if (held.known == TB_AT_MOST)
		add_case(held.amount < all_ps ? &measuring->bounded
					      : &measuring->unbounded,
			port);
	improve_amount(stall_ps, held);
	if (held.known == TB_AT_MOST && held.amount < stall_ps->amount)
		*stall_ps = held;
}

static int take_counts(struct measuring *measuring, const struct port_links *links,
	const struct port_change *change)
{
	int status = TB_OK;
	for (int i = 0; status == TB_OK && i < TB_N_COUNTERS; i++)
		if (tb_counter_infos[i].class != TB_COUNTS_TRAFFIC && change->deltas[i])
			status = keep_count(measuring,
				tb_counter_infos[i].side == TB_COUNTS_SENT
					? links->sent
					: links->received,
				i, change);
	return status;
}

// The passes over the ports: senders come before receivers, times before frames, and some
// frames before none.
enum counter_pass { PASS_SENT, PASS_RECEIVED, PASS_FRAMES, PASS_NO_FRAMES, N_PASSES };

static int count_port(struct measuring *measuring, const struct tb_counter_port *port,
	enum counter_pass pass)
{
	struct port_links links;
	struct port_change change;
	const struct tb_counter_port *before = NULL;
	bool found = port_index_find(&measuring->index, port, &links);
	if (pass == PASS_SENT && port->lid && !port->guid) {
		measuring->n_lids++;
		measuring->n_lids_foreign += !found;
	}
	if (!found) {
		if (pass == PASS_SENT)
			add_case(&measuring->foreign, port);
		return TB_OK;
	}
	if (measuring->options->before &&
		!(before = tb_counters_find(&measuring->before, port))) {
		if (pass == PASS_SENT)
			add_case(&measuring->unseen, port);
		return TB_OK;
	}
	port_change_find(&change, before, port);
	if (pass == PASS_RECEIVED)
		take_received(measuring, links.received, &change);
	if (pass >= PASS_FRAMES) {
		bool none = pass == PASS_NO_FRAMES;
		take_frames(measuring, port, links.sent, &change,
			TB_COUNTER_PAUSES_RECEIVED, none);
		take_frames(measuring, port, links.received, &change,
			TB_COUNTER_PAUSES_SENT, none);
	}
	if (pass != PASS_SENT)
		return TB_OK;
	measuring->measured->n_matched++;
	if (change.is_reset)
		add_case(&measuring->reset, port);
	if (change.wrapped)
		add_case(&measuring->wrapped, port);
	if (change.full & ~change.unknown)
		add_case(&measuring->full, port);
	if (change.unknown)
		add_case(&measuring->unknown, port);
	if (change.overlap)
		add_case(&measuring->overlap, port);
	int status = take_sent(measuring, port, links.sent, &change);
	return status == TB_OK ? take_counts(measuring, &links, &change) : status;
}

// What is to be known of the figures, as the notes of the run.

static int note_sources(struct measuring *measuring)
{
	struct tb_measured *measured = measuring->measured;
	uint32_t n = tb_network_n_links(measured->network), silent = 0;
	char count[64];
	for (uint32_t i = 0; i < n; i++)
		silent += measured->known[i].wait == TB_NOT_MEASURED;
	if (silent == n)
		return measured_note(measured, measuring->error,
			"No port tells how long it could not send: there are no waits");
	if (!silent)
		return TB_OK;
	return measured_note(measured, measuring->error,
		"Of the fabric's %s, %" PRIu32 " %s no counter of how long %s port could "
		"not send: %s waits are not in here",
		tb_format_counted(n, "link", count, sizeof count), silent,
		silent == 1 ? "has" : "have", silent == 1 ? "its" : "their",
		silent == 1 ? "its" : "their");
}

// note_unread names counters that grew and tell of loss or congestion, but are not read.
static int note_unread(struct measuring *measuring)
{
	char names[200] = "", more[32] = "";
	uint32_t n = 0, n_named = 0;
	for (uint32_t i = 0; i < measuring->after.n_unread; i++) {
		const struct tb_counter_unread *after = &measuring->after.unread[i];
		uint64_t before = 0;
		size_t used = strlen(names);
		for (uint32_t k = 0; k < measuring->before.n_unread; k++)
			if (strcmp(measuring->before.unread[k].name, after->name) == 0)
				before = measuring->before.unread[k].sum;
		if (after->sum == before || n++ >= 4)
			continue;
		n_named++;
		snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
			after->name);
	}
	if (n > n_named)
		snprintf(more, sizeof more, " and %" PRIu32 " more", n - n_named);
	return n == 0 ? TB_OK
		      : measured_note(measuring->measured, measuring->error,
				"Counters that changed and by their names tell of loss "
				"or congestion are not read: %s%s",
				names, more);
}

// note_all says what is to be known of the figures.
int measuring_notes(struct measuring *measuring)
{
	const struct {
		const struct case_of *what;
		const char *noun, *text;
	} cases[] = {
		{&measuring->unknown, "port",
			"had a counter that stood at its end in both dumps: what it "
			"counts is not known; reset it, or read 64 bits (perfquery -x)"},
		{&measuring->full, "port",
			"had a counter that came to its end: it counted at least so "
			"much"},
		{&measuring->wrapped, "port",
			"had a counter of 32 bits that went through 2^32: it counted at "
			"least so much"},
		{&measuring->reset, "port",
			"had counters reset between the dumps: how long it waited and "
			"what it carried is not known, and errors are at least so many"},
		{&measuring->overlap, "port",
			"had several priorities paused, which may fall together: held "
			"for at least the longest"},
		{&measuring->bounded, "port",
			"counted pause frames and no time: a frame holds for at most "
			"65,535 quanta, so waits are at most so long"},
		{&measuring->unbounded, "port",
			"counted pause frames that may have held for all of the time: "
			"waits are at most that"},
		{&measuring->tickless, "port",
			"counted ticks of PortXmitWait whose length is not known "
			"(xmit_wait_tick): how long it waited is not known"},
		{&measuring->foreign, "port",
			"of the dump the fabric does not have: left out"},
		{&measuring->unseen, "port", "the earlier dump does not have: left out"},
		{&measuring->gone, "port",
			"of the earlier dump the later one does not have: left out"},
		{&measuring->long_stall, "link",
			"could not send for longer than there was time: taken as all of "
			"it; is --interval right?"},
		{&measuring->too_fast, "link",
			"carried more than its rate in the fabric allows: are that and "
			"--interval right?"},
	};
	int status = TB_OK;
	if (!measuring->options->before)
		status = measured_note(measuring->measured, measuring->error,
			"There is one dump: all is since its counters were reset, which "
			"was the time before that --interval gives");
	if (status == TB_OK)
		status = note_sources(measuring);
	if (status == TB_OK)
		status = note_unread(measuring);
	for (size_t i = 0; status == TB_OK && i < sizeof cases / sizeof *cases; i++) {
		const struct case_of *what = cases[i].what;
		const char *noun = cases[i].noun;
		const char *text = cases[i].text;
		char count[64];
		if (what->n != 0) {
			status = measured_note(measuring->measured, measuring->error,
				"%s %s (%s%s)",
				tb_format_counted(what->n, noun, count, sizeof count),
				text, what->n > 1 ? "the first: " : "", what->first);
		}
	}
	uint64_t divisor = measuring->measured->divisor;
	if (status == TB_OK && divisor > 1)
		status = measured_note(measuring->measured, measuring->error,
			"Figures of links are those of an average 1/%" PRIu64
			" of the time between the dumps: the sums of all of it do not "
			"fit",
			divisor);
	return status;
}

// Makes samples of links.

// The sum of the times of all links has to fit.
#define SUMS_MOST 4e18

// Counters and clocks are read one after the other: so much more than all is all.
#define SLACK 1.05

static void note_link(const struct measuring *measuring, struct case_of *what, uint32_t i)
{
	struct tb_link_info at =
		tb_network_link(measuring->measured->network, (struct tb_link){i});
	const char *name =
		at.kind == TB_LINK_INJECTION
			? tb_network_node_identity(
				  measuring->measured->network, (struct tb_node){at.from})
				  .name
			: tb_network_switch_identity(measuring->measured->network,
				  (struct tb_switch){at.from})
				  .name;
	if (what->n++ == 0)
		snprintf(what->first, sizeof what->first, "the link from %s, port %u",
			*name ? name : "a device without name",
			at.kind == TB_LINK_INJECTION
				? 1
				: tb_network_port_number(measuring->measured->network,
					  (struct tb_switch){at.from}, at.from_port));
}

static void make_sample(struct measuring *measuring, uint32_t i)
{
	struct tb_measured *measured = measuring->measured;
	const struct link_state *link = &measuring->links[i];
	struct tb_link_info at = tb_network_link(measured->network, (struct tb_link){i});
	uint64_t all = (uint64_t)measured->interval_ps, divisor = measured->divisor;
	uint64_t busy = measured_time_ps(link->bytes.amount, 1, at.bytes_per_s);
	uint64_t stall =
		link->stall_ps.known == TB_NOT_MEASURED ? 0 : link->stall_ps.amount;
	if ((double)stall > (double)all * SLACK)
		note_link(measuring, &measuring->long_stall, i);
	if ((double)busy > (double)all * SLACK)
		note_link(measuring, &measuring->too_fast, i);
	stall = (stall < all ? stall : all) / divisor;
	measured->known[i] = (struct tb_link_known){link->stall_ps.known,
		link->bytes.known, link->packets.known, TB_NOT_MEASURED};
	measured->links[i] = (struct tb_link_sample){.link = {i},
		.wait_for_ps = stall,
		.stall_ps = stall,
		.busy_ps = (busy < all ? busy : all) / divisor,
		.bytes = link->bytes.amount / divisor,
		.n_packets = link->packets.amount / divisor};
}

static void measuring_samples(struct measuring *measuring)
{
	struct tb_measured *measured = measuring->measured;
	uint32_t n = tb_network_n_links(measured->network);
	double sums = (double)measured->interval_ps * n;
	measured->divisor = sums > SUMS_MOST ? (uint64_t)ceil(sums / SUMS_MOST) : 1;
	for (uint32_t i = 0; i < n; i++)
		make_sample(measuring, i);
}

// describe_measured_run writes the options of the command, as a replay's store keeps
// them.
static char *describe_measured_run(
	const struct tb_measured_options *options, const char *fabric)
{
	char *text = NULL, time[40];
	const char *given = options->interval_ps ? " --interval " : "";
	*time = '\0';
	if (options->interval_ps)
		tb_format_time(options->interval_ps, time, sizeof time);
	return asprintf(&text, "--fabric %s%s%s", fabric, given, time) < 0 ? NULL : text;
}

static char *name_input(const struct tb_measured_options *options)
{
	char *text = NULL;
	return asprintf(&text, "%s%s%s", options->before ? options->before : "",
		       options->before ? ", " : "", options->after) < 0
		       ? NULL
		       : text;
}

static int put_counts(struct tb_store *store, const struct tb_measured *measured,
	struct tb_error *error)
{
	uint32_t n_links = tb_network_n_links(measured->network);
	size_t n = measured->n_counts;
	struct tb_link_count *counts = calloc(n + 1u, sizeof *counts);
	if (!counts)
		return tb_fail_memory(error, "the counts");
	for (size_t i = 0; i < n; i++)
		counts[i] = (struct tb_link_count){{measured->counts[i].link},
			tb_counter_infos[measured->counts[i].counter].key,
			measured->counts[i].count, measured->counts[i].at_least};
	int status = tb_store_write_counts(store, counts, n, error);
	free(counts);
	if (status == TB_OK)
		status = tb_store_write_known(store, measured->known, measured->links,
			measured->tick_bytes, n_links, error);
	return status;
}

// store_measured writes the run's one bin and what hosts received in it.
static int store_measured(struct tb_store *store, const struct tb_measured *measured,
	struct tb_error *error)
{
	struct tb_observer observer = tb_store_observer(store);
	uint32_t n = tb_network_n_links(measured->network);
	tb_time_ps bin_ps = measured->interval_ps / (tb_time_ps)measured->divisor;
	struct tb_run_result result = {.complete = true, .simulated_ps = bin_ps};
	for (uint32_t i = 0; i < n; i++) {
		if (tb_network_link(measured->network, (struct tb_link){i}).kind !=
			TB_LINK_EJECTION)
			continue;
		result.n_packets += measured->links[i].n_packets;
		result.delivered_bytes += measured->links[i].bytes;
	}
	int status = observer.start(observer.context, bin_ps);
	if (status == TB_OK)
		status = observer.bin(observer.context, 0, measured->links, n);
	if (status == TB_OK)
		status = observer.flows(observer.context, NULL, 0);
	if (status != TB_OK) {
		if (error)
			*error = *tb_store_error(store);
		return status;
	}
	status = put_counts(store, measured, error);
	return status == TB_OK ? tb_store_end_run(store, &result, error) : status;
}

int tb_measured_store(const struct tb_measured *measured,
	const struct tb_measured_options *options, const char *fabric, const char *path,
	struct tb_error *error)
{
	struct tb_store *store = NULL;
	int status = tb_store_create(&store, path, error);
	if (status == TB_OK) {
		char *described = describe_measured_run(options, fabric),
		     *input = name_input(options);
		struct tb_note *notes = calloc(measured->n_notes + 1, sizeof *notes);
		status = described && input && notes ? TB_OK
						     : tb_fail_memory(error, "the run");
		for (size_t i = 0; status == TB_OK && i < measured->n_notes; i++)
			notes[i] = (struct tb_note){TB_ID_NONE, measured->notes[i]};
		if (status == TB_OK)
			status = tb_store_begin_run(store, measured->network,
				&(struct tb_run_config){.whole = true,
					.input_name = input,
					.input_kind = TB_MEASURED_KIND,
					.input_digest = "",
					.input_bytes = measured->n_bytes,
					.time_scale = 1,
					.options = described,
					.notes = notes,
					.n_notes = measured->n_notes,
					.routes_digest = ""},
				error);
		free(notes);
		free(input);
		free(described);
	}
	if (status == TB_OK)
		status = store_measured(store, measured, error);
	tb_store_free(store);
	return status;
}

// Makes figures of links from two dumps.

#define INTERVAL_SLACK_S 2.0
#define INTERVAL_PART	 0.05

void tb_measured_fini(struct tb_measured *measured)
{
	for (size_t i = 0; i < measured->n_notes; i++)
		free(measured->notes[i]);
	free(measured->notes);
	free(measured->counts);
	free(measured->links);
	free(measured->known);
	free(measured->tick_bytes);
	*measured = (struct tb_measured){0};
}

// measured_note adds a sentence to the notes.
static int measured_note(
	struct tb_measured *measured, struct tb_error *error, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0 || TB_ARRAY_MORE(measured, notes) != TB_OK) {
		free(length < 0 ? NULL : text);
		return tb_fail_memory(error, "the notes");
	}
	measured->notes[measured->n_notes++] = text;
	return TB_OK;
}

// check_interval refuses an interval that the dumps' own times contradict: by more than
// their precision, which is seconds at each end, and what collecting the ports of a large
// fabric takes.
static int check_interval(const struct measuring *measuring)
{
	const struct tb_measured_options *options = measuring->options;
	double given_s = (double)options->interval_ps / (double)TB_PS_PER_S;
	double told_s =
		(double)(measuring->after.time_us - measuring->before.time_us) / 1e6;
	if (told_s < 0)
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			"it was printed before %s: the earlier dump comes first",
			options->before);
	if (fabs(told_s - given_s) <= fmax(INTERVAL_SLACK_S, INTERVAL_PART * given_s))
		return TB_OK;
	return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
		"it was printed %.3g s after %s, and --interval gives %.3g s: leave "
		"--interval out, or correct it",
		told_s, options->before, given_s);
}

static int find_interval(struct measuring *measuring)
{
	const struct tb_measured_options *options = measuring->options;
	const struct tb_counters *before = &measuring->before, *after = &measuring->after;
	tb_time_ps *interval = &measuring->measured->interval_ps;
	bool have_times = options->before && before->has_time && after->has_time;
	*interval = options->interval_ps;
	if (*interval > 0 && have_times)
		return check_interval(measuring);
	if (*interval > 0)
		return TB_OK;
	if (!options->before)
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			"one dump counts since somebody reset its counters, it does not "
			"say when: give a second dump, or that time as --interval");
	if (!before->has_time || !after->has_time)
		return tb_fail_in(measuring->error, TB_EUSAGE,
			before->has_time ? options->after : options->before,
			"it does not say when it was printed: give the time between the "
			"dumps as --interval");
	int64_t us = after->time_us - before->time_us;
	if (us <= 0)
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			us ? "it was printed before %s: the earlier dump comes first"
			   : "it was printed at the same time as %s",
			options->before);
	if (us > INT64_MAX / 1000000)
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			"it was printed more than 106 days after %s", options->before);
	*interval = us * 1000000;
	return TB_OK;
}

// is_one: both dumps are the same file or folder, between which nothing was counted.
static bool is_one(const struct tb_measured_options *options)
{
	struct stat before, after;
	return options->before && stat(options->before, &before) == 0 &&
	       stat(options->after, &after) == 0 && before.st_dev == after.st_dev &&
	       before.st_ino == after.st_ino;
}

static int read_dumps(struct measuring *measuring)
{
	const struct tb_measured_options *options = measuring->options;
	int status = TB_OK;
	if (is_one(options))
		return tb_fail_in(measuring->error, TB_EUSAGE, options->after,
			"the earlier dump is the same one: the later one is another");
	if (options->before)
		status = tb_counters_read(
			&measuring->before, options->before, measuring->error);
	if (status == TB_OK)
		status = tb_counters_read(
			&measuring->after, options->after, measuring->error);
	measuring->measured->n_ports = measuring->after.n;
	measuring->measured->n_bytes =
		measuring->before.n_bytes + measuring->after.n_bytes;
	return status;
}

static int measure_counters(struct measuring *measuring)
{
	struct tb_measured *measured = measuring->measured;
	uint32_t n = tb_network_n_links(measured->network);
	int status = read_dumps(measuring);
	if (status == TB_OK)
		status = find_interval(measuring);
	if (status == TB_OK)
		status = port_index_init(
			&measuring->index, measured->network, measuring->error);
	measuring->links = calloc(n + 1u, sizeof *measuring->links);
	measured->links = calloc(n + 1u, sizeof *measured->links);
	measured->tick_bytes = calloc(n + 1u, sizeof *measured->tick_bytes);
	measured->known = calloc(n + 1u, sizeof *measured->known);
	if (status == TB_OK && !(measuring->links && measured->links && measured->known &&
				       measured->tick_bytes))
		status = tb_fail_memory(measuring->error, "the links");
	if (status == TB_OK)
		status = measured_ticks_find(measured->tick_bytes, measured->network,
			measuring->options->tick_is_given, measuring->error);
	if (status == TB_OK) {
		// Make figures of links from the dumps; measuring_samples makes samples
		// of these; measuring_notes says what is to be known of them.
		const struct tb_counters *before = &measuring->before,
					 *after = &measuring->after;
		struct port_links links;
		for (uint32_t i = 0; i < tb_network_n_links(measuring->measured->network);
			i++)
			measuring->links[i] = (struct link_state){{0, TB_NOT_MEASURED},
				{0, TB_NOT_MEASURED}, {0, TB_NOT_MEASURED}};
		for (enum counter_pass pass = PASS_SENT; pass < N_PASSES; pass++)
			for (size_t i = 0; status == TB_OK && i < after->n; i++)
				status = count_port(measuring, &after->ports[i], pass);
		for (size_t i = 0; status == TB_OK && i < before->n; i++)
			if (!tb_counters_find(after, &before->ports[i]) &&
				port_index_find(
					&measuring->index, &before->ports[i], &links))
				add_case(&measuring->gone, &before->ports[i]);
	}
	if (status == TB_OK && measured->n_matched == 0)
		status = tb_fail_in(measuring->error, TB_EFORMAT,
			measuring->options->after,
			measuring->foreign.n
				? "none of its ports is in the fabric: it counts another "
				  "one (the first: %s)"
				: "none of its ports is in the earlier dump%s",
			measuring->foreign.first);
	// Few ports are reset; where nearly all went down, time did.
	if (status == TB_OK && measured->n_matched > 1 &&
		10 * measuring->reset.n >= 9 * (uint64_t)measured->n_matched)
		status = tb_fail_in(measuring->error, TB_EUSAGE,
			measuring->options->after,
			"of its %" PRIu64 " ports %" PRIu64
			" count less than in %s: the earlier dump comes first; if all "
			"were reset in between, give this one alone, with the time since "
			"then as --interval",
			(uint64_t)measured->n_matched, measuring->reset.n,
			measuring->options->before);
	// Other fabrics number their devices from 1, too: a LID alone says little.
	if (status == TB_OK && 4 * measuring->n_lids_foreign > measuring->n_lids)
		status = tb_fail_in(measuring->error, TB_EFORMAT,
			measuring->options->after,
			"%" PRIu64 " of the %" PRIu64 " ports that it has by their LID "
			"alone are not in the fabric (the "
			"first: %s): it counts another one; a dump with GUIDs is sure",
			measuring->n_lids_foreign, measuring->n_lids,
			measuring->foreign.first);
	if (status != TB_OK)
		return status;
	measuring_samples(measuring);
	return measuring_notes(measuring);
}

int tb_measured_init(struct tb_measured *measured, const struct tb_network *network,
	const struct tb_measured_options *options, struct tb_error *error)
{
	struct tb_measured made = {.network = network};
	struct measuring measuring = {
		.measured = &made, .options = options, .error = error};
	int status = measure_counters(&measuring);
	tb_counters_fini(&measuring.before);
	tb_counters_fini(&measuring.after);
	port_index_fini(&measuring.index);
	free(measuring.links);
	if (status != TB_OK) {
		tb_measured_fini(&made);
		return status;
	}
	*measured = made;
	return TB_OK;
}
