-- Where the executions of a team are: '' is the first cell.
ALTER TABLE teams
  ADD COLUMN cell text NOT NULL DEFAULT '',
  -- The cell that they are moving to.
  ADD COLUMN moving_to text,
  -- Which move that is.
  ADD COLUMN move_id uuid;
