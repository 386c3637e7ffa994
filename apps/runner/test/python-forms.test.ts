import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from './python-run.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner({ CODE_GLOBAL_ALIAS: 'other' })
})
afterAll(() => under.stop())

const guard = 'if __name__ == "__main__":\n'

const forms: [guarantee: string, source: string, value: unknown][] = [
  ['a top-level return gives the value', 'return 1 + 1', 2],
  ['a source without a value gives null', 'a = 1', null],
  ['an empty source gives null', '', null],
  ['main is called', 'def main():\n    return "m"', 'm'],
  ['main may be async', 'import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    return "m"', 'm'],
  [
    'main may be what a decorator made',
    'def twice(f): return lambda: [f(), f()]\n@twice\ndef main(): return 1',
    [1, 1],
  ],
  [
    'a Python that a library starts with the arguments of its own finds what PYTHONPATH names',
    `import os, subprocess, sys
from multiprocessing.util import _args_from_interpreter_flags
with open("own.py", "w") as file: file.write("print('found')")
os.environ["PYTHONPATH"] = os.getcwd()
program = [sys.executable, *_args_from_interpreter_flags(), "-c", "import own"]
return subprocess.run(program, capture_output=True, text=True).stdout`,
    'found\n',
  ],
  ['main is not called when the top level has returned', 'def main(): return 2\nreturn 1', 1],
  ['nor when it returned nothing', 'def main(): return 2\nreturn', null],
  [
    'main is called once where the source calls it as a script',
    'n = []\ndef main():\n    n.append(1)\n    return n\nif __name__ == "__main__":\n    main()',
    [1],
  ],
  ...['main("a")', 'asyncio.run(main("a"))', 'value = asyncio.run(main("a"))'].map(
    (call): [string, string, unknown] => [
      `main is called once where the source ends with ${call}`,
      `import asyncio\nn = []\nasync def main(x="b"):\n    n.append(x)\n    return n\n${call}`,
      ['a'],
    ],
  ),
  [
    'main is called where the source would call it elsewhere',
    'def main(): return 5\nif __name__ == "__main__" and "svc" not in globals(): main()',
    5,
  ],
  [
    'main is called where an if that asks where the source runs does not call it',
    'def main(): return 5\nif "svc" not in globals(): main()',
    5,
  ],
  ['main of another is not called', 'from os import path as main\nfrom os.path import join as main', null],
  [
    'a script without main runs as one',
    'v = 0\ndef go():\n    global v\n    v = 3\nif __name__ == "__main__":\n    go()\nreturn v',
    3,
  ],
  ['a method is no main', 'from os.path import basename as main\nclass A:\n    def main(self): return 1', null],
  ['a returned awaitable is awaited', 'async def work(): return 5\nreturn work()', 5],
  ['asyncio.run at the top level', 'import asyncio\nasync def work(): return 5\nreturn asyncio.run(work())', 5],
  ['star imports', 'from os.path import *\nreturn join("a", "b")', 'a/b'],
  [
    'star imports inside other statements',
    'try:\n    from nope import *\nexcept ImportError:\n    from math import *\nreturn floor(1.5)',
    1,
  ],
  ['functions change globals', 'x = 1\ndef f():\n    global x\n    x += 1\nf()\nreturn x', 2],
  ['functions see names that come later', 'def f(): return later\nlater = 3\nreturn f()', 3],
  [
    'nonlocal',
    'def o():\n    x = 1\n    def i():\n        nonlocal x\n        x += 1\n        return x\n    return i()\nreturn o()',
    2,
  ],
  ['annotated names', 'x: int = 3\ny: str\nreturn [x, sorted(__annotations__)]', [3, ['x', 'y']]],
  ['annotations that are not evaluated', '"doc"\nfrom __future__ import annotations\nx: Nope = 1\nreturn x', 1],
  [
    'a walrus binds a global',
    'r = [y for x in range(3) if (y := x) >= 0]\ndef g(): return y\nreturn [r, g()]',
    [[0, 1, 2], 2],
  ],
  [
    'match binds globals',
    'match {"a": [1, 2, 3]}:\n    case {"a": [p, *q]}: pass\ndef g(): return [p, q]\nreturn g()',
    [1, [2, 3]],
  ],
  [
    'the name of an exception is gone',
    'try:\n    1 / 0\nexcept ZeroDivisionError as e: pass\nreturn "e" in globals()',
    false,
  ],
  [
    'except*',
    'try:\n    raise ExceptionGroup("g", [ValueError(1)])\nexcept* ValueError as group:\n    n = len(group.exceptions)\nreturn n',
    1,
  ],
  ['a bare except does not see the return', 'try:\n    return 1\nexcept:\n    return 2', 1],
  ['finally runs', 'l = []\ntry:\n    return l\nfinally:\n    l.append(1)', [1]],
  ['del', 'a = 1\ndel a\nreturn "a" in globals()', false],
  ['exec and eval see the module', 'exec("z = 5")\nreturn z + eval("z")', 10],
  ['locals are the globals', 'q = 7\nreturn locals() is globals() and vars()["q"] == 7', true],
  [
    'for, else and with leave their names',
    'import io\nwith io.StringIO("t") as f:\n    for i in range(3): pass\n    else: k = i\ndef g(): return [k, f.closed]\nreturn g()',
    [2, true],
  ],
  [
    'classes see module names',
    'n = 2\nclass A:\n    m = n\n    def f(self): return [__class__.__name__, self.m, n]\nreturn A().f()',
    ['A', 2, 2],
  ],
  ['classes can be pickled', 'import pickle\nclass A: v = 4\nreturn pickle.loads(pickle.dumps(A())).v', 4],
  [
    'dataclasses',
    'from dataclasses import dataclass, asdict\n@dataclass\nclass P:\n    x: int\n    y: int = 2\nreturn asdict(P(1))',
    { x: 1, y: 2 },
  ],
  [
    'inspect finds the source',
    'import inspect\ndef f():\n    return 1\nreturn inspect.getsource(f)',
    'def f():\n    return 1\n',
  ],
  ['the docstring and the name', '"doc"\nreturn [__doc__, __name__]', ['doc', '__main__']],
  ['Windows line ends and a byte order mark', '\uFEFFa = 1\r\nreturn a\r\n', 1],
  ['exit is there', 'return [callable(exit), callable(quit)]', [true, true]],
  ['a fresh namespace', 'return sorted(name for name in globals() if not name.startswith("_"))', ['other', 'svc']],
]

describe('the forms that a Python source may have', () => {
  test.for(forms)('%s', async ([, source, value]) => {
    const ended = await run(under, source)
    expect(ended.explanation).toBeUndefined()
    expect(ended.value).toEqual(value)
  })
})

// Each notes in `n` what it does; the value is what `main` has noted by then.
const ownCalls: [form: string, source: string, value: unknown][] = [
  ['with arguments that the guard makes', `${guard}    v = 21\n    main(v)`, [21]],
  ['after what the guard sets', `${guard}    n.append("set")\n    main()`, ['set', 1]],
  ['as sys.exit(main(21))', `import sys\n${guard}    sys.exit(main(21))`, [21]],
  ['as raise SystemExit(main())', `${guard}    raise SystemExit(main())`, [1]],
  ['in a guard that has an else', `${guard}    main()\nelse:\n    n.append("else")`, [1]],
  ['in a try', `try: main(2)\nexcept ValueError: raise`, [2]],
  ['in an if', 'if n == []: main(2)', [2]],
  ['in a with', 'import io\nwith io.StringIO() as f: main(2)', [2]],
  ['by a handler', `${guard}    try:\n        1 / 0\n    except ZeroDivisionError: main(2)`, [2]],
  ['in a case', 'match n:\n    case []: main(2)', [2]],
]
const ownAsyncCalls: [form: string, source: string][] = [
  ['a run that was imported', 'from asyncio import run\nrun(main())'],
  ['a runner', 'with asyncio.Runner() as r: r.run(main())'],
  ['a loop', 'asyncio.new_event_loop().run_until_complete(main())'],
  ['asyncio.run in a try', 'try: asyncio.run(main())\nexcept ValueError: raise'],
]
// `main` prints what it gets, and gives 6 by it.
const ownUses: [form: string, source: string, log: string[], value: unknown][] = [
  ['and keeps its value', `${guard}    r = main(2)\n    print("got", r)`, ['2', 'got 3'], 3],
  [
    'and handles what it raises',
    `${guard}    try: main(0)\n    except ZeroDivisionError: print("no")`,
    ['0', 'no'],
    null,
  ],
  ['in a print', 'print(main())', ['1', '6'], 6],
  ['as the target of a thread', 'from threading import Thread\nt = Thread(target=main)\nt.start()\nt.join()', ['1'], 6],
  ['in another process', 'from multiprocessing import Pool\nwith Pool(1) as pool: pool.map(main, [2])', ['2'], null],
  ['in a loop', 'for v in range(1, 4): main(v)', ['1', '2', '3'], 2],
  ['by another function', 'def go(): main(2)\ngo()', ['2'], 3],
  ['before other statements', 'main()\nprint("on")', ['1', 'on'], 6],
  ['before it exits', 'import sys\nmain(2)\nsys.exit(0)', ['2'], 3],
  ['for its exit', 'import sys\nsys.exit(main(3) or 0)', ['3'], 2],
]
const notCalled: [form: string, source: string][] = [
  ['where a condition keeps it from that', `${guard}    if not svc: main(2)`],
  ['outside of the service', 'try: import svc\nexcept ImportError: main(2)'],
  ['where the environment asks for it', 'import os\nif os.environ.get("LOCAL"): main(2)'],
  ['by what is made of it', 'def retry(f): return lambda: f(2)\nhandler = retry(main)'],
  ['of which it asks the form', 'import inspect\nassert inspect.signature(main).parameters["v"]'],
]

describe('a source that calls main itself has it called by that alone', () => {
  test.for(ownCalls)('%s', async ([, source, value]) => {
    const ended = await run(under, `n = []\ndef main(v=1):\n    n.append(v)\n    return n\n${source}`)
    expect(ended.explanation).toBeUndefined()
    expect(ended.value).toEqual(value)
  })

  test.for(ownAsyncCalls)('by %s', async ([, source]) => {
    const main = 'import asyncio\nn = []\nasync def main():\n    n.append(1)\n    return n\n'
    expect(await run(under, main + source)).toMatchObject({ value: [1], explanation: undefined })
  })

  const dividing = 'def main(v=1):\n    print(v)\n    return 6 // v\n'
  test.for(ownUses)('%s', async ([, source, log, value]) => {
    const ended = await run(under, dividing + source)
    expect(ended).toMatchObject({ value, explanation: undefined })
    expect(ended.log.map(({ message }) => message)).toEqual(log)
  })

  test.for(notCalled)('and by the service where it does not: %s', async ([, source]) => {
    const ended = await run(under, dividing + source)
    expect(ended).toMatchObject({ value: 6, explanation: undefined })
    expect(ended.log.map(({ message }) => message)).toEqual(['1'])
  })

  test('with a value that it keeps, which may be no JSON', async () => {
    expect(await run(under, 'def main(): return {1, 2}\nfound = main()\nprint(len(found))')).toMatchObject({
      value: null,
      explanation: undefined,
    })
    expect((await run(under, 'def main(): return {1, 2}\nmain()')).explanation).toContain('as JSON')
  })
})

const faults: [guarantee: string, source: string, explanation: string, location: string][] = [
  ['a syntax error', 'a = 1\nb = = 2', 'SyntaxError: invalid syntax', 'File "demo.py", line 2\n    b = = 2\n'],
  ['an indentation error', 'if 1:\nreturn', 'IndentationError: expected an indented block', 'line 2'],
  ['await at the top level', '\nawait x', "SyntaxError: 'await' outside async function", 'line 2'],
  [
    'yield at the top level',
    'a = 1\nb = [(yield a)]',
    "SyntaxError: 'yield' outside function",
    'File "demo.py", line 2',
  ],
  ['return in a class', 'class A:\n    return 1', "SyntaxError: 'return' outside function", 'line 2\n    return 1'],
  [
    'nonlocal without a function around',
    'x = 1\ndef f():\n    nonlocal x',
    "SyntaxError: no binding for nonlocal 'x' found",
    'line 3',
  ],
  [
    'a late future',
    'a = 1\nfrom __future__ import annotations',
    'SyntaxError: from __future__ imports must occur',
    'line 2',
  ],
  [
    'a module that is not there',
    '\nimport left_pad',
    "ModuleNotFoundError: No module named 'left_pad'",
    'line 2, in <module>\n    import left_pad',
  ],
  [
    'a name that is not there',
    '\n\n  \nnope',
    "NameError: name 'nope' is not defined",
    'File "demo.py", line 4, in <module>\n    nope\n',
  ],
  [
    'a raise in a function',
    'def f():\n    raise ValueError("v")\nf()',
    'ValueError: v',
    'line 3, in <module>\n    f()\n  File "demo.py", line 2, in f\n    raise ValueError("v")',
  ],
  [
    'a raise in async code',
    'import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    {}["k"]',
    "KeyError: 'k'",
    'line 4, in main\n    {}["k"]',
  ],
  [
    'a raise in a main that a guard calls',
    'def main(v):\n    """doc"""\n    raise ValueError(v)\n\nif __name__ == "__main__":\n    v = 2\n    main(v)',
    'ValueError: 2',
    'line 7, in <module>\n    main(v)\n',
  ],
  [
    'a raise in the library',
    'import json\njson.loads("{")',
    'JSONDecodeError: Expecting property name',
    'File "demo.py", line 2, in <module>',
  ],
  [
    'a main that wants arguments',
    'def main(a): return a',
    "TypeError: main() missing 1 required positional argument: 'a'",
    'TypeError',
  ],
]

describe('faults of Python sources keep the lines that the user wrote', () => {
  test.for(faults)('%s', async ([, source, explanation, location]) => {
    const ended = await run(under, source)
    expect(ended.explanation).toContain(explanation)
    const { message } = ended.log.at(-1)!
    // Newer versions of Python mark more of a line.
    expect(message.replaceAll(/^ +[~^]+\n/gm, '')).toContain(location)
    expect(message).not.toMatch(/children\/python|python3|<frozen/)
  })
})
