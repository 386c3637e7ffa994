-- They are forgotten some time after.
CREATE INDEX processes_deleted ON processes (deleted_at) WHERE deleted_at IS NOT NULL;
