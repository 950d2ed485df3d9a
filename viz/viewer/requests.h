// What a user can request of the viewer, and the keys for it: one table generates the
// enum, the key bindings and the help.
#ifndef TB_REQUESTS_H
#define TB_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

// X(name, keys, help). Keys are separated by blanks; a printable character stands for
// itself, other keys have SDL's names.
#define TB_REQUEST_TABLE(X)                                                              \
	X(PLAY, "Space", "play or pause the window over time")                           \
	X(STEP_BACK, ",", "move the window back by one bin")                             \
	X(STEP_ON, ".", "move the window forward by one bin")                            \
	X(LEAP_BACK, "< PageUp", "move the window back by its width")                    \
	X(LEAP_ON, "> PageDown", "move the window forward by its width")                 \
	X(TO_BEGIN, "Home", "move the window to the start of the run")                   \
	X(TO_END, "End", "move the window to the end of the run")                        \
	X(NARROW, "[", "halve the window")                                               \
	X(WIDEN, "]", "double the window")                                               \
	X(WHOLE, "0", "show the whole run")                                              \
	X(SLOWER, "{", "play at half the speed")                                         \
	X(FASTER, "}", "play at twice the speed")                                        \
	X(LOOP, "r", "loop playback, or play once")                                      \
	X(VIEW, "F2 F3 F4 F5 F6 F7 F8 F9 F10 F11", "choose the view")                    \
	X(VIEW_NEXT, "Tab", "show the next view")                                        \
	X(METRIC, "1 2 3 4 5 6 7 8 9", "choose the metric")                              \
	X(METRIC_NEXT, "m", "show the next metric")                                      \
	X(WAIT, "b", "wait for links, or of what came by them")                          \
	X(ABSOLUTE, "%", "numbers in percent or in units")                               \
	X(LOGARITHMIC, "l", "linear or logarithmic shades")                              \
	X(FIGURE, "g", "node to node: next figure; ranks: order of the rows")            \
	X(HOTTER, "p", "select the previous row of the list")                            \
	X(COOLER, "n", "select the next row of the list")                                \
	X(ORDER, "o", "sort the list by the next column")                                \
	X(FILTER, "&", "filter the list of links")                                       \
	X(ROUTES, "x", "keep the node or switch: routes to the next one selected")       \
	X(ROW_NEXT, "j", "panel: choose the next row")                                   \
	X(ROW_BACK, "k", "panel: choose the previous row")                               \
	X(UNBRUSH, "u", "by level: take the brush away, show all links")                 \
	X(FOCUS, "Return", "follow the chosen row, or zoom to the selection")            \
	X(SUBTREE, "e", "tree: open or shut the subtree of the selection, or all")       \
	X(FIT, "f", "fit the picture into the window")                                   \
	X(ZOOM_IN, "+ =", "zoom in")                                                     \
	X(ZOOM_OUT, "-", "zoom out")                                                     \
	X(PAN_LEFT, "a Left", "move left")                                               \
	X(PAN_RIGHT, "d Right", "move right")                                            \
	X(PAN_UP, "w Up", "move up")                                                     \
	X(PAN_DOWN, "s Down", "move down")                                               \
	X(SEARCH, "/ Ctrl+F", "search for a switch, link, node, host or job")            \
	X(PALETTE, "Ctrl+P", "find a command by name")                                   \
	X(THEME, "t", "light or dark theme")                                             \
	X(COLOURS, "c", "next colour map")                                               \
	X(LARGER, "Ctrl+= Ctrl++", "larger text")                                        \
	X(SMALLER, "Ctrl+-", "smaller text")                                             \
	X(NATURAL, "Ctrl+0", "text of normal size")                                      \
	X(COPY, "Ctrl+C", "copy the selection's details as text")                        \
	X(SAVE, "Ctrl+S", "save the picture as PNG, SVG or PDF")                         \
	X(EXPORT, "Ctrl+E", "export the list of the view as CSV")                        \
	X(OPEN, "Ctrl+O", "open another file")                                           \
	X(RUNS, "Ctrl+R", "choose a run of the store")                                   \
	X(RUN_BACK, "(", "show the previous run of the store")                           \
	X(RUN_ON, ")", "show the next run of the store")                                 \
	X(COMPARE, "Ctrl+D", "compare with another run of the store")                    \
	X(HELP, "? F1", "show or hide these keys")                                       \
	X(BACK, "Escape Backspace", "back out of help, row, selection, zoom, window")    \
	X(PROVE, "P", "findings: try what they propose, or cancel that")                 \
	X(LOCK, "L", "two runs: let B keep its window, or follow that of A")             \
	X(UNDO, "Ctrl+Z", "go back: view, selection, filter, window of time")            \
	X(REDO, "Ctrl+Y", "go forward again")                                            \
	X(QUIT, "q Ctrl+Q", "quit")

enum tb_request_name {
#define TB_REQUEST_ENUM(name, keys, help) TB_REQUEST_##name,
	TB_REQUEST_TABLE(TB_REQUEST_ENUM)
#undef TB_REQUEST_ENUM
		TB_N_REQUESTS
};

struct tb_request {
	enum tb_request_name name;
	int choice; // which of its keys was pressed, from 0
};

struct tb_request_row {
	const char *keys, *help;
};

// tb_request_rows returns the table, by enum tb_request_name.
const struct tb_request_row *tb_request_rows(void);

// tb_request_of_key finds the request of a key; false when it has none. Names ignore
// case, characters do not.
bool tb_request_of_key(const char *key, struct tb_request *request);

#endif
