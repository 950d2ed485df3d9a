// What a user can request of the viewer, and the keys for it: one table generates the
// enum, the key bindings and the help.
#ifndef TB_REQUESTS_H
#define TB_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

// X(name, group, keys, help): the help shows the rows of a group below its headline. Keys
// are separated by blanks; a printable character stands for itself, other keys have SDL's
// names.
// clang-format off
#define TB_REQUEST_TABLE(X) \
	X(VIEW, "Most used", "F2 F3 F4 F5 F6 F7 F8 F9 F10 F11", "choose the view") \
	X(METRIC, "Most used", "1 2 3 4 5 6 7 8 9", "choose the metric") \
	X(WAIT, "Most used", "b", "wait for links, or of what came by them") \
	X(SEARCH, "Most used", "/ Ctrl+F", "search for a switch, link, node, host or job") \
	X(FOCUS, "Most used", "Return", "follow the chosen row, or zoom to the selection") \
	X(BACK, "Most used", "Escape Backspace", "back out of help, row, selection, zoom, window") \
	X(PLAY, "Most used", "Space", "play or pause the window over time") \
	X(SAVE, "Most used", "Ctrl+S", "save the picture as PNG, SVG or PDF") \
	X(HELP, "Most used", "? F1", "show or hide these keys") \
	X(PALETTE, "Most used", "Ctrl+P", "find a command by name") \
	X(STEP_BACK, "Time", ",", "move the window back by one bin") \
	X(STEP_ON, "Time", ".", "move the window forward by one bin") \
	X(LEAP_BACK, "Time", "< PageUp", "move the window back by its width") \
	X(LEAP_ON, "Time", "> PageDown", "move the window forward by its width") \
	X(TO_BEGIN, "Time", "Home", "move the window to the start of the run") \
	X(TO_END, "Time", "End", "move the window to the end of the run") \
	X(NARROW, "Time", "[", "halve the window") \
	X(WIDEN, "Time", "]", "double the window") \
	X(WHOLE, "Time", "0", "show the whole run") \
	X(SLOWER, "Time", "{", "play at half the speed") \
	X(FASTER, "Time", "}", "play at twice the speed") \
	X(LOOP, "Time", "r", "loop playback, or play once") \
	X(HOTTER, "Lists", "p", "select the previous row of the list") \
	X(COOLER, "Lists", "n", "select the next row of the list") \
	X(ORDER, "Lists", "o", "sort the list by the next column") \
	X(FILTER, "Lists", "&", "filter the list of links") \
	X(ROW_NEXT, "Lists", "j", "panel: choose the next row") \
	X(ROW_BACK, "Lists", "k", "panel: choose the previous row") \
	X(VIEW_NEXT, "What is shown", "Tab", "show the next view") \
	X(METRIC_NEXT, "What is shown", "m", "show the next metric") \
	X(ABSOLUTE, "What is shown", "%", "numbers in percent or in units") \
	X(LOGARITHMIC, "What is shown", "l", "linear or logarithmic shades") \
	X(FIGURE, "What is shown", "g", "node to node: next figure; ranks: order of the rows") \
	X(ROUTES, "What is shown", "x", "keep the node or switch: routes to the next one selected") \
	X(UNBRUSH, "What is shown", "u", "by level: take the brush away, show all links") \
	X(SUBTREE, "What is shown", "e", "tree: open or shut the subtree of the selection, or all") \
	X(LOCK, "What is shown", "L", "two runs: let B keep its window, or follow that of A") \
	X(PROVE, "What is shown", "P", "findings: try what they propose, or cancel that") \
	X(FIT, "Zoom", "f", "fit the picture into the window") \
	X(ZOOM_IN, "Zoom", "+ =", "zoom in") \
	X(ZOOM_OUT, "Zoom", "-", "zoom out") \
	X(PAN_LEFT, "Zoom", "a Left", "move left") \
	X(PAN_RIGHT, "Zoom", "d Right", "move right") \
	X(PAN_UP, "Zoom", "w Up", "move up") \
	X(PAN_DOWN, "Zoom", "s Down", "move down") \
	X(OPEN, "Files and runs", "Ctrl+O", "open another file") \
	X(RUNS, "Files and runs", "Ctrl+R", "choose a run of the store") \
	X(RUN_BACK, "Files and runs", "(", "show the previous run of the store") \
	X(RUN_ON, "Files and runs", ")", "show the next run of the store") \
	X(COMPARE, "Files and runs", "Ctrl+D", "compare with another run of the store") \
	X(COPY, "Files and runs", "Ctrl+C", "copy the selection's details as text") \
	X(EXPORT, "Files and runs", "Ctrl+E", "export the list of the view as CSV") \
	X(UNDO, "Window", "Ctrl+Z", "go back: view, selection, filter, window of time") \
	X(REDO, "Window", "Ctrl+Y", "go forward again") \
	X(THEME, "Window", "t", "light or dark theme") \
	X(COLOURS, "Window", "c", "next colour map") \
	X(LARGER, "Window", "Ctrl+= Ctrl++", "larger text") \
	X(SMALLER, "Window", "Ctrl+-", "smaller text") \
	X(NATURAL, "Window", "Ctrl+0", "text of normal size") \
	X(QUIT, "Window", "q Ctrl+Q", "quit")
// clang-format on

enum tb_request_name {
#define TB_REQUEST_ENUM(name, group, keys, help) TB_REQUEST_##name,
	TB_REQUEST_TABLE(TB_REQUEST_ENUM)
#undef TB_REQUEST_ENUM
		TB_N_REQUESTS
};

struct tb_request {
	enum tb_request_name name;
	int choice; // which of its keys was pressed, from 0
};

struct tb_request_row {
	const char *group, *keys, *help;
};

// tb_request_rows returns the table, by enum tb_request_name.
const struct tb_request_row *tb_request_rows(void);

// tb_request_of_key finds the request of a key; false when it has none. Names ignore
// case, characters do not.
bool tb_request_of_key(const char *key, struct tb_request *request);

#endif
