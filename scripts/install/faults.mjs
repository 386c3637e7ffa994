/** Why the packages could not be installed, and what the user can do. */
export class InstallFault extends Error {
  constructor(message, advice) {
    super(message)
    this.name = 'InstallFault'
    this.advice = advice
  }
}

const again = 'Then run the command again.'

const npmFaults = [
  {
    signs: /\bENOSPC\b|no space left/i,
    message: 'The disk is full.',
    advice: `About 1.5 GB are needed for node_modules and npm's cache (npm cache clean --force empties that). ${again}`,
  },
  {
    signs: /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|EHOSTUNREACH)\b/,
    message: 'The npm registry does not answer.',
    advice: `Look at the network, and at npm's settings for a proxy or a registry (npm config list). ${again}`,
  },
  {
    signs: /\b(CERT_\w+|SELF_SIGNED_CERT\w*|UNABLE_TO_\w+CERT\w*|DEPTH_ZERO_SELF_SIGNED_CERT)\b/,
    message: "The npm registry's certificate is not trusted here.",
    advice: `Give npm the certificate of your proxy (npm config set cafile FILE). ${again}`,
  },
  {
    signs: /\b(E401|E403|ENEEDAUTH)\b/,
    message: 'The npm registry refuses to answer without other credentials.',
    advice: `Look at npm's settings for the registry and its credentials (npm config list). ${again}`,
  },
  {
    signs: /\b(E404|ETARGET)\b/,
    message: 'The npm registry lacks a package that package-lock.json names.',
    advice: `Look at npm's settings for the registry (npm config get registry). ${again}`,
  },
  {
    signs: /\b(EACCES|EPERM|EROFS)\b/,
    message: 'A file could not be written.',
    advice: `This user must own the folder of the project and npm's cache (npm config get cache). ${again}`,
  },
  {
    signs: /\bEUSAGE\b|can only install packages when your package\.json/,
    message: 'package-lock.json does not belong to package.json.',
    advice: 'Run npm install, look at what it changed in package-lock.json, and commit that.',
  },
]

/** What an ended `npm ci` means: `ended` is its exit code, a signal or ENOENT; `output` its lines. */
export function faultOfNpm(ended, output) {
  if (ended === 'ENOENT')
    return new InstallFault('npm is missing.', `Install it (it comes with Node: https://nodejs.org). ${again}`)
  if (ended === 'SIGINT' || ended === 'SIGTERM')
    return new InstallFault('Installing was stopped.', 'The next command starts it afresh.')
  const errors = output.filter((line) => line.startsWith('npm error') || line.startsWith('npm ERR!'))
  const known = npmFaults.find(({ signs }) => errors.some((line) => signs.test(line)))
  const said = (errors.length > 0 ? errors : output)
    .filter((line) => !/^npm error +(at |\w+: )/.test(line) && !line.includes('complete log of this run'))
    .slice(0, 6)
    .join('\n')
  if (known !== undefined) return new InstallFault(`${known.message}\n${said}`, known.advice)
  return new InstallFault(`npm ci failed (${ended}).\n${said}`, 'Run npm ci to see all that it says.')
}

/** What to do about a thing that is absent though npm has done its work. */
export function faultOfMissing(what) {
  const platform = `${process.platform}-${process.arch}`
  if (what === 'python')
    return new InstallFault(
      'python3 is missing.',
      `Install Python 3.11 or later (apt install python3, brew install python). ${again}`,
    )
  if (what === 'node')
    return new InstallFault(
      `Node 26 was not installed: npm has no package of it for ${platform}, or left optional packages out.`,
      `Run npm ci --include=optional, or install Node 26 and put it first on the PATH. ${again}`,
    )
  return new InstallFault(
    `PostgreSQL was not installed: npm has no package of it for ${platform}, or left optional packages out.`,
    `Run npm ci --include=optional. Where there is no package, set DATABASE_URL to a server of your own. ${again}`,
  )
}

/** What to do about a python3 that is there and does not run; `why` is what it or the system says. */
export function faultOfPython(why) {
  return new InstallFault(
    `python3 does not run on this machine: ${why}`,
    `Install Python 3.11 or later and put it first on the PATH; with pyenv, choose a version (pyenv global 3.12). ${again}`,
  )
}

/** What to do about a Node 26 that is there and does not run; `why` is what the system says. */
export function faultOfNode(why) {
  return new InstallFault(
    `Node 26 does not run on this machine: ${why}`,
    `It needs glibc 2.28 or later (not musl, as Alpine has) and libatomic (apt install libatomic1, dnf install libatomic). ${again}`,
  )
}
