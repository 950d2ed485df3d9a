// Parallel I/O: clients that read and write a file striped over servers, as a job.
//
// Model: PVFS2 over QsNetII as paper 004 builds it. Ranks 0 to n_clients - 1 are clients,
// the rest servers. Strip i of the file lies on server i mod n_servers. A client's
// request names a list of pieces of the file (list I/O); every server that has part of
// them is asked at the same time, and the client goes on when all are done. With one
// server a request is
//
//   write: request, answer, data, done      read: request, answer, data
//
// Everything but data is an eager message (one QDMA). So are data up to the eager limit,
// in one message; longer data go by rendezvous, an RDMA operation a strip or piece, all
// under one completion (figures 5 and 7):
//
//   by RDMA write: RTS, ack, data, FIN      by RDMA read: RTS, pulls, data, FIN_ACK
//
// The receiver chooses (figure 6): the client does the RDMA when the server is heavily
// loaded, else it reads when it is less loaded than the sender. A side's load is how many
// transfers it has open: here, how many the requests that are numbered alike have, as a
// job cannot choose while it runs.
//
// Over TCP data are one message, whatever their size, and lists are packed and unpacked
// by the processors of either side. What a library costs is the host's part in a replay.
#ifndef TB_IO_H
#define TB_IO_H

#include "job.h"

enum tb_io_rendezvous { TB_IO_ADAPTIVE, TB_IO_RDMA_WRITE, TB_IO_RDMA_READ };
enum tb_io_transport { TB_IO_ELAN, TB_IO_TCP };

// Of two phases (MPI-IO's collective buffering) the clients exchange what is contiguous
// in the file, and each then writes, or has read before, one piece a request.

// A part of the file.
struct tb_io_extent {
	uint64_t offset, bytes;
};

struct tb_io_options;

// What a client reads or writes in one call; may be called by several threads.
struct tb_io_benchmark {
	const char *name;
	const char *summary; // one line
	bool writes;
	bool resizes;	    // no data: client 0 has the servers resize the file
	bool square;	    // the number of clients must be a square
	bool blocks;	    // takes block_bytes
	uint32_t n_repeats; // unless another number is asked for
	// The i-th extent of a client's call, ascending; false behind the last.
	bool (*extent)(const struct tb_io_options *options, uint32_t client, uint64_t i,
		struct tb_io_extent *extent);
};

// Ends with a NULL name.
extern const struct tb_io_benchmark tb_io_benchmarks[];

struct tb_io_options {
	const struct tb_io_benchmark *benchmark;
	uint32_t n_clients, n_servers;
	uint64_t block_bytes;	// a client's block of the concurrent benchmarks
	uint64_t strip_bytes;	// at least 1
	uint64_t eager_bytes;	// longer data go by rendezvous
	uint32_t list_pieces;	// extents in a request, at least 1
	uint64_t buffer_bytes;	// two phases, in buffers of this size; 0: no exchange
	uint32_t n_outstanding; // transfers that a server has open at a time; 0: any
	uint32_t n_heavy;	// transfers that make a server heavily loaded
	enum tb_io_rendezvous rendezvous;
	bool events; // completion by remote events (004, 5.2): no FIN, no FIN_ACK
	enum tb_io_transport transport;
	uint64_t pack_bytes_per_s;    // TCP: of lists at either side; 0: takes no time
	uint64_t storage_bytes_per_s; // of a server; 0: takes no time
	uint64_t service_ns;	      // processor time a request takes a server
	uint32_t n_repeats;
	uint64_t compute_ns; // by each client before each call
};

// Paper 004, 4.1 (QDMA carries up to 2 KB), and what its PVFS2 and MPI-IO come with: a
// strip of 64 KB, lists of 64 pieces.
#define TB_IO_DEFAULTS                                                                   \
	((struct tb_io_options){.n_clients = 4,                                          \
		.n_servers = 4,                                                          \
		.block_bytes = 4 << 20,                                                  \
		.strip_bytes = 64 << 10,                                                 \
		.eager_bytes = 2 << 10,                                                  \
		.list_pieces = 64,                                                       \
		.n_heavy = 4,                                                            \
		.events = true})

// Sizes of what is not data: not published; a control message is a packet of its own in
// any case.
#define TB_IO_CONTROL_BYTES UINT64_C(64)
#define TB_IO_REQUEST_BYTES UINT64_C(128) // and 16 for each piece beyond the first
#define TB_IO_PIECE_BYTES   UINT64_C(16)

// tb_io_benchmark_find finds a benchmark by name: TB_EUSAGE names the nearest one.
int tb_io_benchmark_find(const struct tb_io_benchmark **benchmark, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_io_job makes the job: clients meet in a barrier before and behind each call. Each
// message has a tag of its own. TB_EUSAGE for options that make no sense together,
// TB_ECAPACITY for more than a job can hold.
int tb_io_job(struct tb_job **job, const struct tb_io_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif
