// Parallel I/O: clients that read and write a file striped over servers, as a job.
//
// Model: PVFS2 over QsNetII as in paper 004. Ranks 0 to n_clients - 1 are clients, the
// rest servers. Strip i of the file is on server i mod n_servers. A client's request
// names a list of pieces of the file (list I/O). The client asks all servers that have
// part of them at the same time, and goes on when all are done. With one server a request
// is
//
//   write: request, answer, data, done      read: request, answer, data
//
// Everything but data is an eager message (one QDMA). So are data up to the eager limit,
// in one message. Longer data go by rendezvous, with an RDMA operation per strip or
// piece, all under one completion (figures 5 and 7):
//
//   by RDMA write: RTS, ack, data, FIN      by RDMA read: RTS, pulls, data, FIN_ACK
//
// The receiver chooses (figure 6): if the server is heavily loaded, the client does the
// RDMA; otherwise the receiver reads if it is less loaded than the sender. The load of a
// side is its number of open transfers. A job cannot choose while it runs, so here it is
// the number of transfers that all clients' requests of the same number cause.
//
// A server reads its storage piece by piece: an RDMA operation moves what has been read
// while the next piece is. It writes when all data of a request are in, which is when it
// is notified of them.
//
// Over TCP data are one message of any size, and the processors of both sides pack and
// unpack lists. The cost of the communication library belongs to the host model of a
// replay.
#ifndef TB_IO_H
#define TB_IO_H

#include "job.h"

enum tb_io_rendezvous { TB_IO_ADAPTIVE, TB_IO_RDMA_WRITE, TB_IO_RDMA_READ };
enum tb_io_transport { TB_IO_ELAN, TB_IO_TCP };

// With two phases (MPI-IO's collective buffering), clients first exchange data so that
// each has a contiguous part of the file, then each request writes one piece; reads do
// this in reverse.

// A part of the file.
struct tb_io_extent {
	uint64_t offset, bytes;
};

struct tb_io_options;

// What the clients read or write in one call. `extent` must be thread safe.
struct tb_io_benchmark {
	const char *name;
	const char *summary; // one line
	bool writes;
	// No data, but metadata: what client 0 has the servers do. In `resize` that is
	// one request to all of them, in `create` (PVFS2's sys-create) one each to the
	// first server for the directory, the metadata object, its attributes and the
	// directory entry, and one to all for the data objects.
	bool creates;
	bool square;	    // the number of clients must be a square
	bool blocks;	    // takes block_bytes
	uint32_t n_repeats; // default number of calls
	// extent stores the i-th extent of a client's call, in ascending order; false
	// after the last. NULL: a call for metadata.
	bool (*extent)(const struct tb_io_options *options, uint32_t client, uint64_t i,
		struct tb_io_extent *extent);
};

// Ends with a NULL name.
extern const struct tb_io_benchmark tb_io_benchmarks[];

struct tb_io_options {
	const struct tb_io_benchmark *benchmark;
	uint32_t n_clients, n_servers;
	uint64_t block_bytes;	// a client's block in `write` and `read`
	uint64_t strip_bytes;	// at least 1
	uint64_t eager_bytes;	// longer data go by rendezvous
	uint32_t list_pieces;	// most extents per request, at least 1
	uint64_t buffer_bytes;	// two phases, with buffers of this size; 0: one phase
	uint32_t n_outstanding; // transfers that a server has open at a time; 0: any
	uint32_t n_heavy;	// open transfers that make a server heavily loaded
	enum tb_io_rendezvous rendezvous;
	bool events; // completion by remote events (004, 5.2): no FIN, no FIN_ACK
	enum tb_io_transport transport;
	uint64_t pack_bytes_per_s;    // TCP: packing lists, at either side; 0: no time
	uint64_t storage_bytes_per_s; // of a server; 0: takes no time
	uint64_t service_ns;	      // a server's processor time per request
	uint64_t client_ns; // processor time at either end of a message between clients,
			    // beyond that of the library
	uint32_t n_repeats;
	uint64_t compute_ns; // each client computes this long before each call
};

// Paper 004, 4.1 (QDMA carries up to 2 KB), and the defaults of its PVFS2 and MPI-IO:
// strips of 64 KB, lists of 64 pieces.
#define TB_IO_DEFAULTS                                                                   \
	((struct tb_io_options){.n_clients = 4,                                          \
		.n_servers = 4,                                                          \
		.block_bytes = 4 << 20,                                                  \
		.strip_bytes = 64 << 10,                                                 \
		.eager_bytes = 2 << 10,                                                  \
		.list_pieces = 64,                                                       \
		.n_heavy = 4,                                                            \
		.events = true})

// Sizes of messages other than data. They are not published, but do not matter much: a
// control message is one packet in any case.
#define TB_IO_CONTROL_BYTES UINT64_C(64)
#define TB_IO_REQUEST_BYTES UINT64_C(128) // plus TB_IO_PIECE_BYTES per further piece
#define TB_IO_PIECE_BYTES   UINT64_C(16)

// tb_io_benchmark_find finds a benchmark by name. The message of TB_EUSAGE proposes the
// nearest name.
int tb_io_benchmark_find(const struct tb_io_benchmark **benchmark, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_io_job makes the job, which the caller frees. Clients meet in a barrier before and
// after each call; calls for metadata are a broadcast of the arguments, which all
// compare, what client 0 does, and a broadcast of its outcome (ROMIO's MPI_File_set_size
// and ADIOI_PVFS2_Resize). Each message has its own tag. TB_EUSAGE for options that make
// no sense together, TB_ECAPACITY for more operations than a job can hold.
int tb_io_job(struct tb_job **job, const struct tb_io_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif
