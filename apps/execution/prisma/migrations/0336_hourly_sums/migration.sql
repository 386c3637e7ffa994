-- Hours of all processes (grain 4 of run_counts) are filled by the hour, and with them hours of each process without its
-- trials and origins (grain 6), so that figures of many processes are sums of few rows that lie together. One row, once an
-- hour of them is filled: of all hours before `until` they hold what the hours of grain 2 hold. The release before fills
-- grain 4 with the days, and notes it in counted_days.hours_until.
CREATE TABLE summed_hours (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  until timestamptz NOT NULL
);
