-- The number of the proto enum; null in rows of before, which any runner may have.
ALTER TABLE executions ADD COLUMN language smallint;
