-- The results store, version 1: one file, one or more runs of the replay.
--
-- Times are whole picoseconds of simulated time (suffix _ps), sizes bytes, rates bytes a second;
-- the views at the end show microseconds and percentages. Nodes, switches and links are numbered
-- from 0, runs from 1. The same input, configuration and seed give the same rows in every table
-- but run_environment.
--
-- This file is migration 1 of analyze/sql.c. A later version adds a migration of its own and
-- leaves this one alone.
PRAGMA application_id = 1415670124; -- 'Tail'
PRAGMA user_version = 1;

-- What was replayed, on what, and how far it came.
CREATE TABLE run (
  run INTEGER PRIMARY KEY,
  complete INTEGER NOT NULL DEFAULT 0, -- 1 once all was replayed and stored
  simulated_ps INTEGER NOT NULL DEFAULT 0,
  n_messages INTEGER NOT NULL DEFAULT 0, -- delivered
  n_packets INTEGER NOT NULL DEFAULT 0,
  payload_bytes INTEGER NOT NULL DEFAULT 0, -- delivered
  bin_ps INTEGER NOT NULL DEFAULT 0, -- width of a time bin
  input_name TEXT NOT NULL,
  input_kind TEXT NOT NULL, -- packets or job
  input_digest TEXT NOT NULL, -- SHA-256 of the input's bytes, '' when streamed
  input_bytes INTEGER NOT NULL,
  options TEXT NOT NULL, -- of the replay, as far as they bear on the result
  time_scale REAL NOT NULL,
  seed TEXT NOT NULL, -- decimal; 64 bits without sign do not fit an INTEGER
  program_version TEXT NOT NULL,
  notes TEXT NOT NULL DEFAULT '{}', -- the input's summary, a JSON object
  n_nodes INTEGER NOT NULL,
  n_switches INTEGER NOT NULL,
  n_links INTEGER NOT NULL,
  n_levels INTEGER NOT NULL,
  n_jobs INTEGER NOT NULL,
  network TEXT NOT NULL, -- name of the preset, then its parameters (see docs/model)
  arity INTEGER NOT NULL,
  levels INTEGER NOT NULL,
  ascent TEXT NOT NULL CHECK (ascent IN ('adaptive', 'adaptive-lowest', 'adaptive-round-robin',
    'deterministic', 'source', 'random', 'table')),
  link_bytes_per_s INTEGER NOT NULL,
  hop_latency_ps INTEGER NOT NULL,
  n_vcs INTEGER NOT NULL,
  fifo_bytes INTEGER NOT NULL,
  flit_bytes INTEGER NOT NULL,
  packet_payload_bytes INTEGER NOT NULL,
  packet_overhead_bytes INTEGER NOT NULL,
  bus_bytes_per_s INTEGER NOT NULL, -- 0: no limit
  ack_delay_ps INTEGER NOT NULL,
  send_overhead_ps INTEGER NOT NULL,
  receive_overhead_ps INTEGER NOT NULL,
  age_weight REAL NOT NULL
) STRICT;

-- When, where and how fast it ran: all that may differ between two equal runs.
CREATE TABLE run_environment (
  run INTEGER PRIMARY KEY REFERENCES run,
  started_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  host TEXT NOT NULL,
  machine TEXT NOT NULL,
  wall_s REAL -- NULL until the run has ended
) STRICT;

-- The network.
CREATE TABLE node (
  run INTEGER NOT NULL REFERENCES run,
  node INTEGER NOT NULL,
  name TEXT NOT NULL, -- the captured endpoint, '' when none
  PRIMARY KEY (run, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE switch (
  run INTEGER NOT NULL REFERENCES run,
  switch INTEGER NOT NULL,
  level INTEGER NOT NULL, -- 0 joins the nodes
  index_in_level INTEGER NOT NULL,
  n_down_ports INTEGER NOT NULL, -- ports count down first, then up
  n_up_ports INTEGER NOT NULL,
  PRIMARY KEY (run, switch)
) STRICT, WITHOUT ROWID;

-- A directed link. A cable is two, each the other's reverse.
CREATE TABLE link (
  run INTEGER NOT NULL REFERENCES run,
  link INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('injection', 'up', 'down', 'ejection')),
  from_node INTEGER, -- of an injection
  from_switch INTEGER, -- of any other
  from_port INTEGER NOT NULL,
  to_node INTEGER, -- of an ejection
  to_switch INTEGER, -- of any other
  to_port INTEGER NOT NULL,
  reverse INTEGER NOT NULL,
  bytes_per_s INTEGER NOT NULL,
  latency_ps INTEGER NOT NULL,
  n_vcs INTEGER NOT NULL,
  fifo_bytes INTEGER NOT NULL, -- of one virtual channel, at the receiving end
  PRIMARY KEY (run, link)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;

-- What happened on a link in a time bin. Bin b covers [b * bin_ps, (b + 1) * bin_ps). Rows in
-- which nothing happened are left out. The key is the order of writing, so that rows are appended.
CREATE TABLE link_bin (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  link INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL, -- headers that came in by the link stood at its far end for a VC
  stall_ps INTEGER NOT NULL, -- a VC held, nothing moving
  busy_ps INTEGER NOT NULL, -- bytes moving
  bytes INTEGER NOT NULL, -- on the wire
  packets INTEGER NOT NULL, -- whose header crossed the link
  blocked INTEGER NOT NULL, -- headers that came in by the link and found no free VC
  longest_wait_ps INTEGER NOT NULL, -- of one header
  PRIMARY KEY (run, bin, link)
) STRICT, WITHOUT ROWID;

-- The same for the whole network.
CREATE TABLE bin_total (
  run INTEGER NOT NULL REFERENCES run,
  bin INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  stall_ps INTEGER NOT NULL,
  busy_ps INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  packets INTEGER NOT NULL,
  blocked INTEGER NOT NULL,
  longest_wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, bin)
) STRICT, WITHOUT ROWID;

-- The same for the whole run; written at its end. A run that was killed has none: add up link_bin,
-- as the view link_sum does.
CREATE TABLE link_total (
  run INTEGER NOT NULL REFERENCES run,
  link INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  stall_ps INTEGER NOT NULL,
  busy_ps INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  packets INTEGER NOT NULL,
  blocked INTEGER NOT NULL,
  longest_wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, link)
) STRICT, WITHOUT ROWID;

-- What a job sent from one node to another.
CREATE TABLE flow (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  source INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  messages INTEGER NOT NULL, -- delivered
  packets INTEGER NOT NULL,
  bytes INTEGER NOT NULL, -- payload, delivered
  latency_ps INTEGER NOT NULL, -- sum over messages, from post to delivery
  worst_latency_ps INTEGER NOT NULL, -- of one message
  ideal_ps INTEGER NOT NULL, -- sum of what the same messages take on an idle network
  wait_ps INTEGER NOT NULL, -- of its headers, over all links
  PRIMARY KEY (run, job, source, destination)
) STRICT, WITHOUT ROWID;

-- Who waited for whom: headers of the victim that came in by the link stood while the culprit's
-- packets held the VCs, and which link at the end of the chain of held VCs was the root of it.
-- There may be more pairs of flows than are kept apart: of the lesser waits only the jobs are told,
-- their nodes are -1. The sums by link, and by link and jobs, are the link's wait.
CREATE TABLE blame_wait (
  run INTEGER NOT NULL REFERENCES run,
  link INTEGER NOT NULL,
  root INTEGER NOT NULL, -- link
  victim_job INTEGER NOT NULL,
  victim_source INTEGER NOT NULL,
  victim_destination INTEGER NOT NULL,
  culprit_job INTEGER NOT NULL,
  culprit_source INTEGER NOT NULL,
  culprit_destination INTEGER NOT NULL,
  waits INTEGER NOT NULL,
  wait_ps INTEGER NOT NULL,
  PRIMARY KEY (run, link, root, victim_job, victim_source, victim_destination,
    culprit_job, culprit_source, culprit_destination)
) STRICT, WITHOUT ROWID;

-- Views. Each begins with the run, newest first, and is in the order in which one reads it, so
--   SELECT * FROM hot_links LIMIT 10
-- is about the newest run; WHERE run = 1 asks for another.

-- Links as people name them: "node 5 > 0.1", "0.1:4 > 1.0:1" (level.index:port), "0.1 > node 5".
CREATE VIEW link_name (run, link, kind, name) AS
SELECT l.run, l.link, l.kind,
  CASE l.kind
    WHEN 'injection' THEN printf('node %d > %d.%d', l.from_node, t.level, t.index_in_level)
    WHEN 'ejection' THEN printf('%d.%d > node %d', f.level, f.index_in_level, l.to_node)
    ELSE printf('%d.%d:%d > %d.%d:%d', f.level, f.index_in_level, l.from_port,
      t.level, t.index_in_level, l.to_port)
  END
FROM link AS l
LEFT JOIN switch AS f ON f.run = l.run AND f.switch = l.from_switch
LEFT JOIN switch AS t ON t.run = l.run AND t.switch = l.to_switch;

-- Whole-run sums per link, of ended and of killed runs.
CREATE VIEW link_sum (run, link, wait_ps, stall_ps, busy_ps, bytes, packets, blocked,
  longest_wait_ps) AS
SELECT * FROM link_total
UNION ALL
SELECT run, link, sum(wait_ps), sum(stall_ps), sum(busy_ps), sum(bytes), sum(packets),
  sum(blocked), max(longest_wait_ps)
FROM link_bin WHERE run NOT IN (SELECT run FROM link_total) GROUP BY run, link;

-- The links that headers waited at most.
CREATE VIEW hot_links (run, rank, link, kind, wait_us, percent_of_top, percent_of_wait,
  busy_percent, packets, blocked, longest_wait_us, link_id) AS
SELECT s.run, rank() OVER (PARTITION BY s.run ORDER BY s.wait_ps DESC, s.link), n.name, n.kind,
  round(s.wait_ps / 1e6, 3),
  round(100.0 * s.wait_ps / max(s.wait_ps) OVER (PARTITION BY s.run), 1),
  round(100.0 * s.wait_ps / sum(s.wait_ps) OVER (PARTITION BY s.run), 1),
  round(100.0 * s.busy_ps / r.simulated_ps, 1),
  s.packets, s.blocked, round(s.longest_wait_ps / 1e6, 3), s.link
FROM link_sum AS s JOIN link_name AS n USING (run, link) JOIN run AS r USING (run)
WHERE s.wait_ps > 0
ORDER BY s.run DESC, s.wait_ps DESC, s.link;

-- The congestion matrix: a row per number of a block, and per block its sum (side 'switch').
-- Percentages of the most loaded link and of the most loaded switch.
CREATE VIEW congestion_matrix (run, level, switch, side, port, link, wait_us, percent) AS
WITH cell AS (
  SELECT l.run, t.level, t.index_in_level, t.switch, l.to_port AS port, l.link,
    coalesce(s.wait_ps, 0) AS wait_ps,
    CASE WHEN l.to_port < t.n_down_ports THEN 'below' ELSE 'above' END AS side
  FROM link AS l
  JOIN switch AS t ON t.run = l.run AND t.switch = l.to_switch
  LEFT JOIN link_sum AS s ON s.run = l.run AND s.link = l.link
), block AS (
  SELECT run, level, index_in_level, 'switch' AS side, NULL AS port, NULL AS link,
    sum(wait_ps) AS wait_ps
  FROM cell GROUP BY run, level, index_in_level
), number AS (
  SELECT run, level, index_in_level, side, port, link, wait_ps FROM cell
  UNION ALL
  SELECT * FROM block
)
SELECT run, level, level || '.' || index_in_level, side, port, link, round(wait_ps / 1e6, 3),
  coalesce(round(100.0 * wait_ps
    / nullif(max(wait_ps) OVER (PARTITION BY run, side = 'switch'), 0), 1), 0)
FROM number
ORDER BY run DESC, level DESC, index_in_level,
  CASE side WHEN 'above' THEN 0 WHEN 'switch' THEN 1 ELSE 2 END, port;

-- Switches by the wait of the headers that came in.
CREATE VIEW switch_wait (run, switch, level, wait_us, percent_of_top, packets, blocked) AS
SELECT t.run, t.level || '.' || t.index_in_level, t.level,
  round(sum(coalesce(s.wait_ps, 0)) / 1e6, 3),
  coalesce(round(100.0 * sum(coalesce(s.wait_ps, 0))
    / nullif(max(sum(coalesce(s.wait_ps, 0))) OVER (PARTITION BY t.run), 0), 1), 0),
  sum(coalesce(s.packets, 0)), sum(coalesce(s.blocked, 0))
FROM switch AS t
LEFT JOIN link AS l ON l.run = t.run AND l.to_switch = t.switch
LEFT JOIN link_sum AS s ON s.run = l.run AND s.link = l.link
GROUP BY t.run, t.switch
ORDER BY t.run DESC, sum(coalesce(s.wait_ps, 0)) DESC, t.switch;

-- Flows by slowdown: latency against the same messages on an idle network.
CREATE VIEW flow_latency (run, job, source, destination, messages, bytes, mean_latency_us,
  worst_latency_us, slowdown, wait_us) AS
SELECT f.run, coalesce(j.name, f.job), f.source, f.destination, f.messages, f.bytes,
  round(f.latency_ps / 1e6 / nullif(f.messages, 0), 3), round(f.worst_latency_ps / 1e6, 3),
  round(1.0 * f.latency_ps / nullif(f.ideal_ps, 0), 2), round(f.wait_ps / 1e6, 3)
FROM flow AS f LEFT JOIN job AS j USING (run, job)
ORDER BY f.run DESC, 1.0 * f.latency_ps / nullif(f.ideal_ps, 0) DESC, f.job, f.source,
  f.destination;

-- Who waited for whom, and where.
CREATE VIEW blame (run, link, root, victim_job, victim, culprit_job, culprit, waits, wait_us,
  percent) AS
SELECT b.run, n.name, r.name,
  coalesce(v.name, iif(b.victim_job < 0, 'various', b.victim_job)),
  iif(b.victim_source < 0, 'various', b.victim_source || ' > ' || b.victim_destination),
  coalesce(c.name, iif(b.culprit_job < 0, 'various', b.culprit_job)),
  iif(b.culprit_source < 0, 'various', b.culprit_source || ' > ' || b.culprit_destination),
  b.waits, round(b.wait_ps / 1e6, 3),
  coalesce(round(100.0 * b.wait_ps / nullif(sum(b.wait_ps) OVER (PARTITION BY b.run), 0), 1), 0)
FROM blame_wait AS b
JOIN link_name AS n USING (run, link)
JOIN link_name AS r ON r.run = b.run AND r.link = b.root
LEFT JOIN job AS v ON v.run = b.run AND v.job = b.victim_job
LEFT JOIN job AS c ON c.run = b.run AND c.job = b.culprit_job
ORDER BY b.run DESC, b.wait_ps DESC, b.link;

-- Links at which congestion trees have their root, by the wait that they cause everywhere.
CREATE VIEW congestion_roots (run, root, wait_us, percent, links) AS
SELECT b.run, r.name, round(sum(b.wait_ps) / 1e6, 3),
  coalesce(round(100.0 * sum(b.wait_ps)
    / nullif(sum(sum(b.wait_ps)) OVER (PARTITION BY b.run), 0), 1), 0),
  count(DISTINCT b.link)
FROM blame_wait AS b
JOIN link_name AS r ON r.run = b.run AND r.link = b.root
GROUP BY b.run, b.root
ORDER BY b.run DESC, sum(b.wait_ps) DESC, b.root;
