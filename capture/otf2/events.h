// Turns the events of one location into the calls of a lane.
#ifndef TB_EVENTS_H
#define TB_EVENTS_H

#include "definitions.h"
#include "reading.h"
#include "steps.h"

// Records that are left out, for a note.
enum tb_otf2_left_out {
	TB_OTF2_RMA_PUT,
	TB_OTF2_RMA_GET,
	TB_OTF2_RMA_ATOMIC,
	TB_OTF2_RMA_COLLECTIVE,
	TB_OTF2_IO,
	TB_OTF2_THREADS,
	TB_OTF2_HANDLES,     // collective calls that make or free handles
	TB_OTF2_INTER_ROOT,  // rooted collective calls of inter-communicators
	TB_OTF2_CANCELLED,   // requests
	TB_OTF2_UNFINISHED,  // non-blocking collective calls
	TB_OTF2_STRAY,	     // ends of requests that did not begin
	TB_OTF2_MEASURE_OFF, // times in which nothing was recorded
	TB_OTF2_UNDEFINED,   // communication in communicators of which the definitions
			     // break off
	TB_OTF2_UNKNOWN,     // records that this libotf2 does not know
	TB_OTF2_N_LEFT_OUT
};

#define TB_OTF2_VIEWS 16

// What is read at the moment. Zero it, set the first four, then begin rank by rank and
// location by location.
struct tb_otf2_events {
	struct tb_otf2_definitions *of;
	struct tb_calls *calls; // gets groups
	const struct tb_reading *reading;
	OTF2_EvtReaderCallbacks *callbacks; // made by tb_otf2_events_init

	struct tb_otf2_steps steps; // of the rank
	struct tb_map requests;	    // of the rank: the step that each started last
	uint32_t rank, lane;
	uint64_t rank_begin; // time of the rank's first event
	uint64_t n_events;   // of the location

	// Of the location, in ticks. Time up to `from` has been accounted for.
	uint64_t last, from, calc;
	uint32_t depth; // of MPI regions
	bool has_begun;
	uint64_t passed; // in calls without steps since the last step

	// Of the MPI call that it is in. Its steps begin at first_step.
	struct tb_otf2_region *region;
	uint64_t enter;
	uint32_t first_step;
	bool is_recorded; // some record says what it did
	uint32_t *ended;  // steps whose requests it completed
	size_t n_ended, ended_room;

	struct {
		uint32_t comm;
		bool is_set;
		struct tb_otf2_view view;
	} views[TB_OTF2_VIEWS]; // of the rank, by communicator
	uint64_t left_out[TB_OTF2_N_LEFT_OUT];
	uint64_t lost; // ticks in calls without steps, between others
	int status;
	struct tb_error error;
};

// tb_otf2_events_init makes the callbacks. TB_ENOMEM.
int tb_otf2_events_init(struct tb_otf2_events *of, struct tb_error *error) TB_MUST_USE;
void tb_otf2_events_fini(struct tb_otf2_events *of);

// These begin a rank and, within it, the location of the next lane. tb_otf2_events_end
// ends the location, in the middle of an MPI call too.
void tb_otf2_events_rank(struct tb_otf2_events *of, uint32_t rank);
void tb_otf2_events_location(struct tb_otf2_events *of);
void tb_otf2_events_end(struct tb_otf2_events *of);

// tb_otf2_ns converts a time of the archive's clock into ns since its beginning.
uint64_t tb_otf2_ns(const struct tb_otf2_definitions *of, uint64_t time);

// tb_otf2_events_note adds notes on what was left out to the calls.
void tb_otf2_events_note(const struct tb_otf2_events *of);

#endif
