// Adds messages and their dependencies to a job of parallel I/O. Only for io*.c.
#ifndef TB_IO_IMPL_H
#define TB_IO_IMPL_H

#include "io.h"

// The processors of a rank: the second one only waits for storage.
enum { TB_IO_CPU_SERVICE, TB_IO_CPU_STORAGE };

struct tb_io_ops {
	uint32_t *ops; // of one rank
	size_t n, room;
};

// The part of a request that one server holds.
struct tb_io_share {
	uint64_t *pieces; // bytes of each
	size_t n, room;
	uint64_t bytes;
};

struct tb_io_writer {
	const struct tb_io_options *options;
	struct tb_job_builder *builder;
	struct tb_error *error;
	int status; // first failure; nothing is added after it
	uint32_t next_tag;
	uint32_t *fence; // by client: the operation that its next one waits for
	struct tb_io_share *shares; // by server: share of the current request
	uint64_t n_extents;	    // of the current request
	uint32_t *n_open; // by server: transfers of all requests of the current number
	uint32_t *slots;  // n_outstanding per server: last operation of the transfer that
			  // used the slot before
	uint32_t *next_slot; // by server
	struct tb_io_ops sends, receives, answers;
	// For two phases.
	uint64_t low, high;	     // the part of the file that a call touches
	uint64_t domain_bytes;	     // each client's share of it
	uint64_t *towards;	     // by client: bytes that one client sends to it
	struct tb_io_ops *exchanged; // by client: what its next operation waits for
};

// The operations of a message at both ends. TB_ID_NONE is no operation: waiting for it
// does nothing.
struct tb_io_message {
	uint32_t sent;	   // the sender's: done when its buffer is free
	uint32_t received; // the receiver's: done when it has all data
};

struct tb_io_transfer {
	uint32_t from, to; // ranks
	uint32_t server;   // number of the server among the two
	uint32_t client_load, server_load;
	uint32_t on; // operation of `from` that must be done before
};

// tb_io_send adds a message, which the sender sends after `on` and `also` are done.
struct tb_io_message tb_io_send(struct tb_io_writer *w, uint32_t from, uint32_t to,
	uint64_t bytes, uint32_t on, uint32_t also);

// tb_io_ns returns how long bytes take at a rate; 0 for no rate.
uint64_t tb_io_ns(uint64_t bytes, uint64_t bytes_per_s);

// tb_io_calc adds a calc after `on` and returns it; for 0 ns it just returns `on`.
uint32_t tb_io_calc(
	struct tb_io_writer *w, uint32_t rank, uint8_t cpu, uint64_t ns, uint32_t on);

// tb_io_list appends an operation to a list.
void tb_io_list(struct tb_io_writer *w, struct tb_io_ops *list, uint32_t op);

// tb_io_join empties a list and returns an operation of `rank` that waits for all in it;
// TB_ID_NONE if the list was empty.
uint32_t tb_io_join(struct tb_io_writer *w, uint32_t rank, struct tb_io_ops *list);

// tb_io_piece stores the i-th piece of the file in a client's request `number`; false
// after the last. With two phases the pieces come from the client's domain.
bool tb_io_piece(const struct tb_io_writer *w, uint32_t client, uint64_t number,
	uint64_t i, struct tb_io_extent *extent);

// Two phases (io_phases.c). tb_io_domains divides the file among clients, once per job;
// tb_io_exchange moves data between clients, before the requests of a round write it or
// after they have read it.
void tb_io_domains(struct tb_io_writer *w);
void tb_io_exchange(struct tb_io_writer *w, uint64_t round);

// tb_io_stored has a server's storage read or write bytes after `on`, and returns the
// operation.
uint32_t tb_io_stored(struct tb_io_writer *w, uint32_t rank, uint64_t bytes, uint32_t on);

// tb_io_transfer moves a server's share of the current request between it and a client. A
// server that sends reads its storage first, piece by piece where pieces are sent one by
// one.
struct tb_io_message tb_io_transfer(
	struct tb_io_writer *w, const struct tb_io_transfer *transfer);

#endif
