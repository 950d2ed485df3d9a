// The command that replays a run once more: its words, what is changed, what cannot be.
#include "replay_command.h"
#include "shell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OPTIONS "--network qsnet,levels=2,ascent=deterministic --seed 7"

static void expect(struct tb_replay_command *command, const char *wanted)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	assert_int_equal(tb_replay_command_write(command, "o.db", stream), TB_OK);
	fclose(stream);
	assert_string_equal(text, wanted);
	free(text);
	tb_replay_command_fini(command);
}

static struct tb_replay_command command_of(const char *name, const char *options)
{
	struct tb_replay_command command;
	assert_int_equal(tb_replay_command_init(&command, name, options), TB_OK);
	return command;
}

static void words_are_read_back_as_they_were_written(void **state)
{
	static const char *const words[] = {
		"plain", "", "it's a.zst", "two  blanks", "$HOME;\\", "a=b,c=d[1-3]"};
	(void)state;
	char *line = NULL, *word;
	size_t size = 0;
	FILE *stream = open_memstream(&line, &size);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		fputc(' ', stream);
		tb_shell_put(stream, words[i]);
	}
	fclose(stream);
	const char *at = line;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		assert_int_equal(tb_shell_next(&at, &word), 1);
		assert_string_equal(word, words[i]);
		free(word);
	}
	assert_int_equal(tb_shell_next(&at, &word), 0);
	free(line);
}

static void a_command_is_read_back_as_it_was_written(void **state)
{
	(void)state;
	struct tb_replay_command command = command_of("it's a.goal", OPTIONS), read;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	assert_int_equal(
		tb_replay_command_write(&command, "new store.db", stream), TB_OK);
	fclose(stream);
	assert_int_equal(tb_replay_command_read(&read, text), TB_OK);
	assert_int_equal(read.n, command.n);
	for (size_t i = 0; i < read.n; i++)
		assert_string_equal(read.words[i], command.words[i]);
	tb_replay_command_fini(&read);
	tb_replay_command_fini(&command);
	free(text);
}

static void inputs_stand_before_the_options(void **state)
{
	(void)state;
	struct tb_replay_command command = command_of("it's.pcap, b.goal", OPTIONS);
	expect(&command, "tailback replay 'it'\\''s.pcap' b.goal " OPTIONS " -o o.db");
	command = command_of(
		"a.goal, b.goal, c.pcap", OPTIONS " --job b.goal,start=1us --job c.pcap");
	assert_int_equal(tb_replay_command_n_jobs(&command), 3);
	expect(&command, "tailback replay a.goal " OPTIONS
			 " --job b.goal,start=1us --job c.pcap -o o.db");
	command = command_of("a.goal", OPTIONS " --job a.goal,nodes=0-3,9");
	expect(&command, "tailback replay " OPTIONS " --job a.goal,nodes=0-3,9 -o o.db");
}

static void options_are_set_and_dropped(void **state)
{
	(void)state;
	struct tb_replay_command command = command_of("a.goal",
		OPTIONS " --fault 'link=node 5' --keep-acks --fault switch=1.4");
	tb_replay_command_drop(&command, "--fault");
	tb_replay_command_set(&command, "--seed", "8");
	tb_replay_command_set(&command, "--time-scale", "0.5");
	tb_replay_command_add(&command, "--keep-acks");
	tb_replay_command_add(&command, "--alone");
	expect(&command, "tailback replay a.goal --network "
			 "qsnet,levels=2,ascent=deterministic --seed 8 --keep-acks "
			 "--time-scale 0.5 --alone -o o.db");
}

static bool is_five(const void *context, const char *value)
{
	return strcmp(value, context) == 0;
}

static void of_an_option_values_are_dropped_one_by_one(void **state)
{
	(void)state;
	struct tb_replay_command command = command_of("a.goal",
		OPTIONS " --slow 5=1GB/s --slow 5=1GB/s --alone --slow 7=1GB/s --slow");
	assert_int_equal(
		tb_replay_command_drop_values(&command, "--slow", is_five, "5=1GB/s"), 2);
	expect(&command, "tailback replay a.goal " OPTIONS
			 " --alone --slow 7=1GB/s --slow -o o.db");
}

static void a_parameter_of_the_network_takes_the_place_of_the_old(void **state)
{
	(void)state;
	struct tb_replay_command command = command_of("a.goal", OPTIONS);
	tb_replay_command_network(&command, "ascent", "adaptive");
	tb_replay_command_network(&command, "rails", "2");
	tb_replay_command_network(&command, "levels", "3");
	expect(&command, "tailback replay a.goal --network "
			 "qsnet,ascent=adaptive,rails=2,levels=3 --seed 7 -o o.db");
}

static void a_fabric_takes_the_place_of_a_tree(void **state)
{
	(void)state;
	struct tb_replay_command command = command_of("a.goal",
		"--network 'ib-hdr,arity=8,levels=2,vls=2,level_rates=1GB/s 2GB/s' "
		"--seed 7");
	tb_replay_command_network(&command, "vls", NULL);
	tb_replay_command_network(&command, "ascent", "adaptive");
	tb_replay_command_fabric(&command, "n/f.edges");
	expect(&command, "tailback replay a.goal --network "
			 "n/f.edges,preset=ib-hdr,ascent=adaptive --seed 7 -o o.db");
	command = command_of("a.goal", "--network d/old.edges,preset=ib-ndr --seed 7");
	tb_replay_command_fabric(&command, "new.edges");
	expect(&command, "tailback replay a.goal --network "
			 "new.edges,preset=ib-ndr --seed 7 -o o.db");
}

static void a_plain_trace_becomes_a_job_where_a_key_needs_it(void **state)
{
	static const char *const exclude[] = {"nodes", "map", NULL};
	(void)state;
	struct tb_replay_command command =
		command_of("a.goal, b.goal, c.goal", OPTIONS " --job c.goal,nodes=0-3,9");
	tb_replay_command_job(&command, 1, "placement", "cyclic", NULL);
	tb_replay_command_job(&command, 2, "placement", "cyclic", exclude);
	expect(&command, "tailback replay a.goal " OPTIONS
			 " --job b.goal,placement=cyclic --job c.goal,placement=cyclic "
			 "-o o.db");
	command = command_of("a.goal, b.goal", OPTIONS);
	tb_replay_command_job(&command, 0, "placement", "random", NULL);
	expect(&command, "tailback replay " OPTIONS
			 " --job a.goal,placement=random --job b.goal -o o.db");
}

static void a_word_without_a_value_stays_or_goes_by_itself(void **state)
{
	static const char *const instead[] = {"nodes", "shared", NULL};
	(void)state;
	struct tb_replay_command command = command_of(
		"a.goal", OPTIONS " --job a.goal,nodes=0-3,9,shared,start=5us");
	tb_replay_command_job(&command, 0, "nodes", "4-7", NULL);
	expect(&command, "tailback replay " OPTIONS
			 " --job a.goal,shared,start=5us,nodes=4-7 -o o.db");
	command = command_of("a.goal", OPTIONS " --job a.goal,nodes=0-3,9,shared");
	tb_replay_command_job(&command, 0, "placement", "block", instead);
	expect(&command,
		"tailback replay " OPTIONS " --job a.goal,placement=block -o o.db");
}

static void what_is_not_there_any_more_is_not_replayed_again(void **state)
{
	(void)state;
	struct tb_replay_command command;
	assert_int_equal(tb_replay_command_init(&command, "-", OPTIONS), TB_EUSAGE);
	assert_int_equal(tb_replay_command_init(&command, "", OPTIONS), TB_EUSAGE);
	assert_int_equal(
		tb_replay_command_init(&command, "uniform", "nodes=16"), TB_EUSAGE);
}

static void an_input_that_is_not_there_is_named_with_the_folder(void **state)
{
	(void)state;
	char sentence[512] = "";
	struct tb_replay_command command = command_of("/dev/null, /dev/zero",
		"--network qsnet --job /dev/zero,placement=cyclic --seed 1");
	assert_false(tb_replay_command_lacks(&command, sentence, sizeof sentence));
	tb_replay_command_fini(&command);
	command = command_of("/dev/null, no.goal, b.goal",
		"--network qsnet --job no.goal,nodes=0-3 --job b.goal");
	assert_true(tb_replay_command_lacks(&command, sentence, sizeof sentence));
	assert_non_null(strstr(sentence, "no.goal is not in /"));
	assert_non_null(strstr(sentence, "in which the run was replayed"));
	tb_replay_command_fini(&command);
	command = command_of("/no/such.goal", OPTIONS);
	assert_true(tb_replay_command_lacks(&command, sentence, sizeof sentence));
	assert_string_equal(sentence, "/no/such.goal is not there any more");
	tb_replay_command_fini(&command);
}

// merged is what two changes of one command come to: "" when they contradict each other.
static char *merged(const char *own, const char *one, const char *other)
{
	struct tb_replay_command of_own, of_one, of_other;
	char *text = NULL;
	size_t size = 0;
	assert_int_equal(tb_replay_command_read(&of_own, own), TB_OK);
	assert_int_equal(tb_replay_command_read(&of_one, one), TB_OK);
	assert_int_equal(tb_replay_command_read(&of_other, other), TB_OK);
	FILE *stream = open_memstream(&text, &size);
	if (tb_replay_command_merge(&of_one, &of_own, &of_other))
		assert_int_equal(tb_replay_command_write(&of_one, "o", stream), TB_OK);
	fclose(stream);
	tb_replay_command_fini(&of_own);
	tb_replay_command_fini(&of_one);
	tb_replay_command_fini(&of_other);
	return text;
}

#define OWN "tailback replay a.goal --network qsnet,levels=2 --seed 7"

static void two_changes_become_one_command(void **state)
{
	(void)state;
	static const char *const rows[][3] = {
		{"tailback replay a.goal --network qsnet,levels=2,rails=2 --seed 7 -o o",
			"tailback replay --network qsnet,levels=2 --seed 7 --job "
			"a.goal,placement=block -o o",
			"tailback replay --network qsnet,levels=2,rails=2 --seed 7 --job "
			"a.goal,placement=block -o o"},
		{"tailback replay a.goal --network qsnet,levels=2,rails=2 --seed 7 -o o",
			"tailback replay a.goal --network qsnet,ascent=ecmp --seed 7 -o "
			"o",
			"tailback replay a.goal --network qsnet,rails=2,ascent=ecmp "
			"--seed 7 "
			"-o o"},
		{"tailback replay a.goal --network qsnet,levels=2,rails=2 --seed 7 -o o",
			"tailback replay a.goal --network qsnet,levels=2,rails=4 --seed "
			"7 "
			"-o o",
			""},
		{"tailback replay a.goal --network qsnet,levels=2 --seed 7 --collective "
		 "allreduce=ring -o o",
			"tailback replay a.goal --network qsnet,levels=2 --seed 7 "
			"--alone -o "
			"o",
			"tailback replay a.goal --network qsnet,levels=2 --seed 7 "
			"--collective "
			"allreduce=ring --alone -o o"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int turn = 0; turn < 2; turn++) {
			char *text = merged(OWN " -o o", rows[i][turn], rows[i][!turn]);
			if (!turn || !*rows[i][2])
				assert_string_equal(text, rows[i][2]);
			else // in another order
				assert_int_equal(strlen(text), strlen(rows[i][2]));
			free(text);
		}
}

static void what_two_changes_take_away_is_gone(void **state)
{
	(void)state;
	char *text = merged("tailback replay a.goal --fault link=1 --fault link=2 "
			    "--network qsnet --routes "
			    "r -o o",
		"tailback replay a.goal --fault link=2 --network qsnet --routes r -o o",
		"tailback replay a.goal --fault link=1 --fault link=2 --network "
		"qsnet,rails=2 "
		"-o o");
	assert_string_equal(text,
		"tailback replay a.goal --fault link=2 --network qsnet,rails=2 -o o");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_read_back_as_they_were_written),
		cmocka_unit_test(a_command_is_read_back_as_it_was_written),
		cmocka_unit_test(inputs_stand_before_the_options),
		cmocka_unit_test(options_are_set_and_dropped),
		cmocka_unit_test(of_an_option_values_are_dropped_one_by_one),
		cmocka_unit_test(a_parameter_of_the_network_takes_the_place_of_the_old),
		cmocka_unit_test(a_fabric_takes_the_place_of_a_tree),
		cmocka_unit_test(a_plain_trace_becomes_a_job_where_a_key_needs_it),
		cmocka_unit_test(a_word_without_a_value_stays_or_goes_by_itself),
		cmocka_unit_test(what_is_not_there_any_more_is_not_replayed_again),
		cmocka_unit_test(an_input_that_is_not_there_is_named_with_the_folder),
		cmocka_unit_test(two_changes_become_one_command),
		cmocka_unit_test(what_two_changes_take_away_is_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
