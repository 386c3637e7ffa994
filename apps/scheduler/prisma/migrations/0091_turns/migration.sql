-- The schedule's, so that teams take turns. Empty in what a release before this one makes, which takes turns as one team.
ALTER TABLE firings ADD COLUMN team text NOT NULL DEFAULT '';
UPDATE firings f SET team = s.team FROM schedules s WHERE s.id = f.schedule_id AND f.state < 3;
CREATE INDEX firings_open_of_team ON firings (team, due_at) WHERE state < 3;
CREATE INDEX schedules_next_of_team ON schedules (team, next_at) WHERE next_at IS NOT NULL;
