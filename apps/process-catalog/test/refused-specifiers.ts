/** What is no version of a package: an installer could take it for an option, a path, another package or another source. */
const anywhere = {
  nothing: ['\0', '.', '-', '""', '{}', '[]', 'null', 'undefined', 'true', 'NaN', '[object Object]'],
  tags: 'next beta canary stable lts dev HEAD main a lates latest1 @latest @1'.split(' '),
  numbers: `1..2 1.2. .1 1_0 0x1 1e3 -1 +1 1,,2 vv1 v 1.-1 *.*.*.* １.0 ١.٢ 1.0! >=${'1'.repeat(300)}`.split(' '),
  operators: '> >= < ^ ~ == != ~= || && ^^1 >>1 ><1 <>1 !1 %1 >=*1 >=a'.split(' '),
  sentences: ['1 || ', '|| 1', '1 ||| 2', '1 & 2', '1 and 2', '1 or 2', 'not 1', 'x y z', '1 - ', '1 - 2 - 3', '> = 1'],
  spaces: ['1.0\n-e .', '\n-e .', '1.0\0', '1.0\u200b', '1\t.0'],
  commas: [',', '*,', 'latest,', '1.0,', '1.0, ,', 'git+https://host.org/a,'],
  // As long as any may be, and longer: each is read in no time.
  long: [
    '1',
    ' ',
    '=',
    ',',
    '.',
    '1 ',
    '>=1,',
    '==1.',
    '===',
    '===a',
    '>=1 , ',
    '1||',
    '1-',
    'git+https://a.b/',
  ].flatMap((part) => [129, 255, 100_000].map((length) => `${part.repeat(length).slice(0, length - 1)}!`)),
  options: [
    ...'-g -e --pre --registry=http://x --index-url=http://x --ignore-scripts=false'.split(' '),
    ...[
      '-e .',
      '1.0 --index-url http://x',
      '1.0 --hash=sha256:0',
      '1.0 --pre',
      '1.0 # comment',
      '* --registry=http://x',
    ],
  ],
  conditions: ['1.0 ; python_version < "3"', '1.0;os_name=="x"', '1.0;'],
  shell: ['$(id)', '`id`', '${X}', '$X', '1 && id', '1 | id', '1;id', '1>a', "1'", '1"', '1\\'],
  letters: ['ä', '1.ä', '😀', '\u202e1'],
  paths: './a ../a /a ~/a . .. C:\\a \\\\server\\share //host.org/a.git a.tgz ./a.whl host.org/a.git'.split(' '),
  protocols:
    `file:a file:../a file:///etc link:../a link:. portal:../a patch:a@1 exec:./a catalog: jsr:@a/b workspace:* workspace:^1
    npm:other npm:other@1 npm:@a/b@1 user/repo user/repo#main github:user/repo gitlab:user/repo bitbucket:user/repo gist:11081aaa281
    javascript:1 data:,x blob:x unix:///run/x.sock ldap://host.org/a ftp://host.org/a sftp://host.org/a rsync://host.org/a
    http://host.org/a.tgz https://host.org/a.tgz https://host.org/a.tar.gz https://host.org/a.whl https://host.org/a.zip
    git://host.org/a.git ssh://git@host.org/a.git git@host.org:a/b.git git+ssh://git@host.org/a.git git+http://host.org/a.git
    git+ftp://host.org/a.git git+rsync://host.org/a.git git+file:///tmp/a git+file:/tmp/a GIT+FILE:///tmp/a git+https:host.org/a.git
    git+https:/host.org/a.git git+https:\\\\host.org\\a.git hg+https://host.org/a svn+https://host.org/a bzr+https://host.org/a`.split(
      /\s+/,
    ),
  helpers: ['ext::sh -c id', 'git+ext::sh -c id', 'fd::17', 'git+https::https://host.org/a.git'],
  hosts:
    `user@host.org user:pw@host.org a@b@host.org host.org\\@other.org host.org:8080 host.org:443 host.org. host localhost LOCALHOST
    a.localhost a.local a.localdomain metadata.google.internal kubernetes.default.svc postgres.svc.cluster.local 127.0.0.1 127.1 0
    0x7f000001 0x7f.1 2130706433 0177.0.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 [::1] [fd00::1] [::ffff:127.0.0.1]
    -host.org host-.org host..org .host.org ho_st.org ho%73t.org höst.org ①.org`
      .split(/\s+/)
      .map((host) => `git+https://${host}/a.git`),
  repositories: [
    ...'/ //a.git /../a.git /a/../../b.git /a.git/../b /-a.git /.git /a..b.git /%2e%2e/a.git /a.git?x=1 /a;id.git /a$(id).git'.split(
      ' ',
    ),
    ...['', '/a b', '/a.git\n--extra', '/`id`.git', "/a'.git", '/ä.git', '/a\\b.git'],
  ].map((path) => `git+https://host.org${path}`),
}
const inBoth = Object.values(anywhere).flat()

export const refusedSpecifiers = {
  JAVASCRIPT: [
    ...inBoth,
    ...'!=1 1.2.3.4 01.2.3 1,2 1.2.3- 1.2.3+ =>1 =<1 ===1 1.2.3-a..b 1.2.3-ä 1!2.0 1.0rc1 1.0+local'.split(' '),
    ...['^1, ^2', '^1,', '>=1,<2', '1 -2', '99999999999999999999999.0.0 ||'],
    // Each part can be read in two ways.
    `${'=1 '.repeat(20)}=1 || ${'=1 '.repeat(20)}=1!`,
    ...`# ## #-x #--upload-pack=id #.. #../a #a..b #main;id #semver: #semver:--x #semver:>=1 #@{upstream} #:/x #HEAD^ #main~1 @main`
      .split(' ')
      .map((reference) => `git+https://host.org/a.git${reference}`),
    ...['#a b', '#a\nb', '#a\0'].map((reference) => `git+https://host.org/a.git${reference}`),
  ],
  PYTHON: [
    ...inBoth,
    ...'^1.0 ~1.0 =1.0 1.x x X 1.* >=1.* <2.* ,>=1 >=1,, === ====1 ===-e ===a;b ===a/b 1.0+ 1.0+a+b ~=1.0.* 1.0.0-rc.1+5-ä 1!!2'.split(
      ' ',
    ),
    ...['1 2', '>=1, ,', '===a b', '===1,===-e', '>=1 <2', '1 - 2', '>=1 || 2', '(>=1)', '>=1,<2;'],
    `${'==1a.post.dev,'.repeat(17)}1!`,
    ...`@ @-x @--upload-pack=id @.. @../a @a..b @main;id @HEAD^ @main~1 @a@b #main #egg=a #subdirectory=../.. @main#egg=a`
      .split(' ')
      .map((reference) => `git+https://host.org/a.git${reference}`),
    ...['@a b', '@a\nb', '@a\0', ' --extra'].map((reference) => `git+https://host.org/a.git${reference}`),
  ],
}
