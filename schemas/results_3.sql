-- The results store, version 3: the points of a sweep.
--
-- This file is migration 3 of analyze/sql.c.
PRAGMA user_version = 3;

-- A point of a sweep. All are known when the sweep begins, each with the number of the run that it
-- is to have; it is done when there is such a run.
CREATE TABLE sweep_point (
  run INTEGER PRIMARY KEY,
  settings TEXT NOT NULL UNIQUE -- all that makes it this point, as one line
) STRICT;

-- The same, one by one.
CREATE TABLE sweep_value (
  run INTEGER NOT NULL REFERENCES sweep_point,
  axis TEXT NOT NULL, -- experiment, nodes, message, load, ..., network and its overrides
  value TEXT NOT NULL, -- sizes in bytes, times in us, 'full' for a load without limit
  PRIMARY KEY (run, axis)
) STRICT, WITHOUT ROWID;

-- What was measured of a point that is done, in the window of its experiment.
CREATE TABLE sweep_result (
  run INTEGER NOT NULL REFERENCES run,
  name TEXT NOT NULL, -- offered, accepted, taken, given (bytes a second), latency (s), waiting
  value REAL NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- How the sweep file would have the curves drawn: its section [plot].
CREATE TABLE sweep_plot (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The points with what people ask for first: bandwidths in MB/s, of a sender or a serving node.
CREATE VIEW sweep (run, done, experiment, nodes, message, load, seed, offered, accepted, taken,
  given, latency_us, waiting, settings) AS
WITH v (run, experiment, nodes, message, load, seed) AS (
  SELECT run, max(iif(axis = 'experiment', value, NULL)),
    max(iif(axis = 'nodes', CAST(value AS INTEGER), NULL)),
    max(iif(axis = 'message', CAST(value AS INTEGER), NULL)),
    max(iif(axis = 'load', value, NULL)), max(iif(axis = 'seed', value, NULL))
  FROM sweep_value GROUP BY run
), m (run, offered, accepted, taken, given, latency, waiting) AS (
  SELECT run, max(iif(name = 'offered', value, NULL)), max(iif(name = 'accepted', value, NULL)),
    max(iif(name = 'taken', value, NULL)), max(iif(name = 'given', value, NULL)),
    max(iif(name = 'latency', value, NULL)), max(iif(name = 'waiting', value, NULL))
  FROM sweep_result GROUP BY run
)
SELECT p.run, m.run IS NOT NULL, v.experiment, v.nodes, v.message, v.load, v.seed,
  round(m.offered / 1e6, 3), round(m.accepted / 1e6, 3), round(m.taken / 1e6, 3),
  round(m.given / 1e6, 3), round(m.latency * 1e6, 3), round(m.waiting, 3), p.settings
FROM sweep_point AS p LEFT JOIN v USING (run) LEFT JOIN m USING (run)
ORDER BY p.run;
