// Reads Open Trace Format 2, in which Score-P, EZTrace and others write what the
// processes of a program did, through libotf2.
//
// Memory grows with the calls, not with the regions that were entered.
// libotf2 has one handler of errors per process: one thread at a time.
//
// Rules:
//
// libotf2 applies the archive's mappings of references, clock offsets (interpolated) and
// resolution.
// 1. Ranks are the locations that take part in MPI (the group of type COMM_LOCATIONS),
//    in their order; in an archive without that group the processes. The other threads
//    of a rank's process are lanes if they make MPI calls. The host is the node of the
//    system tree above the process.
// 2. Calls. A region is an MPI call if its paradigm is MPI or its name begins with
//    MPI_ or PMPI_; MPI calls within one belong to it. The time between two calls of a
//    thread is computation, but for the time in which the tracer wrote its buffer to
//    disk. A call that sends nothing takes no time, which the notes sum up; but ranks
//    begin as far apart as they left MPI_Init. Records outside of any MPI region have
//    no duration.
// 3. Messages. MpiSend and MpiRecv block, MpiIsend and MpiIrecvRequest start (so does
//    the send of MPI_Bsend); several in one call (MPI_Sendrecv) start together, and
//    the call ends when all are complete. A call in which requests complete waits for
//    these. Cancelled requests are left out.
// 4. Communicators are groups: those of ranks in any order, inter-communicators, and
//    MPI_COMM_SELF, one per rank. Rooted collective calls of inter-communicators are
//    left out and counted: not every member's record names the root.
// 5. Sizes of collective calls. A record has two sizes, sent and received. Score-P's
//    are the totals over the n members, of which the own block is one, unless the call
//    was in place. Of these the size of a block is:
//    - broadcast, scatter(v): received; of a root that received nothing, sent / (n -
//      1)
//    - gather(v), reduce: sent; of a root that sent nothing (in place), received / (n
//      - 1)
//    - allgather(v), allreduce, alltoall(v, w): sent / n, or sent / (n - 1) if only
//      that is whole
//    - reduce_scatter, reduce_scatter_block: sent
//    - scan: (sent + received) / (n + 1), in place / (n - 1), as the rank's place
//      tells
//    - exscan: (sent + received) / (n - 1)
//    To whom alltoallv sends how much is not in the archive: it is spread evenly.
//    EZTrace's sizes are those of one block.
// 6. Receives without an end. EZTrace records the beginning of MPI_Irecv, but not what
//    it received. In the order of posting, such a receive gets the earliest message to
//    its rank that no other needs, sent before its request was used again, or at most
//    1 ms later. It is waited for by the first MPI_Wait or MPI_Test that ends after
//    the message was sent. Clocks are first shifted by the median difference of the
//    ends of all ranks' barriers, all-reduces, all-gathers and all-to-alls.
// 7. Left out, counted in the notes: one-sided operations, file operations, forks of
//    threads, and calls of which the tracer wrote no record (older Score-P:
//    non-blocking collectives; EZTrace: MPI_Sendrecv).
// Events that are missing or run backwards in time are an error, too; --lenient leaves
// out ranks whose own definitions (N.def) break off. Where receives have no end (rule
// 6), all ranks end when the first breaks off.
#ifndef TB_OTF2_TRACE_H
#define TB_OTF2_TRACE_H

#include "definitions.h"
#include "reading.h"

// tb_otf2_probe returns whether `path`, a file that begins with the `n` bytes `first`, or
// a folder (n is 0), is an archive: an anchor file, or a folder with exactly one.
bool tb_otf2_probe(const char *path, bool is_folder, const uint8_t *first, size_t n);

// tb_otf2_read reads the archive whose anchor file, or the folder with it, is paths[0];
// see tb_calls_read. With reading->lenient a process whose events are missing or break
// off has those that could be read.
tb_calls_read tb_otf2_read;

// An archive as files: its anchor file, and what is checked before libotf2 reads it.

#define TB_OTF2_PATH 4352

struct tb_otf2_archive {
	OTF2_Reader *reader;
	char anchor[TB_OTF2_PATH];
	char folder[TB_OTF2_PATH]; // with the locations' files
	bool has_files;		   // a file per location
	bool has_local_definitions;
	char said[256]; // what libotf2 complained of last, or ""
	OTF2_ErrorCallback before;
	bool listens;
	size_t n_ready; // locations, from the first on, that were opened or passed by
	bool has_selected;
};

#endif
