// For the files that make jobs of parallel I/O: writing messages and what waits for them.
#ifndef TB_IO_IMPL_H
#define TB_IO_IMPL_H

#include "io.h"

// What a rank's processors do: the second one only waits for storage.
enum { TB_IO_CPU_SERVICE, TB_IO_CPU_STORAGE };

struct tb_io_ops {
	uint32_t *ops; // of one rank
	size_t n, room;
};

// What one server holds of a request.
struct tb_io_share {
	uint64_t *pieces; // bytes of each
	size_t n, room;
	uint64_t bytes;
};

struct tb_io_writer {
	const struct tb_io_options *options;
	struct tb_job_builder *builder;
	struct tb_error *error;
	int status; // of what was written so far; nothing is written after a failure
	uint32_t next_tag;
	uint32_t *fence; // by client: the operation that its next one waits for
	struct tb_io_share *shares; // by server, of the request that is being written
	uint64_t n_extents;	    // of that request
	uint32_t *n_open;	    // by server: transfers of requests numbered alike
	uint32_t *slots; // n_outstanding a server: the end of the transfer that had it
	uint32_t *next_slot; // by server
	struct tb_io_ops sends, receives, answers;
	// Of two phases: the part of the file that a call touches, what a client has of
	// it, how much of that goes to each other one, and what each waits for.
	uint64_t low, high, domain_bytes;
	uint64_t *towards;
	struct tb_io_ops *exchanged;
};

// Operations at either end; TB_ID_NONE is none, and to wait for it is not to wait.
struct tb_io_message {
	uint32_t sent;	   // at the sender: its buffer is free
	uint32_t received; // at the receiver: it has all
};

struct tb_io_transfer {
	uint32_t from, to; // ranks
	uint32_t server;   // number of the one that is a server
	uint32_t client_load, server_load;
	uint32_t on; // operation of `from` that it waits for
};

// tb_io_send sends a message; the sender waits for `on` and `also` before.
struct tb_io_message tb_io_send(struct tb_io_writer *w, uint32_t from, uint32_t to,
	uint64_t bytes, uint32_t on, uint32_t also);

// tb_io_ns is how long bytes take at a rate; 0 for no rate.
uint64_t tb_io_ns(uint64_t bytes, uint64_t bytes_per_s);

// tb_io_calc lets a rank compute on a processor; the operation, or `on` for 0 ns.
uint32_t tb_io_calc(
	struct tb_io_writer *w, uint32_t rank, uint8_t cpu, uint64_t ns, uint32_t on);

void tb_io_list(struct tb_io_writer *w, struct tb_io_ops *list, uint32_t op);

// tb_io_join is an operation of `rank` that waits for all of the list, which is emptied;
// TB_ID_NONE for an empty one.
uint32_t tb_io_join(struct tb_io_writer *w, uint32_t rank, struct tb_io_ops *list);

// tb_io_piece is the i-th piece of the file in a client's request of that number: its
// own, or of two phases what it stands for; false behind the last.
bool tb_io_piece(const struct tb_io_writer *w, uint32_t client, uint64_t number,
	uint64_t i, struct tb_io_extent *extent);

// Two phases (io_phases.c): tb_io_domains cuts the file, once; tb_io_exchange moves
// between clients what the requests of a number write or have read.
void tb_io_domains(struct tb_io_writer *w);
void tb_io_exchange(struct tb_io_writer *w, uint64_t round);

// tb_io_transfer moves a server's share of the request between it and a client.
struct tb_io_message tb_io_transfer(
	struct tb_io_writer *w, const struct tb_io_transfer *transfer);

#endif
