-- One row: when the last whole list of sets in use began.
CREATE TABLE package_set_lists (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  began_at timestamptz NOT NULL
);
