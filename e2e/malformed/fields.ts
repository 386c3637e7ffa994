/** What a field must be; each kind has values that break it for sure. */
export type FieldKind =
  | 'text'
  | 'flag'
  | 'record'
  | 'words'
  | 'dictionary'
  | 'language'
  | 'timeoutMs'
  | 'lifetimeMs'
  | 'ports'
  | 'parameters'
  | 'schema'
  | 'packages'
  | 'expiryS'

/** Of processes, as they are created and changed. */
export const processFields: Record<string, FieldKind> = {
  '/name': 'text',
  '/slug': 'text',
  '/description': 'text',
  '/readme': 'text',
  '/sourceCode': 'text',
  '/parametersSchema': 'schema',
  '/webhook': 'record',
  '/webhook/enabled': 'flag',
  '/webhook/username': 'text',
  '/webhook/password': 'text',
  '/manifest': 'record',
  '/manifest/dependencies': 'dictionary',
  '/script': 'record',
  '/script/sourceCode': 'text',
  '/script/parametersSchema': 'schema',
  '/settings': 'record',
  '/settings/formsConfig': 'record',
  '/settings/formsConfig/enabled': 'flag',
  '/settings/publicConfig': 'record',
  '/settings/publicConfig/enabled': 'flag',
  '/settings/publicConfig/token': 'text',
  '/settings/dependencies': 'record',
  '/settings/dependencies/scopedToProcess': 'flag',
  '/settings/dependencies/autoDetect': 'flag',
  '/tags': 'words',
}

/** Of modules. */
export const moduleFields: Record<string, FieldKind> = {
  '/name': 'text',
  '/sourceCode': 'text',
  '/script': 'record',
  '/script/sourceCode': 'text',
}
