// The cabling of a fabric, as a file describes it before it is a network: devices, and
// what is plugged into their ports.
//
// Readers add devices by GUID (or by name) and report what they see of each port; a cable
// is usually seen from both of its ends. tb_cabling_settle then makes the two views one.
// What a reader passes over or corrects is counted by kind, with the first of each, and
// becomes a remark on the network.
//
// A zeroed struct is empty. Not thread safe.
#ifndef TB_CABLING_H
#define TB_CABLING_H

#include "map.h"
#include "status.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>

enum tb_device_kind {
	TB_DEVICE_SWITCH,
	TB_DEVICE_ADAPTER,
	TB_DEVICE_ROUTER, // and gateways: traffic ends there, but no process runs
};

// A port, from 0; an unused one is zeroed.
struct tb_cabling_port {
	bool is_used;
	uint32_t peer, peer_port; // device, and its port
	uint64_t bytes_per_s;	  // 0: not known
	tb_time_ps latency_ps;	  // 0: not known
	uint64_t line;		  // of its device's entry; 0: only the peer's shows it
	// Of an adapter's or router's port:
	uint64_t guid;
	uint32_t lid, lmc;
};

struct tb_cabling_device {
	enum tb_device_kind kind;
	bool is_left_out; // an aggregation node, or joined to nothing
	bool is_aggregation;
	uint64_t guid;
	char *name; // in its visible form
	uint32_t lid, lmc;
	uint32_t device_id; // of PCI; 0: not known
	uint64_t line;	    // of its entry; 0: it has none
	uint32_t part;	    // of a switch, see tb_cabling_find_parts
	struct tb_cabling_port *ports;
	size_t n_ports; // up to the last that the file names
	size_t ports_room;
};

// What the file calls a port that it names and does not number.
struct tb_cabling_port_name {
	uint32_t device, number; // which it got here
	char *name;
};

// What was passed over or corrected.
enum tb_cabling_remark {
	TB_REMARK_STRAY_LINE,
	TB_REMARK_SELF_LOOP,
	TB_REMARK_AGGREGATION_NODE,
	TB_REMARK_ONE_SIDED,
	TB_REMARK_UNEQUAL_ENDS,
	TB_REMARK_NO_RATE,
	TB_REMARK_NO_ENTRY,
	TB_REMARK_NAMELESS,
	TB_REMARK_SAME_NAME,
	TB_REMARK_NO_HOSTS,
	TB_REMARK_BACK_TO_BACK,
	TB_REMARK_LEVELS,
	TB_REMARK_DOUBTFUL_LEVEL,
	TB_REMARK_NO_CABLE,
	TB_REMARK_DUAL_HOST,
	TB_REMARK_NO_ROOT,
	TB_REMARK_NAMED_PORTS,
	TB_REMARK_ONE_CABLE_EACH,
	TB_REMARK_NO_SPEED,
	TB_REMARK_QUEUE_SIZE,
	TB_REMARK_NO_DEVICE,
	TB_REMARK_SECOND_NEIGHBOR,
	TB_REMARK_OTHER_TOPOLOGY,
	TB_REMARK_ERROR_RATE,
	TB_REMARK_INSIDE,
	TB_REMARK_CYCLES,
	TB_REMARK_BACKBONE,
	TB_REMARK_MANAGEMENT,
	TB_REMARK_PARTS,
	TB_REMARK_SET_ASIDE,
	TB_REMARK_ODD_HOST,
	TB_N_REMARKS,
};

struct tb_cabling {
	const char *file; // for messages; borrowed
	uint64_t line;	  // of it that is being read; 0: none is
	struct tb_cabling_device *devices;
	uint32_t n_devices;
	size_t room;
	uint64_t n_ports;			 // of all devices
	struct tb_map of_guid;			 // to the device
	struct tb_map joined;			 // pairs of devices, once each
	struct tb_cabling_port_name *port_names; // owned
	uint32_t n_port_names;
	uint32_t n_parts;	 // of those that hang together
	bool has_guids;		 // else a device's is a number of the reader's own
	bool are_cables_unknown; // the file has who is joined, not by how many cables
	struct {
		uint64_t n;
		char first[160];
	} remarks[TB_N_REMARKS];
	struct tb_error *error; // where the calls below report; borrowed, may be NULL
};

void tb_cabling_fini(struct tb_cabling *cabling);

// tb_cabling_find stores the device of that GUID, adding it where it is new. A GUID is
// one of the file's, or any number that is a device's own.
int tb_cabling_find(struct tb_cabling *cabling, enum tb_device_kind kind, uint64_t guid,
	uint32_t *device) TB_MUST_USE;

// tb_cabling_name names a device; bytes that would control a terminal become visible, and
// what is longer than 82 bytes (InfiniBand has 64) is cut after a whole character.
int tb_cabling_name(struct tb_cabling *cabling, uint32_t device, const char *name,
	size_t n) TB_MUST_USE;

// tb_cabling_port makes ports up to `port` and stores that one; it lives until the next
// call. `port` is at most TB_CABLING_PORT_MOST. TB_EFORMAT beyond 4,194,304 ports in all.
int tb_cabling_port(struct tb_cabling *cabling, uint32_t device, uint32_t port,
	struct tb_cabling_port **made) TB_MUST_USE;

#define TB_CABLING_PORT_MOST 65534

// tb_cabling_plug reports, of port `port` of a device, what its entry says; where `seen`
// has no line, in the line that is being read. TB_EFORMAT when another line said so
// already. tb_cabling_plug_both reports it of both ends of a cable, which are alike.
int tb_cabling_plug(struct tb_cabling *cabling, uint32_t device, uint32_t port,
	const struct tb_cabling_port *seen) TB_MUST_USE;
int tb_cabling_plug_both(struct tb_cabling *cabling, uint32_t device, uint32_t port,
	const struct tb_cabling_port *seen) TB_MUST_USE;

// tb_cabling_note counts a remark; the sentence is kept if it is the first of its kind.
void tb_cabling_note(struct tb_cabling *cabling, enum tb_cabling_remark kind,
	const char *format, ...) TB_PRINTF(3, 4);

// tb_cabling_settle makes one of the two views of each cable, leaves out aggregation
// nodes and cables from a switch to itself. TB_EFORMAT names two ends that contradict
// each other, and a switch that has cables but no entry of its own.
int tb_cabling_settle(struct tb_cabling *cabling) TB_MUST_USE;

// tb_cabling_fastest returns the rate of the fastest cable, 0 when none is known.
uint64_t tb_cabling_fastest(const struct tb_cabling *cabling);

// tb_cabling_remark_text writes the sentence for a kind of remark and returns `buffer`;
// NULL when there is none to make.
const char *tb_cabling_remark_text(const struct tb_cabling *cabling,
	enum tb_cabling_remark kind, char *buffer, size_t size);

// tb_cabling_refuse fails with TB_EFORMAT at the line that is being read, or where none
// is, of the whole file; tb_cabling_refuse_at at another line, or (0) of the whole file.
int tb_cabling_refuse(const struct tb_cabling *cabling, const char *format, ...)
	TB_PRINTF(2, 3);
int tb_cabling_refuse_at(const struct tb_cabling *cabling, uint64_t line,
	const char *format, ...) TB_PRINTF(3, 4);

// tb_cabling_no_memory fails with TB_ENOMEM.
int tb_cabling_no_memory(const struct tb_cabling *cabling);

// Devices that go by names alone, which are then their own, as in an edge list.

// tb_cabling_find_named stores the device of that name, in its visible form, which is
// what others show. A new one is an adapter without an entry. TB_EFORMAT for a name that
// is empty or too long. tb_cabling_find_seen also makes the line its entry, if it has
// none; tb_cabling_find_new refuses one that has, and makes it a device of that kind.
int tb_cabling_find_named(
	struct tb_cabling *cabling, const char *name, uint32_t *device) TB_MUST_USE;
int tb_cabling_find_seen(
	struct tb_cabling *cabling, const char *name, uint32_t *device) TB_MUST_USE;
int tb_cabling_find_new(struct tb_cabling *cabling, const char *name,
	enum tb_device_kind kind, uint32_t *device) TB_MUST_USE;

// tb_cabling_find_numbered stores the device of a number of the reader's own, whose entry
// the line is. A new one is named by the format.
int tb_cabling_find_numbered(struct tb_cabling *cabling, enum tb_device_kind kind,
	uint64_t number, uint32_t *device, const char *format, ...) TB_PRINTF(5, 6);

// tb_cabling_has_named returns whether there is a device of that name.
bool tb_cabling_has_named(const struct tb_cabling *cabling, const char *name);

// tb_cabling_join plugs a cable between the next ports of two devices, counted from 1.
// `seen` has its rate, latency and line. TB_EFORMAT when a device has no port left.
// tb_cabling_join_once does nothing where it has joined the two before.
int tb_cabling_join(struct tb_cabling *cabling, uint32_t one, uint32_t other,
	const struct tb_cabling_port *seen) TB_MUST_USE;
int tb_cabling_join_once(struct tb_cabling *cabling, uint32_t one, uint32_t other,
	const struct tb_cabling_port *seen) TB_MUST_USE;

// tb_cabling_kinds_by_cables makes what the file says of a device, until then in its LID,
// or else a host of one with one cable or none, and a switch of others, but for those
// that are called and cabled as hosts are. TB_ENOMEM.
enum { TB_SAID_NOTHING, TB_SAID_HOST, TB_SAID_SWITCH };
int tb_cabling_kinds_by_cables(struct tb_cabling *cabling) TB_MUST_USE;

// The ports of an edge list: numbers, or names. A name has the number that is in it, so
// that a cable more or less in the file changes no other port's: Ethernet104 and eth1/104
// are 104, eth2/104 is 304, swp3s1 is 301. Where that is beyond 1023, or another port's
// on the device, the name gets one that is free.

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
	uint32_t device, char *word, uint32_t *number) TB_MUST_USE;

#endif
