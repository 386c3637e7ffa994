-- Each table has a migration of its own: each waits for the writes of one table only.
CREATE TRIGGER note_change AFTER INSERT OR DELETE ON versions FOR EACH ROW EXECUTE FUNCTION note_owner();
