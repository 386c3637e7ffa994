-- Schedules whose decided firings are still to go: there may be millions, which go in batches behind the deletion. A trigger
-- writes it, so that deletions of a release that knows nothing of it count, too.
CREATE TABLE deleted_schedules (
  id uuid PRIMARY KEY,
  team text NOT NULL
);

CREATE FUNCTION note_deleted_schedules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deleted_schedules SELECT id, team FROM gone;
  -- Nobody takes those of no schedule.
  DELETE FROM firings f USING gone g WHERE f.team = g.team AND f.state < 3 AND f.schedule_id = g.id;
  RETURN NULL;
END $$;
CREATE TRIGGER note_deleted AFTER DELETE ON schedules
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_schedules();

ALTER TABLE firings DROP CONSTRAINT firings_schedule_id_fkey;
