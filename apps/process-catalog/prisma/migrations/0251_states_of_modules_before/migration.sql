-- As those of processes.
ALTER TABLE modules ADD COLUMN previous_states text[] NOT NULL DEFAULT '{}';
