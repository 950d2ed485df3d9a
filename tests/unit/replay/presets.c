// Presets: their keys and values, and parameters one by one.
#include "../../support/params_of.h"

#include "circuit_params.h"
#include "credit_params.h"
#include "preset.h"
#include "preset_reading.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void a_network_s_library_is_its_own_or_the_one_asked_for(void **state)
{
	(void)state;
	struct tb_host_params host = params_of("qsnet").host;
	assert_string_equal(host.name, "none");
	assert_true(tb_host_does_nothing(&host));
	assert_string_equal(params_of("qsnet2").host.name, "rdma");
	host = params_of("qsnet2,outstanding=7,host=get").host;
	assert_string_equal(host.name, "get");
	assert_int_equal(host.handshake, TB_HANDSHAKE_READ);
	assert_int_equal(host.n_outstanding, 7);
	assert_int_equal(host.stripe_above_bytes, 1024);
}

// refuses returns the sentence by which a network's name is refused.
static const char *taper_refusal(const char *name)
{
	static struct tb_error error;
	struct tb_network_params params;
	assert_int_equal(tb_network_preset(&params, name, &error), TB_EUSAGE);
	return error.text;
}

static void a_taper_makes_the_shape(void **state)
{
	(void)state;
	static const char *const shapes[][2] = {
		{"qsnet,taper=2", "xgft(3; 4,4,4; 1,2,4)"},
		{"qsnet,taper=4:1", "xgft(3; 4,4,4; 1,1,4)"},
		{"ib-hdr,taper=3:2,arity=6,levels=2", "xgft(2; 6,6; 1,4)"},
		{"ib-hdr,shape=pgft(2; 8,4; 1,4; 1,2),taper=2", "pgft(2; 8,4; 1,2; 1,2)"},
		{"ib-hdr,shape=pgft(2; 9,4; 1,4; 1,2),taper=3", "xgft(2; 9,4; 1,3)"},
		{"ib-hdr,shape=xgft(2; 8,4; 1,2),taper=1", "xgft(2; 8,4; 1,8)"},
	};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		assert_string_equal(params_of(shapes[i][0]).shape, shapes[i][1]);
	// As many up as down is the tree as it was.
	assert_string_equal(params_of("qsnet,taper=1").shape, "");
	assert_int_equal(params_of("qsnet,taper=1").arity, 4);
	assert_non_null(strstr(taper_refusal("qsnet,taper=3"), "no whole number up"));
	assert_non_null(strstr(taper_refusal("qsnet,taper=8"), "no whole number up"));
	static const char *const wrong[] = {"", "0", "x", "1:2", "2:", "2:0", "2x", "-2"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char name[32];
		snprintf(name, sizeof name, "qsnet,taper=%s", wrong[i]);
		assert_non_null(strstr(taper_refusal(name), "cables down of a leaf"));
	}
	assert_non_null(strstr(taper_refusal("qsnet,levels=1,taper=2"), "nothing above"));
	assert_non_null(strstr(
		taper_refusal("qsnet,levels=24,arity=2,taper=2"), "at most 12 levels"));
}

static void the_qsnet_preset_holds_the_published_figures(void **state)
{
	(void)state;
	struct tb_network_params params = params_of("qsnet");
	assert_int_equal(params.arity, 4);
	assert_int_equal(params.link_bytes_per_s, 400000000);
	assert_int_equal(params.hop_latency_ps, 35000);
	assert_int_equal(params.fifo_bytes, 256);
	assert_int_equal(params.n_vcs, 2);
	assert_int_equal(params.packet_payload_bytes, 320);
	assert_int_equal(params.packet_overhead_bytes, 58);
	assert_int_equal(tb_circuit_params(&params)->slice_bytes, 16384);
	assert_int_equal(tb_circuit_params(&params)->partners, 40);
}

static void each_key_of_a_preset_sets_its_own_figure(void **state)
{
	(void)state;
	struct tb_network_params params = params_of(
		"qsnet,arity=3,levels=2,rails=5,rate=7MB/s,hop_latency=11ps,payload=13,"
		"overhead=17,bus=19MB/"
		"s,bus_turn=67ps,send_overhead=23ps,receive_overhead=29ps,slice="
		"31,retries=37,retry_delay=41ps,vcs=3,fifo=43,flit=2,ack_delay=47ps,"
		"age_weight=0.53,partners=59,partner_delay=61ps,link_tokens=0.67");
	assert_int_equal(params.arity, 3);
	assert_int_equal(params.levels, 2);
	assert_int_equal(params.n_rails, 5);
	assert_int_equal(params.link_bytes_per_s, 7000000);
	assert_int_equal(params.hop_latency_ps, 11);
	assert_int_equal(params.packet_payload_bytes, 13);
	assert_int_equal(params.packet_overhead_bytes, 17);
	assert_int_equal(tb_circuit_params(&params)->bus_bytes_per_s, 19000000);
	assert_int_equal(tb_circuit_params(&params)->bus_turn_ps, 67);
	assert_int_equal(params.send_overhead_ps, 23);
	assert_int_equal(params.receive_overhead_ps, 29);
	assert_int_equal(tb_circuit_params(&params)->slice_bytes, 31);
	assert_int_equal(params.retries, 37);
	assert_int_equal(params.retry_delay_ps, 41);
	assert_int_equal(params.n_vcs, 3);
	assert_int_equal(params.fifo_bytes, 43);
	assert_int_equal(tb_circuit_params(&params)->flit_bytes, 2);
	assert_int_equal(tb_circuit_params(&params)->ack_delay_ps, 47);
	assert_true(tb_circuit_params(&params)->age_weight == 0.53);
	assert_true(tb_circuit_params(&params)->link_tokens == 0.67);
	assert_int_equal(tb_circuit_params(&params)->partners, 59);
	assert_int_equal(tb_circuit_params(&params)->partner_delay_ps, 61);
}

static void a_fifo_holds_a_flit_or_more(void **state)
{
	(void)state;
	struct tb_network_params params;
	struct tb_error error = {0};
	assert_int_equal(params_of("qsnet,fifo=2,payload=2,overhead=0").fifo_bytes, 2);
	assert_int_equal(
		tb_network_preset(&params, "qsnet,fifo=1,payload=2,overhead=0", &error),
		TB_EUSAGE);
	assert_non_null(strstr(error.text, "must hold a flit"));
}

// What may be without a limit takes 0 and none alike; what may not takes neither.
static void zero_and_none_are_no_limit(void **state)
{
	(void)state;
	static const char *const words[] = {"0", "none"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		char preset[160];
		snprintf(preset, sizeof preset,
			"qsnet2,host=tcp,bus=%s,copy=%s,largest=%s,outstanding=%s,"
			"local_rate=%s,memory_rate=%s",
			words[i], words[i], words[i], words[i], words[i], words[i]);
		struct tb_network_params params = params_of(preset);
		assert_int_equal(tb_circuit_params(&params)->bus_bytes_per_s, 0);
		assert_int_equal(params.host.copy_bytes_per_s, 0);
		assert_int_equal(params.host.largest_bytes, 0);
		assert_int_equal(params.host.n_outstanding, 0);
		assert_int_equal(params.host.local_bytes_per_s, 0);
		assert_int_equal(params.host.memory_bytes_per_s, 0);
		snprintf(preset, sizeof preset, "qsnet,rate=%s", words[i]);
		assert_int_equal(tb_network_preset(&params, preset, NULL), TB_EUSAGE);
	}
}

static int check_nothing(const struct tb_network_params *params, const char *source,
	struct tb_error *error)
{
	(void)params;
	(void)source;
	(void)error;
	return TB_OK;
}

static const struct tb_preset_key lane_keys[] = {{.section = "link",
	.name = "lanes",
	.form = TB_FORM_COUNT,
	.min = 1,
	.max = 15,
	.offset = offsetof(struct tb_network_params, n_vcs),
	.need = TB_KEY_NEEDED}};

// A second switching, whose links have lanes in place of VCs and FIFOs.
static int preset_of_two(struct tb_network_params *params, const char *name,
	const char *text, struct tb_error *error)
{
	const struct tb_switching_kind kinds[] = {
		*tb_switching_find("circuits"), {.name = "lanes",
							.keys = lane_keys,
							.n_keys = 1,
							.check = check_nothing}};
	char path[] = "/tmp/preset-XXXXXX", described[160];
	int file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	snprintf(described, sizeof described, "%s%s", path, name);
	int status = tb_network_preset_of(params, described, kinds, 2, error);
	unlink(path);
	return status;
}

static void a_key_without_effect_is_refused_by_name(void **state)
{
	(void)state;
	static const struct {
		const char *preset, *key;
	} wrong[] = {
		{"qsnet,partners=0,partner_delay=1us", "partner_delay has no effect"},
		{"qsnet2,partner_delay=1us", "partner_delay has no effect"},
		{"qsnet2,partners=7", "partners has no effect"},
		{"qsnet,bus=none,bus_turn=1us", "bus_turn has no effect"},
		{"qsnet,buffers=main", "buffers has no effect"},
		{"qsnet,pci=200MB/s", "pci has no effect"},
		{"qsnet,pci=200MB/s,buffers=main-to-nic,pci_turn=1us",
			"pci_turn has no effect"},
		{"qsnet2,rails=2,rails_policy=static,stripe_above=1K",
			"stripe_above has no effect"},
		{"qsnet2,handshake_above=1K", "handshake_above has no effect"},
		{"ib-hdr,host=nccl,handshake_delay=1us", "handshake_delay has no effect"},
		{"qsnet2,host=mpi,handshake=none,handshake_above=1K",
			"handshake_above has no effect"},
		{"qsnet2,local_latency=1us", "local_latency has no effect"},
		{"qsnet2,local_rate=1GB/s", "local_rate has no effect"},
		{"ib-ndr,host=mpi,local=links,memory_rate=1GB/s",
			"memory_rate has no effect"},
		{"qsnet,flit=512,fifo=512", "flit = 512: it is longer than a whole"},
	};
	struct tb_network_params params;
	struct tb_error error = {0};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(
			tb_network_preset(&params, wrong[i].preset, &error), TB_EUSAGE);
		if (!strstr(error.text, wrong[i].key))
			fail_msg("%s: %s", wrong[i].preset, error.text);
	}
	// What the preset sets may stay when a change makes it matter no more.
	static const char *const right[] = {"qsnet,partners=0", "qsnet,partner_delay=0",
		"qsnet2,partners=7,partner_delay=1us", "qsnet2,host=mpi,handshake=none",
		"qsnet2,host=mpi,local=network", "qsnet,bus=none",
		"qsnet2,local_latency=0,local_rate=none,handshake_above=0",
		"qsnet2,rails_policy=striping,stripe_above=2K", "qsnet2,stripe_above=0",
		"qsnet,flit=256,fifo=256"};
	for (size_t i = 0; i < sizeof right / sizeof *right; i++)
		(void)params_of(right[i]);
}

#define LANES_HEAD "[network]\nname=n\narity=2\nlevels=1\nascent=adaptive\n"

#define LANES_REST                                                                       \
	"[link]\nrate=1GB/s\nhop_latency=1ns\n[packet]\npayload=8\noverhead=0\n"         \
	"[node]\nsend_overhead=0\nreceive_overhead=0\nretries=0\n"                       \
	"retry_delay=0\n"

static void a_preset_has_the_keys_of_its_switching_and_no_others(void **state)
{
	(void)state;
	static const char lanes[] =
		LANES_HEAD "switching=lanes\n" LANES_REST "[link]\nlanes=7\n";
	struct tb_network_params params = params_of("qsnet");
	struct tb_error error = {0};
	assert_string_equal(params.switching, "circuits");
	assert_int_equal(preset_of_two(&params, "", lanes, &error), TB_OK);
	assert_string_equal(params.switching, "lanes");
	assert_int_equal(params.n_vcs, 7);
	assert_int_equal(preset_of_two(&params, ",lanes=3", lanes, &error), TB_OK);
	assert_int_equal(params.n_vcs, 3);
	static const struct {
		const char *changes, *text, *expected;
	} wrong[] = {
		{",vcs=2", lanes,
			"vcs is a key of switching = circuits; this network "
			"has switching = lanes"},
		{",lanes=16", lanes, "lanes = 16"},
		{",switching=circuits", lanes, "lanes is a key of switching = lanes"},
		{",switching=boats", lanes, "expected circuits or lanes"},
		{"", LANES_HEAD "switching=lanes\n" LANES_REST, "'lanes' of section"},
		{"", LANES_HEAD LANES_REST, "'vcs' of section [link] is missing"},
		{"", LANES_HEAD LANES_REST "[link]\nvcs=2\n[network]\nswitching=lanes\n",
			"expected before 'vcs'"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(
			preset_of_two(&params, wrong[i].changes, wrong[i].text, &error),
			TB_EUSAGE);
		if (!strstr(error.text, wrong[i].expected))
			fail_msg("%s: expected %s", error.text, wrong[i].expected);
	}
}

// take gives `params` all that `list` holds and returns what is missing then.
static const char *take(
	struct tb_network_params *params, const struct tb_parameter *list, size_t n)
{
	struct tb_parameters_taken taken = {.params = params};
	for (size_t i = 0; i < n; i++)
		assert_int_equal(
			tb_parameters_take(&taken, list[i].key, &list[i].value), 1);
	return tb_parameters_missing(&taken);
}

static void a_change_of_the_list_takes_precedence_over_a_section(void **state)
{
	(void)state;
	static const char text[] =
		LANES_HEAD "switching=lanes\nhost=local\nrails=2\n" LANES_REST
			   "[link]\nlanes=7\n[host.local]\nissue=1us\n"
			   "stripe_above=2K\n[host.both]\nrails_policy=local\n"
			   "stripe_above=2K\n";
	struct tb_network_params params;
	struct tb_error error = {0};
	assert_int_equal(preset_of_two(&params, "", text, &error), TB_OK);
	assert_int_equal(params.host.stripe_above_bytes, 2048);
	assert_int_equal(
		preset_of_two(&params, ",rails_policy=static", text, &error), TB_OK);
	assert_int_equal(params.host.rails_policy, TB_RAILS_STATIC);
	assert_int_equal(
		preset_of_two(&params, ",host=both,rails_policy=striping", text, &error),
		TB_OK);
	assert_int_equal(preset_of_two(&params, ",host=both", text, &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "stripe_above has no effect"));
}

static void parameters_make_the_network_again(void **state)
{
	(void)state;
	static const char *const names[] = {"qsnet,partners=9,age_weight=0.3",
		"qsnet2,rails=2,host=tcp,ascent=random", "qsnet2,host=mpi,bus=none",
		"qsnet,rails=2,stripe_above=3", "qsnet,rails_policy=reserve",
		"qsnet,broadcast=yes,rate=123456789B/s",
		"ib-hdr,vls=3,vl_high=2:1 1:7,sl_to_vl=2 1 0,queues=voq",
		"roce-400,pcie=none,queue_pairs=message,host=mpi",
		"ethernet,burst=0,queue=1MB,initial_window=4,idle_restart=no,tcp=reno"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct tb_network_params told = params_of(names[i]);
		struct tb_network_params taken = {.n_rails = 0};
		struct tb_parameter list[TB_PARAMETERS_MOST], again[TB_PARAMETERS_MOST];
		size_t n = tb_parameters(&told, list);
		strcpy(taken.switching, told.switching);
		assert_null(take(&taken, list, n));
		assert_int_equal(tb_parameters(&taken, again), n);
		for (size_t j = 0; j < n; j++) {
			char text[48], other[48];
			assert_string_equal(again[j].key, list[j].key);
			assert_string_equal(
				tb_parameter_text(&again[j], text, sizeof text),
				tb_parameter_text(&list[j], other, sizeof other));
			assert_true(again[j].value.whole == list[j].value.whole);
			assert_true(again[j].value.real == list[j].value.real);
		}
		assert_string_equal(taken.host.name, told.host.name);
		assert_int_equal(taken.ascent, told.ascent);
		assert_int_equal(taken.fifo_bytes, told.fifo_bytes);
		if (told.n_rails > 1)
			assert_int_equal(taken.host.stripe_above_bytes,
				told.host.stripe_above_bytes);
		assert_int_equal(tb_circuit_params(&taken)->partners,
			tb_circuit_params(&told)->partners);
		assert_true(tb_circuit_params(&taken)->age_weight ==
			    tb_circuit_params(&told)->age_weight);
	}
}

static bool is_built_in(const char *name)
{
	const char *at;
	for (size_t i = 0; (at = tb_network_preset_name(i)) != NULL; i++)
		if (strcmp(at, name) == 0)
			return true;
	return false;
}

// It has the rates, latencies and nodes of the network that it stands for, and of its
// keys none that a fluid has no use for.
static void a_fluid_stands_for_any_network(void **state)
{
	(void)state;
	const char *name;
	for (size_t i = 0; (name = tb_network_preset_name(i)) != NULL; i++) {
		char changed[64];
		snprintf(changed, sizeof changed, "%s,switching=fluid", name);
		const struct tb_network_params of = params_of(name);
		const struct tb_network_params fluid = params_of(changed);
		assert_string_equal(fluid.switching, "fluid");
		assert_ptr_equal(tb_switching_nodes(&fluid), tb_switching_of(&of));
		assert_ptr_equal(tb_switching_nodes(&of), tb_switching_of(&of));
		assert_int_equal(fluid.link_bytes_per_s, of.link_bytes_per_s);
		assert_int_equal(fluid.hop_latency_ps, of.hop_latency_ps);
		assert_int_equal(tb_circuit_params(&fluid)->bus_bytes_per_s,
			tb_circuit_params(&of)->bus_bytes_per_s);
		assert_int_equal(tb_credit_params(&fluid)->pcie_bytes_per_s,
			tb_credit_params(&of)->pcie_bytes_per_s);
		assert_int_equal(tb_credit_params(&fluid)->message_gap_ps,
			tb_credit_params(&of)->message_gap_ps);
		assert_int_equal(tb_circuit_params(&fluid)->slice_bytes,
			tb_circuit_params(&of)->slice_bytes);
		assert_int_equal(fluid.fifo_bytes, 0);
	}
}

// No table names them: what lies in the folder is built in, under the file's name.
static void each_ini_file_of_schemas_is_a_preset(void **state)
{
	(void)state;
	char pattern[600];
	glob_t files;
	size_t n = 0;
	snprintf(pattern, sizeof pattern, "%s/schemas/*.ini", getenv("TB_SOURCE"));
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	for (; n < files.gl_pathc; n++) {
		char *name = strrchr(files.gl_pathv[n], '/') + 1;
		*strrchr(name, '.') = '\0';
		assert_true(is_built_in(name));
		assert_string_equal(params_of(name).name, name);
	}
	assert_non_null(tb_network_preset_name(n - 1));
	assert_null(tb_network_preset_name(n));
	assert_true(is_built_in(TB_NETWORK_DEFAULT));
	globfree(&files);
}

static void put(const char *path, const char *name)
{
	struct tb_network_params params = params_of("qsnet,arity=3,levels=2");
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	snprintf(params.name, sizeof params.name, "%s", name);
	tb_preset_write(&params, file);
	fclose(file);
}

static void a_file_in_the_user_s_folder_is_a_preset(void **state)
{
	(void)state;
	char folder[] = "/tmp/networks_XXXXXX", path[64];
	struct tb_network_params params;
	struct tb_error error = {0};
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/mine.ini", folder);
	put(path, "mine");
	assert_int_equal(tb_network_preset(&params, "mine", &error), TB_EUSAGE);
	setenv("TAILBACK_NETWORKS", folder, 1);
	params = params_of("mine,levels=3");
	assert_string_equal(params.name, "mine");
	assert_int_equal(params.arity, 3);
	assert_int_equal(params.levels, 3);
	// What is built in keeps its name, and a path is a path.
	assert_int_equal(params_of("qsnet").arity, 4);
	assert_int_equal(params_of(path).arity, 3);
	assert_int_equal(tb_network_preset(&params, "other", &error), TB_EUSAGE);
	unsetenv("TAILBACK_NETWORKS");
	unlink(path);
	rmdir(folder);
}

static void the_presets_of_a_folder_are_found_among_its_files(void **state)
{
	(void)state;
	char folder[] = "/tmp/networks_XXXXXX", path[64], wanted[128];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/sweep.ini", folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs("[sweep]\nexperiment = uniform\n", file);
	fclose(file);
	snprintf(path, sizeof path, "%s/a,b.ini", folder);
	put(path, "comma");
	snprintf(path, sizeof path, "%s/pipe.ini", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof path, "%s/mine.ini", folder);
	put(path, "mine");
	char *found = tb_network_preset_files(folder);
	snprintf(wanted, sizeof wanted, "%s\n", path);
	assert_string_equal(found, wanted);
	free(found);
	// By name, where the folder is that of the user's presets.
	setenv("TAILBACK_NETWORKS", folder, 1);
	found = tb_network_preset_files(folder);
	assert_string_equal(found, "");
	free(found);
	unsetenv("TAILBACK_NETWORKS");
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = {"sweep", "a,b", "pipe", "mine"};
		snprintf(path, sizeof path, "%s/%s.ini", folder, names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(folder), 0);
	assert_string_equal(found = tb_network_preset_files("/nowhere"), "");
	free(found);
}

// Each word that a key takes is one that it prints, and the sentence names them all.
static void a_key_takes_the_words_that_its_sentence_names(void **state)
{
	(void)state;
	static const char *const networks[] = {
		"qsnet,host=none", "ib-ndr,host=mpi", "ethernet"};
	size_t n_choices = 0;
	for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
		struct tb_network_params params = params_of(networks[i]);
		struct tb_preset_key keys[TB_PARAMETERS_MOST];
		size_t n = tb_switching_keys(tb_switching_of(&params), keys);
		for (size_t k = 0; k < n; k++) {
			char text[120], expected[240];
			struct tb_error error = {0};
			tb_preset_key_expects(&keys[k], expected, sizeof expected);
			assert_true(strlen(expected) > 0 && strlen(keys[k].meaning) > 0);
			if (keys[k].form != TB_FORM_CHOICE)
				continue;
			n_choices++;
			for (uint64_t word = 0; word <= keys[k].max; word++)
				assert_non_null(strstr(expected, keys[k].words[word]));
			snprintf(text, sizeof text, "%s,%s=foo", networks[i],
				keys[k].name);
			assert_int_equal(
				tb_network_preset(&params, text, &error), TB_EUSAGE);
			assert_non_null(strstr(error.text, expected));
		}
	}
	assert_int_equal(n_choices, 3 * 6 + 6 + 3);
	assert_int_equal(
		params_of("ib-ndr,host=mpi,local=links").host.local, TB_LOCAL_LINKS);
}

static void a_switching_has_words_for_what_is_waited_for(void **state)
{
	(void)state;
	struct tb_network_params params = {.switching = "circuits"};
	const struct tb_switching_words *words = tb_switching_words(&params);
	assert_string_equal(words->awaited, "a virtual channel");
	assert_string_equal(words->held, "the virtual channels");
	assert_non_null(words->root);
	assert_int_equal(tb_network_preset(&params, "ib-hdr", NULL), TB_OK);
	assert_string_equal(tb_switching_words(&params)->channels, "virtual lanes");
	assert_string_equal(tb_switching_words(&params)->awaited, "a turn or credits");
	assert_int_equal(tb_network_preset(&params, "roce-100", NULL), TB_OK);
	assert_string_equal(
		tb_switching_words(&params)->awaited, "a turn or the end of a pause");
	snprintf(params.switching, sizeof params.switching, "boats");
	assert_null(tb_switching_words(&params));
}

static void parameters_are_listed_by_section_as_people_read_them(void **state)
{
	(void)state;
	static const char expected[] =
		"network: arity 4, ports 8, levels 3, rails 1, ascent adaptive, "
		"broadcast no, "
		"host none\nlink: rate 400 MB/s, hop_latency 35 ns, vcs 2, fifo 256 B, "
		"flit 2 B, link_tokens 0.21\npacket: payload 320 B, overhead 58 B, "
		"write_block 64 B\nnode: "
		"send_overhead 1 us, receive_overhead 700 ns, retries 63, retry_delay 0 "
		"ps, bus none, ";
	const struct tb_network_params params = params_of("qsnet,bus=none");
	struct tb_parameter list[TB_PARAMETERS_MOST];
	size_t n = tb_parameters(&params, list), length = 0;
	char text[1024] = "", value[48];
	const char *section = NULL;
	for (size_t i = 0; i < n; i++) {
		bool same = section && strcmp(section, list[i].section) == 0;
		section = list[i].section;
		length += (size_t)snprintf(text + length, sizeof text - length,
			"%s%s%s%s %s",
			same ? ", "
			: i  ? "\n"
			     : "",
			same ? "" : section, same ? "" : ": ", list[i].key,
			tb_parameter_text(&list[i], value, sizeof value));
	}
	text[sizeof expected - 1] = '\0';
	assert_string_equal(text, expected);
}

static void parameters_of_a_stranger_are_checked(void **state)
{
	(void)state;
	static const struct tb_value whole = {.type = TB_VALUE_WHOLE, .whole = 5},
				     below = {.type = TB_VALUE_WHOLE, .whole = -1},
				     large = {.type = TB_VALUE_WHOLE,
					     .whole = INT64_C(1) << 32},
				     real = {.type = TB_VALUE_REAL, .real = 0.5},
				     above = {.type = TB_VALUE_REAL, .real = 1.01},
				     word = {.type = TB_VALUE_WORD, .word = "yes"},
				     name = {.type = TB_VALUE_WORD,
					     .word = "a name of thirty-two characters."};
	static const struct {
		const char *key;
		const struct tb_value *value;
		int status;
	} given[] = {{"colour", &whole, 0}, {"name", &word, 0}, {"switching", &word, 0},
		{"arity", &whole, 1}, {"arity", &below, TB_EFORMAT},
		{"arity", &large, TB_EFORMAT}, {"arity", &real, TB_EFORMAT},
		{"arity", &word, TB_EFORMAT}, {"rate", &large, 1},
		{"rate", &below, TB_EFORMAT}, {"hop_latency", &below, TB_EFORMAT},
		{"age_weight", &real, 1}, {"age_weight", &above, TB_EFORMAT},
		{"age_weight", &below, TB_EFORMAT}, {"age_weight", &word, TB_EFORMAT},
		{"broadcast", &word, 1}, {"broadcast", &whole, TB_EFORMAT},
		{"ascent", &word, TB_EFORMAT}, {"host", &word, 1},
		{"host", &name, TB_EFORMAT}, {"host", &whole, TB_EFORMAT}};
	for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
		struct tb_network_params params = {.switching = "circuits"};
		struct tb_parameters_taken taken = {.params = &params};
		int status = tb_parameters_take(&taken, given[i].key, given[i].value);
		if (status != given[i].status)
			fail_msg("%zu, %s: %d", i, given[i].key, status);
	}
}

static bool came_later(const char *key)
{
	static const char *const keys[] = {"bus_turn", "link_tokens", "rails_policy",
		"between_rails", "memory_rate", "combine", "pack", "eager_copy",
		"handshake_delay", "congestion_control", "ecn_min", "ecn_max",
		"ecn_probability", "cnp_interval", "rate_timer", "rate_bytes",
		"rate_step", "queue_pair_gap", "message_gap", "inline", "fetch_delay",
		"fecn_threshold", "fecn_packet_size", "marking_rate", "fecn_victims",
		"ccti_increase", "ccti_limit", "ccti_min", "ccti_timer", "cct_shift",
		"cct_square", "cache", "call", "wake", "local_inline", "local_fetch",
		"combine_cached", "shared_cache", "fresh", "pin", "gpus", "pci",
		"pci_turn", "buffers", "write_block", "ports"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static void a_parameter_that_was_not_given_is_missed(void **state)
{
	(void)state;
	static const char *const names[] = {"qsnet", "qsnet2", "ib-hdr"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct tb_network_params told = params_of(names[i]);
		struct tb_parameter list[TB_PARAMETERS_MOST];
		size_t n = tb_parameters(&told, list);
		for (size_t j = 0; j < n; j++) {
			struct tb_network_params params = {.n_rails = 0};
			memcpy(params.switching, told.switching, sizeof params.switching);
			struct tb_parameter left[TB_PARAMETERS_MOST];
			memcpy(left, list, n * sizeof *list);
			left[j] = list[n - 1];
			const char *missing = take(&params, left, n - 1);
			// Stores made before these were keys have none: they are 0.
			if (came_later(list[j].key))
				assert_null(missing);
			else
				assert_string_equal(missing, list[j].key);
		}
	}
}

static void nonsense_parameters_are_refused_by_name(void **state)
{
	(void)state;
	static const char *const wrong[][2] = {{"qsnet,vcs=0", "vcs"},
		{"qsnet,arity=1", "arity"}, {"qsnet,rate=0MB/s", "rate"},
		{"qsnet,fifo=1", "fifo"}, {"qsnet,colour=red", "colour"},
		{"qsnet,arity", "arity"}, {"nonesuch", "nonesuch"},
		{"qsnet,age_weight=nan", "age_weight"},
		{"qsnet,bus=none,bus_turn=1ns", "bus_turn"},
		{"qsnet,broadcast=yes,rails=2", "broadcast"},
		{"qsnet2,broadcast=yes", "broadcast"},
		{"/nonexistent.ini", "nonexistent"}};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tb_network_params params;
		struct tb_error error = {0};
		char text[1024];
		assert_true(tb_network_preset(&params, wrong[i][0], &error) < 0);
		tb_error_format(&error, text, sizeof text);
		if (!strstr(text, wrong[i][1]))
			fail_msg("'%s' does not name %s", text, wrong[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_network_s_library_is_its_own_or_the_one_asked_for),
		cmocka_unit_test(the_qsnet_preset_holds_the_published_figures),
		cmocka_unit_test(each_key_of_a_preset_sets_its_own_figure),
		cmocka_unit_test(a_fifo_holds_a_flit_or_more),
		cmocka_unit_test(zero_and_none_are_no_limit),
		cmocka_unit_test(a_key_without_effect_is_refused_by_name),
		cmocka_unit_test(a_change_of_the_list_takes_precedence_over_a_section),
		cmocka_unit_test(a_preset_has_the_keys_of_its_switching_and_no_others),
		cmocka_unit_test(parameters_make_the_network_again),
		cmocka_unit_test(a_fluid_stands_for_any_network),
		cmocka_unit_test(each_ini_file_of_schemas_is_a_preset),
		cmocka_unit_test(a_file_in_the_user_s_folder_is_a_preset),
		cmocka_unit_test(a_taper_makes_the_shape),
		cmocka_unit_test(the_presets_of_a_folder_are_found_among_its_files),
		cmocka_unit_test(a_key_takes_the_words_that_its_sentence_names),
		cmocka_unit_test(a_switching_has_words_for_what_is_waited_for),
		cmocka_unit_test(parameters_are_listed_by_section_as_people_read_them),
		cmocka_unit_test(parameters_of_a_stranger_are_checked),
		cmocka_unit_test(a_parameter_that_was_not_given_is_missed),
		cmocka_unit_test(nonsense_parameters_are_refused_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
