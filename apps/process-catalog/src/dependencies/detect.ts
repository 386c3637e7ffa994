import type { LanguageName } from '../fields/language.ts'
import type { Reading } from '../reading/reading.ts'
import { missingFrom, type Dependencies } from './manifest.ts'
import { nameFault } from './package-name.ts'
import { specifierFault } from './specifier.ts'

export interface DetectionOptions {
  allowGit: boolean
  /** Names that imports find without a package. */
  without: ReadonlySet<string>
  /** Packages of PyPI by the names that they are imported by, beside those that are known here, and before them. */
  pythonImports: ReadonlyMap<string, string>
}

/**
 * The packages that a source needs, as it says by literal imports and by comments such as `@add-package name@range`.
 * What names no package, or says no version, is left out. Pure.
 */
export function detectDependencies(
  language: LanguageName,
  { packages, requests }: Pick<Reading, 'packages' | 'requests'>,
  options: DetectionOptions,
): Dependencies {
  const requested = new Map<string, string>()
  for (const [name, specifier] of requests) {
    if (isGood(language, name, specifier, options.allowGit)) requested.set(name, specifier)
  }
  const imported = new Map<string, string>()
  for (const name of packages) {
    if (options.without.has(name)) continue
    const found = packageOfImport(language, name, options.pythonImports)
    if (found !== undefined && isGood(language, found, '*', false)) imported.set(found, '*')
  }
  const explicit = Object.fromEntries(requested)
  return { ...missingFrom(language, explicit, Object.fromEntries(imported)), ...explicit }
}

function isGood(language: LanguageName, name: string, specifier: string, allowGit: boolean): boolean {
  return nameFault(language, name) === undefined && specifierFault(language, specifier, allowGit) === undefined
}

/** PyPI packages that are imported under another name than their own. */
const pythonPackages: Readonly<Record<string, string>> = {
  attr: 'attrs',
  bs4: 'beautifulsoup4',
  cairosvg: 'CairoSVG',
  cv2: 'opencv-python-headless',
  dateutil: 'python-dateutil',
  discord: 'discord.py',
  dns: 'dnspython',
  docx: 'python-docx',
  dotenv: 'python-dotenv',
  fitz: 'PyMuPDF',
  git: 'GitPython',
  github: 'PyGithub',
  gitlab: 'python-gitlab',
  grpc: 'grpcio',
  imblearn: 'imbalanced-learn',
  jose: 'python-jose',
  jwt: 'PyJWT',
  kafka: 'kafka-python',
  ldap3: 'ldap3',
  Levenshtein: 'python-Levenshtein',
  magic: 'python-magic',
  markdown: 'Markdown',
  multipart: 'python-multipart',
  mysql: 'mysql-connector-python',
  MySQLdb: 'mysqlclient',
  nacl: 'PyNaCl',
  OpenSSL: 'pyOpenSSL',
  PIL: 'pillow',
  pptx: 'python-pptx',
  psycopg: 'psycopg[binary]',
  psycopg2: 'psycopg2-binary',
  pymysql: 'PyMySQL',
  pythonjsonlogger: 'python-json-logger',
  pywintypes: 'pywin32',
  serial: 'pyserial',
  skimage: 'scikit-image',
  sklearn: 'scikit-learn',
  slack_sdk: 'slack-sdk',
  slugify: 'python-slugify',
  socks: 'PySocks',
  telegram: 'python-telegram-bot',
  umap: 'umap-learn',
  usb: 'pyusb',
  websocket: 'websocket-client',
  win32com: 'pywin32',
  Xlib: 'python-xlib',
  yaml: 'PyYAML',
  zmq: 'pyzmq',
}

/** The package that an import name means. Undefined for names that several packages share. */
export function packageOfImport(
  language: LanguageName,
  name: string,
  pythonImports: ReadonlyMap<string, string>,
): string | undefined {
  if (language !== 'PYTHON') return name
  const said = pythonImports.get(name)
  if (said !== undefined) return said
  if (name === 'google') return undefined
  return Object.hasOwn(pythonPackages, name) ? pythonPackages[name] : name
}
