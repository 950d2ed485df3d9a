// The prompt: a line of text for a search, a command, a filter, a run or a file name,
// with offers below it. It edits the text and keeps the best offers; search.h
// finds them, and the viewer acts on them.
#ifndef TB_PROMPT_H
#define TB_PROMPT_H

#include "requests.h"
#include "style.h"

#define TB_PROMPT_SHOWN	  12		    // offers at a time, and most of a search
#define TB_PROMPT_RESULTS 500		    // most of a list
#define TB_PROMPT_ABOUT	  TB_PROMPT_RESULTS // what a click on `about` hits
#define TB_PROMPT_TEXT	  512

enum tb_prompt_kind {
	TB_PROMPT_NONE, // closed
	TB_PROMPT_SEARCH,
	TB_PROMPT_COMMANDS,
	TB_PROMPT_FILTER, // applied while it is typed
	TB_PROMPT_SAVE,
	TB_PROMPT_EXPORT,
	TB_PROMPT_OPEN,
	TB_PROMPT_RUNS,	 // of the store
	TB_PROMPT_OTHER, // the same, for one to compare with
};

struct tb_prompt_result {
	char text[160];		   // columns, separated by tabs
	char note[96];		   // on the right, muted
	struct tb_pick pick;	   // of a search
	struct tb_request request; // of a command
	int64_t number;		   // of a run, or the place of a file in its list
	int score;		   // lower is better
};

struct tb_prompt {
	enum tb_prompt_kind kind;
	char text[TB_PROMPT_TEXT];
	char about[96];					    // the list, behind the title
	struct tb_prompt_result results[TB_PROMPT_RESULTS]; // best first
	int n, chosen;
	int first; // that is shown
};

// What a key did to the prompt.
enum tb_prompt_event {
	TB_PROMPT_IGNORED,
	TB_PROMPT_MOVED,    // another offer is chosen
	TB_PROMPT_EDITED,   // the text changed: the offers are out of date
	TB_PROMPT_ACCEPTED, // Return
	TB_PROMPT_LEFT,	    // Escape; the text is empty
};

// tb_prompt_key handles a key while the prompt is open.
enum tb_prompt_event tb_prompt_key(struct tb_prompt *prompt, const char *key);

// tb_prompt_offer inserts a result by its score, after equal ones; false when it is not
// among the best TB_PROMPT_RESULTS of a list, or TB_PROMPT_SHOWN of anything else.
bool tb_prompt_offer(struct tb_prompt *prompt, const struct tb_prompt_result *result);

// tb_prompt_wants returns whether every word that was typed is in a text, in any case.
bool tb_prompt_wants(const struct tb_prompt *prompt, const char *text);

// tb_prompt_choose chooses an offer and scrolls to it; tb_prompt_scroll scrolls, by
// offers, and chooses nothing.
void tb_prompt_choose(struct tb_prompt *prompt, int result);
void tb_prompt_scroll(struct tb_prompt *prompt, int by);

// tb_prompt_draw draws the prompt on top of a picture; `hovered` is what is under the
// pointer.
void tb_prompt_draw(const struct tb_prompt *prompt, const struct tb_style *style,
	struct tb_pick hovered, struct tb_picture *picture);

#endif
