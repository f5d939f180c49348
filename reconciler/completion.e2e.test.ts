import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { manifestOf, runProgram } from './testing/pharosProgram.ts'

const PROGRAM = join(import.meta.dirname, '../dist/pharos.js')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-completion-'))
  mkdirSync(join(folder, 'bin'))
  symlinkSync(PROGRAM, join(folder, 'bin/pharos'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function env(): NodeJS.ProcessEnv {
  return { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder }
}

/** What bash offers when the tab key is hit behind `line`. */
function offered(line: string): readonly string[] {
  const words = line.split(' ')
  const script = `source <(pharos completion bash)
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

test('bash completes commands, options, their values and paths', () => {
  mkdirSync(join(folder, 'monitoring'))
  writeFileSync(join(folder, 'monitoring/a b.yaml'), '')

  expect(offered('pharos dr')).toEqual(['drift'])
  expect(offered('pharos ')).toEqual(
    expect.arrayContaining(['validate', 'plan', 'apply', 'fmt', 'completion', '--help']),
  )
  expect(offered('pharos plan --format ')).toEqual(['text', 'json', 'github', 'sarif', 'markdown'])
  expect(offered('pharos plan --det')).toEqual(['--detailed-exitcode'])
  expect(offered('pharos validate mon')).toEqual(['monitoring'])
  expect(offered('pharos validate monitoring/')).toEqual(['monitoring/a b.yaml'])
  expect(offered('pharos status --state mon')).toEqual(['monitoring'])
  expect(offered('pharos completion ')).toEqual(['bash', 'zsh', 'fish'])
  expect(offered('pharos plan --env ')).toEqual([])
  expect(offered('pharos nonsense ')).toEqual([])
})

test('bash completes names of manifests from the state that the line names', async () => {
  const server = await startServer()
  mkdirSync(join(folder, 'set'))
  for (const name of ['checkout', 'catalogue', 'website'])
    writeFileSync(join(folder, `set/${name}.yaml`), manifestOf(name))
  const access = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
  await runProgram(['apply', join(folder, 'set'), '--state', join(folder, 'pharos.db')], access)
  await server.close()

  expect(offered('pharos unbind --state pharos.db c')).toEqual(['catalogue', 'checkout'])
  expect(offered('pharos unbind c')).toEqual([])
  expect(offered('pharos unbind --state nowhere.db c')).toEqual([])
})

test.each(['bash', 'zsh', 'fish'])(
  'the script for %s is one, as far as that shell is here to say so',
  (shell) => {
    const script = execFileSync(process.execPath, [PROGRAM, 'completion', shell], { encoding: 'utf8' })
    expect(script).toMatch(/^# pharos completion for /)
    for (const word of ['validate', 'apply', 'markdown']) expect(script).toContain(word)
    // Of zsh, the part that is not bash's is three lines long; fish and zsh are not on every machine.
    const checked = shell === 'zsh' && spawnSync('zsh', ['--version']).error !== undefined ? 'bash' : shell
    if (spawnSync(checked, ['--version']).error !== undefined) return
    const { status, stderr } = spawnSync(checked, ['-n'], { input: script, encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  },
)
