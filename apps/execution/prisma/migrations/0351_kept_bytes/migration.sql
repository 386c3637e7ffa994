-- What a team's executions take of the database, by the day that they are of: counted from the timeline, behind it.
CREATE TABLE kept_bytes (
  team text NOT NULL,
  day date NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (team, day)
);
