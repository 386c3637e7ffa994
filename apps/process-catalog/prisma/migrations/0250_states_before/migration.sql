-- Digests of the states that a process had before the present one. A replica that knows nothing of them leaves them as they are.
ALTER TABLE processes ADD COLUMN previous_states text[] NOT NULL DEFAULT '{}';
