-- Days (grain 3 of run_counts) are sums of their hours, so that figures of a month are sums of few rows.
CREATE AGGREGATE sum_counts(integer[]) (SFUNC = add_counts, STYPE = integer[], INITCOND = '{}');

-- One row, once a day is filled: of all days before `until` the rows hold what their hours hold.
CREATE TABLE counted_days (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  until timestamptz NOT NULL
);
