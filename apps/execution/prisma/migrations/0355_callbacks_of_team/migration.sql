-- Those of a team that moves or is removed: callbacks_due knows only what is not delivered.
CREATE INDEX callbacks_of_team ON callbacks (team, execution_id);
