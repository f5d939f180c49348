import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../api/testing/temporaryFolder.ts'
import { startServer } from '../server/testing/startServer.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { runHere } from './testing/programHere.ts'

const PROGRAM = join(import.meta.dirname, '../dist/pharos.js')

const bashScript = execFileSync(process.execPath, [PROGRAM, 'completion', 'bash'], { encoding: 'utf8' })

let folder: string
beforeEach(() => {
  folder = testFolder()
  mkdirSync(join(folder, 'bin'))
  symlinkSync(PROGRAM, join(folder, 'bin/pharos'))
})

function env(): NodeJS.ProcessEnv {
  return { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder }
}

/** What bash offers when the tab key is hit after `line`. */
function offered(line: string): readonly string[] {
  const words = line.split(' ')
  const script = `${bashScript}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_pharos
printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
    cwd: folder,
    env: env(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((word) => word !== '')
}

/** Leaves a state with services of these names behind. */
async function applied(...names: readonly string[]): Promise<void> {
  const server = await startServer()
  mkdirSync(join(folder, 'set'))
  for (const name of names) writeFileSync(join(folder, `set/${name}.yaml`), manifestOf(name))
  const access = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
  await runHere(['apply', join(folder, 'set'), '--state', join(folder, 'pharos.db')], access)
  await server.close()
}

test('bash completes commands, options, their values and paths', () => {
  makeFolder()

  expect(offered('pharos dr')).toEqual(['drift'])
  expect(offered('pharos ')).toEqual(
    expect.arrayContaining(['validate', 'plan', 'apply', 'fmt', 'completion', '--help']),
  )
  expect(offered('pharos plan --format ')).toEqual(['text', 'json', 'github', 'sarif', 'markdown'])
  expect(offered('pharos plan --det')).toEqual(['--detailed-exitcode'])
  expect(offered('pharos validate mon')).toEqual(['monitoring'])
  expect(offered('pharos validate monitoring/')).toEqual(['monitoring/a b.yaml'])
  expect(offered('pharos state status --state mon')).toEqual(['monitoring'])
  expect(offered('pharos completion ')).toEqual(['bash', 'zsh', 'fish'])
  expect(offered('pharos state adopt p')).toEqual(['plan'])
  expect(offered('pharos state adopt plan mon')).toEqual(['monitoring'])
  expect(offered('pharos plan --env ')).toEqual([])
  expect(offered('pharos nonsense ')).toEqual([])
})

test('bash completes names of manifests from the state that the line names', async () => {
  await applied('checkout', 'catalogue', 'website')

  expect(offered('pharos state unbind --state pharos.db c')).toEqual(['catalogue', 'checkout'])
  expect(offered('pharos state unbind c')).toEqual([])
  expect(offered('pharos state unbind --state nowhere.db c')).toEqual([])
})

/** Why a shell cannot be run here; null when it can. Under CI it never goes unnoticed: its test fails. */
function skipReason(shell: string): string | null {
  return existsSync(`/usr/bin/${shell}`) || process.env.CI === 'true' ? null : `no ${shell} at /usr/bin`
}
const zshSkipped = skipReason('zsh')
const fishSkipped = skipReason('fish')

function inShell(command: string, args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(command, args, { cwd: folder, env: env(), encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  return stdout
}

function makeFolder(): void {
  mkdirSync(join(folder, 'monitoring'))
  writeFileSync(join(folder, 'monitoring/a b.yaml'), '')
}

/** A terminal in which zsh reads each of its arguments with the tab key after it, and shows what it made of it. */
const ZSH_AT_A_TERMINAL = `zmodload zsh/zpty
zpty shell env TERM=dumb zsh -f -i
until_said() {
  local line
  while zpty -r shell line; do
    [[ $line == *$1* ]] && { print -r -- "$line"; return }
  done
}
zpty -w shell 'PS1=; show() { zle -I; print -r -- "<$BUFFER>"; BUFFER=; }; zle -N show; bindkey "^T" show'
zpty -w shell 'source <(pharos completion zsh); print rea""dy'
until_said ready > /dev/null
for line in "$@"; do
  zpty -w -n shell "$line"$'\t\x14'
  until_said '>' | tr -d '\r'
done
zpty -d shell`

test.skipIf(zshSkipped !== null)(
  `zsh completes commands, options, their values and paths when the tab key is pressed${zshSkipped === null ? '' : ` (${zshSkipped})`}`,
  () => {
    makeFolder()
    const lines = [
      ['pharos pl', 'pharos plan '],
      ['pharos plan --det', 'pharos plan --detailed-exitcode '],
      ['pharos plan --format ma', 'pharos plan --format markdown '],
      ['pharos state adopt a', 'pharos state adopt apply '],
      ['pharos state adopt apply mon', 'pharos state adopt apply monitoring/'],
      ['pharos validate monitoring/', 'pharos validate monitoring/a\\ b.yaml '],
      ['pharos plan --env ', 'pharos plan --env '],
    ]

    const shown = inShell('zsh', [
      '-f',
      '-c',
      ZSH_AT_A_TERMINAL,
      'zsh',
      ...lines.map(([typed = '']) => typed),
    ])

    expect(shown.match(/<.*>/g)).toEqual(lines.map(([, completed]) => `<${completed}>`))
  },
)

test.skipIf(fishSkipped !== null)(
  `fish completes commands, options, their values, paths and names of manifests${fishSkipped === null ? '' : ` (${fishSkipped})`}`,
  async () => {
    makeFolder()
    await applied('checkout', 'website')
    const lines = [
      ['pharos pl', 'plan'],
      ['pharos plan --det', '--detailed-exitcode'],
      ['pharos plan --format ma', 'markdown'],
      ['pharos state adopt ', 'apply', 'plan'],
      ['pharos state adopt plan --detai'],
      ['pharos state adopt apply mon', 'monitoring/'],
      ['pharos plan --env '],
      ['pharos state unbind --state pharos.db c', 'checkout'],
      ['pharos state history '],
    ]

    const script =
      'pharos completion fish | source; for line in $argv; echo "<$line>"; complete -C $line; end'
    const shown = inShell('fish', ['-N', '-c', script, ...lines.map(([typed = '']) => typed)])

    const offers = shown
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t')[0])
    expect(offers).toEqual(lines.flatMap(([typed, ...offered]) => [`<${typed}>`, ...offered]))
  },
)
