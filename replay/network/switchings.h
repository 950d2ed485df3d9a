// The switchings that there are and what each can do. All that differs by switching asks
// its row, never its name: presets, hosts, the engine, findings, words on the screen.
//
// A row is in switchings.c; how such links and switches carry packets is a room of its
// own, replay/switching/NAME/.
#ifndef TB_SWITCHINGS_H
#define TB_SWITCHINGS_H

#include "preset_keys.h"

// Their names. The first is that of networks that name none.
#define TB_SWITCHINGS(DO) DO(circuits) DO(credits) DO(ethernet) DO(fluid)

// What is said about waits. With circuits a header waits for a virtual channel, with
// credits for credits, and where links are paused, for the end of a pause.
struct tb_switching_words {
	const char *channels; // a link has so many: "virtual channels"
	const char *awaited;  // a header waits for: "a virtual channel"
	const char *lacked;   // a header that waits found: "no free virtual channel"
	const char *held;     // the packets it waits for hold: "the virtual channels"
	const char *stalled;  // while nothing moves, "a virtual channel was held"
	const char *culprit;  // "Whose packets held the virtual channels"
	const char *root;     // "The link at the end of a chain of held channels"
	const char *beside;   // headers that count beside the wait: "arriving over it"
};

// Which of the two waits of a link (replay/records/link_figures.h) tells where congestion
// is, so that lists are sorted by it.
enum tb_wait_lead {
	TB_LEADS_CAME_BY, // of the packets that came by it: they hold it meanwhile
	TB_LEADS_FOR,	  // for it: packets queue before it
};

struct tb_switching_kind {
	const char *name; // in presets: switching = NAME
	struct tb_switching_words words;
	const struct tb_switching_words
		*paused; // with flow_control = pause; NULL: the same
	enum tb_wait_lead leads;

	bool has_circuits;	 // a packet holds its path until it is acknowledged
	bool has_credits;	 // buffers have room for what is on the way to them
	bool has_broadcasts;	 // one packet that reaches a range of nodes
	bool has_queue_pairs;	 // in which a node's packets take turns
	bool has_service_levels; // of jobs, for which lanes stand
	bool has_slow_nodes;	 // that drain packets at rates of their own
	bool has_pcie;		 // two directions at once; a node has a bus otherwise
	bool has_connections;	 // of TCP; captured packets are sent as they were cut
	uint32_t frame_headers;	 // captured ones have these bytes of headers themselves
	bool stores;		 // a switch has all of a packet before it sends any on
	// It stands for another one, whose nodes, rates and latencies a network has. Of
	// the other's keys in presets it leaves out what it has no use for.
	bool stands_for_other;
	const char *left_out; // where another one stands for it

	const struct tb_preset_key *keys; // beyond those of all networks
	size_t n_keys;
	// check looks at what keys mean together, of a preset that `source` names.
	int (*check)(const struct tb_network_params *params, const char *source,
		struct tb_error *error);
};

// tb_switching_kinds lists them in the order of TB_SWITCHINGS, and how many there are.
const struct tb_switching_kind *tb_switching_kinds(size_t *n);

// tb_switching_find finds a switching by its name; NULL when there is none.
const struct tb_switching_kind *tb_switching_find(const char *name);

// tb_switching_of is the switching of a network; NULL when it does not exist, as no
// preset and no store has it.
const struct tb_switching_kind *tb_switching_of(const struct tb_network_params *params);

// tb_switching_nodes is the switching whose nodes a network has: its own one, or that for
// which it stands; NULL when it does not exist.
const struct tb_switching_kind *tb_switching_nodes(
	const struct tb_network_params *params);

// tb_switching_frame_headers is how many bytes of headers a captured frame has itself,
// which the network's take the place of (docs/ethernet.md, E8; docs/credits.md, C41); 0:
// captured frames are cut into packets as messages are.
uint32_t tb_switching_frame_headers(const struct tb_network_params *params);

// tb_switching_captured_share is the share of a link's rate that is left for the bytes of
// captured frames, full ones back to back.
double tb_switching_captured_share(const struct tb_network_params *params);

// tb_switching_draws returns whether a replay on a network may depend on its seed: routes
// are drawn, or marks, or which of the frames of one instant goes first. Otherwise all
// seeds come to the same, but for random placements.
bool tb_switching_draws(const struct tb_network_params *params);

// tb_switching_spreads returns whether each packet of a message chooses its way up.
bool tb_switching_spreads(const struct tb_network_params *params);

// tb_switching_caution writes what every heading has behind a network's name: "", or that
// it is not as others are, such as " (fluid: ...)". Returns buffer; TB_CAUTION_SIZE bytes
// suffice.
enum { TB_CAUTION_SIZE = 192 };
char *tb_switching_caution(
	const struct tb_network_params *params, char *buffer, size_t size);

// tb_switching_words returns the words of a network; NULL when its switching does not
// exist.
const struct tb_switching_words *tb_switching_words(
	const struct tb_network_params *params);

// tb_wait_lead_words are the words of enum tb_wait_lead, "came-by" and "for", on the
// command line and in stores; NULL behind the last.
extern const char *const tb_wait_lead_words[];

// tb_switching_keys lists the keys of all networks and those that a switching (NULL:
// none) adds, at most TB_PARAMETERS_MOST, and returns how many.
size_t tb_switching_keys(const struct tb_switching_kind *kind,
	struct tb_preset_key keys[TB_PARAMETERS_MOST]);

#endif
