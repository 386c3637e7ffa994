-- How many objects a team has, kept by the database itself, so that a release that does not know of it counts, too.
-- Whoever writes objects holds the team's row already: `usage` is locked first here, too, so that neither waits for the other.
LOCK TABLE usage IN ACCESS EXCLUSIVE MODE;
LOCK TABLE objects IN SHARE ROW EXCLUSIVE MODE;
ALTER TABLE usage ADD COLUMN objects bigint NOT NULL DEFAULT 0;
UPDATE usage SET objects = (SELECT count(*) FROM objects WHERE objects.team = usage.team);

CREATE FUNCTION count_objects() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE usage SET objects = objects + 1 WHERE team = NEW.team;
  ELSE
    UPDATE usage SET objects = objects - 1 WHERE team = OLD.team;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER count_objects AFTER INSERT OR DELETE ON objects FOR EACH ROW EXECUTE FUNCTION count_objects();
