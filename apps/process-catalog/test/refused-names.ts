/** Names that no manifest takes: nothing of one may reach an installer, where it could be an option, a path or another source. */
const anywhere = {
  nothing: ['', ' ', '\t', '\n', '\0'],
  paths:
    `. .. ./ ./a ../a / //a /a a/ /etc/passwd a/../b a/b/c ~ ~/a ~root a\\b C:\\x \\\\server\\share %2e%2e a%2fb a%00`.split(
      ' ',
    ),
  options: `- -- -g -e -r -C --global --prefix --editable --pre --no-index --index-url --registry=http://x
    --target=/ --find-links=/ --ignore-scripts=false -rrequirements.txt --config-settings`.split(/\s+/),
  ofTheInstaller: '_hidden __proto__ .npmrc .bin .hooks .git .a'.split(' '),
  shell:
    `a;id a;rm a&&b a& a|b a$b $(id) \`id\` \${HOME} $HOME %HOME% a>b a<b a'b a"b a* * ? a?b !a ^a {a} (a) a(b)`.split(
      ' ',
    ),
  spaces: [
    'a b',
    'a\tb',
    'a\nb',
    'a\r\nb',
    'a\vb',
    'a\fb',
    'a\0b',
    'a\x7fb',
    'a\x1b[31m',
    'a\u00a0b',
    'a\u2028b',
    ' a',
    'a ',
  ],
  sources:
    `a@1 a@latest a@npm:b a@file:. a==1 a=1 a>=1 a~=1 a,b ,a +a =a #a a#b a:b file:a link:a npm:a workspace:a node:fs
    github:a/b git@host.org:a/b http://x https://host.org/a.tgz git+ssh://x git+https://host.org/a.git`.split(/\s+/),
  letters: ['ä', 'ａ', 'а', '包', '😀', 'a\u0301', 'a\u200bb', '\u202ea', '\ufeffa', 'a\u00ad'],
  length: ['x'.repeat(215), 'x'.repeat(100_000)],
}
const inBoth = Object.values(anywhere).flat()

export const refusedNames = {
  JAVASCRIPT: [
    ...inBoth,
    ...'@ @a @a/ @/a @a/b/c @a/../b @../a @A/b @_a/b @.a/b @a/.b @a/_b @a//b @@a/b @a/@b @a\\b a@b/c'.split(' '),
    ...'node_modules Node_Modules favicon.ico a[b] a! a(1)'.split(' '),
  ],
  PYTHON: [
    ...inBoth,
    ...'@a/b a/b a[ a] a[] a[b a[b]c a[b,] a[,b] a[-b] a[b][c] a[;] [a] a- a. a_ -a a~b'.split(' '),
    `${'['.repeat(200_000)}\n`,
    ...['a @ https://x', 'a ; python_version<"3"', 'a; extra=="x"', 'a [b]', 'a[b c]', 'a --hash=sha256:0'],
  ],
}
