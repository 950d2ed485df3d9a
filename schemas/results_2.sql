-- The results store, version 2: what a job was, where it sat, and when its flows began and ended.
--
-- This file is migration 2 of analyze/sql.c.
PRAGMA user_version = 2;

-- Of a job: the file it came from, when it was let go, and how its ranks were placed.
ALTER TABLE job ADD COLUMN input TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN start_ps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN placement TEXT NOT NULL DEFAULT ''; -- '' when the trace's own

-- Where a job sits. Ranks of a capture are its endpoints in the order of their nodes.
CREATE TABLE job_node (
  run INTEGER NOT NULL REFERENCES run,
  job INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  node INTEGER NOT NULL,
  PRIMARY KEY (run, job, rank)
) STRICT, WITHOUT ROWID;

-- Of a flow: when its first delivered message was posted and its last one delivered.
ALTER TABLE flow ADD COLUMN first_ps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE flow ADD COLUMN last_ps INTEGER NOT NULL DEFAULT 0;

-- The jobs of a run: what they did, how slow that was, what they waited and what they made other
-- jobs wait. The slowdown is latency against the same messages on an idle network.
CREATE VIEW job_summary (run, job, name, nodes, start_us, first_us, last_us, messages, packets,
  bytes, mean_latency_us, slowdown, wait_us, delays_others_us) AS
SELECT j.run, j.job, j.name,
  (SELECT count(DISTINCT n.node) FROM job_node AS n WHERE n.run = j.run AND n.job = j.job),
  round(j.start_ps / 1e6, 3), round(min(f.first_ps) / 1e6, 3), round(max(f.last_ps) / 1e6, 3),
  total(f.messages), total(f.packets), total(f.bytes),
  round(sum(f.latency_ps) / 1e6 / nullif(sum(f.messages), 0), 3),
  round(1.0 * sum(f.latency_ps) / nullif(sum(f.ideal_ps), 0), 2),
  round(total(f.wait_ps) / 1e6, 3),
  round((SELECT total(b.wait_ps) FROM blame_wait AS b WHERE b.run = j.run
    AND b.culprit_job = j.job AND b.victim_job <> j.job) / 1e6, 3)
FROM job AS j LEFT JOIN flow AS f ON f.run = j.run AND f.job = j.job
GROUP BY j.run, j.job
ORDER BY j.run DESC, j.job;

-- Which job makes which job wait, at how many links.
CREATE VIEW job_blame (run, victim_job, culprit_job, wait_us, percent, links) AS
SELECT b.run, coalesce(v.name, iif(b.victim_job < 0, 'various', b.victim_job)),
  coalesce(c.name, iif(b.culprit_job < 0, 'various', b.culprit_job)),
  round(sum(b.wait_ps) / 1e6, 3),
  coalesce(round(100.0 * sum(b.wait_ps)
    / nullif(sum(sum(b.wait_ps)) OVER (PARTITION BY b.run), 0), 1), 0),
  count(DISTINCT b.link)
FROM blame_wait AS b
LEFT JOIN job AS v ON v.run = b.run AND v.job = b.victim_job
LEFT JOIN job AS c ON c.run = b.run AND c.job = b.culprit_job
GROUP BY b.run, b.victim_job, b.culprit_job
ORDER BY b.run DESC, sum(b.wait_ps) DESC, b.victim_job, b.culprit_job;

-- What a root holds up, by job.
CREATE VIEW root_jobs (run, root, victim_job, wait_us, percent, links) AS
SELECT b.run, r.name, coalesce(v.name, iif(b.victim_job < 0, 'various', b.victim_job)),
  round(sum(b.wait_ps) / 1e6, 3),
  coalesce(round(100.0 * sum(b.wait_ps)
    / nullif(sum(sum(b.wait_ps)) OVER (PARTITION BY b.run, b.root), 0), 1), 0),
  count(DISTINCT b.link)
FROM blame_wait AS b
JOIN link_name AS r ON r.run = b.run AND r.link = b.root
LEFT JOIN job AS v ON v.run = b.run AND v.job = b.victim_job
GROUP BY b.run, b.root, b.victim_job
ORDER BY b.run DESC, sum(sum(b.wait_ps)) OVER (PARTITION BY b.run, b.root) DESC, b.root,
  sum(b.wait_ps) DESC;
