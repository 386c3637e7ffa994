-- The newest sources of a team are read first.
CREATE INDEX versions_team_id ON versions (team, id);
