-- Points of a sweep for golden tests: two experiments, four loads and a full one, three seeds, and
-- messages of two sizes at full load; one point has not run yet. The figures are made up.
-- Read it into sqlite3 after schemas/results.sql.
BEGIN;
CREATE TEMP TABLE made AS
WITH experiments (experiment, most) AS (VALUES ('uniform', 120e6), ('shuffle', 180e6)),
  loads (load, share) AS (VALUES ('0.2', 0.2), ('0.4', 0.4), ('0.6', 0.6), ('0.8', 0.8), ('full', 2)),
  seeds (seed) AS (VALUES (1), (2), (3)),
  messages (message) AS (VALUES (16384), (262144))
SELECT row_number() OVER (ORDER BY experiment DESC, message DESC, share, seed) AS run, experiment, load, seed,
  message, share, min(most, share * 338624338.0) + (seed - 2) * 2e6 * share + 65536 - message / 4 AS accepted
FROM experiments, loads, seeds, messages WHERE message = 262144 OR load = 'full';
INSERT INTO sweep_point SELECT run, 'point ' || run FROM made;
INSERT INTO sweep_value SELECT run, 'experiment', experiment FROM made UNION ALL
  SELECT run, 'load', load FROM made UNION ALL SELECT run, 'message', message FROM made UNION ALL
  SELECT run, 'seed', seed FROM made UNION ALL SELECT run, 'nodes', 64 FROM made;
INSERT INTO run(run,complete,input_name,input_kind,input_digest,input_bytes,options,time_scale,seed,program_version,n_nodes,n_switches,n_links,n_levels,n_jobs,network,switching)
SELECT run,1,experiment,'experiment','',0,'',1,seed,'0.1.0',0,0,0,0,0,'qsnet','circuits'
FROM made WHERE run < (SELECT max(run) FROM made);
WITH parameters (key, value) AS (VALUES ('arity', 4), ('levels', 3), ('rails', 1), ('ascent',
  'adaptive'), ('broadcast', 'no'), ('host', 'none'), ('rate', 400000000), ('hop_latency', 35000),
  ('vcs', 2), ('fifo', 256), ('flit', 2), ('payload', 320), ('overhead', 58), ('bus', 560000000),
  ('send_overhead', 1000000), ('receive_overhead', 700000), ('slice', 0), ('retries', 0),
  ('retry_delay', 0), ('ack_delay', 200000), ('age_weight', 0.6), ('partners', 0), ('partner_delay',
  0))
INSERT INTO run_parameter SELECT run, key, value FROM run, parameters;
INSERT INTO sweep_result SELECT run, 'accepted', accepted FROM made JOIN run USING (run);
INSERT INTO sweep_result SELECT run, 'offered', share * 338624338.0 FROM made JOIN run USING (run) WHERE load <> 'full';
INSERT INTO sweep_result SELECT run, 'latency', message / accepted FROM made JOIN run USING (run);
COMMIT;
