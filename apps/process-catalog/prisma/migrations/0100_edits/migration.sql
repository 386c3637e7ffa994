-- Which edit of a record the row has, for entity tags. A trigger raises it, so that the edits of a release that knows nothing of
-- it count, too: every edit, and nothing but edits, sets updated_at. Each table has a migration of its own: each waits for
-- the writes of one table only.
CREATE FUNCTION count_edit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := OLD.revision + 1;
  RETURN NEW;
END
$$;

ALTER TABLE processes ADD COLUMN revision integer NOT NULL DEFAULT 1;
CREATE TRIGGER count_edit BEFORE UPDATE OF updated_at ON processes FOR EACH ROW EXECUTE FUNCTION count_edit();
