import { spawnSync } from 'node:child_process'
import type { SourceFault } from './reading.ts'

/** The Python that reads programs, and where programs are found. */
export interface PythonProgram {
  program: string
  path: string
}

/** In letters. Larger ones need more memory than there is for it. */
const longestSource = 128 * 1024
const timeoutMs = 4000

/**
 * Finds the fault of the source that it is given: parsed, then compiled without the returns at its top, which are allowed
 * here. The source is a stranger's: before it is parsed, a filter leaves no system calls but those for memory, and for what
 * is open. So a fault of the parser gives nobody the service's environment, memory or network. What parsing may import is
 * there before.
 */
export const pythonParser = `
import _ast, ctypes, os, resource, sys, unicodedata
resource.setrlimit(resource.RLIMIT_DATA, (2**27, 2**27))
resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
source = sys.stdin.buffer.read().decode()
prctl = ctypes.CDLL(None).prctl
# read, write, close, fstat, lseek, mmap, mprotect, munmap, brk, rt_sigaction, rt_sigprocmask, rt_sigreturn, mremap, madvise,
# futex, getrandom, exit, exit_group
machine, calls = {
    'x86_64': (0xC000003E, (0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 25, 28, 202, 318, 60, 231)),
    'aarch64': (0xC00000B7, (63, 64, 57, 80, 62, 222, 226, 215, 214, 134, 135, 139, 216, 233, 98, 278, 93, 94)),
}[os.uname().machine]
step = lambda code, value, then=0, other=0: code.to_bytes(2, 'little') + bytes((then, other)) + value.to_bytes(4, 'little')
# Kills what is not of this machine, allows the calls, and refuses all others with EPERM.
steps = [step(0x20, 4), step(0x15, machine, 1), step(0x06, 0x80000000), step(0x20, 0)]
for call in calls:
    steps += [step(0x15, call, 0, 1), step(0x06, 0x7FFF0000)]
steps.append(step(0x06, 0x00050001))
filter = ctypes.create_string_buffer(b''.join(steps))
head = ctypes.create_string_buffer(len(steps).to_bytes(8, 'little') + ctypes.addressof(filter).to_bytes(8, 'little'))
# PR_SET_NO_NEW_PRIVS, then PR_SET_SECCOMP with a filter
none, one, two = map(ctypes.c_ulong, range(3))
if prctl(38, one, none, none, none) or prctl(22, two, ctypes.byref(head), none, none):
    sys.exit(1)
def tell(error):
    sys.stdout.buffer.write(f'{error.lineno or 1} {error.offset or 1} {error.msg}'.encode('utf-8', 'replace'))
    sys.exit()
try:
    # PyCF_ONLY_AST: to import it from ast takes longer than to parse.
    tree = compile(source, '<source>', 'exec', 0x400)
except SyntaxError as error:
    tell(error)
try:
    rest = [tree]
    while rest:
        holder = rest.pop()
        if isinstance(holder, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            continue
        for name in ('body', 'orelse', 'finalbody', 'handlers', 'cases'):
            statements = getattr(holder, name, None)
            if not isinstance(statements, list):
                continue
            for at, each in enumerate(statements):
                rest.append(each)
                if isinstance(each, _ast.Return):
                    place = {name: getattr(each, name) for name in each._attributes}
                    statements[at] = _ast.Expr(each.value, **place) if each.value else _ast.Pass(**place)
    compile(tree, '<source>', 'exec', dont_inherit=True)
except SyntaxError as error:
    tell(error)
except (MemoryError, RecursionError):
    # What is parsed needs more of both to be compiled than there is here.
    pass
`

/**
 * Where Python finds that a source is no program, in a process of its own without anything of ours; undefined where it is
 * one, `unknown` where that can't be said: without Python, or where it takes too much. Holds up the thread: to be called
 * where nobody waits for it.
 */
export function pythonFault(source: string, { program, path }: PythonProgram): SourceFault | 'unknown' | undefined {
  if (source.length > longestSource) return 'unknown'
  const { status, stdout } = spawnSync(program, ['-I', '-S', '-B', '-W', 'ignore', '-c', pythonParser], {
    input: source.replace(/^\uFEFF/, ''),
    env: { PATH: path },
    cwd: '/',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  if (status !== 0) return 'unknown'
  const [, line, column, message] = /^(\d+) (\d+) (.*)$/s.exec(String(stdout)) ?? []
  return message === undefined ? undefined : { message, line: Number(line), column: Number(column) }
}
