-- What of a team's contents was replaced, counts no more and is still kept for its readers.
ALTER TABLE usage ADD COLUMN replaced bigint NOT NULL DEFAULT 0;
ALTER TABLE blobs ADD COLUMN replaced bigint NOT NULL DEFAULT 0;

-- By the database itself, so that a release that does not know of it counts, too.
CREATE FUNCTION count_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE usage SET replaced = replaced - OLD.replaced WHERE team = OLD.team;
  RETURN NULL;
END $$;

CREATE TRIGGER count_replaced AFTER DELETE ON blobs FOR EACH ROW WHEN (OLD.replaced <> 0) EXECUTE FUNCTION count_replaced();
