/**
 * The process that all installations of packages belong to, as execution asks the catalog for them and keeps them. No
 * process is made with this id.
 */
export const installsProcessId = '00000000-0000-0000-0000-000000000000'
