/** Leaves its mark wherever a run can. */
export const leaves = {
  javascript: (mark: string) => `
    const fs = require('fs'), mark = '${mark}'
    for (const file of [process.env.TMP_DATA_DIR + '/left', '/dev/shm/left', '/tmp/left-' + process.pid]) { try { fs.writeFileSync(file, mark) } catch {} }
    process.env.LEFT = mark
    try { require('child_process').spawn('sleep', ['60'], { env: { LEFT: mark }, detached: true, stdio: 'ignore' }).unref() } catch {}
    return 1`,
  python: (mark: string) => `
import os, subprocess
mark = '${mark}'
held = [mark * 1000]
for path in (os.environ['TMP_DATA_DIR'] + '/left', '/dev/shm/left', '/tmp/left-python'):
    try:
        with open(path, 'w') as file:
            file.write(mark)
    except OSError:
        pass
os.environ['LEFT'] = mark
subprocess.Popen(['sleep', '60'], env={'LEFT': mark, 'PATH': os.environ['PATH']}, start_new_session=True)
return 1`,
}

/** Looks for the mark of the run before, whose halves it is told, so that it does not find itself. */
export const looks = {
  javascript: (mark: string) => `
    const fs = require('fs'), mark = '${mark.slice(0, 9)}' + '${mark.slice(9)}', found = []
    const read = (name) => { try { return fs.readFileSync(name, 'latin1') } catch { return '' } }
    const list = (name) => { try { return fs.readdirSync(name) } catch { return [] } }
    for (const directory of [process.env.TMP_DATA_DIR, '/dev/shm', '/tmp'])
      for (const name of list(directory)) if (read(directory + '/' + name).includes(mark)) found.push(directory + '/' + name)
    if (Object.values(process.env).includes(mark)) found.push('environment')
    for (const pid of list('/proc').filter((name) => /^\\d+$/.test(name))) if (read('/proc/' + pid + '/environ').includes(mark)) found.push('process ' + pid)
    return [found, list(process.env.TMP_DATA_DIR)]`,
  python: (mark: string) => `
import gc, os
mark = '${mark.slice(0, 9)}' + '${mark.slice(9)}'
found = []
def read(name):
    try:
        with open(name, 'rb') as file:
            return file.read(100000).decode('latin1')
    except OSError:
        return ''
def names(directory):
    try:
        return os.listdir(directory)
    except OSError:
        return []
for directory in (os.environ['TMP_DATA_DIR'], '/dev/shm', '/tmp'):
    found += [directory + '/' + name for name in names(directory) if mark in read(directory + '/' + name)]
if mark in os.environ.values():
    found.append('environment')
found += ['process ' + pid for pid in names('/proc') if pid.isdigit() and mark in read('/proc/' + pid + '/environ')]
found += ['object' for each in gc.get_objects() if isinstance(each, list) and len(each) == 1 and isinstance(each[0], str) and len(each[0]) > 20000 and each[0].startswith(mark)]
return [found, os.listdir(os.environ['TMP_DATA_DIR'])]`,
}

/** Gives the descriptors that it has beyond its own. */
export const opened = {
  javascript: `return require('fs').readdirSync('/proc/self/fd').map(Number).filter((fd) => { try { const to = require('fs').readlinkSync('/proc/self/fd/' + fd); return fd > 4 && !/anon_inode|^\\/proc\\//.test(to) && !/^pipe:/.test(to) } catch { return false } })`,
  python: `
import os
def is_open(descriptor):
    try:
        os.fstat(descriptor)
        return True
    except OSError:
        return False
return [each for each in range(5, 4096) if is_open(each)]`,
}
/** Gives the names of the variables that it has. */
export const environment = {
  javascript: `return Object.keys(process.env).concat(require('fs').readFileSync('/proc/self/environ', 'latin1').split('\\0').map((each) => each.split('=')[0]))`,
  python: `
import os
names = list(os.environ)
try:
    names += [each.split('=')[0] for each in open('/proc/self/environ').read().split('\\0')]
except OSError:
    pass
return names`,
}
