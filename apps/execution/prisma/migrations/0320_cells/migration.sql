-- A team that has left this cell, as the catalog calls the one that it went to ('' is the first), and when.
ALTER TABLE team_slots
  ADD COLUMN moved_to text,
  ADD COLUMN moved_at timestamptz;
CREATE INDEX team_slots_moved ON team_slots (team) WHERE moved_to IS NOT NULL;
-- The replicas that know of all that had left by then.
ALTER TABLE replicas ADD COLUMN moves_known_at timestamptz;
