-- What has changed of teams, for their live streams (docs/decisions/0192-changes-of-teams.md). Triggers write it, so that changes
-- of a release that knows nothing of it count, too. Who changes something of a team holds its number until the commit, so
-- numbers are committed in their order and have no holes.
CREATE TABLE team_change_counts (
  team text COLLATE "C" PRIMARY KEY,
  last bigint NOT NULL
);

-- The last 1000 of each team.
CREATE TABLE team_changes (
  team text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  type text NOT NULL,
  change text NOT NULL,
  id uuid NOT NULL,
  process_id uuid,
  status text,
  language text,
  PRIMARY KEY (team, number)
);

CREATE FUNCTION note_team_change(
  of_team text, its_type text, its_change text, its_id uuid, of_process uuid, its_status text, its_language text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  its_number bigint;
BEGIN
  INSERT INTO team_change_counts AS counted (team, last) VALUES (of_team, 1)
  ON CONFLICT (team) DO UPDATE SET last = counted.last + 1 RETURNING last INTO its_number;
  INSERT INTO team_changes (team, number, type, change, id, process_id, status, language)
  VALUES (of_team, its_number, its_type, its_change, its_id, of_process, its_status, its_language);
  DELETE FROM team_changes WHERE team = of_team AND number <= its_number - 1000;
END $$;

CREATE FUNCTION change_of(operation text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE operation WHEN 'INSERT' THEN 'created' WHEN 'DELETE' THEN 'deleted' ELSE 'updated' END
$$;

CREATE FUNCTION note_schedule() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  schedule schedules := coalesce(NEW, OLD);
BEGIN
  PERFORM note_team_change(schedule.team, 'schedule', change_of(TG_OP), schedule.id, schedule.process_id, NULL, NULL);
  RETURN NULL;
END $$;
-- Every edit, and nothing but edits, sets updated_at.
CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE OF updated_at
  ON schedules FOR EACH ROW EXECUTE FUNCTION note_schedule();
