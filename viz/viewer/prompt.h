// The line that one types into: search, commands, a filter, a file to save to; with what
// it offers below. Part of the viewer's state; for viewer*.c and view_*.c alone.
#ifndef TB_PROMPT_H
#define TB_PROMPT_H

#include "picture.h"
#include "requests.h"

#define TB_PROMPT_RESULTS 12
#define TB_PROMPT_TEXT	  512

enum tb_prompt_kind {
	TB_PROMPT_NONE,
	TB_PROMPT_SEARCH,
	TB_PROMPT_COMMANDS,
	TB_PROMPT_FILTER, // applied while it is typed
	TB_PROMPT_SAVE,
	TB_PROMPT_EXPORT,
	TB_PROMPT_OPEN,
};

struct tb_prompt_result {
	char text[160];
	char note[96];		   // on the right, muted
	struct tb_pick pick;	   // of a search
	struct tb_request request; // of a command
	int score;		   // the lower the better
};

struct tb_prompt {
	enum tb_prompt_kind kind;
	char text[TB_PROMPT_TEXT];
	struct tb_prompt_result results[TB_PROMPT_RESULTS]; // best first
	int n, chosen;
};

struct tb_viewer;

// tb_prompt_open shows it with some text in it.
void tb_prompt_open(struct tb_viewer *viewer, enum tb_prompt_kind kind, const char *text);
void tb_prompt_close(struct tb_viewer *viewer);

// tb_prompt_key takes a key while the prompt is open; true when it did something.
bool tb_prompt_key(struct tb_viewer *viewer, const char *key);

// tb_prompt_press answers a press of the pointer while it is open.
void tb_prompt_press(struct tb_viewer *viewer, struct tb_pick pick);

void tb_prompt_draw(struct tb_viewer *viewer, struct tb_picture *picture);

// tb_prompt_offer puts a result in its place among the best; false when it is none of
// them.
bool tb_prompt_offer(struct tb_prompt *prompt, const struct tb_prompt_result *result);

// tb_search_find offers what is called as the prompt's text says: switches ("2.13"),
// links, nodes by number or host name, jobs. A first word "switch", "link", "node",
// "host" or "job" looks for that alone.
void tb_search_find(struct tb_viewer *viewer, struct tb_prompt *prompt);

#endif
