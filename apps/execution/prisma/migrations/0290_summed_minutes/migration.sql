-- Minutes of all processes (grain 5 of run_counts) are sums of the minutes of each, so that figures of a team for a day are
-- sums of few rows. One row, once an hour of them is filled: of all minutes before `until` they hold what the minutes hold.
CREATE TABLE summed_minutes (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  until timestamptz NOT NULL
);
