// Logs of NCCL and RCCL (NCCL_DEBUG=INFO), as what the ranks called and how they were
// wired.
//
// Format: lines among any others, also behind what a launcher puts before them:
//
//   HOST:PID:TID [DEVICE] NCCL INFO TEXT
//
// with "[2026-11-26 10:00:00] " before the host where NCCL was asked for times. Of TEXT
// are read (src/init.cc, src/enqueue.cc, src/graph, src/transport of NCCL 2.4 to 2.29,
// and RCCL's likewise):
//
//   ncclCommInitRank comm 0x.. rank 0 nranks 8 cudaDev 0 ... commId 0x.. - Init COMPLETE
//   comm 0x.. rank 0 nRanks 8 nNodes 2 localRanks 4 localRank 0 MNNVL 0
//   Channel 00/08 : 0 1 2 3 4 5 6 7        Ring 00 : 7 -> 0 -> 1
//   Trees [0] 1/-1/-1->0->-1 [1] ...       Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
//   NET/IB : Using [0]mlx5_0:1/IB ...      Using network IB
//   + NET[50.0] - NET/0 (...)              an adapter's rate in GB/s (GRAPH)
//   AllReduce: opCount 0 sendbuff 0x.. recvbuff 0x.. count 1024 datatype 7 op 0 root 0
//   comm 0x.. [nranks=8] stream 0x..
//   AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}
//
// Memory grows with the calls,
// communicators and processes of a log, not with its other lines.
//
// Rules:
//
// What NCCL_DEBUG=INFO prints, 2.4 to 2.29, among other output; a file, several, or
// the folder of NCCL_DEBUG_FILE=nccl.%h.%p. info has hosts, rings, trees, adapters and
// connections; with NCCL_DEBUG_SUBSYS=INIT,GRAPH,COLL,TUNING there are calls, of which
// a job is made:
// 1. A GPU of a process is a rank, numbered as the largest communicator does; without
//    INIT by host and device, and sends are refused. Communicators are told apart by
//    commId (2.19) or parent and color, else by their order in each rank; where
//    several of one size could have the same members, they are refused. All members'
//    logs are needed, or --clone-ranks N where all calls are collective and of all
//    ranks.
// 2. Nothing tells what was computed, nor which stream waits for which: the calls of a
//    stream follow each other at once. Times of lines are those of the calls'
//    beginnings.
// 3. Sends and receives go at once that follow each other with the same opCount, until
//    one repeats kind and partner.
// 4. Algorithm and channels are those of the lines Bytes -> Algo of the first rank.
#ifndef TB_NCCL_LOG_H
#define TB_NCCL_LOG_H

#include "bytes.h"
#include "reading.h"

// tb_nccl_begins returns whether the first bytes of a file have such a line.
bool tb_nccl_begins(struct tb_bytes first);

// tb_nccl_mentions returns whether one stands in the first MiB of a file of text, as
// in the output of a job that says something else first.
bool tb_nccl_mentions(const char *path);

// tb_nccl_is_folder returns whether a folder has such logs, as NCCL_DEBUG_FILE makes them
// (a file for each process).
bool tb_nccl_is_folder(const char *path);

// tb_nccl_read reads the logs of one job: files, or a folder of them. TB_EFORMAT for a
// line of a call that is broken, for logs without calls, for communicators of which the
// logs lack members, and where they do not say who is a member of which.
int tb_nccl_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made,
	struct tb_error *error) TB_MUST_USE;

// tb_nccl_facts adds ranks, hosts, rings, trees, connections, adapters and versions.
int tb_nccl_facts(struct tb_facts *facts, const struct tb_reading *reading,
	const char *const *paths, size_t n, struct tb_error *error) TB_MUST_USE;

#endif
