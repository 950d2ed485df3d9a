// What a run's input summary keeps of the captures that it replayed: how long they were,
// how much they carried, and what they asked of the network.
#ifndef TB_RUN_CAPTURE_H
#define TB_RUN_CAPTURE_H

#include "run.h"

// Sums over the captures of a run, with the time scale of the replay applied.
struct tb_run_capture {
	uint64_t wire_bytes;	// of the captured frames, as replayed
	uint64_t payload_bytes; // what their transport carried for its user
	tb_time_ps idle_ps;	// idle time taken out; TB_TIME_NEVER: 106 days or more
	// Of the capture that asks most of one node: its share of what a node can send or
	// receive, over the whole trace, and the time scale that would make it a half; 0
	// when unknown.
	double busiest_share, half_scale;
	// For how many packets each captured one stands, if it was sampled; 0: it was
	// not.
	uint64_t sampled_least, sampled_most;
};

// tb_run_capture fills `capture`; false, and unchanged, when the run replayed no capture
// or its summary is not that of one, as in a run that did not end. Cost: parses the
// summary.
bool tb_run_capture(const struct tb_run_info *info, struct tb_run_capture *capture);

// tb_run_sampled writes "1 packet of 1,000 sampled, scaled" of a capture that was
// sampled, or nothing, and returns buffer; 96 bytes suffice.
char *tb_run_sampled(const struct tb_run_capture *capture, char *buffer, size_t size);

// tb_run_carried returns what the bytes are that a run delivered: "on the wire" of
// captures, whose frames are the messages ("on the wire, scaled" if it was sampled); "of
// payload" of jobs; "of messages" of both.
const char *tb_run_carried(const struct tb_run_info *info);

// tb_run_carried_by returns the same of an input_kind, without "scaled".
const char *tb_run_carried_by(const char *input_kind);

// tb_run_carried_title returns the same as the name of a row: "on the wire", "payload",
// "messages".
const char *tb_run_carried_title(const struct tb_run_info *info);

// tb_run_carried_column returns it as the name of a column: "On the wire", "Payload",
// "Bytes".
const char *tb_run_carried_column(const struct tb_run_info *info);

#endif
