-- How many parts an upload has, kept by the database itself, so that a release that does not know of it counts, too.
LOCK TABLE uploads IN ACCESS EXCLUSIVE MODE;
LOCK TABLE upload_parts IN SHARE ROW EXCLUSIVE MODE;
ALTER TABLE uploads ADD COLUMN parts integer NOT NULL DEFAULT 0;
UPDATE uploads SET parts = (SELECT count(*) FROM upload_parts WHERE upload_id = uploads.id) WHERE completed_at IS NULL;

CREATE FUNCTION count_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE uploads SET parts = parts + CASE TG_OP WHEN 'INSERT' THEN c.count ELSE -c.count END
    FROM (SELECT upload_id, count(*)::integer AS count FROM changed GROUP BY upload_id) AS c
   WHERE uploads.id = c.upload_id;
  RETURN NULL;
END $$;

CREATE TRIGGER count_added_parts AFTER INSERT ON upload_parts
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_parts();
CREATE TRIGGER count_removed_parts AFTER DELETE ON upload_parts
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_parts();
