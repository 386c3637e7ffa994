-- Which edit of a schedule the row has, for entity tags; firings and zones raise its revision, but are no edits. A trigger
-- raises it, so that the edits of a release that knows nothing of it count, too: every edit, and nothing else, sets updated_at.
ALTER TABLE schedules ADD COLUMN edition integer NOT NULL DEFAULT 1;

CREATE FUNCTION count_edit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.edition := OLD.edition + 1;
  RETURN NEW;
END
$$;

CREATE TRIGGER count_edit BEFORE UPDATE OF updated_at ON schedules FOR EACH ROW EXECUTE FUNCTION count_edit();
