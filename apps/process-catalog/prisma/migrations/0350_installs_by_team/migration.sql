-- Teams take turns: their due installs are found team by team.
CREATE INDEX dependency_manifests_due_of_team ON dependency_manifests (team, id)
  WHERE install_id IS NOT NULL OR status = 'INSTALLING' OR detected IS NOT NULL;
DROP INDEX dependency_manifests_due;
