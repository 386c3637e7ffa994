import type { LanguageName } from '../language.ts'

/** PyPI packages that are imported under another name than their own. */
const pythonPackages: Readonly<Record<string, string>> = {
  attr: 'attrs',
  bs4: 'beautifulsoup4',
  cairosvg: 'CairoSVG',
  cv2: 'opencv-python-headless',
  dateutil: 'python-dateutil',
  discord: 'discord.py',
  docx: 'python-docx',
  dotenv: 'python-dotenv',
  fitz: 'PyMuPDF',
  git: 'GitPython',
  github: 'PyGithub',
  gitlab: 'python-gitlab',
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
  usb: 'pyusb',
  win32com: 'pywin32',
  Xlib: 'python-xlib',
  yaml: 'PyYAML',
  zmq: 'pyzmq',
}

/** The package that an import name means. Undefined for names that several packages share. */
export function packageOfImport(language: LanguageName, name: string): string | undefined {
  if (language !== 'PYTHON') return name
  if (name === 'google') return undefined
  return Object.hasOwn(pythonPackages, name) ? pythonPackages[name] : name
}
