-- Days are counted, too (grain 3), so that figures of a month are sums of few rows; those that are there from their hours.
CREATE AGGREGATE sum_counts(integer[]) (SFUNC = add_counts, STYPE = integer[], INITCOND = '{}');
INSERT INTO run_counts (team, grain, at, process_id, origin, status, runs, run_ms, log_bytes, cpu_ms, memory_mb_ms, durations)
SELECT team, 3, date_trunc('day', at, 'UTC'), process_id, origin, status, sum(runs), sum(run_ms), sum(log_bytes), sum(cpu_ms),
       sum(memory_mb_ms), sum_counts(durations)
  FROM run_counts WHERE grain = 2 GROUP BY team, date_trunc('day', at, 'UTC'), process_id, origin, status;
