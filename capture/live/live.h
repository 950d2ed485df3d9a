// A live capture with libpcap: packets from an interface as they pass, or from a file,
// and how many the kernel dropped.
//
// Model: the caller opens it, may then drop privileges (tb_privileges_drop), and takes
// packets until it has enough. Time stamps are nanoseconds since the epoch. Memory is
// constant: the kernel's buffer. One thread at a time per object.
#ifndef TB_LIVE_H
#define TB_LIVE_H

#include "capture_write.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>

#define TB_LIVE_SNAP_BYTES 262144u // tcpdump's default

enum tb_live_direction { TB_LIVE_INOUT, TB_LIVE_IN, TB_LIVE_OUT };

struct tb_live_options {
	const char *filter;    // pcap filter; NULL or "": capture everything
	uint32_t snap_bytes;   // most bytes captured per packet; 0: TB_LIVE_SNAP_BYTES
	uint32_t buffer_bytes; // of the kernel; 0: libpcap's default
	bool no_promiscuous;   // capture only packets for this machine
	bool immediate;	       // deliver each packet at once, not in batches
	bool no_optimize;      // do not optimize the filter
	enum tb_live_direction direction;
};

struct tb_live; // opaque

// tb_live_open opens an interface by name or by its number in tb_live_list ("any": all of
// them). TB_EUSAGE when the filter makes no sense or there is no such interface, TB_EIO
// when the system refuses, for example without the privilege.
int tb_live_open(struct tb_live **live, const char *interface,
	const struct tb_live_options *options, struct tb_error *error) TB_MUST_USE;

// tb_live_open_file takes packets from a capture file instead, plain or compressed ("-"
// is standard input). It uses only the filter of `options`.
int tb_live_open_file(struct tb_live **live, const char *path,
	const struct tb_live_options *options, struct tb_error *error) TB_MUST_USE;

void tb_live_free(struct tb_live *live);

// Returned by tb_live_next if no packet came in time or a signal interrupted it.
#define TB_LIVE_IDLE 2

// tb_live_next returns the next packet, whose bytes live until the next call: 1,
// TB_LIVE_IDLE after about a quarter of a second without a packet, 0 at the end of a
// file, or negative.
int tb_live_next(struct tb_live *live, struct tb_capture_packet *packet,
	struct tb_error *error) TB_MUST_USE;

// tb_live_counts stores the counts so far.
void tb_live_counts(struct tb_live *live, struct tb_capture_counts *counts);

// For the header of a file with these packets.
uint16_t tb_live_link_type(const struct tb_live *live); // LINKTYPE_ value
uint32_t tb_live_snap_bytes(const struct tb_live *live);

// tb_live_link_type_text writes "EN10MB (Ethernet)"; 96 bytes suffice.
const char *tb_live_link_type_text(const struct tb_live *live, char *buffer, size_t size);

// tb_live_interface returns the interface's name, even if it was opened by number; "" for
// files.
const char *tb_live_interface(const struct tb_live *live);

// tb_live_warning returns libpcap's warning from opening the interface, or NULL.
const char *tb_live_warning(const struct tb_live *live);

// An interface that can be captured from. tb_live_list returns them in the order in which
// tcpdump -D numbers them from 1; tb_live_list_free frees them.
struct tb_live_interface {
	char *name;
	char *description; // "" when there is none
	bool up, running, loopback, wireless, connected;
};

int tb_live_list(
	struct tb_live_interface **list, size_t *n, struct tb_error *error) TB_MUST_USE;
void tb_live_list_free(struct tb_live_interface *list, size_t n);

// tb_privileges_drop makes the process run as user `name`, with that user's groups, which
// also drops all capabilities. With `name` NULL it only drops all capabilities. With
// "root" it changes nothing. TB_EUSAGE when there is no such user or the process is not
// root, TB_EIO when the system refuses.
int tb_privileges_drop(const char *name, struct tb_error *error) TB_MUST_USE;

#endif
