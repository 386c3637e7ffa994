-- As those of processes.
ALTER TABLE aliases ADD COLUMN revision integer NOT NULL DEFAULT 1;
CREATE TRIGGER count_edit BEFORE UPDATE OF updated_at ON aliases FOR EACH ROW EXECUTE FUNCTION count_edit();
