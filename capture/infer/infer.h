// Infers a job from a packet capture: the messages, what each waited for, and the
// computation between.
//
// The bytes of a connection are cut into messages; what stands in the ports of the
// captured network gives when a message was delivered and since when its sender can have
// called for it; events of a node that recur give what a message waits for, and where
// none recur, the last delivery does. The rules, each with its confidence (how far all
// this holds is in docs/closed-loop.md):
//
// Messages:
//
// L1. The bytes of one direction of a TCP connection are one message until a segment
//   that is not full and has PSH: its writer had no more bytes. Retransmitted bytes
//   count once; bytes that the capture lost count as their message's, and are
//   reported. (high, but two writes within the time of one segment are one message)
// L2. A message also ends when all its bytes were acknowledged and its node sent
//   nothing for 1 ms and the time of four full frames. A port that sends each frame at
//   most a frame's time late counts as busy. If the capture has no acknowledgements, a
//   pause of that length ends it. (medium)
// L3. A message whose length is a multiple (up to 8 times) of a size that recurs in
//   its connection, or the sum of such a size and another that recurs at least half as
//   rarely, is cut into these; not if a connection has more than eight recurring
//   sizes. (medium)
// L4. RDMA messages end with the packets of the opcodes last and only; a read or
//   atomic request is a message of 16 bytes, and its response another. Of other
//   transports each datagram is a message. (high; low for datagrams)
//
// Times:
//
// Ports are those of a switch: a capture is behind the port of the sender, in front of
// the port of the receiver.
// L5. Delivery. The rate of a node's port is the most common one of eight full frames
//   in a row; nodes without such frames have the median of the others. After a pause a
//   port may let more pass at once than a line of that rate carries: its bucket is the
//   most common excess when one of the next eight frames had to wait. What is sent to
//   a node waits in its port, with the same rate and bucket; a message is delivered
//   when its last byte leaves it, but not after the receiver acknowledged it. (high
//   where ports were busy)
// L5a. Path. The path's time is the time from what is sent to a node until its
//   kernel's answer passes: the least of the halves of handshakes and of
//   acknowledgements without data, except those that a timer may have delayed (40 or
//   200 ms). A delivery counts from when the answer could have passed, so the job has
//   the new network's latency, not the captured one's. A half that was seen once, and
//   is at most an eighth of the other, is the host's. Without such answers the path is
//   unknown, and the range's sentence reports it. (high)
// L5b. What no program does. The time of a handshake, a gap that ends with a
//   retransmission, and a short segment's wait for the acknowledgement of another
//   (Nagle) are no computation. Keep-alives and probes of windows are no message.
//   (high)
// L5c. A closed window of 1 ms or more is its receiver's time. The acknowledgement
//   that opens it is a message of a byte, which the receiver sends as long after the
//   last bytes came as it did, and for which what follows waits. Reports keep it apart
//   from computation; GOAL has a calc. (high)
// L6. Call. A sender whose port had no queue called when the first byte left. If a
//   frame left within 20 us of when the port let it, or follows the one before at the
//   port's rate, the call is hidden: it lies between the beginning of the queue, or
//   the last delivery that an acknowledgement in front of the message attests, and the
//   instant at which the first byte left. (high if not hidden)
//
// Causes:
//
// L7. Messages of one ordered pair and length are repetitions of one event. If a pair
//   has more than eight lengths, its events are distinguished by their place in the
//   program instead: the targets of the node's eight messages before. Such a message
//   also waits for the call before it. (medium)
// L8. What recurs. Deliveries to the sender, and its own calls, that come before each
//   message are counted if their event is as frequent, or up to 16 times as frequent
//   or as rare. What came before in each of the 33 repetitions around a message, but
//   for one, is its cause, if it was not that of the repetition before. If four of
//   these calls are not hidden, what may have come before the hidden ones counts
//   there; otherwise only what was delivered before the earliest possible call, or is
//   attested. (high)
// L8a. Exchanges. If two nodes send each other about as many messages, those that
//   reach the sender of an event distinguished by its place are counted against those
//   that it sent back. What came before it was due in all of 33 places came early, and
//   is no cause. (high)
// L9. The gap is the time from the last cause to the call. If the gaps of an event
//   that are not hidden are the same each time (half of them within a fifth of the
//   median or within 100 us), they are computation, each as long as it was. If a call
//   is hidden, its gap is the event's median, within its bounds; and the least if
//   fewer than a fifth of the event's calls are not hidden. (high, low if hidden)
// L10. What does not recur. A message also waits for the last delivery before its call
//   if the gaps differ, if the last delivery explains gaps that are less than half as
//   long and the same each time, if one gap is half as long again as the median, or if
//   the message has fewer than four repetitions. A node is one process: a message also
//   waits for the call before where no rule decides. (medium to low)
// L11. A message does not name a cause that another of its causes waited for. Receives
//   are posted at the beginning.
// L12. A gap that stays half as long again as the median (and 100 us) is a wait whose
//   cause was not found: the median is taken, or none if fewer than a fifth of the
//   event's calls are not hidden. Not with fewer than four repetitions. (medium)
//
// Answers:
//
// L13. Rendezvous. Short messages (below 256 bytes) of one length, followed by short
//   ones of another length the other way, and those by long ones (from 4 KiB) of a
//   third length the first way, are requests, answers and data, if there are about as
//   many of each (within an eighth), and at most one in 16 does not fit. (high)
// L14. Order. If answers leave both before and after their node's own request to the
//   same peer (each more than one in eight times), the captured network's order of
//   delivery decided that. Then a node makes its requests in rounds, one for each
//   peer; a round waits for the data that came since the round before, and computes.
//   An answer waits for the computation of its round and for the request, in whatever
//   order; requests that came before the computation began are answered before the
//   node's own, later ones behind them. Data wait for their answer alone. If the order
//   hardly varies it is the program's, and L8 to L10 hold. (medium)
// L15. Computation of a round is the gap from the last of its data; gaps a quarter
//   longer than the first quartile of the node's gaps that are not hidden are replaced
//   by that. (high where calls are seen)
//
// L16. Range. Two more jobs are hypotheses beside the likely one. In LEAST calls are as
//   early as L6 and the connection allow, and computation is what followed after all that
//   had come (above two frames, that was acknowledged) and after the node's own messages
//   had left; L14 is left out. REGULAR has computation that is the same each time: what
//   comes after everything that may be a cause is computation, but cut short where
//   something else came meanwhile. So it is the third quartile of an event's least gaps
//   that are not hidden, if the seventh octile is like it (as in L9), else each time the
//   least. If the likely causes leave half as much again, it waits for the last delivery,
//   too. The likely job takes what is not explained for computation. It counts by the
//   square of what REGULAR's weight lacks to 1.
//   Each is replayed on the network and at the captured rate. It counts by 1 / (1 + (e /
//   10 %)^2), where e is what it misses of the captured time there, over that time or, if
//   it takes longer than there, over what it takes.
//   What it takes is scaled by the captured time over its own if it is quicker than at
//   the captured rate, else what it takes more is added to the captured time. The range
//   has 97 % of the sum of such hills, of 6.5 % of their time and 5 % of the captured
//   time per change of the time of a byte. Beside it stands arithmetic, on one Ethernet
//   switch without faults: no slower on a faster network, no quicker than the ratio of
//   rates, by 20 % (measured times scatter, and TCP loses). On other networks only the
//   ratio to faster ones holds. What comes closer to the captured time, the network at
//   the captured rate or one switch, is taken for the captured one. (The 10 and 20 % were
//   chosen on the four programs of one set, and judged on the six of another: of 140
//   pairs 134 hold. Chosen on the six, 50 of 57 of the four hold, and 185 of 197 with
//   each program left out in turn. Of four more programs, run later, 36 of 36 hold. What
//   was tried without gain: times of calls by TCP's time stamps, which date them to 1 ms
//   behind queues; counting by what a hypothesis misses of each 24th of a rank's
//   messages; all that may be a cause being one; early calls with late deliveries;
//   REGULAR by the likely causes' median where it varies less than the calls, by half, an
//   eighth or a sixteenth: one bottleneck paces all alike; pauses that end no message
//   where its last segment has no PSH; sizes as often as 64 times in one of L3.) The job
//   that is replayed and stored is the hypothesis that comes closest to the captured time
//   at the captured rate (REGULAR, or else the likely one, unless another misses it by 2
//   % less), whatever network it is then replayed on; what it takes is always part of the
//   range.
// L17. A second capture (`--also OTHER.pcap,from=TIME,to=TIME`), of the same program at
//   another rate, is refused unless at least 80 % of the bytes of both are between the
//   same endpoints and the sums differ by at most 1 %. The hypotheses of both are one
//   posterior: each is replayed at both captured rates, counts by what it misses at both,
//   and is scaled by the nearer one, between them by both. Arithmetic has a third bound:
//   a longest path, computation and bytes at x seconds each, is convex in x, so it lies
//   below the line through both measured times between their rates, and above it beyond.
//
// Nothing is known of the program or its protocol; a job is as good as the order of
// events that it was captured in. Memory grows with the messages, not with the packets,
// and lies in files where the packets' option `beside` is set.
// Any thread, one object at a time.
#ifndef TB_INFER_H
#define TB_INFER_H

#include "job.h"
#include "packets.h"

struct tb_infer_report {
	uint64_t n_records;	 // looked at: data, retransmissions, acknowledgements
	uint64_t n_messages;	 // of the job
	uint64_t n_split;	 // of them by the sizes of others (rule L3)
	uint64_t bytes;		 // of all messages
	uint64_t n_unfinished;	 // at the end of the capture, kept as they were
	uint64_t n_missing;	 // messages with bytes that were never captured
	uint64_t missing_bytes;	 // of them
	uint64_t n_repeated;	 // records of retransmissions
	uint64_t n_recurring;	 // causes that recur, and a gap as long each time
	uint64_t n_nearest;	 // cause is the last delivery
	uint64_t n_first;	 // nothing came before
	uint64_t n_hidden;	 // when the program called is hidden by its own queue
	uint64_t n_untold;	 // computation before it may be the captured path's time
	int64_t path_ns;	 // one way, of the captured network, mean of messages
	uint64_t n_closed;	 // windows of receivers that opened again
	int64_t closed_ns;	 // they were closed
	uint64_t n_acknowledged; // deliveries that an acknowledgement dates earlier than
				 // the ports do
	uint64_t n_unnumbered;	 // datagrams, of which nothing says where messages end
	uint64_t port_bytes_per_s; // median of the nodes' ports; 0: not seen
	uint64_t n_rdma;	   // records of InfiniBand's transport, also in RoCE
	uint64_t bucket_bytes;	   // that a port lets pass at once after a pause
	uint64_t n_unplaced;	   // records left out: endpoints without a node
	uint32_t n_endpoints_unplaced;
	tb_time_ps squeezed_ps; // pauses taken out (packets.h)
	bool is_cut;		// the capture is damaged there (packets.h)
	tb_time_ps span_ps;	// from the first record to the last
};

// tb_infer_options returns the options with which packets must be opened to be inferred
// from: `options` with acknowledgements and retransmissions kept, and time not scaled.
struct tb_packets_options tb_infer_options(const struct tb_packets_options *options);

// tb_infer_job reads packets that were opened with tb_infer_options to their end and
// makes a job: a rank per node, a tag per message of an ordered pair. Its notes are the
// report in sentences. With `bounded` it gets bounds (job.h): the hypotheses of rule L16.
// TB_EFORMAT when no message is left, TB_ECAPACITY when there are too many; errors of
// tb_packets_next.
int tb_infer_job(struct tb_packets *packets, bool bounded, struct tb_job **job,
	struct tb_infer_report *report, struct tb_error *error) TB_MUST_USE;

// tb_infer_jobs makes a job of each of the packets' jobs instead (tb_packets_job_name),
// and stores them in `jobs`, which has room for tb_packets_n_jobs: NULL for one of which
// no message was captured. Its ranks are its nodes, in their order. All times count from
// the beginning of the capture, so that jobs begin when they did. What is not counted by
// message stands in no report. TB_EUSAGE when jobs exchange messages; else as
// tb_infer_job.
int tb_infer_jobs(struct tb_packets *packets, bool bounded, struct tb_job **jobs,
	struct tb_error *error) TB_MUST_USE;

#endif
