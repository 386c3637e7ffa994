-- Nothing new runs for a team from then on; why, in the operator's words.
ALTER TABLE teams
  ADD COLUMN suspended_at timestamptz(3),
  ADD COLUMN suspended_reason text,
  -- All of it is being removed.
  ADD COLUMN purging boolean NOT NULL DEFAULT false;
