// Random runs for property tests: variants of every preset, small fabrics, jobs,
// captures. Who includes it defines RANDOM_RUN, which begins the names of the files.
#ifndef RANDOM_RUN_H
#define RANDOM_RUN_H

#include "capture_writer.h"
#include "preset.h"
#include "random.h"
#include "schemas.h"
#include "switchings.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define STORE	RANDOM_RUN ".db"
#define JOB	RANDOM_RUN ".goal"
#define CAPTURE RANDOM_RUN ".pcap"
#define FABRIC	RANDOM_RUN ".edges"

// own_folder has a group of tests work in a folder of its own, so that two of them beside
// each other do not write each other's files; leave_folder removes it, once it is empty.
static char own_folder_name[] = RANDOM_RUN "-XXXXXX";

static int own_folder(void **state)
{
	(void)state;
	return mkdtemp(own_folder_name) ? chdir(own_folder_name) : -1;
}

static int leave_folder(void **state)
{
	(void)state;
	return chdir("..") || rmdir(own_folder_name);
}

enum { RANKS_MOST = 10, MESSAGES_MOST = 40, TEXT = 512 };

static uint32_t below(struct tb_random *random, uint32_t bound)
{
	return (uint32_t)tb_random_below(random, bound);
}

// value_of draws a value by the form of a key; false for keys that make another network
// of it, rather than another kind of links or nodes.
static bool value_of(struct tb_random *random, const struct tb_preset_key *key,
	char *text, size_t size)
{
	static const char *const times[] = {"0ns", "70ns", "900ns", "20us"};
	static const char *const rates[] = {"80Mbit/s", "1Gbit/s", "3GB/s", "40Gbit/s"};
	static const char *const sizes[] = {"0", "64", "1500", "3200", "16KB", "1MB"};
	uint32_t n_words = 0;
	switch ((int)key->form) {
	case TB_FORM_CHOICE:
		while (key->words[n_words] && n_words <= key->max)
			n_words++;
		snprintf(text, size, "%s", key->words[below(random, n_words)]);
		return true;
	case TB_FORM_COUNT:
		snprintf(text, size, "%" PRIu64, key->min + below(random, 12));
		return strcmp(key->section, "network") != 0;
	case TB_FORM_TIME:
		snprintf(text, size, "%s", times[below(random, 4)]);
		return true;
	case TB_FORM_RATE:
		snprintf(text, size, "%s", rates[below(random, 4)]);
		return true;
	case TB_FORM_SIZE:
		snprintf(text, size, "%s", sizes[below(random, 6)]);
		return true;
	default:
		return false;
	}
}

// change adds a change to a preset's name if the network then is one.
static void change(char *name, const char *key, const char *value)
{
	struct tb_network_params params;
	char changed[TEXT];
	snprintf(changed, sizeof changed, "%.*s,%s=%s", TEXT - 100, name, key, value);
	if (tb_network_preset(&params, changed, NULL) == TB_OK)
		strcpy(name, changed);
}

struct libraries {
	char names[16][40];
	uint32_t n;
};

// list_libraries lists those of a preset behind those of the one that it is like.
static void list_libraries(const char *preset, struct libraries *list)
{
	char library[40], like[40];
	const char *base = strstr(preset, "\nlike = ");
	if (base && sscanf(base + 8, "%39s", like) == 1)
		for (size_t i = 0; tb_network_preset_name(i); i++)
			if (strcmp(tb_network_preset_name(i), like) == 0)
				list_libraries(tb_schema_networks[i].text, list);
	for (const char *at = preset; (at = strstr(at, "\n[host.")); at++) {
		uint32_t i = 0;
		sscanf(at + 7, "%31[^]]", library);
		while (i < list->n && strcmp(list->names[i], library) != 0)
			i++;
		if (i == list->n)
			strcpy(list->names[list->n++], library);
	}
}

// draw_library has it send with one of its preset's libraries, or with none.
static void draw_library(struct tb_random *random, const char *preset, char *name)
{
	uint32_t chosen = below(random, 6);
	struct libraries list = {.n = 0};
	list_libraries(preset, &list);
	chosen = chosen < list.n ? chosen : list.n;
	change(name, "host", chosen > 0 ? list.names[chosen - 1] : "none");
}

static void draw_network(struct tb_random *random, size_t preset, char *name)
{
	struct tb_network_params params;
	struct tb_preset_key keys[TB_PARAMETERS_MOST];
	snprintf(name, TEXT, "%s", tb_network_preset_name(preset));
	assert_int_equal(tb_network_preset(&params, name, NULL), TB_OK);
	size_t n = tb_switching_keys(tb_switching_of(&params), keys);
	change(name, "arity", "4");
	change(name, "levels", below(random, 2) ? "2" : "3");
	for (uint32_t i = below(random, 5); i > 0; i--) {
		const struct tb_preset_key *key = &keys[below(random, (uint32_t)n)];
		char value[64];
		if (value_of(random, key, value, sizeof value))
			change(name, key->name, value);
	}
	if (below(random, 4) == 0)
		change(name, "rails", "2");
	draw_library(random, tb_schema_networks[preset].text, name);
}

struct ops { // of one rank, as GOAL
	char text[16384];
	size_t length;
	uint32_t n;
};

static void op(struct ops *ops, uint32_t requires, const char *what, uint64_t amount,
	const char *rest)
{
	ops->length +=
		(size_t)snprintf(ops->text + ops->length, sizeof ops->text - ops->length,
			"l%u: %s %" PRIu64 "%s\n", ++ops->n, what, amount, rest);
	if (requires)
		ops->length += (size_t)snprintf(ops->text + ops->length,
			sizeof ops->text - ops->length, "l%u requires l%u\n", ops->n,
			requires);
}

// draw_job writes a job. A relay has one message under way at a time: whom one reaches,
// sends the next. Otherwise ranks send and receive on their own, most one thing after the
// other.
static void draw_job(struct tb_random *random, bool relay)
{
	static struct ops ranks[RANKS_MOST];
	static const uint32_t sizes[] = {1, 100, 3000, 60000, 300000};
	uint32_t n = 2 + below(random, RANKS_MOST - 1), from = below(random, n);
	uint32_t most = sizes[below(random, 5)];
	memset(ranks, 0, sizeof ranks);
	for (uint32_t tag = 1 + below(random, MESSAGES_MOST); tag > 0; tag--) {
		uint32_t to = below(random, n);
		uint64_t bytes = below(random, most);
		char rest[64];
		struct ops *ops = &ranks[from];
		if (below(random, 2))
			op(ops, ops->n, "calc", below(random, 20000), "");
		snprintf(rest, sizeof rest, "b to %u tag %u", to, tag);
		op(ops, relay || below(random, 3) ? ops->n : 0, "send", bytes, rest);
		snprintf(rest, sizeof rest, "b from %u tag %u", from, tag);
		ops = &ranks[to];
		op(ops, relay || below(random, 3) ? ops->n : 0, "recv", bytes, rest);
		from = relay ? to : below(random, n);
	}
	FILE *file = fopen(JOB, "w");
	assert_non_null(file);
	fprintf(file, "num_ranks %u\n", n);
	for (uint32_t i = 0; i < n; i++)
		fprintf(file, "rank %u {\n%s}\n", i, ranks[i].text);
	assert_int_equal(fclose(file), 0);
}

// draw_capture writes bursts of segments, each sender's behind one another at a rate and
// with a bucket that are those of all ports.
static void draw_capture(struct tb_random *random)
{
	static struct capture capture;
	static const uint64_t byte_ns[] = {8, 80, 800};
	uint32_t next[RANKS_MOST] = {0}, n = 3 + below(random, RANKS_MOST - 3);
	uint64_t of_byte = byte_ns[below(random, 3)], at_ns = 1000, free_ns = 0;
	uint64_t bucket_ns = of_byte * 1514 * below(random, 3);
	capture_begin(&capture, 1);
	for (uint32_t burst = 4 + below(random, 30); burst > 0; burst--) {
		uint32_t from = below(random, n),
			 to = (from + 1 + below(random, n - 1)) % n;
		at_ns += below(random, 4) ? below(random, 3000000) : 0;
		free_ns = at_ns > free_ns + bucket_ns ? at_ns - bucket_ns : free_ns;
		for (uint32_t i = 1 + below(random, 12); i > 0; i--) {
			uint32_t bytes = i > 1 ? 1448 : 1 + below(random, 1448);
			free_ns += of_byte * (bytes + 66);
			at_ns = free_ns > at_ns ? free_ns : at_ns + 500;
			capture_tcp(&capture, at_ns, (uint8_t)(from + 1),
				(uint8_t)(to + 1), 1, 1000 + next[from], bytes);
			next[from] += bytes;
		}
	}
	capture_end(&capture, CAPTURE);
}

// draw_fabric writes two leaves and a spine whose cables have rates of their own, and
// names it, with a preset of the same switching.
static void draw_fabric(struct tb_random *random, size_t preset, char *name)
{
	static const char *const rates[] = {"100Mbit/s", "1Gbit/s", "25Gbit/s"};
	FILE *file = fopen(FABRIC, "w");
	assert_non_null(file);
	for (uint32_t i = 0; i < 2 * RANKS_MOST; i++)
		fprintf(file, "leaf%u %u n%02u 0 %s\n", i % 2, i / 2, i,
			rates[below(random, 3)]);
	for (uint32_t i = 0; i < 2; i++)
		fprintf(file, "leaf%u %u spine %u %s\n", i, RANKS_MOST, i,
			rates[below(random, 3)]);
	assert_int_equal(fclose(file), 0);
	snprintf(name, TEXT, "%s,preset=%s", FABRIC, tb_network_preset_name(preset));
}

#endif
