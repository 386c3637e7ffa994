CREATE FUNCTION note_install() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_team_change(NEW.team, 'install', change_of(TG_OP), NEW.id, NULL, NEW.status, NEW.language);
  RETURN NULL;
END $$;
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OF status
  ON dependency_installs FOR EACH ROW EXECUTE FUNCTION note_install();
