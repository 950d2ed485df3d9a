// Translates SDL's events into inputs, and inputs into SDL's events.
#include "screen_impl.h"

#include <math.h>
#include <string.h>

static struct tb_input pointer_input(
	const struct tb_screen *screen, enum tb_input_kind kind, int x, int y)
{
	return (struct tb_input){.kind = kind,
		.x = x * screen->per_point_x / screen->scale,
		.y = y * screen->per_point_y / screen->scale};
}

// key_input names a key that makes no text. Characters arrive as text events, which
// follow the keyboard's layout.
static struct tb_input key_input(const SDL_KeyboardEvent *event)
{
	struct tb_input input = {.kind = TB_INPUT_NONE};
	SDL_Keycode code = event->keysym.sym;
	bool ctrl = (event->keysym.mod & KMOD_CTRL) != 0;
	bool alt = (event->keysym.mod & (KMOD_ALT | KMOD_GUI)) != 0;
	bool character = code >= ' ' && code < 0x7f;
	if (alt || (character && !ctrl))
		return input;
	input.kind = TB_INPUT_KEY;
	snprintf(input.key, sizeof input.key, "%s%s", ctrl ? "Ctrl+" : "",
		SDL_GetKeyName(code));
	return input;
}

static struct tb_input button_input(
	const struct tb_screen *screen, const SDL_MouseButtonEvent *event)
{
	enum tb_input_kind kind = event->type == SDL_MOUSEBUTTONDOWN ? TB_INPUT_PRESS
				  : SDL_GetModState() & KMOD_SHIFT   ? TB_INPUT_ADD
				  : event->clicks == 2		     ? TB_INPUT_DOUBLE
								     : TB_INPUT_RELEASE;
	if (event->button != SDL_BUTTON_LEFT)
		return (struct tb_input){.kind = TB_INPUT_NONE};
	return pointer_input(screen, kind, event->x, event->y);
}

static struct tb_input wheel_input(
	const struct tb_screen *screen, const SDL_MouseWheelEvent *event)
{
	int x;
	int y;
	SDL_GetMouseState(&x, &y);
	struct tb_input input = pointer_input(screen, TB_INPUT_WHEEL,
		event->mouseX ? event->mouseX : x, event->mouseY ? event->mouseY : y);
	bool flipped = event->direction == SDL_MOUSEWHEEL_FLIPPED;
	input.steps = (double)(flipped ? -event->preciseY : event->preciseY);
	return input;
}

static struct tb_input window_input(
	struct tb_screen *screen, const SDL_WindowEvent *event)
{
	struct tb_input input = {.kind = TB_INPUT_NONE};
	if (event->event == SDL_WINDOWEVENT_SIZE_CHANGED ||
		event->event == SDL_WINDOWEVENT_DISPLAY_CHANGED) {
		tb_screen_measure(screen);
		tb_screen_note_size(screen);
		input.kind = TB_INPUT_RESIZE;
	} else if (event->event == SDL_WINDOWEVENT_EXPOSED) {
		input.kind = TB_INPUT_EXPOSE;
	} else if (event->event == SDL_WINDOWEVENT_LEAVE) {
		input.kind = TB_INPUT_LEAVE;
	}
	return input;
}

static struct tb_input translate(struct tb_screen *screen, const SDL_Event *event)
{
	struct tb_input input = {.kind = TB_INPUT_NONE};
	switch (event->type) {
	case SDL_QUIT:
		input.kind = TB_INPUT_QUIT;
		break;
	case SDL_KEYDOWN:
		return key_input(&event->key);
	case SDL_TEXTINPUT:
		input.kind = TB_INPUT_KEY;
		snprintf(input.key, sizeof input.key, "%s",
			strcmp(event->text.text, " ") == 0 ? "Space" : event->text.text);
		break;
	case SDL_MOUSEMOTION:
		return pointer_input(
			screen, TB_INPUT_MOVE, event->motion.x, event->motion.y);
	case SDL_MOUSEBUTTONDOWN:
	case SDL_MOUSEBUTTONUP:
		return button_input(screen, &event->button);
	case SDL_MOUSEWHEEL:
		return wheel_input(screen, &event->wheel);
	case SDL_WINDOWEVENT:
		return window_input(screen, &event->window);
	case SDL_DROPFILE:
		input.kind = TB_INPUT_DROP;
		snprintf(input.path, sizeof input.path, "%s", event->drop.file);
		SDL_free(event->drop.file);
		break;
	case SDL_RENDER_TARGETS_RESET:
	case SDL_RENDER_DEVICE_RESET:
		tb_screen_text_forget(&screen->text);
		input.kind = TB_INPUT_EXPOSE;
		break;
	default:
		break;
	}
	return input;
}

struct tb_input tb_screen_wait(struct tb_screen *screen, int timeout_ms)
{
	SDL_Event event;
	while (SDL_WaitEventTimeout(&event, timeout_ms)) {
		struct tb_input input = translate(screen, &event);
		if (input.kind != TB_INPUT_NONE)
			return input;
		timeout_ms = 0; // do not wait again for what follows
	}
	return (struct tb_input){.kind = TB_INPUT_NONE};
}

static void post_key(const char *key)
{
	SDL_Event event = {.type = SDL_TEXTINPUT};
	bool space = SDL_strcasecmp(key, "Space") == 0;
	if (strlen(key) == 1 || space) {
		snprintf(
			event.text.text, sizeof event.text.text, "%s", space ? " " : key);
		SDL_PushEvent(&event);
		return;
	}
	bool ctrl = strncmp(key, "Ctrl+", 5) == 0;
	event.type = SDL_KEYDOWN;
	event.key.state = SDL_PRESSED;
	event.key.keysym.sym = SDL_GetKeyFromName(ctrl ? key + 5 : key);
	event.key.keysym.mod = ctrl ? KMOD_LCTRL : KMOD_NONE;
	SDL_PushEvent(&event);
}

static SDL_Event button_event(enum tb_input_kind kind, int x, int y)
{
	SDL_Event event = {
		.type = kind == TB_INPUT_PRESS ? SDL_MOUSEBUTTONDOWN : SDL_MOUSEBUTTONUP};
	event.button.button = SDL_BUTTON_LEFT;
	event.button.clicks = kind == TB_INPUT_DOUBLE ? 2 : 1;
	event.button.x = x;
	event.button.y = y;
	return event;
}

void tb_screen_post(struct tb_screen *screen, const struct tb_input *input)
{
	SDL_Event event = {.type = SDL_USEREVENT};
	int x = (int)lround(input->x * screen->scale / screen->per_point_x);
	int y = (int)lround(input->y * screen->scale / screen->per_point_y);
	switch (input->kind) {
	case TB_INPUT_KEY:
		post_key(input->key);
		return;
	case TB_INPUT_MOVE:
		event.type = SDL_MOUSEMOTION;
		event.motion.x = x;
		event.motion.y = y;
		break;
	case TB_INPUT_PRESS:
	case TB_INPUT_RELEASE:
	case TB_INPUT_DOUBLE:
		event = button_event(input->kind, x, y);
		break;
	case TB_INPUT_WHEEL:
		event.type = SDL_MOUSEWHEEL;
		event.wheel.mouseX = x;
		event.wheel.mouseY = y;
		event.wheel.preciseY = (float)input->steps;
		break;
	case TB_INPUT_RESIZE:
		SDL_SetWindowSize(screen->window, (int)input->x, (int)input->y);
		return;
	case TB_INPUT_QUIT:
		event.type = SDL_QUIT;
		break;
	case TB_INPUT_ADD: // no event says which keys are held
	case TB_INPUT_DROP:
	case TB_INPUT_LEAVE:
	case TB_INPUT_EXPOSE:
	case TB_INPUT_NONE:
		return;
	}
	SDL_PushEvent(&event);
}
