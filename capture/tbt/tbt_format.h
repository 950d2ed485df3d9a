// The files of the tracer: what each rank of an MPI program writes, and job.tbt, to which
// `tailback trace` puts them together. Shared by the tracer (mpi/tracer/) and the reader.
//
// All integers are little-endian. A varint is LEB128: 7 bits a byte, lowest first, the
// top bit set in all but the last; at most 10 bytes. A text is a u16 length and so many
// bytes.
//
// Records. A record is a u8 kind (TB_TBT_KINDS), then varints: the nanoseconds from the
// end of the record before it in its lane to its beginning, those that it took, as many
// fields as the table gives and, where the table says so, a list: how many values, then
// the first TB_TBT_LIST_PART of them. The others follow in records MORE, whose list is
// the next part. TIME is otherwise: after its kind a u64, the lane's clock, from which
// the next record counts. Kind 0 ends a lane. So a message costs about 14 bytes.
//
// Rank file, rank-N-WORLD.tbr: WORLD is its world's identity, 16 hexadecimal digits (up
// to version 0.2 there was none, and the name rank-N.tbr). A header of
// TB_TBT_HEADER_BYTES (offsets below), then blocks of TB_TBT_BLOCK_BYTES: u32
// TB_TBT_BLOCK_MAGIC, u32 lane, u32 number within the lane, u32 bytes of records (0 in
// the lane's last block), and records, the first of which is TIME. A record's kind is
// written after the rest of it, so what a killed process leaves ends with a whole record.
//
// File of a process that is traced with --sockets: as a rank file, but for its name,
// socket-PID-TIME.tbr. Processes become ranks in the order in which they began.
//
// A world is the processes that share an MPI_COMM_WORLD, such as those of one mpirun or
// of one MPI_Comm_spawn.
//
// Merged file, job.tbt: TB_TBT_MAGIC, u32 ranks, u32 MPI (enum tb_tbt_mpi), u64 beginning
// of the trace in ns of the common clock, text MPI version, u64 world, u64 the world that
// spawned it (0: unknown or none; enum tb_tbt_origin below), u32 origin, u32 groups, each
// u32 members,
// u32 of them local (struct tb_group), u32 runs, and runs of ranks (u32 first, u32
// count). Then rank after rank: u32 rank, u32 state (low byte: enum
// tb_tbt_state, above it the ending of the rank file), text host, u32
// communicators, for each the u32 number of its group or TB_TBT_NO_GROUP; u32 points of
// its clock, each u64 its own ns, i64 what is to be added there for the common clock
// (1 or 2 points: constant or linear); u32 lanes, for each u64 bytes of records;
// these bytes, lane after lane. A file of TB_TBT_MAGIC_2 was made of rank files that do
// not record which receives had MPI_ANY_SOURCE; one of TB_TBT_MAGIC_1 lacks world, parent
// and origin, too.
#ifndef TB_TBT_FORMAT_H
#define TB_TBT_FORMAT_H

#define TB_TBT_MAGIC	    "TBTRACE3"
#define TB_TBT_MAGIC_2	    "TBTRACE2"
#define TB_TBT_MAGIC_1	    "TBTRACE1"
#define TB_TBT_RANK_MAGIC   "TBRANK1\n"
#define TB_TBT_MAGIC_BYTES  8
#define TB_TBT_HEADER_BYTES 4096
#define TB_TBT_BLOCK_BYTES  (256 * 1024)
#define TB_TBT_BLOCK_HEADER 16
#define TB_TBT_BLOCK_MAGIC  0x4b4c4254u // "TBLK"
#define TB_TBT_LIST_PART    4096
#define TB_TBT_NO_GROUP	    0xffffffffu

// Offsets of the fields in the header of a rank's file.
enum tb_tbt_header {
	TB_TBT_AT_RANK = 8,	// u32
	TB_TBT_AT_N_RANKS = 12, // u32
	TB_TBT_AT_MPI = 16,	// u32
	TB_TBT_AT_STATE = 20,	// u32
	TB_TBT_AT_LOST = 24,	// u32: 1 when the disk was full, so that recording ended
	TB_TBT_AT_MONO_BEGIN = 32,   // u64: the clock at MPI_Init's end, in ns since boot
	TB_TBT_AT_REAL_BEGIN = 40,   // u64: the same instant in ns since 1970
	TB_TBT_AT_MONO_END = 48,     // u64: both at MPI_Finalize, else 0
	TB_TBT_AT_REAL_END = 56,     // u64
	TB_TBT_AT_CLOCK = 64,	     // text of up to 62 bytes: equal where the clock is
	TB_TBT_AT_HOST = 128,	     // text of up to 254 bytes
	TB_TBT_AT_VERSION = 384,     // text of up to 254 bytes
	TB_TBT_AT_WORLD = 640,	     // u64: the world's identity; 0: a file without
	TB_TBT_AT_ORIGIN = 648,	     // u32 (enum tb_tbt_origin)
	TB_TBT_AT_ENDING = 652,	     // u32: signal that ended it, or TB_TBT_EXITED
	TB_TBT_AT_RECORDS_ANY = 656, // u32: 1 where it records MPI_ANY_SOURCE
	TB_TBT_AT_JOB = 704, // text of up to 62 bytes: the world's name in its launcher
	TB_TBT_AT_PARENT = 768, // text of up to 62 bytes: that of who spawned it
};

// Who started a world: a launcher (or the program itself), or MPI_Comm_spawn.
enum tb_tbt_origin { TB_TBT_LAUNCHED, TB_TBT_SPAWNED };

// The ending of a rank that exited without MPI_Finalize; ranks that were killed have the
// number of the signal instead.
#define TB_TBT_EXITED 255

enum tb_tbt_mpi { TB_TBT_OPENMPI = 1, TB_TBT_MPICH = 2, TB_TBT_SOCKETS = 3 };

// How a rank ended. RUNNING: it was killed, or still runs. MISSING, only in merged files:
// it left no file.
enum tb_tbt_state { TB_TBT_RUNNING, TB_TBT_FINISHED, TB_TBT_ABORTED, TB_TBT_MISSING };

// Peers are ranks of the communicator, of an inter-communicator those of the remote
// group. `comm`, `window` and `file` are the rank's own numbers, `request` counts the
// rank's operations; it is never used twice. A field "x + 1" is 0 when there is none.
// clang-format off
#define TB_TBT_KINDS(X) /* kind, its number, fields, has a list */ \
	X(TIME, 1, 0, 0) \
	X(MORE, 2, 0, 1) \
	X(SEND, 3, 4, 0)	/* comm, peer, tag, bytes */ \
	X(RECV, 4, 4, 0)	/* comm, peer, tag, bytes */ \
	X(ISEND, 5, 5, 0)	/* comm, peer, tag, bytes, request */ \
	X(IRECV, 6, 2, 0)	/* comm, request */ \
	X(SENDRECV, 7, 7, 0)	/* comm, peer + 1, tag, bytes, peer + 1, tag, bytes */ \
	X(SEND_INIT, 8, 5, 0)	/* comm, peer, tag, bytes, request: persistent */ \
	X(RECV_INIT, 9, 2, 0)	/* comm, request: persistent */ \
	X(START, 10, 0, 1)	/* pairs of persistent request and request */ \
	X(COMPLETE, 11, 0, 1)	/* for each 4 * request + how (enum tb_tbt_done); if */ \
				/* received, then peer, tag, bytes */ \
	X(POLL, 12, 0, 0)	/* waited without result: MPI_Test in a row, probes */ \
	X(COLL, 13, 5, 1)	/* enum tb_tbt_op, comm, root (enum tb_tbt_root), bytes, */ \
				/* request + 1; sizes by member, of an exchange pairs of */ \
				/* member and bytes */ \
	X(COLL_INIT, 14, 5, 1)	/* the same, persistent: request */ \
	X(COMM, 15, 6, 1)	/* comm, parent + 1, how (enum tb_tbt_how), tag, members, */ \
				/* local members; runs: first rank, count */ \
	X(WINDOW, 16, 2, 0)	/* window, comm */ \
	X(RMA, 17, 5, 0)	/* window, peer, bytes there, bytes back, request + 1 */ \
	X(RMA_SYNC, 18, 3, 1)	/* window, what (enum tb_tbt_sync), peer + 1; peers */ \
	X(LEFT_OUT, 19, 1, 1)	/* calls; its name, a value a byte */ \
	X(FINALIZE, 20, 0, 0) \
	X(ABORT, 21, 0, 0) \
	X(FILE, 22, 2, 1)	/* file, comm; its name, a value a byte */ \
	X(IO, 23, 4, 0)		/* file, what (enum tb_tbt_io), byte + 1, bytes */ \
	X(ANY_SOURCE, 24, 0, 0) /* the next record's receive has MPI_ANY_SOURCE */ \
	X(SOCKET, 25, 3, 1)	/* socket, enum tb_tbt_socket, cookie; own address (two */ \
				/* values) and port, the peer's */ \
	X(WRITE, 26, 8, 0)	/* socket, bytes, bytes written so far + 1, TCP_INFO */ \
	X(READ, 27, 8, 0)	/* socket, bytes (0: the peer has closed), bytes */ \
				/* received so far + 1, TCP_INFO */ \
	X(READY, 28, 1, 0)	/* waited in poll or the like: enum tb_tbt_ready */ \
	X(SHUT, 29, 2, 0)	/* socket, 0: closed, 1: for writing */ \
	X(PROCESS, 30, 4, 0)	/* its id, its parent's, its network namespace, and how */ \
				/* many ns ago it began */ \
	X(CHILD, 31, 1, 0)	/* waited for the end of a child, by its id */ \
	X(SIGNAL, 32, 1, 0)	/* sent a signal to a process, by its id */ \
	X(THREAD, 33, 0, 0)	/* a thread begins, in a lane that may have been another's */ \
	X(WOKEN, 34, 0, 0)	/* waited for another thread of its process */
// clang-format on

enum tb_tbt_kind {
#define TB_TBT_KIND(name, number, n_fields, has_list) TB_TBT_##name = (number),
	TB_TBT_KINDS(TB_TBT_KIND)
#undef TB_TBT_KIND
		TB_TBT_N_KINDS
};

#define TB_TBT_FIELDS_MAX 8

// How a process came to a socket of TCP; INHERITED: from its parent, or unseen. Sockets
// have the process's own numbers. The kernel's cookie is equal for all that share a
// socket. Addresses are of IPv6, those of IPv4 mapped, in network order.
//
// An address of TB_TBT_LOCAL is a pipe, whose second value is its inode, and whose port
// is 1 to write to it; or a socket of socketpair(), with its inode.
//
// TCP_INFO: smoothed round trip, and so far: time busy sending, of it limited by the
// peer's window, and by the send buffer, all in us, and segments sent again.
#define TB_TBT_LOCAL UINT64_MAX
enum tb_tbt_socket { TB_TBT_INHERITED, TB_TBT_CONNECTED, TB_TBT_ACCEPTED };

// What a wait in poll, select or epoll_wait found, as bits; 0: it timed out.
enum tb_tbt_ready { TB_TBT_READABLE = 1, TB_TBT_WRITABLE = 2 };

// How an operation ended.
enum tb_tbt_done { TB_TBT_DONE, TB_TBT_RECEIVED, TB_TBT_CANCELLED };

// Collective operations; calls.h defines what `bytes` and sizes are.
enum tb_tbt_op {
	TB_TBT_BARRIER,
	TB_TBT_BROADCAST,
	TB_TBT_GATHER,
	TB_TBT_SCATTER,
	TB_TBT_ALLGATHER,
	TB_TBT_ALLTOALL,
	TB_TBT_REDUCE,
	TB_TBT_ALLREDUCE,
	TB_TBT_REDUCE_SCATTER,
	TB_TBT_SCAN,
	TB_TBT_EXSCAN,
	TB_TBT_EXCHANGE,
	TB_TBT_N_OPS
};

// The root, encoded as 4 * rank + one of these. In an inter-communicator the rank is one
// of the remote group, the caller itself, or a member of the caller's own group.
enum tb_tbt_root { TB_TBT_ROOT_RANK, TB_TBT_ROOT_SELF, TB_TBT_ROOT_BESIDE };

// Who takes part in making a communicator: all members of the parent, or only those of
// the new one.
enum tb_tbt_how { TB_TBT_FOUND, TB_TBT_BY_PARENT, TB_TBT_BY_GROUP, TB_TBT_INTER };

// Operations on a file of MPI-IO.
enum tb_tbt_io { TB_TBT_IO_READ, TB_TBT_IO_WRITE, TB_TBT_IO_OTHER };

// Synchronization of one-sided communication.
enum tb_tbt_sync {
	TB_TBT_SYNC_FENCE,
	TB_TBT_SYNC_LOCK,      // peer, or none: all
	TB_TBT_SYNC_UNLOCK,    // peer, or none: all
	TB_TBT_SYNC_FLUSH,     // peer, or none: all
	TB_TBT_SYNC_POST,      // peers: origins
	TB_TBT_SYNC_START,     // peers: targets
	TB_TBT_SYNC_COMPLETED, // MPI_Win_complete
	TB_TBT_SYNC_WAITED,    // MPI_Win_wait
};

#endif
