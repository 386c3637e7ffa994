import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { until } from '@automation/testing'
import { Language } from '@automation/contract/common/v1/language'
import type { RunnerUnderTest } from '../runner-under-test.ts'

/** A run of another team that waits until it is killed, and where its things are, as it sees them. */
export interface Victim {
  directory: string
  pid: number
  port: number
  abstractName: string
  end(): void
}

const sharedFile = (mark: string) =>
  `/dev/shm/secret-of-${createHash('sha256').update(mark).digest('hex').slice(0, 16)}`

const python = (mark: string) => `
import json, os, socket, subprocess, time
mark = ${JSON.stringify(mark)}
directory = os.environ['TMP_DATA_DIR']
for path in (directory + '/secret', ${JSON.stringify(sharedFile(mark))}):
    try:
        with open(path, 'w') as file:
            file.write(mark)
    except OSError:
        pass
abstract = 'abstract-' + mark[::-1]
local, internet = socket.socket(socket.AF_INET), None
local.bind(('127.0.0.1', 0))
local.listen()
try:
    without_file = socket.socket(socket.AF_UNIX)
    without_file.bind('\\0' + abstract)
    without_file.listen()
except OSError:
    pass
subprocess.Popen(['sleep', '400'], env={'SECRET': mark, 'PATH': os.environ['PATH']}, cwd=directory)
print(json.dumps({'directory': directory, 'pid': os.getpid(), 'port': local.getsockname()[1], 'abstractName': abstract}))
time.sleep(300)`

/** Starts it; it has the mark in a file, in shared memory, in the environment of a child and in its own memory. */
export async function startVictim(
  under: Pick<RunnerUnderTest, 'replica'>,
  mark: string,
  team: string,
): Promise<Victim> {
  const { id } = under.replica.hand(python(mark), {
    spec: { language: Language.PYTHON, team, processId: 'victim' },
    run: { timeoutMs: 300_000 },
  })
  const said = await until(() => under.replica.logOf(id).find(({ message }) => message.startsWith('{')), {
    what: 'the other run has laid out its things',
  })
  return {
    ...(JSON.parse(said.message) as Omit<Victim, 'end'>),
    end: () => {
      under.replica.kill(id)
      // Where there is no isolation it lies on the machine.
      rmSync(sharedFile(mark), { force: true })
    },
  }
}
