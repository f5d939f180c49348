import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { manifestOf } from '../../testing/manifestOf.ts'
import { compileSet } from '../compile/serviceSet.ts'
import { formatProblem } from '../manifestProblem.ts'
import { readYaml } from '../read/readYaml.ts'
import { runNow } from './programRun.ts'
import { secretPrograms } from './secretPrograms.ts'

const CANARY = 'canary-77f3'
const HINTS = {
  exec: 'allow it with --allow-exec PROGRAM',
  sops: 'allow it with --allow-sops',
}
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-programs-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A program of that name that is a shell script. */
function program(name: string, script: string): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

interface Allowed {
  readonly exec?: readonly string[]
  readonly sops?: boolean
  readonly secrets?: 'required' | 'optional'
  readonly env?: Readonly<Record<string, string>>
}

/** The header value that `form` (flow YAML) gives, and the problems. */
function resolved(form: string, { exec = [], sops = false, secrets = 'required', env = {} }: Allowed) {
  const text = manifestOf('a', `      headers: {X-A: ${form}}\n`)
  const seen = { PATH: `${folder}:/usr/bin:/bin`, PHAROS_API_KEY: 'key', OTHER: 'other', ...env }
  const set = compileSet(readYaml({ file: 'a.yaml', directory: '', text }).documents, {
    env: {},
    secretsDirectory: '/nowhere',
    rootDirectory: folder,
    allowInlineSecrets: false,
    programs: secretPrograms({ exec, sops, variables: ['NAMED'], hints: HINTS }, seen),
    secrets,
  })
  const value = set.services[0]?.request.endpoints[0]?.call.Http.headers?.['X-A']
  const problems = set.problems.map(formatProblem)
  expect(problems.join()).not.toContain(CANARY)
  return { value, problems: problems.map((text) => text.replace(/^.*X-A /, '')) }
}

test('a secret comes from a program that the operator allows, with arguments that no shell reads', () => {
  const tell = program('tell', 'printf "%s\\n" "$2"')

  expect(
    resolved(`{exec: [${tell}, -x, "$(id) ${CANARY}; a"], prefix: "Bearer "}`, { exec: [tell] }),
  ).toEqual({
    value: { value: `Bearer $(id) ${CANARY}; a`, sensitive: true },
    problems: [],
  })
})

test('no program runs that the operator did not allow by its very name', () => {
  const touch = program('touch-it', `echo ran > ${join(folder, 'ran')}`)
  const refusal = 'runs a program that is not allowed here (allow it with --allow-exec PROGRAM)'
  for (const exec of [[], ['touch-it'], [`${folder}/`]]) {
    expect(resolved(`{exec: [${touch}]}`, { exec })).toEqual({ value: undefined, problems: [refusal] })
  }
  expect(resolved('{sops: secrets.yaml#/a}', {}).problems).toEqual([
    'refers to secrets.yaml, which is not a readable regular file (correct the path, which starts at the folder of this manifest)',
  ])
  expect(() => rmSync(join(folder, 'ran'))).toThrow('ENOENT')
})

test('to check manifests no program runs', () => {
  const touch = program('touch-it', `echo ran > ${join(folder, 'ran')}`)
  expect(resolved(`{exec: [${touch}]}`, { exec: [touch], secrets: 'optional' }).problems).toEqual([])
  expect(resolved('{sops: nowhere.yaml#/a}', { sops: true, secrets: 'optional' }).problems).toEqual([])
  expect(() => rmSync(join(folder, 'ran'))).toThrow('ENOENT')
})

test.each([
  [
    'says no',
    `echo ${CANARY}; echo ${CANARY} >&2; exit 3`,
    'runs PROGRAM, which exited with 3 (run PROGRAM by hand to see why)',
  ],
  [
    'kills itself',
    `echo ${CANARY}; kill -9 $$`,
    'runs PROGRAM, which was ended by SIGKILL (run PROGRAM by hand to see why)',
  ],
  [
    'says nothing',
    'true',
    'refers to the output of PROGRAM, which is empty (give it a value, or set allowEmpty: true)',
  ],
  [
    'says too much',
    'head -c 2000000 /dev/zero',
    'has PROGRAM, which prints more than 1048576 bytes (run PROGRAM by hand to see why)',
  ],
  ['is not text', "printf '\\377'", 'refers to the output of PROGRAM, which is not UTF-8: save it as UTF-8'],
])('a program that %s is a problem at its place that repeats none of its words', (_, script, problem) => {
  const path = program('speaker', script)
  expect(resolved(`{exec: [${path}]}`, { exec: [path] }).problems).toEqual([
    problem.replaceAll('PROGRAM', path),
  ])
})

test('a program sees its path and what the operator names, and nothing of Pharos', () => {
  const list = program('list', "env | tr '\\n' ' '")
  const { value } = resolved(`{exec: [${list}]}`, {
    exec: [list],
    env: { NAMED: 'n', HOME: '/h', PHAROS_URL: 'u' },
  })
  const names = value?.value.split(' ').map((line) => line.split('=', 1)[0])
  expect(
    names?.filter((name) => name !== 'PWD' && name !== '_' && name !== 'SHLVL' && name !== '').sort(),
  ).toEqual(['HOME', 'NAMED', 'PATH'])
})

test('a program is asked once, however many manifests want its answer', () => {
  const count = program('count', `echo x >> ${join(folder, 'asked')}; wc -l < ${join(folder, 'asked')}`)
  const programs = secretPrograms(
    { exec: [count], sops: false, variables: [], hints: HINTS },
    { PATH: '/usr/bin:/bin' },
  )
  expect(
    [programs.exec([count]), programs.exec([count])].map(
      (output) => 'bytes' in output && String(output.bytes).trim(),
    ),
  ).toEqual(['1', '1'])
})

test('sops that is missing is said, with what to do', () => {
  writeFileSync(join(folder, 'secrets.enc.yaml'), `token: ENC[AES256_GCM,data:${CANARY}]\n`)
  const form = '{sops: ./secrets.enc.yaml#/token}'
  expect(resolved(form, { sops: true, env: { PATH: folder } }).problems).toEqual([
    'needs sops, which is not there (install sops, or correct the PATH)',
  ])
  expect(resolved(form, {}).problems).toEqual([
    'needs sops, which is not allowed here (allow it with --allow-sops)',
  ])
})

test.each(['secrets.txt#/a', 'secrets.yaml', 'secrets.yaml#a', '#/a'])(
  '%s is no reference for sops',
  (reference) => {
    expect(resolved(`{sops: "${reference}"}`, { sops: true }).problems).toEqual([
      expect.stringContaining('must be a file of YAML or JSON and a JSON pointer into it'),
    ])
  },
)

test('a program that does not end is ended', () => {
  const sleeper = program('sleeper', 'exec sleep 600')
  const programs = secretPrograms(
    { exec: [sleeper], sops: false, variables: [], hints: HINTS },
    { PATH: '/usr/bin:/bin' },
    runNow,
    100,
  )
  expect(programs.exec([sleeper])).toMatchObject({ failure: `waited 0.1 s for ${sleeper} in vain` })
})

test('Scenario 15: a value that sops does not find is a problem, and one that it finds is the secret', () => {
  // In place of the real one: what it decrypts is what it was given.
  program('sops', 'cat')
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify({ 'a/b': { token: CANARY }, list: [1] }))
  const at = (pointer: string) => resolved(`{sops: "./secrets.json#${pointer}"}`, { sops: true })

  expect(at('/a~1b/token').value).toEqual({ value: CANARY, sensitive: true })
  expect(at('/list/0').value).toEqual({ value: '1', sensitive: true })
  for (const pointer of ['/a~1b', '/absent', '/list/1', '/toString']) {
    expect(at(pointer).problems).toEqual([
      `refers to ./secrets.json#${pointer}, but there is no single value there (correct what stands behind the #)`,
    ])
  }
})
