/** The most used settings of the whole system on one machine. */
export const settings = {
  PORT: 'where the REST interface is (8080)',
  HEALTH_PORT: 'where /readyz with details and /metrics are (9200)',
  DATA_DIR: 'where the system keeps everything (.data)',
  BOOTSTRAP_TEAM: 'the team that the first start makes (demo)',
  DATABASE_URL: 'a PostgreSQL of your own instead of the embedded one',
}
