-- Hours of all processes (grain 4 of run_counts) are sums of the hours of each, so that figures of a team for a month are
-- sums of few rows. Of all hours before it, the rows hold what the hours hold; absent where none is filled.
ALTER TABLE counted_days ADD COLUMN hours_until timestamptz;
