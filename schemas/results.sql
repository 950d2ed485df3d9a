-- The results store: one file with one or more runs.
--
-- Times are whole picoseconds of simulated time (suffix _ps), sizes bytes, rates bytes per second;
-- the views at the end show microseconds and percentages. Nodes, switches and links are numbered
-- from 0, runs from 1. The same input, configuration and seed give the same rows in every table
-- but run_environment.
--
-- A program reads and writes stores of its own version only. With a change to a table, to its
-- comments too (SQLite keeps them, and readers compare), raise user_version here by one; views may
-- change freely. The columns of figures are those of replay/records/link_figures.h, in that order.
-- A CHECK lists words with OR: for IN (...), SQLite builds a table per inserted row.
PRAGMA application_id = 1415670124; -- 'Tail'
PRAGMA user_version = 29; -- 1 to 28 were never released

-- What was replayed, on which network, and how far the replay came.
CREATE TABLE run (
  run INTEGER PRIMARY KEY,
  complete INTEGER NOT NULL DEFAULT 0, -- 1 once all was replayed and stored
  simulated_ps INTEGER NOT NULL DEFAULT 0,
  n_messages INTEGER NOT NULL DEFAULT 0, -- delivered
  n_packets INTEGER NOT NULL DEFAULT 0,
  delivered_bytes INTEGER NOT NULL DEFAULT 0, -- of messages: payload of jobs; of captures frames, on the wire
  n_retries INTEGER NOT NULL DEFAULT 0, -- packets sent again
  n_undelivered INTEGER NOT NULL DEFAULT 0, -- messages given up
  n_lost INTEGER NOT NULL DEFAULT 0, -- frames for which a queue had no room
  n_resent INTEGER NOT NULL DEFAULT 0, -- segments that TCP sent again
  n_messages_kept INTEGER NOT NULL DEFAULT 0, -- of n_messages, in the table message
  n_calls INTEGER NOT NULL DEFAULT 0, -- of ranks, also those that the table call_span leaves out
  bin_ps INTEGER NOT NULL DEFAULT 0, -- width of a time bin
  tree_bin_ps INTEGER NOT NULL DEFAULT 0, -- width of the slices of tree_bin and blame_bin; 0: none
  root_bin_ps INTEGER NOT NULL DEFAULT 0, -- of root_bin and job_wait, as wide or 2, 4, 8, ... times
  input_name TEXT NOT NULL,
  input_kind TEXT NOT NULL, -- packets or job
  input_digest TEXT NOT NULL, -- SHA-256 of the input's bytes, '' when streamed
  input_bytes INTEGER NOT NULL,
  options TEXT NOT NULL, -- of the replay, those that bear on the result
  time_scale REAL NOT NULL,
  seed TEXT NOT NULL, -- decimal; 64 bits without sign do not fit an INTEGER
  program_version TEXT NOT NULL,
  input_summary TEXT NOT NULL DEFAULT '{}', -- of captures, a JSON object
  routes_name TEXT NOT NULL DEFAULT '', -- of a route file, '' when routes were computed
  routes_digest TEXT NOT NULL DEFAULT '', -- SHA-256 of its bytes
  n_nodes INTEGER NOT NULL,
  n_switches INTEGER NOT NULL,
  n_links INTEGER NOT NULL,
  n_levels INTEGER NOT NULL,
  n_jobs INTEGER NOT NULL,
  network TEXT NOT NULL, -- name of its preset
  chosen INTEGER NOT NULL DEFAULT 1, -- 0: nobody chose it, and the input was recorded on another, or may have been
  switching TEXT NOT NULL, -- how its links and switches carry packets: circuits (see docs/model)
  leads TEXT NOT NULL DEFAULT 'came-by', -- by which wait links are hot: 'for' them, or of packets that
    -- 'came-by' them
  topology INTEGER NOT NULL DEFAULT 0 REFERENCES topology -- 0: none
) STRICT;

-- The network's parameters, by their keys in presets: 'arity', 'rate', 'hop_latency', ... The keys
-- depend on its switching; those of the host library are left out where it does nothing. Numbers
-- are in ps, bytes or bytes per second; 0 stands for no limit where a preset may say 'none'.
CREATE TABLE run_parameter (
  run INTEGER NOT NULL REFERENCES run,
  key TEXT NOT NULL,
  value ANY NOT NULL, -- INTEGER, REAL or TEXT
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

-- When, where and how fast the replay ran: everything that may differ between two equal runs.
CREATE TABLE run_environment (
  run INTEGER PRIMARY KEY REFERENCES run,
  started_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  host TEXT NOT NULL,
  machine TEXT NOT NULL,
  wall_s REAL -- NULL until the run has ended
) STRICT;

-- Networks: each is stored once, for all runs on it; the views node, switch and link have them by
-- run. Switches and links are of one rail; nodes, flows and blame are of all rails.
CREATE TABLE topology (
  topology INTEGER PRIMARY KEY, -- the first 12 digits of its digest
  digest TEXT NOT NULL -- SHA-256 of its rows in the next three tables
) STRICT;

CREATE TABLE topology_node (
  topology INTEGER NOT NULL REFERENCES topology,
  node INTEGER NOT NULL,
  host TEXT NOT NULL, -- the fabric's name of the host, '' when none
  guid TEXT, -- InfiniBand's, as 0x and 16 digits; NULL when none
  lid INTEGER NOT NULL, -- InfiniBand's local identifier, as in forwarding tables
  PRIMARY KEY (topology, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE topology_switch (
  topology INTEGER NOT NULL REFERENCES topology,
  switch INTEGER NOT NULL,
  name TEXT NOT NULL, -- the fabric's, else level.index ("2.13"); with rails behind "r1/"
  guid TEXT, -- as of nodes
  lid INTEGER NOT NULL,
  level INTEGER NOT NULL, -- 0 joins the nodes
  index_in_level INTEGER NOT NULL, -- within its rail
  n_down_ports INTEGER NOT NULL, -- ports count down first, then up
  n_up_ports INTEGER NOT NULL,
  rail INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (topology, switch)
) STRICT, WITHOUT ROWID;

-- A directed link. A cable is two, each the other's reverse.
CREATE TABLE topology_link (
  topology INTEGER NOT NULL REFERENCES topology,
  link INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind = 'injection' OR kind = 'up' OR kind = 'down' OR kind = 'ejection'),
  from_node INTEGER, -- of an injection
  from_switch INTEGER, -- of any other
  from_port INTEGER NOT NULL, -- 0 .. ports - 1, its place at the switch
  from_number INTEGER NOT NULL, -- what the port goes by, in names and forwarding tables
  to_node INTEGER, -- of an ejection
  to_switch INTEGER, -- of any other
  to_port INTEGER NOT NULL,
  to_number INTEGER NOT NULL,
  reverse INTEGER NOT NULL,
  bytes_per_s INTEGER NOT NULL,
  latency_ps INTEGER NOT NULL,
  PRIMARY KEY (topology, link)
) STRICT, WITHOUT ROWID;

-- Nodes that a run gives another name than the fabric's of the host: the captured endpoint, or the
-- trace's.
CREATE TABLE node_name (
  run INTEGER NOT NULL REFERENCES run,
  node INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (run, node)
) STRICT, WITHOUT ROWID;

-- A cable or a switch that dies. A cable is given by one of its two links.
CREATE TABLE fault (
  run INTEGER NOT NULL REFERENCES run,
  fault INTEGER NOT NULL, -- from 0, as given
  link INTEGER, -- NULL of a switch
  switch INTEGER, -- NULL of a cable
  at_ps INTEGER NOT NULL, -- 0: from the start
  PRIMARY KEY (run, fault)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  name TEXT NOT NULL,
  input TEXT NOT NULL DEFAULT '', -- the file it came from
  start_ps INTEGER NOT NULL DEFAULT 0, -- when it started
  placement TEXT NOT NULL DEFAULT '', -- of its ranks, '' when the trace's own
  PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;

-- What is to be known of how the run was made: what the reader of a trace left out or assumed, which
-- rules made messages of its calls, where its ranks were put, what is odd about the network.
CREATE TABLE note (
  run INTEGER NOT NULL REFERENCES run,
  note INTEGER NOT NULL, -- from 0
  job INTEGER, -- NULL: of the network
  text TEXT NOT NULL, -- a sentence
  PRIMARY KEY (run, note)
) STRICT, WITHOUT ROWID;

-- What was tried to make a run better ('tailback advise'), the last try of each change. A gain is
-- how much less what decided takes, in millionths: the mean over seeds, and half of its 95 %
-- interval (none with one seed).
CREATE TABLE tried (
  run INTEGER NOT NULL REFERENCES run,
  command TEXT NOT NULL, -- that replays it, as a finding has it
  title TEXT NOT NULL, -- what is changed
  verdict TEXT NOT NULL, -- helps, no difference, unclear, harms
  of TEXT NOT NULL CHECK (of IN ('run time', 'run time of jobs', 'run time of a job', 'latency')),
  job INTEGER, -- 'run time of a job': which; 'run time of jobs' is the mean over all
  seeds INTEGER NOT NULL,
  gain_ppm INTEGER NOT NULL,
  half_ppm INTEGER,
  needs_hardware INTEGER NOT NULL DEFAULT 0, -- 1: it takes new cables, rails or machines
  PRIMARY KEY (run, command)
) STRICT, WITHOUT ROWID;

-- What a job takes by itself ('replay --alone'): its messages replayed without the other jobs',
-- with the run's placement, start, seed and faults on the run's network ('same'), and on an ideal
-- one ('ideal', see docs/model, never longer). Jobs whose replays were not asked for, or stopped,
-- have no rows, nor has the ideal of one of which messages were given up.
CREATE TABLE job_alone (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  network TEXT NOT NULL CHECK (network = 'same' OR network = 'ideal'),
  run_ps INTEGER NOT NULL, -- as last_ps - first_ps in job_total
  messages INTEGER NOT NULL, -- delivered
  latency_ps INTEGER, -- sum over messages, from post to delivery; NULL: on an ideal network it came out longer
  PRIMARY KEY (run, job, network)
) STRICT, WITHOUT ROWID;

-- What really happened, as the job's trace recorded it, beside the replay: from the beginning of
-- the trace until the last call was left, or the last packet captured. Jobs without such times
-- have no rows here.
CREATE TABLE recorded_job (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  unit TEXT NOT NULL CHECK (unit IN ('call', 'message', 'packet')), -- of what times are compared
  compared INTEGER NOT NULL, -- how many
  recorded_ps INTEGER NOT NULL,
  simulated_ps INTEGER NOT NULL, -- of the same calls, from the job's start
  bytes_per_s INTEGER, -- of the recorded network's ports, estimated; NULL: the trace does not say
  PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;

-- The same by kind of call: how long calls took from entering to leaving. What calls that only
-- start something take is not modelled.
CREATE TABLE recorded_kind (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  kind TEXT NOT NULL, -- send, isend, wait, allreduce, ...; message: of a capture
  calls INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  recorded_ps INTEGER NOT NULL, -- sum over calls
  recorded_median_ps INTEGER NOT NULL,
  simulated_calls INTEGER NOT NULL, -- fewer where the replay did not end them
  simulated_ps INTEGER, -- NULL: not modelled
  simulated_median_ps INTEGER,
  PRIMARY KEY (run, job, kind)
) STRICT, WITHOUT ROWID;

-- The same by rank, without calls that only start something.
CREATE TABLE recorded_rank (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  recorded_ps INTEGER NOT NULL, -- in calls
  recorded_end_ps INTEGER NOT NULL, -- its last call was left
  simulated_calls INTEGER NOT NULL,
  simulated_ps INTEGER NOT NULL,
  simulated_end_ps INTEGER NOT NULL,
  PRIMARY KEY (run, job, rank)
) STRICT, WITHOUT ROWID;

-- What a job's captures recorded of congestion, by ordered pair of endpoints, before any replay.
-- Events count for the pair of the frame that tells of them: a CNP goes to the sender of marked
-- packets, a window of zero is its sender's.
CREATE TABLE recorded_pair (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL, -- the first of the captures
  pair INTEGER NOT NULL, -- from 0, in the order in which they appear
  source TEXT, -- an endpoint; NULL: all pairs beyond those that are told apart
  destination TEXT,
  source_node INTEGER, -- NULL: none
  destination_node INTEGER,
  retransmissions INTEGER NOT NULL, -- segments or packets sent again, without keep-alives
  fast_retransmissions INTEGER NOT NULL, -- of them, after two duplicate acknowledgements
  timeout_retransmissions INTEGER NOT NULL, -- after both ends had been silent for two round trips
  spurious_retransmissions INTEGER NOT NULL, -- although they had been acknowledged
  keep_alives INTEGER NOT NULL,
  duplicate_acks INTEGER NOT NULL,
  duplicates INTEGER NOT NULL, -- copies of a frame that another point of the capture saw
  out_of_order INTEGER NOT NULL,
  zero_windows INTEGER NOT NULL, -- segments in which their sender takes no more bytes
  zero_window_ps INTEGER NOT NULL, -- how long that lasted, of all connections together
  full_windows INTEGER NOT NULL, -- segments that fill the receiver's window exactly
  window_limited_ps INTEGER NOT NULL, -- without room for a full segment, until the sender went on
  marked INTEGER NOT NULL, -- packets with a congestion mark: ECN's CE, InfiniBand's FECN
  cnps INTEGER NOT NULL, -- congestion notification packets of RoCE v2
  not_ready INTEGER NOT NULL, -- RNR NAKs: their sender had no buffer for a message
  pauses INTEGER NOT NULL, -- classes that frames ask to pause
  pause_resumes INTEGER NOT NULL, -- and let go on, with 0 quanta
  pause_quanta INTEGER NOT NULL, -- for how long, in 512 bit times of the port, at most
  payload_bytes INTEGER NOT NULL, -- of TCP, without what was sent again
  lasted_ps INTEGER NOT NULL, -- of TCP, from its first data to its last
  in_timeouts_ps INTEGER NOT NULL, -- of it, of all connections together; 0: captured one way
  in_recovery_ps INTEGER NOT NULL, -- from a segment sent again until what was under way arrived
  in_window_ps INTEGER NOT NULL, -- held by the receiver's window
  idle_ps INTEGER NOT NULL, -- all was acknowledged, or waited for an answer
  sending_ps INTEGER NOT NULL, -- the rest
  handshakes INTEGER NOT NULL,
  handshake_least_ps INTEGER, -- NULL: there was none
  handshake_median_ps INTEGER, -- NULL also: too many pairs to tell; at most 1/32 off
  handshake_p95_ps INTEGER,
  round_trips INTEGER NOT NULL,
  round_trip_least_ps INTEGER,
  round_trip_median_ps INTEGER,
  round_trip_p95_ps INTEGER,
  PRIMARY KEY (run, job, pair)
) STRICT, WITHOUT ROWID;

-- The same over time, in bins of recorded_capture.bin_ps in which a pair had anything.
CREATE TABLE recorded_bin (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  pair INTEGER NOT NULL,
  from_ps INTEGER NOT NULL, -- of the trace's time as it was captured, before --time-scale
  retransmissions INTEGER NOT NULL,
  fast_retransmissions INTEGER NOT NULL,
  timeout_retransmissions INTEGER NOT NULL,
  spurious_retransmissions INTEGER NOT NULL,
  keep_alives INTEGER NOT NULL,
  duplicate_acks INTEGER NOT NULL,
  duplicates INTEGER NOT NULL,
  out_of_order INTEGER NOT NULL,
  zero_windows INTEGER NOT NULL,
  zero_window_ps INTEGER NOT NULL,
  full_windows INTEGER NOT NULL,
  window_limited_ps INTEGER NOT NULL,
  marked INTEGER NOT NULL,
  cnps INTEGER NOT NULL,
  not_ready INTEGER NOT NULL,
  pauses INTEGER NOT NULL,
  pause_resumes INTEGER NOT NULL,
  pause_quanta INTEGER NOT NULL,
  PRIMARY KEY (run, job, pair, from_ps)
) STRICT, WITHOUT ROWID;

-- Pause frames by class (IEEE 802.1Qbb); class 8 is the whole port (802.3x).
CREATE TABLE recorded_pause (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  pair INTEGER NOT NULL,
  class INTEGER NOT NULL,
  pauses INTEGER NOT NULL,
  resumes INTEGER NOT NULL,
  quanta INTEGER NOT NULL,
  at_most_ps INTEGER, -- how long the quanta last at the port's rate; NULL: it is not known
  PRIMARY KEY (run, job, pair, class)
) STRICT, WITHOUT ROWID;

-- Over all pairs.
CREATE TABLE recorded_capture (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  bin_ps INTEGER NOT NULL,
  handshakes INTEGER NOT NULL,
  handshake_least_ps INTEGER,
  handshake_median_ps INTEGER,
  handshake_p95_ps INTEGER,
  round_trips INTEGER NOT NULL,
  round_trip_least_ps INTEGER,
  round_trip_median_ps INTEGER,
  round_trip_p95_ps INTEGER,
  PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;

-- What each rank of a job did, from its start until its last operation had ended, without gaps.
-- Short neighbours are merged where there would be more than 131,072 spans in all.
CREATE TABLE rank_span (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  span INTEGER NOT NULL, -- from 0, by time
  kind TEXT NOT NULL CHECK (kind = 'compute' OR kind = 'send' OR kind = 'receive' OR kind = 'wait'),
  peer INTEGER, -- rank to which it sent, from which it received, which it waited to send
  from_ps INTEGER NOT NULL,
  to_ps INTEGER NOT NULL,
  merged INTEGER NOT NULL, -- how many it stands for; kind is that of the longest
  computed_ps INTEGER NOT NULL, -- of it, exact
  waited_ps INTEGER NOT NULL, -- likewise, until its peer sent
  PRIMARY KEY (run, job, rank, span)
) STRICT, WITHOUT ROWID;

-- What each rank called: collective calls, and all calls of programs whose traces recorded times.
-- They may overlap. Where there would be more than 131,072, the longest of each rank are kept; all
-- are run.n_calls. Those that did not end, or took no time, are not among them.
CREATE TABLE call_span (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  call INTEGER NOT NULL, -- from 0, by time
  kind TEXT NOT NULL, -- allreduce, iallreduce, send, wait, ...
  algorithm TEXT, -- by which a collective call became messages
  bytes INTEGER NOT NULL, -- of a message; of a collective call what the rank gave it
  members INTEGER NOT NULL, -- of a collective call whose blocks are alike; 0: unknown
  from_ps INTEGER NOT NULL,
  to_ps INTEGER NOT NULL,
  waited_ps INTEGER NOT NULL, -- of it, for others: that they come to the collective call, or send
  PRIMARY KEY (run, job, rank, call)
) STRICT, WITHOUT ROWID;

-- The critical path: what the end of the run waited for, by time, without gaps; so the steps add
-- up to simulated_ps. Short neighbours are merged where there would be more than 32,768.
CREATE TABLE path_step (
  run INTEGER NOT NULL REFERENCES run,
  step INTEGER NOT NULL, -- from 0, by time
  cause TEXT NOT NULL, -- start, compute, closed window, own queue, software, transfer, held up,
    -- time-out, acknowledge, lost, end
  job INTEGER NOT NULL,
  rank INTEGER, -- that computed, or sent; NULL: of start and end
  peer INTEGER, -- rank to which it sent
  from_ps INTEGER NOT NULL,
  to_ps INTEGER NOT NULL,
  merged INTEGER NOT NULL, -- how many it stands for; the rest is that of the longest
  PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;

-- The same by cause and flow, exact.
CREATE TABLE path_total (
  run INTEGER NOT NULL REFERENCES run,
  total INTEGER NOT NULL, -- from 0, longest first
  cause TEXT NOT NULL,
  job INTEGER NOT NULL,
  source INTEGER, -- node that computed, or sent
  destination INTEGER, -- node to which it sent
  steps INTEGER NOT NULL,
  sum_ps INTEGER NOT NULL,
  PRIMARY KEY (run, total)
) STRICT, WITHOUT ROWID;

-- Calls that cannot be compared, and why.
CREATE TABLE uncompared (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  reason TEXT NOT NULL, -- what is wrong with them: "left before entered, ..."
  calls INTEGER NOT NULL,
  PRIMARY KEY (run, job, reason)
) STRICT, WITHOUT ROWID;

-- A job that was inferred from a capture, replayed at the rate at which it was captured: how far
-- the inference is from what was captured.
CREATE TABLE capture_check (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  bytes_per_s INTEGER NOT NULL, -- of the ports of the network that it was replayed on
  recorded_ps INTEGER NOT NULL,
  simulated_ps INTEGER NOT NULL,
  node_percent REAL NOT NULL, -- by how much nodes end at another time: mean of the absolute values
  recorded_message_ps INTEGER NOT NULL, -- mean latency of a message, from its first byte on the wire
  simulated_message_ps INTEGER NOT NULL,
  PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;

-- Between what the run time of inferred jobs lies ('replay --closed-loop', see docs/closed-loop.md):
-- that of simulated_ps and of the least and most that the captures allow.
CREATE TABLE run_range (
  run INTEGER PRIMARY KEY REFERENCES run,
  least_ps INTEGER NOT NULL,
  most_ps INTEGER NOT NULL,
  calls INTEGER NOT NULL, -- messages of these jobs
  hidden INTEGER NOT NULL, -- of them, called for behind a queue of their node
  untold INTEGER NOT NULL -- of them, after time that may have been the program's or the captured path's
) STRICT;

-- What a run of jobs takes where messages take no time, and on an ideal network (see docs/model);
-- each at most the next, and at most simulated_ps. Runs with captures at their own times, with
-- messages given up, and those of 'replay --no-bounds' have no row.
CREATE TABLE run_bound (
  run INTEGER PRIMARY KEY REFERENCES run,
  compute_ps INTEGER NOT NULL, -- but for closed_ps
  closed_ps INTEGER NOT NULL, -- on top of that, while receivers kept their windows closed
  ideal_ps INTEGER -- NULL: it came out longer than the run, so it is no bound
) STRICT;

-- The nodes of a job's ranks. Ranks of a capture are its endpoints in the order of their nodes.
CREATE TABLE job_node (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  node INTEGER NOT NULL,
  PRIMARY KEY (run, job, rank)
) STRICT, WITHOUT ROWID;

-- What happened on links in a time bin, packed; the view link_bin has it by link. Bin b covers
-- [b * bin_ps, (b + 1) * bin_ps). Pack p holds the links 1024 * p to 1024 * p + 1023 on which anything
-- happened.
CREATE TABLE link_pack (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  pack INTEGER NOT NULL,
  links TEXT NOT NULL, -- JSON without blanks: arrays of the columns of link_bin from link on, ascending,
    -- zeros at the end of each left out
  PRIMARY KEY (run, bin, pack)
) STRICT, WITHOUT ROWID;

-- The columns of link_bin for the whole network.
CREATE TABLE bin_total (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  came_by_ps INTEGER NOT NULL,
  wait_for_ps INTEGER NOT NULL DEFAULT 0,
  stall_ps INTEGER NOT NULL,
  busy_ps INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  packets INTEGER NOT NULL,
  blocked INTEGER NOT NULL,
  longest_wait_ps INTEGER NOT NULL,
  largest_queue_bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run, bin)
) STRICT, WITHOUT ROWID;

-- Headers that waited at the switches of a level in a time bin (as link_bin, summed).
CREATE TABLE level_bin (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  level INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, bin, level)
) STRICT, WITHOUT ROWID;

-- What link_bin holds, added up over the run, packed likewise; the view link_total has it by link.
-- Written at the run's end. A run that was killed has no such rows: add up link_bin, as the view
-- link_sum does.
CREATE TABLE total_pack (
  run INTEGER NOT NULL REFERENCES run,
  pack INTEGER NOT NULL,
  links TEXT NOT NULL, -- as of link_pack
  PRIMARY KEY (run, pack)
) STRICT, WITHOUT ROWID;

-- What a job sent from one node to another, packed; the view flow has it by flow. A pack holds flows
-- of one job, ascending.
CREATE TABLE flow_pack (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  source INTEGER NOT NULL, -- of its first flow
  destination INTEGER NOT NULL,
  flows TEXT NOT NULL, -- JSON without blanks: arrays of the columns of flow from source on, ascending,
    -- zeros at the end of each left out
  PRIMARY KEY (run, job, source, destination)
) STRICT, WITHOUT ROWID;

-- What the flows of a job come to.
CREATE TABLE job_total (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  flows INTEGER NOT NULL, -- that delivered a message
  messages INTEGER NOT NULL, -- sums and extremes over flow
  packets INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  latency_ps INTEGER NOT NULL,
  queue_ps INTEGER NOT NULL,
  network_ps INTEGER NOT NULL,
  worst_latency_ps INTEGER NOT NULL,
  ideal_ps INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  blamed_ps INTEGER NOT NULL,
  first_ps INTEGER NOT NULL, -- it began: of a capture with its first message
  last_ps INTEGER NOT NULL, -- its last message was delivered, or its last rank done computing
  PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;

-- Where a run has many flows, which are the slowest: so that a report reads these alone.
CREATE TABLE flow_top (
  run INTEGER NOT NULL REFERENCES run,
  rank INTEGER NOT NULL, -- from 1, largest slowdown first
  n INTEGER NOT NULL, -- of flows in all
  job INTEGER NOT NULL,
  source INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  PRIMARY KEY (run, rank)
) STRICT, WITHOUT ROWID;

-- What the flows from a node come to, so that a report finds the nodes that have more to send than
-- their links carry. Nodes that sent nothing are left out.
CREATE TABLE sender_total (
  run INTEGER NOT NULL REFERENCES run,
  node INTEGER NOT NULL,
  messages INTEGER NOT NULL, -- sums over flow
  bytes INTEGER NOT NULL,
  latency_ps INTEGER NOT NULL,
  queue_ps INTEGER NOT NULL,
  first_ps INTEGER NOT NULL, -- its first delivered message was posted
  last_post_ps INTEGER NOT NULL, -- its last delivered message was posted
  PRIMARY KEY (run, node)
) STRICT, WITHOUT ROWID;

-- Delivered messages, each by itself: all, or the 16,384 that lost most time in the network
-- (network_ps - ideal_ps; of equals those delivered earlier).
CREATE TABLE message (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  source INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  message INTEGER NOT NULL, -- number, from 0, of the run's messages in the order of posting
  bytes INTEGER NOT NULL,
  posted_ps INTEGER NOT NULL,
  started_ps INTEGER NOT NULL, -- its first packet entered the network
  delivered_ps INTEGER NOT NULL,
  queue_ps INTEGER NOT NULL, -- of its latency, as of flow
  network_ps INTEGER NOT NULL,
  ideal_ps INTEGER NOT NULL,
  PRIMARY KEY (run, job, source, destination, message)
) STRICT, WITHOUT ROWID;

-- Messages that were given up, by the dead link that they met last.
CREATE TABLE undelivered_flow (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  source INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  dead_link INTEGER NOT NULL, -- -1: the source had no route
  messages INTEGER NOT NULL,
  bytes INTEGER NOT NULL, -- payload of them all, part of which may have arrived
  first_ps INTEGER NOT NULL, -- when the first of them was given up
  PRIMARY KEY (run, job, source, destination, dead_link)
) STRICT, WITHOUT ROWID;

-- Frames for which the queue before a link had no room. Links that lost none are left out.
CREATE TABLE port_loss (
  run INTEGER NOT NULL REFERENCES run,
  link INTEGER NOT NULL,
  frames INTEGER NOT NULL,
  bytes INTEGER NOT NULL, -- on the wire
  PRIMARY KEY (run, link)
) STRICT, WITHOUT ROWID;

-- The same by flow, and what TCP sent again. Flows without either are left out.
CREATE TABLE flow_loss (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  source INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  frames INTEGER NOT NULL, -- lost: of its segments, and acknowledgements of these
  bytes INTEGER NOT NULL, -- of them
  resent INTEGER NOT NULL, -- segments
  PRIMARY KEY (run, job, source, destination)
) STRICT, WITHOUT ROWID;

-- Connections that had lost frames, or flows packets at what is dead, and waited for their sender's timer,
-- which ran out at to_ps. Of packets of a flow that wait at one time the first stands for all.
CREATE TABLE time_out (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  source INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  from_ps INTEGER NOT NULL, -- since it last sent, or heard of anything new
  to_ps INTEGER NOT NULL,
  link INTEGER NOT NULL, -- where its last frame before to_ps was lost
  PRIMARY KEY (run, job, source, destination, to_ps)
) STRICT, WITHOUT ROWID;

-- What the counters of a live fabric ('tailback counters') counted at the ends of a link beside its
-- figures: of what its sender sent, of what its receiver received. Counts of 0 are left out.
CREATE TABLE link_count (
  run INTEGER NOT NULL REFERENCES run,
  link INTEGER NOT NULL,
  counter TEXT NOT NULL, -- symbol_errors, link_downed, transmit_discards, ...
  count INTEGER NOT NULL,
  at_least INTEGER NOT NULL DEFAULT 0, -- 1: the counter stood at its end
  PRIMARY KEY (run, link, counter)
) STRICT, WITHOUT ROWID;

-- What counters tell of a link: 'at least', 'at most' or 'not measured'; NULL is exact. A run of
-- counters has a row a link, a replayed one has none, as all is exact there. The views have NULL of
-- what was not measured; of single headers and queues no counter tells.
CREATE TABLE link_known (
  run INTEGER NOT NULL REFERENCES run,
  link INTEGER NOT NULL,
  wait TEXT, -- of wait_ps and stall_ps
  bytes TEXT, -- of bytes and busy_ps
  packets TEXT,
  tick_bytes INTEGER NOT NULL, -- of its time in a tick of its sender's PortXmitWait; 0: not known
  is_idle INTEGER NOT NULL, -- 1: total_pack has no row of it
  PRIMARY KEY (run, link)
) STRICT, WITHOUT ROWID;

-- Who waited for whom. A header (of the victim) that had arrived over a link waited for what
-- another's packet held there (the culprit's; with circuits, a VC); the root is the link at the end
-- of the chain of such waits. Two kinds of tables hold these waits.
--
-- Sums hold every wait, to the picosecond: root_total, root_bin, root_job, job_wait, job_link,
-- link_total, level_bin, and wait_ps and blamed_ps of flow.
--
-- The heaviest rows are kept of what would be too many: blame_wait, blame_bin, blame_group,
-- tree_bin. A row surely waited for wait_ps, and at most for wait_ps + error_ps. blame_list says
-- what is left out.
CREATE TABLE root_total (
  run INTEGER NOT NULL REFERENCES run,
  root INTEGER NOT NULL, -- link
  waits INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, root)
) STRICT, WITHOUT ROWID;

-- Slice b covers [b * root_bin_ps, (b + 1) * root_bin_ps).
CREATE TABLE root_bin (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  root INTEGER NOT NULL, -- link
  wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, bin, root)
) STRICT, WITHOUT ROWID;

-- Not written when all that waited was of job 0, for job 0.
CREATE TABLE root_job (
  run INTEGER NOT NULL REFERENCES run,
  root INTEGER NOT NULL, -- link
  victim_job INTEGER NOT NULL,
  waits INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, root, victim_job)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_wait (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL, -- as of root_bin
  victim_job INTEGER NOT NULL,
  culprit_job INTEGER NOT NULL,
  waits INTEGER NOT NULL, -- that ended in the slice
  wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, bin, victim_job, culprit_job)
) STRICT, WITHOUT ROWID;

-- Not written when all that waited was of job 0, for job 0.
CREATE TABLE job_link (
  run INTEGER NOT NULL REFERENCES run,
  link INTEGER NOT NULL, -- by which the headers had arrived
  job INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL, -- of the job's headers
  blamed_ps INTEGER NOT NULL, -- of anybody's headers, for what the job's packets held
  PRIMARY KEY (run, link, job)
) STRICT, WITHOUT ROWID;

-- By link and flows.
CREATE TABLE blame_wait (
  run INTEGER NOT NULL REFERENCES run,
  link INTEGER NOT NULL,
  victim_job INTEGER NOT NULL,
  victim_source INTEGER NOT NULL,
  victim_destination INTEGER NOT NULL,
  culprit_job INTEGER NOT NULL,
  culprit_source INTEGER NOT NULL,
  culprit_destination INTEGER NOT NULL,
  waits INTEGER NOT NULL, -- of those counted in wait_ps
  wait_ps INTEGER NOT NULL,
  error_ps INTEGER NOT NULL,
  PRIMARY KEY (run, link, victim_job, victim_source, victim_destination,
    culprit_job, culprit_source, culprit_destination)
) STRICT, WITHOUT ROWID;

-- By time and flows, at all links. Slice b covers [b * tree_bin_ps, (b + 1) * tree_bin_ps).
CREATE TABLE blame_bin (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  victim_job INTEGER NOT NULL,
  victim_source INTEGER NOT NULL,
  victim_destination INTEGER NOT NULL,
  culprit_job INTEGER NOT NULL,
  culprit_source INTEGER NOT NULL,
  culprit_destination INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  error_ps INTEGER NOT NULL,
  PRIMARY KEY (run, bin, victim_job, victim_source, victim_destination,
    culprit_job, culprit_source, culprit_destination)
) STRICT, WITHOUT ROWID;

-- By groups of flows, at all links and times.
CREATE TABLE blame_group (
  run INTEGER NOT NULL REFERENCES run,
  grouping TEXT NOT NULL CHECK (grouping = 'destination' OR grouping = 'destination leaf' OR grouping = 'source leaf'),
  victim INTEGER NOT NULL, -- a node, or the switch that joins it to the network
  culprit INTEGER NOT NULL,
  waits INTEGER NOT NULL, -- of those counted in wait_ps
  wait_ps INTEGER NOT NULL,
  error_ps INTEGER NOT NULL,
  PRIMARY KEY (run, grouping, victim, culprit)
) STRICT, WITHOUT ROWID;

-- By time, root, and the link over which the headers had arrived: a congestion tree as it grows and
-- dissolves. Slices as of blame_bin.
CREATE TABLE tree_bin (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  root INTEGER NOT NULL, -- link
  link INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  error_ps INTEGER NOT NULL,
  PRIMARY KEY (run, bin, root, link)
) STRICT, WITHOUT ROWID;

-- What the heaviest rows leave out.
CREATE TABLE blame_list (
  run INTEGER NOT NULL REFERENCES run,
  list TEXT NOT NULL, -- a table's name, of blame_group the grouping
  floor_ps INTEGER NOT NULL, -- nothing that was left out waited longer than this
  rest_ps INTEGER NOT NULL, -- the run's wait less that of the rows; 0: nothing was left out
  PRIMARY KEY (run, list)
) STRICT, WITHOUT ROWID;

-- A point of a sweep. All are known when the sweep begins, each with the number of its later run;
-- it is done when there is a run of this number.
CREATE TABLE sweep_point (
  run INTEGER PRIMARY KEY,
  settings TEXT NOT NULL UNIQUE -- all that makes it this point, as one line
) STRICT;

-- The same settings, one per row.
CREATE TABLE sweep_value (
  run INTEGER NOT NULL REFERENCES sweep_point,
  axis TEXT NOT NULL, -- experiment, nodes, message, load, ..., network and its overrides
  value TEXT NOT NULL, -- sizes in bytes, times in us, 'full' for a load without limit
  PRIMARY KEY (run, axis)
) STRICT, WITHOUT ROWID;

-- What was measured of a point that is done, in the window of its experiment.
CREATE TABLE sweep_result (
  run INTEGER NOT NULL REFERENCES run,
  name TEXT NOT NULL, -- offered, accepted, taken, given (bytes per second), latency (s), waiting
  value REAL NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- How the sweep file asks for the curves to be drawn: its section [plot].
CREATE TABLE sweep_plot (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Which share of a sweep or of several replays the store holds (--shard): one row, or none in the
-- store of the whole. Runs have the numbers that they have in the whole; of a sweep all points are
-- planned. 'tailback sweep merge' puts shards together.
CREATE TABLE shard (
  shard INTEGER PRIMARY KEY, -- from 1
  n_shards INTEGER NOT NULL,
  n_runs INTEGER NOT NULL, -- of this shard
  whole TEXT NOT NULL -- SHA-256 of what all shards run: points, options, names of inputs, version
) STRICT;

-- Views. Keys out of JSON are cast, for SQLite to index them where views are joined. Each begins
-- with the run, newest first, and is in the order of reading, so
--   SELECT * FROM hot_links LIMIT 10
-- is about the newest run; WHERE run = 1 asks for another. Where a comment begins with a plus, a
-- store has the columns of replay/records/link_figures.h, flow_sum.h and wait_figures.h.

-- The network of each run.
CREATE VIEW node (run, node, name, host, guid, lid) AS
SELECT r.run, t.node, coalesce(n.name, t.host), t.host, t.guid, t.lid
FROM run AS r JOIN topology_node AS t USING (topology)
LEFT JOIN node_name AS n ON n.run = r.run AND n.node = t.node;

CREATE VIEW switch (run, switch, name, guid, lid, level, index_in_level, n_down_ports, n_up_ports,
  rail) AS
SELECT r.run, t.switch, t.name, t.guid, t.lid, t.level, t.index_in_level, t.n_down_ports,
  t.n_up_ports, t.rail
FROM run AS r JOIN topology_switch AS t USING (topology);

CREATE VIEW link (run, link, kind, from_node, from_switch, from_port, from_number, to_node,
  to_switch, to_port, to_number, reverse, bytes_per_s, latency_ps) AS
SELECT r.run, t.link, t.kind, t.from_node, t.from_switch, t.from_port, t.from_number, t.to_node,
  t.to_switch, t.to_port, t.to_number, t.reverse, t.bytes_per_s, t.latency_ps
FROM run AS r JOIN topology_link AS t USING (topology);

-- What happened on a link in a time bin. Rows in which nothing happened are left out. A question for
-- one link reads all of the bins.
CREATE VIEW link_bin (
  run,
  bin,
  link,
  came_by_ps, -- wait of headers that arrived over the link, at its far end
  wait_for_ps, -- wait of headers that wanted the link, at its near end, and took it in the end; with circuits
    -- in the bin in which the wait ended
  stall_ps, -- held up, nothing moving: with circuits, a VC is held
  busy_ps, -- bytes moving
  bytes, -- on the wire
  packets, -- whose header crossed the link
  blocked, -- headers that had to wait, by the wait that leads (run.leads): for the link, or by it
  longest_wait_ps, -- of one of them
  largest_queue_bytes -- of packets that waited in one queue at once, the first of them one of these
) AS
SELECT p.run, p.bin, CAST(l.value ->> 0 AS INTEGER),
  iif(k.link IS NULL, coalesce(l.value ->> 1, 0), NULL),
  iif(k.wait IS 'not measured', NULL, coalesce(l.value ->> 2, 0)),
  iif(k.wait IS 'not measured', NULL, coalesce(l.value ->> 3, 0)),
  iif(k.bytes IS 'not measured', NULL, coalesce(l.value ->> 4, 0)),
  iif(k.bytes IS 'not measured', NULL, coalesce(l.value ->> 5, 0)),
  iif(k.packets IS 'not measured', NULL, coalesce(l.value ->> 6, 0)),
  iif(k.link IS NULL, coalesce(l.value ->> 7, 0), NULL),
  iif(k.link IS NULL, coalesce(l.value ->> 8, 0), NULL),
  iif(k.link IS NULL, coalesce(l.value ->> 9, 0), NULL)
FROM link_pack AS p CROSS JOIN json_each(p.links) AS l
LEFT JOIN link_known AS k ON k.run = p.run AND k.link = l.value ->> 0;

-- The same added up over the run. A question for one link reads all of them. SQLite would unpack it
-- once for each row that it is joined to, were it not of two parts. The second has what was not
-- measured of links without traffic and waits.
CREATE VIEW link_total (run, link, came_by_ps, wait_for_ps, stall_ps, busy_ps, bytes, packets, blocked,
  longest_wait_ps, largest_queue_bytes) AS
SELECT p.run, CAST(l.value ->> 0 AS INTEGER),
  iif(k.link IS NULL, coalesce(l.value ->> 1, 0), NULL),
  iif(k.wait IS 'not measured', NULL, coalesce(l.value ->> 2, 0)),
  iif(k.wait IS 'not measured', NULL, coalesce(l.value ->> 3, 0)),
  iif(k.bytes IS 'not measured', NULL, coalesce(l.value ->> 4, 0)),
  iif(k.bytes IS 'not measured', NULL, coalesce(l.value ->> 5, 0)),
  iif(k.packets IS 'not measured', NULL, coalesce(l.value ->> 6, 0)),
  iif(k.link IS NULL, coalesce(l.value ->> 7, 0), NULL),
  iif(k.link IS NULL, coalesce(l.value ->> 8, 0), NULL),
  iif(k.link IS NULL, coalesce(l.value ->> 9, 0), NULL)
FROM total_pack AS p CROSS JOIN json_each(p.links) AS l
LEFT JOIN link_known AS k ON k.run = p.run AND k.link = l.value ->> 0
UNION ALL
SELECT run, link, NULL, iif(wait IS 'not measured', NULL, 0),
  iif(wait IS 'not measured', NULL, 0), iif(bytes IS 'not measured', NULL, 0),
  iif(bytes IS 'not measured', NULL, 0), iif(packets IS 'not measured', NULL, 0), NULL, NULL, NULL
FROM link_known WHERE is_idle;

-- What a job sent from one node to another. A question for one flow reads all of the run.
CREATE VIEW flow (
  run,
  job,
  source,
  destination,
  messages, -- delivered
  packets,
  bytes, -- delivered, as run.delivered_bytes
  latency_ps, -- sum over messages, from post to delivery
  queue_ps, -- of that: own queue, behind other messages of the sending node
  network_ps, -- of that: in the network; the rest is software
  worst_latency_ps, -- of one message
  ideal_ps, -- sum of what network_ps is of the same messages on an idle network
  wait_ps, -- of its headers, over all links
  blamed_ps, -- of anybody's headers, for what its packets held
  first_ps, -- its first delivered message was posted
  last_ps -- its last delivered message arrived
) AS
SELECT p.run, p.job, CAST(f.value ->> 0 AS INTEGER), CAST(f.value ->> 1 AS INTEGER),
  coalesce(f.value ->> 2, 0),
  coalesce(f.value ->> 3, 0), coalesce(f.value ->> 4, 0), coalesce(f.value ->> 5, 0),
  coalesce(f.value ->> 6, 0), coalesce(f.value ->> 7, 0), coalesce(f.value ->> 8, 0),
  coalesce(f.value ->> 9, 0), coalesce(f.value ->> 10, 0), coalesce(f.value ->> 11, 0),
  coalesce(f.value ->> 12, 0), coalesce(f.value ->> 13, 0)
FROM flow_pack AS p CROSS JOIN json_each(p.flows) AS f
UNION ALL SELECT CAST(0 AS INTEGER), CAST(0 AS INTEGER), CAST(0 AS INTEGER), CAST(0 AS INTEGER),
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 WHERE 0;

-- Names of links: "node 5 > 0.1", "0.1:4 > 1.0:1" (switch:port), "0.1 > node 5", each part by its
-- own name.
CREATE VIEW link_name (run, link, kind, name) AS
SELECT r.run, l.link, l.kind,
  coalesce(f.name || iif(l.kind = 'ejection', '', ':' || l.from_number), nullif(a.host, ''),
    'node ' || l.from_node) || ' > ' ||
  coalesce(t.name || iif(l.kind = 'injection', '', ':' || l.to_number), nullif(b.host, ''),
    'node ' || l.to_node)
FROM run AS r JOIN topology_link AS l USING (topology)
LEFT JOIN topology_switch AS f ON f.topology = r.topology AND f.switch = l.from_switch
LEFT JOIN topology_switch AS t ON t.topology = r.topology AND t.switch = l.to_switch
LEFT JOIN topology_node AS a ON a.topology = r.topology AND a.node = l.from_node
LEFT JOIN topology_node AS b ON b.topology = r.topology AND b.node = l.to_node;

-- Sums per link over the whole run, for complete and for killed runs.
CREATE VIEW link_sum (run, link, came_by_ps, wait_for_ps, stall_ps, busy_ps, bytes, packets, blocked,
  longest_wait_ps, largest_queue_bytes) AS
SELECT run, link, came_by_ps, wait_for_ps, stall_ps, busy_ps, bytes, packets, blocked, longest_wait_ps,
  largest_queue_bytes
FROM link_total
UNION ALL
SELECT run, link, sum(came_by_ps), sum(wait_for_ps), sum(stall_ps), sum(busy_ps), sum(bytes), sum(packets),
  sum(blocked), max(longest_wait_ps), max(largest_queue_bytes)
FROM link_bin WHERE run NOT IN (SELECT run FROM total_pack) GROUP BY run, link;

-- What counters of ports would show: PortXmitWait of the port at which a link begins, in ticks
-- of tick_bytes of its time. Empty where the network has no such counter.
CREATE VIEW xmit_wait (run, rank, link, kind, ticks, tick_bytes, stalled_percent, link_id) AS
SELECT s.run, rank() OVER (PARTITION BY s.run ORDER BY 1.0 * s.stall_ps * l.bytes_per_s DESC, s.link),
  n.name, n.kind, CAST(round(1.0 * s.stall_ps * l.bytes_per_s / 1e12 / coalesce(k.tick_bytes, p.value), 3)
    AS INTEGER), coalesce(k.tick_bytes, p.value),
  round(100.0 * s.stall_ps / r.simulated_ps, 1), s.link
FROM link_sum AS s JOIN link AS l USING (run, link) JOIN link_name AS n USING (run, link)
JOIN run AS r USING (run)
JOIN run_parameter AS p ON p.run = s.run AND p.key = 'xmit_wait_tick' AND p.value > 0
LEFT JOIN link_known AS k ON k.run = s.run AND k.link = s.link
WHERE s.stall_ps > 0
ORDER BY s.run DESC, 1.0 * s.stall_ps * l.bytes_per_s DESC, s.link;

-- Links by the wait that leads, longest first: 'for' the link, or of packets that 'came-by' it.
CREATE VIEW hot_links AS
WITH hot AS (
  SELECT s.*, r.leads, r.simulated_ps, iif(r.leads = 'for', s.wait_for_ps, s.came_by_ps) AS wait_ps,
    r.run IN (SELECT run FROM link_known WHERE wait IS NOT NULL) AS is_bounded
  FROM link_sum AS s JOIN run AS r USING (run)
)
SELECT s.run AS run, rank() OVER (PARTITION BY s.run ORDER BY s.wait_ps DESC, s.link) AS rank,
  n.name AS link, n.kind AS kind, round(s.wait_ps / 1e6, 3) AS wait_us,
  iif(s.is_bounded, NULL, round(100.0 * s.wait_ps / max(s.wait_ps) OVER (PARTITION BY s.run), 1))
    AS percent_of_top,
  iif(s.is_bounded, NULL, round(100.0 * s.wait_ps / sum(s.wait_ps) OVER (PARTITION BY s.run), 1))
    AS percent_of_wait,
  round(100.0 * s.busy_ps / s.simulated_ps, 1) AS busy_percent, s.packets AS packets
  /*+ figures of links */,
  s.blocked AS blocked, round(s.longest_wait_ps / 1e6, 3) AS longest_wait_us,
  s.largest_queue_bytes AS largest_queue_bytes, s.leads AS leads,
  round(s.wait_for_ps / 1e6, 3) AS wait_for_us, round(s.came_by_ps / 1e6, 3) AS came_by_us,
  s.link AS link_id, coalesce(k.word, 'exact') AS wait_known
FROM hot AS s JOIN link_name AS n USING (run, link)
LEFT JOIN (SELECT run, link, wait AS word FROM link_known) AS k USING (run, link)
WHERE s.wait_ps > 0
ORDER BY s.run DESC, s.wait_ps DESC, s.link;

-- The congestion matrix: a row per number in a switch's box, and one with their sum (side
-- 'switch'). A number is the wait that leads: of packets that came in by the port's link, or for the
-- link that leaves by it, and of side 'node' for the link that comes from the node there. Percentages of the most loaded link and of the most loaded switch. Joined in
-- the order that is written: some SQLites would read all numbers again for each switch.
CREATE VIEW congestion_matrix (run, level, switch, side, port, link, wait_us, percent) AS
WITH box AS (
  SELECT l.run, l.link, iif(r.leads = 'for', coalesce(l.from_switch, l.to_switch), l.to_switch) AS switch,
    iif(r.leads = 'for' AND l.kind <> 'injection', l.from_port, l.to_port) AS port, r.leads,
    r.leads = 'for' AND l.kind = 'injection' AS is_of_node
  FROM link AS l JOIN run AS r USING (run)
), cell AS MATERIALIZED (
  SELECT l.run, t.level, t.switch, l.port, l.link,
    iif(s.link IS NULL, 0, iif(l.leads = 'for', s.wait_for_ps, s.came_by_ps)) AS wait_ps,
    CASE WHEN l.is_of_node THEN 'node' WHEN l.port < t.n_down_ports THEN 'below' ELSE 'above' END AS side
  FROM box AS l
  JOIN switch AS t ON t.run = l.run AND t.switch = l.switch
  LEFT JOIN link_sum AS s ON s.run = l.run AND s.link = l.link
), number AS (
  SELECT run, switch, side, port, link, wait_ps FROM cell
  UNION ALL
  SELECT run, switch, 'switch', NULL, NULL, sum(wait_ps) FROM cell GROUP BY run, switch
)
SELECT n.run, t.level, t.name, n.side, n.port, n.link, round(n.wait_ps / 1e6, 3),
  iif(n.wait_ps = 0, 0, round(100.0 * n.wait_ps
    / nullif(max(n.wait_ps) OVER (PARTITION BY n.run, n.side = 'switch'), 0), 1))
FROM number AS n
CROSS JOIN run AS r ON r.run = n.run
CROSS JOIN topology_switch AS t ON t.topology = r.topology AND t.switch = n.switch
ORDER BY n.run DESC, t.level DESC, t.rail, t.index_in_level,
  CASE n.side WHEN 'above' THEN 0 WHEN 'switch' THEN 1 ELSE 2 END, n.port;

-- Switches by the wait of the headers there, longest first.
CREATE VIEW switch_wait (run, switch, level, wait_us, percent_of_top, packets, blocked) AS
WITH hot AS MATERIALIZED (
  SELECT l.run, iif(r.leads = 'for', coalesce(l.from_switch, l.to_switch), l.to_switch) AS switch,
    sum(iif(r.leads = 'for', s.wait_for_ps, s.came_by_ps)) AS wait_ps, sum(s.packets) AS packets,
    sum(s.blocked) AS blocked
  FROM link_sum AS s JOIN link AS l USING (run, link) JOIN run AS r USING (run)
  GROUP BY 1, 2
)
SELECT t.run, t.name, t.level, round(iif(s.switch IS NULL, 0, s.wait_ps) / 1e6, 3),
  iif(s.switch IS NULL OR s.wait_ps = 0, 0,
    round(100.0 * s.wait_ps / nullif(max(s.wait_ps) OVER (PARTITION BY t.run), 0), 1)),
  iif(s.switch IS NULL, 0, s.packets), iif(s.switch IS NULL, 0, s.blocked)
FROM switch AS t
LEFT JOIN hot AS s ON s.run = t.run AND s.switch = t.switch
ORDER BY t.run DESC, coalesce(s.wait_ps, 0) DESC, t.switch;

-- Flows by slowdown: time in the network against the same on an idle one. The latency of a message
-- is own queue, network and software together. How long its headers waited, and how long anybody's
-- waited for it (blamed), is exact.
CREATE VIEW flow_latency AS
SELECT f.run AS run, coalesce(j.name, f.job) AS job, f.source AS source, f.destination AS destination
  /*+ columns of flows */
FROM flow AS f LEFT JOIN job AS j USING (run, job)
ORDER BY f.run DESC, 1.0 * f.network_ps / nullif(f.ideal_ps, 0) DESC, f.job, f.source,
  f.destination;

-- The jobs of a run: what they did, how slow that was, how long they waited, how much of that for
-- other jobs, and how long they made other jobs wait. Latency and slowdown as of flow_latency.
CREATE VIEW job_summary AS
SELECT j.run AS run, j.job AS job, j.name AS name,
  (SELECT count(DISTINCT n.node) FROM job_node AS n WHERE n.run = j.run AND n.job = j.job) AS nodes,
  round(j.start_ps / 1e6, 3) AS start_us, round(f.first_ps / 1e6, 3) AS first_us,
  round(f.last_ps / 1e6, 3) AS last_us
  /*+ columns of jobs */,
  round((SELECT total(w.wait_ps) FROM job_wait AS w WHERE w.run = j.run
    AND w.victim_job = j.job AND w.culprit_job <> j.job) / 1e6, 3) AS for_others_us,
  round((SELECT total(w.wait_ps) FROM job_wait AS w WHERE w.run = j.run
    AND w.culprit_job = j.job AND w.victim_job <> j.job) / 1e6, 3) AS delays_others_us
FROM job AS j LEFT JOIN job_total AS f ON f.run = j.run AND f.job = j.job
ORDER BY j.run DESC, j.job;

-- What ranks called, by kind, algorithm, size and number of members, longest in all first: how
-- often, and how long it took. A store may keep the longest calls of each rank alone.
CREATE VIEW call_summary AS
SELECT run, kind AS call, algorithm, bytes, members
  /*+ columns of calls */
FROM (SELECT c.run, kind, algorithm, bytes, nullif(members, 0) AS members, count(*) AS calls,
    sum(to_ps - from_ps) AS sum_ps, max(to_ps - from_ps) AS longest_ps, sum(waited_ps) AS waited_ps,
    k.ranks, max(r.simulated_ps, e.end_ps) AS run_ps
  FROM call_span AS c JOIN run AS r USING (run)
  JOIN (SELECT run, max(to_ps) AS end_ps FROM call_span GROUP BY run) AS e USING (run)
  JOIN (SELECT run, count(*) AS ranks FROM job_node GROUP BY run) AS k USING (run)
  GROUP BY c.run, kind, algorithm, bytes, members)
ORDER BY run DESC, sum_ps DESC, kind, algorithm, bytes, members;

-- How long each rank computed and waited until others sent, those that computed longest first.
CREATE VIEW rank_load (run, job, rank, node, computed_us, waited_us) AS
SELECT s.run, s.job, s.rank, n.node, round(sum(s.computed_ps) / 1e6, 3),
  round(sum(s.waited_ps) / 1e6, 3)
FROM rank_span AS s LEFT JOIN job_node AS n USING (run, job, rank)
GROUP BY s.run, s.job, s.rank
ORDER BY s.run DESC, sum(s.computed_ps) DESC, s.job, s.rank;

-- How long the jobs took with the others, alone, and on an ideal network; what of it the others and
-- the network cost them; and the mean latency of their messages each time. NULL where it was not
-- asked for (replay --alone).
CREATE VIEW job_times (run, job, name, run_us, alone_us, ideal_us, others_cost_us,
  network_costs_us, latency_us, alone_latency_us, ideal_latency_us) AS
SELECT j.run, j.job, j.name, round((f.last_ps - f.first_ps) / 1e6, 3),
  round(a.run_ps / 1e6, 3), round(i.run_ps / 1e6, 3),
  round((f.last_ps - f.first_ps - a.run_ps) / 1e6, 3),
  round((a.run_ps - i.run_ps) / 1e6, 3),
  round(f.latency_ps / 1e6 / f.messages, 3),
  round(a.latency_ps / 1e6 / nullif(a.messages, 0), 3),
  round(i.latency_ps / 1e6 / nullif(i.messages, 0), 3)
FROM job AS j
LEFT JOIN job_total AS f ON f.run = j.run AND f.job = j.job AND f.messages > 0
LEFT JOIN job_alone AS a ON a.run = j.run AND a.job = j.job AND a.network = 'same'
LEFT JOIN job_alone AS i ON i.run = j.run AND i.job = j.job AND i.network = 'ideal'
ORDER BY j.run DESC, j.job;

-- The critical path by cause: what the run time is made of.
CREATE VIEW critical_path (run, cause, steps, time_us, percent) AS
SELECT t.run, t.cause, sum(t.steps), round(sum(t.sum_ps) / 1e6, 3),
  round(100.0 * sum(t.sum_ps) / nullif(r.simulated_ps, 0), 1)
FROM path_total AS t JOIN run AS r USING (run)
GROUP BY t.run, t.cause
ORDER BY t.run DESC, sum(t.sum_ps) DESC, t.cause;

-- Who waited for whom, and where (the link by which the waiting packets came in, and of whose wait
-- percent_of_link is): the heaviest, at least. A row may have waited for at_most_us.
CREATE VIEW blame AS
SELECT b.run AS run, n.name AS link, coalesce(v.name, b.victim_job) AS victim_job,
  b.victim_source || ' > ' || b.victim_destination AS victim,
  coalesce(c.name, b.culprit_job) AS culprit_job,
  b.culprit_source || ' > ' || b.culprit_destination AS culprit,
  round(b.wait_ps / 1e6, 3) AS at_least_us
  /*+ columns of blame */
FROM blame_wait AS b
JOIN link_name AS n USING (run, link)
LEFT JOIN (SELECT run, link, came_by_ps AS whole_ps FROM link_total) AS t
  ON t.run = b.run AND t.link = b.link
LEFT JOIN job AS v ON v.run = b.run AND v.job = b.victim_job
LEFT JOIN job AS c ON c.run = b.run AND c.job = b.culprit_job
ORDER BY b.run DESC, b.wait_ps DESC, b.link;

-- The same by groups of flows, at all links: by destination, and by the leaf switch of the
-- destination or of the source.
CREATE VIEW blame_groups AS
SELECT g.run AS run, g.grouping AS grouping, coalesce(v.name, 'node ' || g.victim) AS victim,
  coalesce(c.name, 'node ' || g.culprit) AS culprit, round(g.wait_ps / 1e6, 3) AS at_least_us
  /*+ columns of groups */
FROM blame_group AS g JOIN run AS r USING (run)
LEFT JOIN (SELECT run, sum(wait_ps) AS whole_ps FROM root_total GROUP BY run) AS a
  ON a.run = g.run
LEFT JOIN topology_switch AS v
  ON v.topology = r.topology AND v.switch = g.victim AND g.grouping <> 'destination'
LEFT JOIN topology_switch AS c
  ON c.topology = r.topology AND c.switch = g.culprit AND g.grouping <> 'destination'
ORDER BY g.run DESC, g.grouping, g.wait_ps DESC, g.victim, g.culprit;

-- How long the flows to a node waited, and how long anybody waited for them. Exact.
CREATE VIEW destination_wait (run, destination, wait_us, blamed_us) AS
SELECT f.run, f.destination, round(sum(f.wait_ps) / 1e6, 3), round(sum(f.blamed_ps) / 1e6, 3)
FROM flow AS f
GROUP BY f.run, f.destination
ORDER BY f.run DESC, sum(f.blamed_ps) DESC, f.destination;

-- The same for the leaf switches, which join nodes to the network (on the first rail): as sources
-- and as destinations of flows. Exact.
CREATE VIEW leaf_wait (run, leaf, from_wait_us, from_blamed_us, to_wait_us, to_blamed_us) AS
WITH end AS (
  SELECT run, source AS node, wait_ps AS from_ps, blamed_ps AS from_blamed_ps, 0 AS to_ps,
    0 AS to_blamed_ps
  FROM flow
  UNION ALL
  SELECT run, destination, 0, 0, wait_ps, blamed_ps FROM flow
), part AS (
  SELECT run, node, sum(from_ps) AS from_ps, sum(from_blamed_ps) AS from_blamed_ps,
    sum(to_ps) AS to_ps, sum(to_blamed_ps) AS to_blamed_ps
  FROM end GROUP BY run, node
), leaf AS MATERIALIZED (
  SELECT r.run, l.from_node AS node, s.switch, s.name FROM run AS r
  JOIN topology_link AS l ON l.topology = r.topology AND l.kind = 'injection'
  JOIN topology_switch AS s ON s.topology = r.topology AND s.switch = l.to_switch AND s.rail = 0
)
SELECT p.run, s.name, round(sum(p.from_ps) / 1e6, 3), round(sum(p.from_blamed_ps) / 1e6, 3),
  round(sum(p.to_ps) / 1e6, 3), round(sum(p.to_blamed_ps) / 1e6, 3)
FROM part AS p CROSS JOIN leaf AS s ON s.run = p.run AND s.node = p.node
GROUP BY p.run, s.switch
ORDER BY p.run DESC, sum(p.to_blamed_ps) DESC, s.switch;

-- Which job makes which job wait. Exact.
CREATE VIEW job_blame AS
SELECT w.run AS run, coalesce(v.name, w.victim_job) AS victim_job,
  coalesce(c.name, w.culprit_job) AS culprit_job
  /*+ columns of pairs */
FROM (SELECT run, victim_job, culprit_job, sum(waits) AS waits, sum(wait_ps) AS wait_ps,
    sum(sum(wait_ps)) OVER (PARTITION BY run) AS whole_ps
  FROM job_wait GROUP BY run, victim_job, culprit_job) AS w
LEFT JOIN job AS v ON v.run = w.run AND v.job = w.victim_job
LEFT JOIN job AS c ON c.run = w.run AND c.job = w.culprit_job
ORDER BY w.run DESC, w.wait_ps DESC, w.victim_job, w.culprit_job;

-- The jobs at a link: whose headers that had arrived over it waited, and whose packets they waited
-- for. Exact; also where job_link has no rows, since all was of job 0.
CREATE VIEW link_jobs (run, link, job, wait_us, blamed_us) AS
WITH part AS (
  SELECT run, link, job, wait_ps, blamed_ps FROM job_link
  UNION ALL
  SELECT run, link, 0, came_by_ps, came_by_ps FROM link_total
  WHERE came_by_ps > 0 AND run IN (SELECT run FROM root_total) AND run NOT IN (SELECT run FROM job_link)
)
SELECT p.run, n.name, coalesce(j.name, p.job), round(p.wait_ps / 1e6, 3),
  round(p.blamed_ps / 1e6, 3)
FROM part AS p JOIN link_name AS n USING (run, link)
LEFT JOIN job AS j ON j.run = p.run AND j.job = p.job
ORDER BY p.run DESC, p.link, p.wait_ps DESC, p.job;

-- Roots of congestion trees, by the wait that they cause in the whole network. Exact, but for the
-- number of links, which is at least that.
CREATE VIEW congestion_roots AS
SELECT t.run AS run, r.name AS root
  /*+ columns of roots */
FROM (SELECT run, root, waits, wait_ps, sum(wait_ps) OVER (PARTITION BY run) AS whole_ps
  FROM root_total) AS t
JOIN link_name AS r ON r.run = t.run AND r.link = t.root
LEFT JOIN (
  SELECT run, root, count(DISTINCT link) AS links FROM tree_bin GROUP BY run, root
) AS b ON b.run = t.run AND b.root = t.root
ORDER BY t.run DESC, t.wait_ps DESC, t.root;

-- Which jobs a root holds up. Exact; also where root_job has no rows, since all was of job 0.
CREATE VIEW root_jobs AS
WITH part AS (
  SELECT run, root, victim_job, waits, wait_ps FROM root_job
  UNION ALL
  SELECT run, root, 0, waits, wait_ps FROM root_total WHERE run NOT IN (SELECT run FROM root_job)
)
SELECT p.run AS run, r.name AS root, coalesce(v.name, p.victim_job) AS victim_job
  /*+ columns of root jobs */
FROM part AS p
JOIN (SELECT run, root, wait_ps AS whole_ps FROM root_total) AS t ON t.run = p.run AND t.root = p.root
JOIN link_name AS r ON r.run = p.run AND r.link = p.root
LEFT JOIN job AS v ON v.run = p.run AND v.job = p.victim_job
ORDER BY p.run DESC, t.whole_ps DESC, p.root, p.wait_ps DESC, p.victim_job;

-- Congestion trees over time: how much wait each root caused (exact), and at how many links, at
-- least.
CREATE VIEW congestion_trees (run, from_us, to_us, root, wait_us, links) AS
SELECT t.run, round(t.bin * r.root_bin_ps / 1e6, 3), round((t.bin + 1) * r.root_bin_ps / 1e6, 3),
  n.name, round(t.wait_ps / 1e6, 3),
  (SELECT count(DISTINCT b.link) FROM tree_bin AS b
    WHERE b.run = t.run AND b.bin >= t.bin * (r.root_bin_ps / r.tree_bin_ps)
    AND b.bin < (t.bin + 1) * (r.root_bin_ps / r.tree_bin_ps) AND b.root = t.root)
FROM root_bin AS t JOIN run AS r USING (run)
JOIN link_name AS n ON n.run = t.run AND n.link = t.root
ORDER BY t.run DESC, t.bin, t.wait_ps DESC, t.root;

-- Dead cables and switches by name.
CREATE VIEW faults (run, what, at_us) AS
SELECT f.run,
  coalesce('link ' || n.name, 'switch ' || s.name),
  round(f.at_ps / 1e6, 3)
FROM fault AS f JOIN run AS r USING (run)
LEFT JOIN link_name AS n ON n.run = f.run AND n.link = f.link
LEFT JOIN topology_switch AS s ON s.topology = r.topology AND s.switch = f.switch
ORDER BY f.run DESC, f.at_ps, f.fault;

-- Messages that could not be delivered, by flow, and the dead link that they met.
CREATE VIEW undelivered (run, job, source, destination, messages, bytes, first_us, dead) AS
SELECT u.run, coalesce(j.name, u.job), u.source, u.destination, u.messages, u.bytes,
  round(u.first_ps / 1e6, 3), coalesce(n.name, 'no route')
FROM undelivered_flow AS u
LEFT JOIN job AS j USING (run, job)
LEFT JOIN link_name AS n ON n.run = u.run AND n.link = u.dead_link
ORDER BY u.run DESC, u.messages DESC, u.job, u.source, u.destination, u.dead_link;

-- Ports whose queues had no room, and flows that lost frames or sent again.
CREATE VIEW losses (run, link, frames, bytes) AS
SELECT p.run, n.name, p.frames, p.bytes
FROM port_loss AS p JOIN link_name AS n USING (run, link)
ORDER BY p.run DESC, p.frames DESC, p.link;

-- What counters of the live fabric counted beside traffic, most first.
CREATE VIEW link_counts (run, counter, link, count, at_least) AS
SELECT c.run, c.counter, n.name, c.count, c.at_least
FROM link_count AS c JOIN link_name AS n USING (run, link)
ORDER BY c.run DESC, c.counter, c.count DESC, c.link;

CREATE VIEW flow_losses (run, job, source, destination, frames, bytes, resent) AS
SELECT f.run, coalesce(j.name, f.job), f.source, f.destination, f.frames, f.bytes, f.resent
FROM flow_loss AS f LEFT JOIN job AS j USING (run, job)
ORDER BY f.run DESC, f.resent DESC, f.frames DESC, f.job, f.source, f.destination;

CREATE VIEW time_outs (run, job, source, destination, from_us, took_us, lost_at) AS
SELECT t.run, coalesce(j.name, t.job), t.source, t.destination, round(t.from_ps / 1e6, 3),
  round((t.to_ps - t.from_ps) / 1e6, 3), n.name
FROM time_out AS t LEFT JOIN job AS j USING (run, job)
JOIN link_name AS n ON n.run = t.run AND n.link = t.link
ORDER BY t.run DESC, t.to_ps - t.from_ps DESC, t.job, t.source, t.destination, t.to_ps;

-- The points with their main results: bandwidths in MB/s, per sender or per serving node.
CREATE VIEW sweep (run, done, experiment, nodes, message, load, seed, offered, accepted, taken,
  given, latency_us, waiting, rate, steady, settings) AS
WITH v (run, experiment, nodes, message, load, seed) AS (
  SELECT run, max(iif(axis = 'experiment', value, NULL)),
    max(iif(axis = 'nodes', CAST(value AS INTEGER), NULL)),
    max(iif(axis = 'message', CAST(value AS INTEGER), NULL)),
    max(iif(axis = 'load', value, NULL)), max(iif(axis = 'seed', value, NULL))
  FROM sweep_value GROUP BY run
), m (run, offered, accepted, taken, given, latency, waiting, rate, steady) AS (
  SELECT run, max(iif(name = 'offered', value, NULL)), max(iif(name = 'accepted', value, NULL)),
    max(iif(name = 'taken', value, NULL)), max(iif(name = 'given', value, NULL)),
    max(iif(name = 'latency', value, NULL)), max(iif(name = 'waiting', value, NULL)),
    max(iif(name = 'rate', value, NULL)), max(iif(name = 'steady', CAST(value AS INTEGER), NULL))
  FROM sweep_result GROUP BY run
)
SELECT p.run, m.run IS NOT NULL, v.experiment, v.nodes, v.message, v.load, v.seed,
  round(m.offered / 1e6, 3), round(m.accepted / 1e6, 3), round(m.taken / 1e6, 3),
  round(m.given / 1e6, 3), round(m.latency * 1e6, 3), round(m.waiting, 3),
  round(m.rate / 1e6, 3), m.steady, p.settings
FROM sweep_point AS p LEFT JOIN v USING (run) LEFT JOIN m USING (run)
ORDER BY p.run;
