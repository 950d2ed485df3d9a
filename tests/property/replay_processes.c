// The engine in several processes, which are threads here, against itself in one part:
// the programs of replay_credits.c.
//
// REPLAY_SEEDS=FIRST-LAST tries others than the usual seeds.
#include "../support/peers_in_threads.h"
#include "../support/replay_compare.h"
#include "../support/replay_credits.h"
#include "credit_params.h"
#include "peer_streams.h"

struct process {
	struct desk desk;
	struct tb_peers peers;
	struct program program;
	struct account *account;
	pthread_t thread;
};

static struct program program_of(uint64_t seed, enum shape shape)
{
	struct program program = random_credit_program(seed, shape);
	struct tb_random random;
	tb_random_init(&random, seed, 300);
	tb_credit_params_mutable(&program.params)->congestion_control =
		TB_CONGESTION_NONE; // is not cut
	program.n_threads = 1 + below(&random, 2);
	program.n_between = below(&random, 2) ? 1 + below(&random, 50) : 0;
	// Without an overhead what is posted can enter in the window.
	if (program.params.send_overhead_ps == 0)
		program.params.send_overhead_ps =
			(tb_time_ps)ONE_OF(&random, 1000, 30000, 500000);
	return program;
}

static void *run_process(void *context)
{
	struct process *process = context;
	process->peers = peers_of(&process->desk);
	assert_int_equal(
		tb_peer_streams_new(&process->program.peers, &process->peers), TB_OK);
	process->account = account_of(BY_ENGINE, &process->program, UINT64_MAX);
	tb_peer_streams_free(process->program.peers);
	return NULL;
}

static void drop_letters(struct mail *mail)
{
	for (uint32_t i = 0; i < mail->n; i++)
		for (struct letter *letter = mail->first[i]; letter;) {
			struct letter *next = letter->next;
			free(letter);
			letter = next;
		}
}

// run_processes replays a program by `n` processes; it returns the account of rank 0.
static struct account *run_processes(
	struct process *processes, uint32_t n, const struct program *program)
{
	struct mail mail = {.mutex = PTHREAD_MUTEX_INITIALIZER, .n = n};
	for (uint32_t i = 0; i < n; i++) {
		processes[i] = (struct process){.desk = {&mail, i}, .program = *program};
		if (i > 0)
			processes[i].program.n_between = 0;
		assert_int_equal(pthread_create(&processes[i].thread, NULL, run_process,
					 &processes[i]),
			0);
	}
	for (uint32_t i = 0; i < n; i++)
		pthread_join(processes[i].thread, NULL);
	drop_letters(&mail);
	for (uint32_t i = 1; i < n; i++) {
		if (processes[i].account->status != processes[0].account->status)
			fail_msg("rank %u: %s", i, processes[i].account->error.text);
		account_drop(processes[i].account);
	}
	return processes[0].account;
}

// differs replays a program in processes and whole; `cut` is whether they could.
static bool differs(const struct program *program, uint32_t n, bool *cut,
	struct difference *difference)
{
	struct process processes[RANKS_MOST];
	struct program whole = *program;
	whole.n_parts = 1;
	whole.n_between = 0;
	struct account *many = run_processes(processes, n, program);
	struct account *one = account_of(BY_ENGINE, &whole, UINT64_MAX);
	bool failed = true;
	*cut = many->status != TB_EUSAGE;
	if (!*cut)
		failed = strstr(many->error.text, "processes cannot simulate") == NULL;
	else if (many->status != TB_OK || one->status != TB_OK)
		snprintf(difference->text, sizeof difference->text, "%s, %s",
			many->error.text, one->error.text);
	else
		failed = messages_differ(many, one, difference) ||
			 stats_differ(many, one, difference) ||
			 heaviest_differ(&many->observed.blame, &one->observed.blame,
				 difference) ||
			 observed_differ(&many->observed, &one->observed, difference);
	account_drop(many);
	account_drop(one);
	return failed;
}

static void check_seeds(enum shape shape, unsigned long long last)
{
	unsigned long long first = 1;
	const char *given = getenv("REPLAY_SEEDS");
	if (given)
		(void)sscanf(given, "%llu-%llu", &first, &last);
	uint32_t n_cut = 0;
	for (uint64_t seed = first; seed <= last; seed++) {
		struct difference difference = {0};
		struct program program = program_of(seed, shape);
		uint32_t n = 2 + (uint32_t)(seed % 3);
		bool cut = false;
		if (differs(&program, n, &cut, &difference))
			fail_msg("seed %" PRIu64 " of shape %d, %u processes: %s", seed,
				(int)shape, n, difference.text);
		n_cut += cut;
	}
	print_message("%" PRIu32 " of %llu programs were cut\n", n_cut, last - first + 1);
	assert_true(2 * n_cut > last - first);
}

static void regular_trees_come_to_the_same_in_processes(void **state)
{
	(void)state;
	check_seeds(SHAPE_TREE, 60);
}

static void irregular_trees_come_to_the_same_in_processes(void **state)
{
	(void)state;
	check_seeds(SHAPE_IRREGULAR, 60);
}

static void unequal_rates_come_to_the_same_in_processes(void **state)
{
	(void)state;
	check_seeds(SHAPE_MIXED, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regular_trees_come_to_the_same_in_processes),
		cmocka_unit_test(irregular_trees_come_to_the_same_in_processes),
		cmocka_unit_test(unequal_rates_come_to_the_same_in_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
