-- The results store, version 5: what was dead, and what could not be delivered for it.
--
-- This file is migration 5 of analyze/sql.c.
PRAGMA user_version = 5;

-- Of a run: how packets that met an error were tried again, and the file that routes came from.
ALTER TABLE run ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN retry_delay_ps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN routes_name TEXT NOT NULL DEFAULT ''; -- '' when routes were computed
ALTER TABLE run ADD COLUMN routes_digest TEXT NOT NULL DEFAULT ''; -- SHA-256
ALTER TABLE run ADD COLUMN n_retries INTEGER NOT NULL DEFAULT 0; -- packets sent again
ALTER TABLE run ADD COLUMN n_undelivered INTEGER NOT NULL DEFAULT 0; -- messages given up

-- A cable or a switch that dies. Of a cable one of its two links is named.
CREATE TABLE fault (
  run INTEGER NOT NULL REFERENCES run,
  fault INTEGER NOT NULL, -- from 0, as given
  link INTEGER, -- NULL of a switch
  switch INTEGER, -- NULL of a cable
  at_ps INTEGER NOT NULL, -- 0: from the start
  PRIMARY KEY (run, fault)
) STRICT, WITHOUT ROWID;

-- Messages that were given up, by the dead link that they met last.
CREATE TABLE undelivered_flow (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  source INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  dead_link INTEGER NOT NULL, -- -1: the source knew no way
  messages INTEGER NOT NULL,
  bytes INTEGER NOT NULL, -- payload of them all, part of which may have arrived
  first_ps INTEGER NOT NULL, -- when the first of them was given up
  PRIMARY KEY (run, job, source, destination, dead_link)
) STRICT, WITHOUT ROWID;

-- What was dead, and from when on.
CREATE VIEW faults (run, what, at_us) AS
SELECT f.run,
  coalesce('link ' || n.name, 'switch ' || s.level || '.' || s.index_in_level),
  round(f.at_ps / 1e6, 3)
FROM fault AS f
LEFT JOIN link_name AS n ON n.run = f.run AND n.link = f.link
LEFT JOIN switch AS s ON s.run = f.run AND s.switch = f.switch
ORDER BY f.run DESC, f.at_ps, f.fault;

-- Which flows could not be delivered, and what they met.
CREATE VIEW undelivered (run, job, source, destination, messages, bytes, first_us, dead) AS
SELECT u.run, coalesce(j.name, u.job), u.source, u.destination, u.messages, u.bytes,
  round(u.first_ps / 1e6, 3), coalesce(n.name, 'no way')
FROM undelivered_flow AS u
LEFT JOIN job AS j USING (run, job)
LEFT JOIN link_name AS n ON n.run = u.run AND n.link = u.dead_link
ORDER BY u.run DESC, u.messages DESC, u.job, u.source, u.destination, u.dead_link;
