// A live capture through libpcap: packets of an interface as they pass, or of a file, and
// what the kernel could not keep.
//
// Model: opened, perhaps deprived of its privileges, then asked for packets until
// somebody has enough. Stamps are nanoseconds since the epoch. Memory is constant: the
// kernel's buffer. One thread at a time per object.
#ifndef TB_LIVE_H
#define TB_LIVE_H

#include "capture_write.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>

#define TB_LIVE_SNAP_BYTES 262144u // as tcpdump's

enum tb_live_direction { TB_LIVE_INOUT, TB_LIVE_IN, TB_LIVE_OUT };

struct tb_live_options {
	const char *filter;    // in pcap's language; NULL or "": everything
	uint32_t snap_bytes;   // of each packet; 0 reads as TB_LIVE_SNAP_BYTES
	uint32_t buffer_bytes; // in the kernel; 0: libpcap's
	bool no_promiscuous;   // only what is for this machine
	bool immediate;	       // packets are given at once, not in batches
	bool no_optimize;      // of the filter
	enum tb_live_direction direction;
};

struct tb_live; // opaque

// tb_live_open opens an interface ("any" is all of them). TB_EUSAGE for a filter that
// makes no sense and an interface that is not there, TB_EIO when the system refuses,
// which it does to those who lack the privilege.
int tb_live_open(struct tb_live **live, const char *interface,
	const struct tb_live_options *options, struct tb_error *error) TB_MUST_USE;

// tb_live_open_file takes packets from a capture file instead (plain, gzip, zstd; "-" is
// standard input). Of `options` only the filter counts.
int tb_live_open_file(struct tb_live **live, const char *path,
	const struct tb_live_options *options, struct tb_error *error) TB_MUST_USE;

void tb_live_free(struct tb_live *live);

// What tb_live_next says when nothing came in time, or a signal did.
#define TB_LIVE_IDLE 2

// tb_live_next gives the next packet, whose bytes live until the next call: 1,
// TB_LIVE_IDLE after about a quarter of a second without one, 0 at the end of a file, or
// negative.
int tb_live_next(struct tb_live *live, struct tb_capture_packet *packet,
	struct tb_error *error) TB_MUST_USE;

// tb_live_counts tells what was seen so far.
void tb_live_counts(struct tb_live *live, struct tb_capture_counts *counts);

// What a file of these packets must say of them.
uint16_t tb_live_link_type(const struct tb_live *live); // LINKTYPE_ value
uint32_t tb_live_snap_bytes(const struct tb_live *live);

// tb_live_link_type_text writes "EN10MB (Ethernet)"; 96 bytes suffice.
const char *tb_live_link_type_text(const struct tb_live *live, char *buffer, size_t size);

// tb_live_interface is the name in full, where a number was given; "" for files.
const char *tb_live_interface(const struct tb_live *live);

// tb_live_warning is what libpcap has to say though it went on; NULL when nothing.
const char *tb_live_warning(const struct tb_live *live);

// The interfaces that can be captured from, as tcpdump -D numbers them, from 1.
struct tb_live_interface {
	char *name;
	char *description; // "" when there is none
	bool up, running, loopback, wireless, connected;
};

int tb_live_list(
	struct tb_live_interface **list, size_t *n, struct tb_error *error) TB_MUST_USE;
void tb_live_list_free(struct tb_live_interface *list, size_t n);

#endif
