-- The nominal time of the run in last_execution_id, which only a later one takes the place of.
ALTER TABLE schedules ADD COLUMN last_nominal_at timestamptz;
