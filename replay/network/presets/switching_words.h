// The words of a switching, for those who write about waits and do not know it: with
// circuits a header waits for a virtual channel, with credits for credits, and where
// links are paused, for the end of a pause.
#ifndef TB_SWITCHING_WORDS_H
#define TB_SWITCHING_WORDS_H

struct tb_network_params;

struct tb_switching_words {
	const char *channels; // a link has so many: "virtual channels"
	const char *awaited;  // a header waits for: "a virtual channel"
	const char *lacked;   // a header that waits found: "no free virtual channel"
	const char *held;     // the packets it waits for hold: "the virtual channels"
	const char
		*stalled; // in a stall nothing moves while: "a virtual channel was held"
	const char *culprit; // "Whose packets held the virtual channels"
	const char *root;    // "The link at the end of a chain of held channels"
};

// tb_switching_words finds the words of a network by its `switching` and, with credits,
// `flow_control`; NULL when there is no such switching. They live for ever.
const struct tb_switching_words *tb_switching_words(
	const struct tb_network_params *params);

#endif
