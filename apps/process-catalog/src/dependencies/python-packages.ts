/** PyPI packages that are imported under another name than their own; one with a version is needed in that. */
const packages: Readonly<Record<string, string>> = {
  absl: 'absl-py',
  argon2: 'argon2-cffi',
  atlassian: 'atlassian-python-api',
  attr: 'attrs',
  Bio: 'biopython',
  bs4: 'beautifulsoup4',
  bson: 'pymongo',
  cairosvg: 'CairoSVG',
  cassandra: 'cassandra-driver',
  cattr: 'cattrs',
  Crypto: 'pycryptodome',
  Cryptodome: 'pycryptodomex',
  cv2: 'opencv-python-headless',
  dateutil: 'python-dateutil',
  decouple: 'python-decouple',
  discord: 'discord.py',
  dns: 'dnspython',
  docx: 'python-docx',
  dotenv: 'python-dotenv',
  engineio: 'python-engineio',
  faiss: 'faiss-cpu',
  ffmpeg: 'ffmpeg-python',
  fitz: 'PyMuPDF',
  fpdf: 'fpdf2',
  frontmatter: 'python-frontmatter',
  git: 'GitPython',
  github: 'PyGithub',
  gitlab: 'python-gitlab',
  gnupg: 'python-gnupg',
  googleapiclient: 'google-api-python-client',
  gridfs: 'pymongo',
  grpc: 'grpcio',
  grpc_health: 'grpcio-health-checking',
  grpc_status: 'grpcio-status',
  grpc_tools: 'grpcio-tools',
  hubspot: 'hubspot-api-client',
  imblearn: 'imbalanced-learn',
  jose: 'python-jose',
  jwt: 'PyJWT',
  kafka: 'kafka-python',
  ldap: 'python-ldap',
  Levenshtein: 'python-Levenshtein',
  magic: 'python-magic',
  markdown: 'Markdown',
  memcache: 'python-memcached',
  mpl_toolkits: 'matplotlib',
  multipart: 'python-multipart',
  mysql: 'mysql-connector-python',
  MySQLdb: 'mysqlclient',
  nacl: 'PyNaCl',
  nats: 'nats-py',
  odf: 'odfpy',
  OpenSSL: 'pyOpenSSL',
  opensearchpy: 'opensearch-py',
  openstack: 'openstacksdk',
  paho: 'paho-mqtt',
  pdfminer: 'pdfminer.six',
  PIL: 'pillow',
  // Later ones have it no more.
  pkg_resources: 'setuptools<82',
  pptx: 'python-pptx',
  progressbar: 'progressbar2',
  psycopg: 'psycopg[binary]',
  psycopg2: 'psycopg2-binary',
  pylab: 'matplotlib',
  pymysql: 'PyMySQL',
  pythonjsonlogger: 'python-json-logger',
  pywintypes: 'pywin32',
  rest_framework: 'djangorestframework',
  ruamel: 'ruamel.yaml',
  serial: 'pyserial',
  shapefile: 'pyshp',
  skimage: 'scikit-image',
  sklearn: 'scikit-learn',
  slugify: 'python-slugify',
  socketio: 'python-socketio',
  socks: 'PySocks',
  speech_recognition: 'SpeechRecognition',
  stomp: 'stomp.py',
  talib: 'TA-Lib',
  telebot: 'pyTelegramBotAPI',
  telegram: 'python-telegram-bot',
  umap: 'umap-learn',
  usb: 'pyusb',
  weaviate: 'weaviate-client',
  websocket: 'websocket-client',
  win32com: 'pywin32',
  Xlib: 'python-xlib',
  yaml: 'PyYAML',
  zmq: 'pyzmq',
}

/** Names that several packages share: each is known by more of the name, here without versions such as `_v1`. */
const shared: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  azure: {
    ...named(
      'ai.documentintelligence ai.formrecognizer ai.inference ai.projects ai.textanalytics appconfiguration batch ' +
        'communication.email core cosmos data.tables eventgrid eventhub functions identity keyvault.certificates ' +
        'keyvault.keys keyvault.secrets kusto.data mgmt.authorization mgmt.compute mgmt.containerinstance ' +
        'mgmt.containerservice mgmt.costmanagement mgmt.keyvault mgmt.monitor mgmt.network mgmt.resource mgmt.sql ' +
        'mgmt.storage mgmt.subscription mgmt.web monitor.query search.documents servicebus storage.blob storage.queue',
      'azure',
    ),
    'storage.filedatalake': 'azure-storage-file-datalake',
    'storage.fileshare': 'azure-storage-file-share',
  },
  databricks: { sdk: 'databricks-sdk', sql: 'databricks-sql-connector' },
  google: {
    ...named('adk ads analytics.admin analytics.data api_core auth genai generativeai', 'google'),
    ...named(
      'cloud.aiplatform cloud.asset cloud.automl cloud.batch cloud.bigquery cloud.bigquery_datatransfer ' +
        'cloud.bigquery_storage cloud.bigtable cloud.compute cloud.container cloud.dataplex cloud.dataproc ' +
        'cloud.datastore cloud.dialogflow cloud.discoveryengine cloud.dlp cloud.documentai cloud.error_reporting ' +
        'cloud.firestore cloud.functions cloud.kms cloud.language cloud.logging cloud.monitoring cloud.ndb ' +
        'cloud.pubsub cloud.redis cloud.run cloud.scheduler cloud.spanner cloud.speech cloud.storage ' +
        'cloud.storage_transfer cloud.tasks cloud.texttospeech cloud.trace cloud.translate cloud.videointelligence ' +
        'cloud.vision cloud.workflows',
      'google',
    ),
    'cloud.artifactregistry': 'google-cloud-artifact-registry',
    'cloud.devtools.cloudbuild': 'google-cloud-build',
    'cloud.dialogflowcx': 'google-cloud-dialogflow-cx',
    'cloud.exceptions': 'google-cloud-core',
    'cloud.iam_credentials': 'google-cloud-iam',
    'cloud.recaptchaenterprise': 'google-cloud-recaptcha-enterprise',
    'cloud.resourcemanager': 'google-cloud-resource-manager',
    'cloud.secretmanager': 'google-cloud-secret-manager',
    'cloud.sql.connector': 'cloud-sql-python-connector',
    oauth2: 'google-auth',
    protobuf: 'protobuf',
  },
  opentelemetry: {
    baggage: 'opentelemetry-api',
    context: 'opentelemetry-api',
    'exporter.otlp': 'opentelemetry-exporter-otlp',
    metrics: 'opentelemetry-api',
    propagate: 'opentelemetry-api',
    sdk: 'opentelemetry-sdk',
    trace: 'opentelemetry-api',
  },
  snowflake: {
    connector: 'snowflake-connector-python',
    snowpark: 'snowflake-snowpark-python',
    sqlalchemy: 'snowflake-sqlalchemy',
  },
  zope: { interface: 'zope.interface' },
}

const bases = new Set([
  'azure-core',
  'google-api-core',
  'google-auth',
  'google-cloud-core',
  'protobuf',
  'opentelemetry-api',
])

/** Whether it is installed with any other package that is imported by a name that begins as its own. */
export function isBase(name: string): boolean {
  return bases.has(name)
}

/** Packages whose names are those that they are imported by. */
function named(below: string, above: string): Record<string, string> {
  return Object.fromEntries(below.split(' ').map((name) => [name, `${above}-${name.replaceAll(/[._]/g, '-')}`]))
}

/** Whether several packages are imported by names that begin with this one. */
export function isShared(first: string): boolean {
  return Object.hasOwn(shared, first)
}

/**
 * The package that a dotted name of an import means, maybe with a version; undefined for what several packages share. `said`:
 * packages by the first part of such names, which count before those that are known here.
 */
export function pythonPackageOf(name: string, said: ReadonlyMap<string, string>): string | undefined {
  const [first = '', ...rest] = name.split('.')
  const ofOperator = said.get(first)
  if (ofOperator !== undefined) return ofOperator
  if (!isShared(first)) return Object.hasOwn(packages, first) ? packages[first] : first
  const below = rest.map((part) => part.replace(/_v\d\w*$/, ''))
  const known = shared[first]!
  const found = below.map((_, at) => below.slice(0, at + 1).join('.')).findLast((each) => Object.hasOwn(known, each))
  return found && known[found]
}
