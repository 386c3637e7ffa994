import { framesOf } from '@automation/errors/code-frames'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from './python-run.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner({ RETURN_VALUE_MAX_BYTES: '100000' })
})
afterAll(() => under.stop())

const values: [guarantee: string, source: string, value: unknown, transient?: boolean][] = [
  ['None is null', 'return None', null],
  [
    'what JSON has',
    'return {"a": [1, 2.5, True, None, "ü€😀"], "b": (1,)}',
    { a: [1, 2.5, true, null, 'ü€😀'], b: [1] },
  ],
  [
    'keys that JSON has no form for become text',
    'return {1: "a", None: "b", True: "c"} if 0 else {2: "a", None: "b", False: "c"}',
    { 2: 'a', null: 'b', false: 'c' },
  ],
  ['halves of characters survive', 'return "a\\0\\ud800\\u20ac"', 'a\u0000\ud800€'],
  ['large numbers keep their digits', 'return 10 ** 20', 1e20],
  ['a named tuple is a list', 'from collections import namedtuple\nreturn namedtuple("P", "x y")(1, 2)', [1, 2]],
  [
    'threads left open are stopped',
    'import threading, time\nthreading.Thread(target=lambda: time.sleep(1000)).start()\nreturn 1',
    1,
  ],
  [
    'tasks left over are stopped',
    'import asyncio\nasync def main():\n    asyncio.create_task(asyncio.sleep(1000))\n    return 1',
    1,
  ],
  [
    'tasks that refuse to be cancelled, too',
    'import asyncio\nasync def no():\n    while True:\n        try:\n            await asyncio.sleep(1000)\n        except BaseException: pass\nasync def main():\n    asyncio.create_task(no())\n    await asyncio.sleep(0)\n    return 1',
    1,
  ],
  ['sockets left open are closed', 'import socket\ns = socket.create_server(("127.0.0.1", 0))\nreturn 1', 1],
  ['what is to be done at exit is not', 'import atexit\natexit.register(print, "exit")\nreturn 1', 1],
  ['a transient body is delivered alone', 'return {"isTransient": True, "body": {"a": 1}}', { a: 1 }, true],
  ['transient data too', 'return {"transient": True, "data": [1]}', [1], true],
  [
    'a transient response keeps its form',
    'return {"isTransient": True, "status": 201, "headers": {"a": "b"}, "body": "x"}',
    { status: 201, headers: { a: 'b' }, body: 'x' },
    true,
  ],
  [
    'a transient response with a status keeps it, whatever else is there',
    'return {"isTransient": True, "status": 401, "body": "no", "reason": "x"}',
    { status: 401, body: 'no', reason: 'x' },
    true,
  ],
  [
    'one without a status is no response where more is there',
    'return {"isTransient": True, "status": True, "body": "x", "more": 1}',
    'x',
    true,
  ],
  ['only the mark True is one', 'return {"isTransient": 1, "body": 1}', { isTransient: 1, body: 1 }],
  ['a value as large as is allowed', 'return "x" * 99998', 'x'.repeat(99998)],
  [
    'a fork of its own that comes to its end says nothing',
    'import os\npid = os.fork()\nif pid == 0:\n    return 5\nos.waitpid(pid, 0)\nreturn 6',
    6,
  ],
  [
    'forks of its own have exit codes as ever',
    'import os, sys\ncodes = []\nfor end in (lambda: sys.exit(3), sys.exit, lambda: sys.exit(-1), lambda: None):\n    pid = os.fork()\n    if pid == 0:\n        end()\n        return 1\n    codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\nreturn codes',
    [3, 0, 255, 0],
  ],
  [
    'multiprocessing',
    'import multiprocessing\ncontext = multiprocessing.get_context("fork")\nqueue = context.SimpleQueue()\nprocess = context.Process(target=lambda: queue.put(3))\nprocess.start()\nprocess.join()\nreturn queue.get()',
    3,
  ],
  [
    'multiprocessing by its default, with a manager',
    'import multiprocessing as m\nshared = m.Manager().list()\np = m.Process(target=shared.append, args=(3,))\np.start()\np.join()\nreturn [m.get_start_method(), m.get_all_start_methods(), *shared]',
    ['fork', ['fork'], 3],
  ],
  [
    'multiprocessing for another way, as packages do while they load',
    'import multiprocessing\nreturn multiprocessing.get_context("spawn").get_start_method()',
    'spawn',
  ],
  [
    'executors',
    'from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(40) as pool:\n    return sum(pool.map(lambda x: x * 2, range(100)))',
    9900,
  ],
  [
    'a thread may finish what an event loop waits for',
    'import asyncio, time\nasync def main():\n    return await asyncio.to_thread(lambda: time.sleep(0.05) or 4)',
    4,
  ],
  [
    'a future that another thread resolves',
    'import asyncio, threading\nasync def main():\n    loop = asyncio.get_running_loop()\n    future = loop.create_future()\n    threading.Timer(0.05, lambda: loop.call_soon_threadsafe(future.set_result, 8)).start()\n    return await future',
    8,
  ],
]

describe('what ends well in Python', () => {
  test.for(values)('%s', async ([, source, value, transient = false]) => {
    const ended = await run(under, source)
    expect(ended.explanation).toBeUndefined()
    expect(ended.value).toEqual(value)
    expect(ended.transient).toBe(transient)
    expect(ended.log).toEqual([])
  })
})

const failures: [guarantee: string, source: string, explanation: RegExp][] = [
  ['a raise', 'raise TypeError("no")', /^TypeError: no$/],
  ['a raise of the user’s own class', 'class OwnError(Exception): pass\nraise OwnError("mine")', /^OwnError: mine$/],
  ['a raise without a message', 'raise ValueError', /^ValueError$/],
  [
    'an exception that can’t be shown',
    'class E(Exception):\n    def __str__(self): raise ValueError\nraise E',
    /^E: <exception str\(\) failed>$/,
  ],
  [
    'sys.exit(0) before the value',
    'import sys\nsys.exit(0)',
    /^SystemExit: sys.exit\(0\) was called before the run had a value$/,
  ],
  ['sys.exit with words', 'import sys\nsys.exit("bye")', /^SystemExit: sys.exit\('bye'\)/],
  ...['get_context("spawn").Pool(1)', 'get_context("forkserver").Process().start()'].map(
    (call): [string, string, RegExp] => [
      `multiprocessing.${call}`,
      `import multiprocessing\nmultiprocessing.${call}`,
      /^ValueError: Processes of a run are started by 'fork' alone: use multiprocessing.get_context\('fork'\)/,
    ],
  ),
  ['exit()', 'exit()', /^SystemExit: sys.exit\(\) was called/],
  ['sys.exit in async code', 'import sys\nasync def main(): sys.exit(3)', /^SystemExit: sys.exit\(3\)/],
  ['os._exit', 'import os\nos._exit(4)', /^Error: The process ended \(exit code 4\) before the run had a value$/],
  ['os._exit(0)', 'import os\nos._exit(0)', /^Error: The process ended \(exit code 0\) before/],
  ['abort', 'import os\nos.abort()', /^Error: The process was ended by SIGABRT$/],
  [
    'a kill of itself',
    'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)',
    /^Error: The process was ended by SIGKILL$/,
  ],
  ['a segmentation fault', 'import ctypes\nctypes.string_at(0)', /^Error: The process was ended by SIGSEGV$/],
  ['an interrupt', 'import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass', /^KeyboardInterrupt$/],
  ['recursion without end', 'def f(): f()\nf()', /^RecursionError: maximum recursion depth exceeded/],
  [
    'a future that can never settle',
    'import asyncio\nasync def main(): await asyncio.get_running_loop().create_future()',
    /^RuntimeError: The run waits for a future that can never settle$/,
  ],
  [
    'one in an event loop of the user’s',
    'import asyncio\nasync def f(): await asyncio.Event().wait()\nasyncio.run(f())',
    /^RuntimeError: The run waits for a future/,
  ],
  [
    'a group of exceptions',
    'raise ExceptionGroup("several", [ValueError("a"), TypeError("b")])',
    /^ExceptionGroup: several \(2 sub-exceptions\)$/,
  ],
  [
    'a library’s own error of memory',
    'class ArrowMemoryError(MemoryError): pass\nraise ArrowMemoryError("malloc of size 8 failed")',
    /^OutOfMemoryError: The run is out of memory: it may use \d+ MiB$/,
  ],
  [
    'a library in Rust that has no memory',
    'import os\nos.write(2, b"memory allocation of 1600000000 bytes failed\\n")\nos.abort()',
    /^OutOfMemoryError: The run is out of memory: it may use \d+ MiB$/,
  ],
  ['all descriptors closed', 'import os\nos.closerange(0, 100)\nreturn 1', /^Error: The process/],
  [
    'a set',
    'return {1}',
    /^TypeError: The return value can't be written as JSON: Object of type set is not JSON serializable$/,
  ],
  ['bytes', 'return b"a"', /can't be written as JSON: Object of type bytes/],
  ['a Decimal', 'from decimal import Decimal\nreturn [Decimal(1)]', /can't be written as JSON: Object of type Decimal/],
  ['a time', 'import datetime\nreturn datetime.datetime.now()', /can't be written as JSON: Object of type datetime/],
  [
    'a dataclass',
    'from dataclasses import dataclass\n@dataclass\nclass A: x: int\nreturn A(1)',
    /can't be written as JSON: Object of type A /,
  ],
  ['NaN', 'return float("nan")', /can't be written as JSON: Out of range float values/],
  ['infinity', 'return [float("inf")]', /can't be written as JSON: Out of range float values/],
  ['a key that has no form', 'return {(1, 2): 3}', /can't be written as JSON: keys must be str/],
  [
    'a number deep inside that is none',
    'return {"count": 2, "rows": [{"a": 1.5}, {"a": float("nan")}]}',
    /can't be written as JSON: Out of range float values are not JSON compliant.*, at rows\[1\]\.a$/,
  ],
  [
    'an object deep inside, under a name that is no word',
    'return {"rows": ({"unit price": 1}, {"unit price": {2}})}',
    /can't be written as JSON: Object of type set is not JSON serializable, at rows\[1\]\["unit price"\]$/,
  ],
  [
    'what is named like a type of Python but is none',
    'class bool:\n    __module__ = "numpy"\nreturn [bool()]',
    /can't be written as JSON: Object of type numpy\.bool is not JSON serializable, at \[0\]$/,
  ],
  [
    'a key deep inside that has no form',
    'return [{"a": {b"x": 1}}]',
    /can't be written as JSON: keys must be str.* not bytes, at \[0\]\.a$/,
  ],
  ['a cycle', 'a = []\na.append(a)\nreturn a', /can't be written as JSON: Circular reference detected$/],
  [
    '100,000 levels',
    'a = 1\nfor _ in range(100_000): a = [a]\nreturn a',
    /can't be written as JSON: it is nested too deeply$/,
  ],
  ['a number without end', 'return 10 ** 5000', /can't be written as JSON: Exceeds the limit/],
  ['a function', 'return print', /can't be written as JSON: Object of type/],
  ['too large', 'return "x" * 100001', /^ValueError: The return value has more than the 100000 bytes/],
  ['too large in UTF-8', 'return "€" * 40000', /^ValueError: The return value has more than/],
  [
    'a frame of the user’s own',
    'import os\nos.write(4, b"\\x06\\0\\0\\0\\x56\\x63\\0\\0\\0\\0")\nreturn 1',
    /^Error: The process broke its channel: a frame for another run$/,
  ],
  [
    'a word that all is clean',
    'import os, struct\nfor n in range(9): os.write(4, struct.pack("<IBI", 5, 75, n))\nreturn 1',
    /^Error: The process broke its channel: a frame/,
  ],
]

describe('what ends as an error in Python, in words', () => {
  test.for(failures)('%s', async ([, source, explanation]) => {
    const ended = await run(under, source)
    expect(ended.explanation).toMatch(explanation)
    expect(lines(ended.log).at(-1)).toContain(`ERROR ${ended.explanation!.split('\n')[0]}`)
    expect((await run(under, 'return 1')).value).toBe(1)
  })

  test('the log line has the traceback with the user’s frames, and the cause', async () => {
    const source =
      'def inner():\n    raise KeyError("deep")\ntry:\n    inner()\nexcept KeyError as error:\n    raise ValueError("outer") from error'
    const { message } = (await run(under, source)).log.at(-1)!
    expect(message).toMatch(
      /^ValueError: outer\nTraceback \(most recent call last\):\n {2}File "demo\.py", line 4, in <module>\n {4}inner\(\)\n/,
    )
    expect(message).toContain('The above exception was the direct cause of the following exception')
    expect(message).toMatch(/line 6, in <module>\n {4}raise ValueError\("outer"\) from error\nValueError: outer$/)
  })

  test('the log has what ends a fork of its own, which fails alone', async () => {
    const source =
      'import os, sys\nclass Mute:\n    def __str__(self): raise ValueError\ncodes = []\nfor end in (lambda: int("a"), lambda: sys.exit("bye"), lambda: sys.exit(Mute())):\n    pid = os.fork()\n    if pid == 0:\n        end()\n    codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\nreturn codes'
    const { value, log } = await run(under, source)
    expect(value).toEqual([1, 1, 1])
    expect(lines(log)).toEqual([
      expect.stringMatching(
        /^ERROR Traceback \(most recent call last\):\n {2}File "demo\.py", line 8, in <module>\n[^]*\nValueError: invalid literal/,
      ),
      'ERROR bye',
      'ERROR <exception str() failed>',
    ])
  })

  const chain = 'def f():\n    raise KeyError("a")\ntry:\n    f()\nexcept KeyError:\n    raise ValueError("b")'
  const quoted = 'RuntimeError("see\\nTraceback (most recent call last):\\n  File \'other.py\', line 9, in x")'
  const placed: [what: string, source: string, places: string[]][] = [
    ['that came of another', chain, ['<module> 6']],
    ['with lines like a traceback', `def f():\n    raise ${quoted.replaceAll("'", '\\"')}\nf()`, ['<module> 3', 'f 2']],
    ['of several', '\nraise ExceptionGroup("many", [ValueError("a")])', ['<module> 2']],
    ['of syntax', '\nx = = 1', ['2']],
    ['that can’t be shown', 'class E(Exception):\n    def __str__(self): raise ValueError\nraise E', ['<module> 3']],
  ]
  test.for(placed)(
    'the places of an error %s are its own, and so is the line of its result',
    async ([, source, places]) => {
      const { explanation = '', log, result } = await run(under, source)
      const frames = framesOf(log.at(-1)!.message, explanation)
      expect(frames.map((each) => [each.function ?? [], each.line].flat().join(' '))).toEqual(places)
      expect(new Set(frames.map(({ file }) => file))).toEqual(new Set(['demo.py']))
      expect(result.end.value).toMatchObject({ line: frames.at(-1)!.line })
    },
  )

  test('text that a database refuses does not reach the explanation', async () => {
    const ended = await run(under, 'raise Exception("a\\0b\\ud800")')
    expect(ended.explanation).toBe('Exception: a\uFFFDb\uFFFD')
  })
})
