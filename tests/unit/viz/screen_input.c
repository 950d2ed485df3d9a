// The window's events: which input each becomes, and that inputs which are posted arrive.
#include "screen.h"

#include <SDL2/SDL.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state)
{
	struct tb_screen *screen;
	struct tb_error error;
	setenv("SDL_VIDEODRIVER", "dummy", 1);
	if (tb_screen_new(&screen, 1000, 600, 2, &error) != TB_OK)
		return -1;
	SDL_FlushEvents(SDL_FIRSTEVENT, SDL_LASTEVENT);
	*state = screen;
	return 0;
}

static int tear_down(void **state)
{
	tb_screen_free(*state);
	return 0;
}

// after pushes an event and returns the input that comes of it.
static struct tb_input after(struct tb_screen *screen, SDL_Event event)
{
	SDL_FlushEvents(SDL_FIRSTEVENT, SDL_LASTEVENT);
	assert_int_equal(SDL_PushEvent(&event), 1);
	return tb_screen_wait(screen, 0);
}

static struct tb_input after_key(struct tb_screen *screen, SDL_Keycode code, int held)
{
	SDL_Event event = {.type = SDL_KEYDOWN};
	event.key.keysym.sym = code;
	event.key.keysym.mod = (Uint16)held;
	return after(screen, event);
}

static void keys_have_names_and_characters_arrive_as_text(void **state)
{
	struct tb_screen *screen = *state;
	assert_string_equal(after_key(screen, SDLK_RETURN, KMOD_NONE).key, "Return");
	assert_string_equal(after_key(screen, SDLK_F5, KMOD_NONE).key, "F5");
	assert_string_equal(after_key(screen, SDLK_s, KMOD_LCTRL).key, "Ctrl+S");
	assert_string_equal(after_key(screen, SDLK_DELETE, KMOD_NONE).key, "Delete");
	assert_int_equal(after_key(screen, SDLK_s, KMOD_LCTRL).kind, TB_INPUT_KEY);
	assert_int_equal(after_key(screen, SDLK_s, KMOD_NONE).kind, TB_INPUT_NONE);
	assert_int_equal(after_key(screen, SDLK_SPACE, KMOD_NONE).kind, TB_INPUT_NONE);
	assert_int_equal(after_key(screen, '~', KMOD_NONE).kind, TB_INPUT_NONE);
	assert_int_equal(after_key(screen, SDLK_F5, KMOD_LALT).kind, TB_INPUT_NONE);
	assert_int_equal(
		after_key(screen, SDLK_s, KMOD_LCTRL | KMOD_RGUI).kind, TB_INPUT_NONE);
	SDL_Event text = {.type = SDL_TEXTINPUT};
	strcpy(text.text.text, "\xc3\xa9");
	assert_string_equal(after(screen, text).key, "\xc3\xa9");
	assert_int_equal(after(screen, text).kind, TB_INPUT_KEY);
	strcpy(text.text.text, " ");
	assert_string_equal(after(screen, text).key, "Space");
}

static struct tb_input after_button(
	struct tb_screen *screen, Uint32 type, int button, int clicks)
{
	SDL_Event event = {.type = type};
	event.button.button = (Uint8)button;
	event.button.clicks = (Uint8)clicks;
	event.button.x = 300;
	event.button.y = 120;
	return after(screen, event);
}

static void the_pointer_is_in_abstract_pixels(void **state)
{
	struct tb_screen *screen = *state;
	SDL_Event motion = {.type = SDL_MOUSEMOTION};
	motion.motion.x = 501;
	motion.motion.y = 40;
	struct tb_input input = after(screen, motion);
	assert_int_equal(input.kind, TB_INPUT_MOVE);
	assert_true(input.x == 250.5 && input.y == 20); // the scale is 2
	input = after_button(screen, SDL_MOUSEBUTTONDOWN, SDL_BUTTON_LEFT, 1);
	assert_int_equal(input.kind, TB_INPUT_PRESS);
	assert_true(input.x == 150 && input.y == 60);
}

static void buttons_press_release_and_click_twice(void **state)
{
	struct tb_screen *screen = *state;
	assert_int_equal(after_button(screen, SDL_MOUSEBUTTONUP, SDL_BUTTON_LEFT, 1).kind,
		TB_INPUT_RELEASE);
	assert_int_equal(after_button(screen, SDL_MOUSEBUTTONUP, SDL_BUTTON_LEFT, 2).kind,
		TB_INPUT_DOUBLE);
	assert_int_equal(after_button(screen, SDL_MOUSEBUTTONUP, SDL_BUTTON_LEFT, 3).kind,
		TB_INPUT_RELEASE);
	assert_int_equal(
		after_button(screen, SDL_MOUSEBUTTONDOWN, SDL_BUTTON_LEFT, 2).kind,
		TB_INPUT_PRESS);
	assert_int_equal(
		after_button(screen, SDL_MOUSEBUTTONDOWN, SDL_BUTTON_RIGHT, 1).kind,
		TB_INPUT_NONE);
	assert_int_equal(
		after_button(screen, SDL_MOUSEBUTTONUP, SDL_BUTTON_MIDDLE, 1).kind,
		TB_INPUT_NONE);
	SDL_SetModState(KMOD_LSHIFT);
	assert_int_equal(after_button(screen, SDL_MOUSEBUTTONUP, SDL_BUTTON_LEFT, 1).kind,
		TB_INPUT_ADD);
	assert_int_equal(
		after_button(screen, SDL_MOUSEBUTTONDOWN, SDL_BUTTON_LEFT, 1).kind,
		TB_INPUT_PRESS);
	SDL_SetModState(KMOD_NONE);
}

static void the_wheel_has_a_place_and_a_direction(void **state)
{
	struct tb_screen *screen = *state;
	SDL_Event wheel = {.type = SDL_MOUSEWHEEL};
	wheel.wheel.mouseX = 80;
	wheel.wheel.mouseY = 60;
	wheel.wheel.preciseY = 1.5F;
	struct tb_input input = after(screen, wheel);
	assert_int_equal(input.kind, TB_INPUT_WHEEL);
	assert_true(input.x == 40 && input.y == 30 && input.steps == 1.5);
	wheel.wheel.direction = SDL_MOUSEWHEEL_FLIPPED;
	assert_true(after(screen, wheel).steps == -1.5);
}

static struct tb_input after_window(struct tb_screen *screen, int what)
{
	SDL_Event event = {.type = SDL_WINDOWEVENT};
	event.window.event = (Uint8)what;
	return after(screen, event);
}

static void the_window_is_resized_exposed_and_left(void **state)
{
	struct tb_screen *screen = *state;
	assert_int_equal(
		after_window(screen, SDL_WINDOWEVENT_SIZE_CHANGED).kind, TB_INPUT_RESIZE);
	assert_int_equal(after_window(screen, SDL_WINDOWEVENT_DISPLAY_CHANGED).kind,
		TB_INPUT_RESIZE);
	assert_int_equal(
		after_window(screen, SDL_WINDOWEVENT_EXPOSED).kind, TB_INPUT_EXPOSE);
	assert_int_equal(
		after_window(screen, SDL_WINDOWEVENT_LEAVE).kind, TB_INPUT_LEAVE);
	assert_int_equal(after_window(screen, SDL_WINDOWEVENT_ENTER).kind, TB_INPUT_NONE);
	assert_int_equal(
		after(screen, (SDL_Event){.type = SDL_QUIT}).kind, TB_INPUT_QUIT);
	assert_int_equal(after(screen, (SDL_Event){.type = SDL_RENDER_DEVICE_RESET}).kind,
		TB_INPUT_EXPOSE);
	SDL_Event drop = {.type = SDL_DROPFILE};
	drop.drop.file = SDL_strdup("/some/run.db");
	struct tb_input input = after(screen, drop);
	assert_int_equal(input.kind, TB_INPUT_DROP);
	assert_string_equal(input.path, "/some/run.db");
}

static void what_means_nothing_is_passed_over(void **state)
{
	struct tb_screen *screen = *state;
	SDL_Event entered = {.type = SDL_WINDOWEVENT};
	entered.window.event = SDL_WINDOWEVENT_ENTER;
	SDL_FlushEvents(SDL_FIRSTEVENT, SDL_LASTEVENT);
	SDL_PushEvent(&entered);
	SDL_PushEvent(&(SDL_Event){.type = SDL_KEYUP});
	SDL_PushEvent(&(SDL_Event){.type = SDL_QUIT});
	assert_int_equal(tb_screen_wait(screen, 0).kind, TB_INPUT_QUIT);
	assert_int_equal(tb_screen_wait(screen, 0).kind, TB_INPUT_NONE);
}

static void what_is_posted_arrives(void **state)
{
	struct tb_screen *screen = *state;
	static const struct tb_input posted[] = {
		{.kind = TB_INPUT_KEY, .key = "a"},
		{.kind = TB_INPUT_KEY, .key = "Space"},
		{.kind = TB_INPUT_KEY, .key = "Ctrl+S"},
		{.kind = TB_INPUT_KEY, .key = "Return"},
		{.kind = TB_INPUT_MOVE, .x = 12, .y = 34},
		{.kind = TB_INPUT_PRESS, .x = 12.5, .y = 34},
		{.kind = TB_INPUT_RELEASE, .x = 13, .y = 33.5},
		{.kind = TB_INPUT_DOUBLE, .x = 14, .y = 35},
		{.kind = TB_INPUT_WHEEL, .x = 15, .y = 36, .steps = -2},
		{.kind = TB_INPUT_QUIT},
	};
	for (size_t i = 0; i < sizeof posted / sizeof *posted; i++) {
		SDL_FlushEvents(SDL_FIRSTEVENT, SDL_LASTEVENT);
		tb_screen_post(screen, &posted[i]);
		struct tb_input input = tb_screen_wait(screen, 0);
		assert_int_equal(input.kind, posted[i].kind);
		assert_true(input.x == posted[i].x && input.y == posted[i].y);
		assert_true(input.steps == posted[i].steps);
		assert_string_equal(input.key, posted[i].key);
	}
	tb_screen_post(screen, &(struct tb_input){.kind = TB_INPUT_EXPOSE});
	assert_int_equal(tb_screen_wait(screen, 0).kind, TB_INPUT_NONE);
}

static void sizes_are_points_and_abstract_pixels(void **state)
{
	struct tb_screen *screen = *state;
	double width, height;
	int w, h;
	tb_screen_size(screen, &width, &height);
	assert_true(width == 500 && height == 300);
	tb_screen_points(screen, &w, &h);
	assert_true(w == 1000 && h == 600);
	tb_screen_scale(screen, 0.5); // smaller text: more room
	tb_screen_size(screen, &width, &height);
	assert_true(width == 1000 && height == 600);
	tb_screen_scale(screen, 0);
	tb_screen_size(screen, &width, &height);
	assert_true(width == 500 && height == 300);
	tb_screen_post(
		screen, &(struct tb_input){.kind = TB_INPUT_RESIZE, .x = 1200, .y = 800});
	while (tb_screen_wait(screen, 0).kind != TB_INPUT_NONE)
		;
	tb_screen_size(screen, &width, &height);
	assert_true(width == 600 && height == 400);
	assert_true(tb_screen_has_fonts(screen));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_have_names_and_characters_arrive_as_text),
		cmocka_unit_test(the_pointer_is_in_abstract_pixels),
		cmocka_unit_test(buttons_press_release_and_click_twice),
		cmocka_unit_test(the_wheel_has_a_place_and_a_direction),
		cmocka_unit_test(the_window_is_resized_exposed_and_left),
		cmocka_unit_test(what_means_nothing_is_passed_over),
		cmocka_unit_test(what_is_posted_arrives),
		cmocka_unit_test(sizes_are_points_and_abstract_pixels),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
