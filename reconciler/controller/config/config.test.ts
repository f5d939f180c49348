import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { loadAll } from 'js-yaml'
import { expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { formatProblem } from '../../manifest/manifestProblem.ts'
import { controllerJsonSchema } from './controllerSchema.ts'
import { readConfig } from './readConfig.ts'
import { settingsOf } from './settings.ts'

const KEY = `pharos_${'a'.repeat(64)}`
const SMALLEST = `apiVersion: pharos/v1
kind: Controller
sets:
  - name: shop
    repository: {url: "https://git.example.com/shop.git"}
`

function problemsOf(text: string): readonly string[] {
  const read = readConfig('c.yaml', Buffer.from(text))
  return 'problems' in read ? read.problems.map(formatProblem) : []
}

function settings(text: string, env: Record<string, string> = {}) {
  const read = readConfig('c.yaml', Buffer.from(text))
  if (!('config' in read)) throw new Error(problemsOf(text).join('\n'))
  return settingsOf(read.config, { PHAROS_URL: 'http://127.0.0.1:7171', PHAROS_API_KEY: KEY, ...env })
}

test('the minimum configuration is a repository, and everything else has a default', () => {
  const { sets, listen, apiToken, hooks } = settings(SMALLEST, { PHAROS_REPLICA: 'blue' })

  expect({ listen, apiToken, hooks }).toEqual({
    listen: { host: '127.0.0.1', port: 7180 },
    apiToken: null,
    hooks: [],
  })
  expect(sets[0]).toMatchObject({
    apiUrl: 'http://127.0.0.1:7171',
    apiKey: KEY,
    statePath: '/var/lib/pharos/shop.db',
    mirrorDirectory: '/var/lib/pharos/mirrors/shop.blue.git',
    access: { scheme: 'https' },
    config: {
      interval: 60_000,
      drift: 'heal',
      prune: 'pause-then-delete',
      pruneAfter: 86_400_000,
      repository: { branch: 'main', path: '.' },
    },
  })
})

test('all problems are reported at once, with places and advice', () => {
  expect(
    problemsOf(`apiVersion: pharos/v1
kind: Controller
listn: 127.0.0.1:7180
apiToken: secret-in-clear
webhooks:
  - {source: github, kind: github, secrets: []}
sets:
  - name: Shop
    repository: {url: "https://git.example.com/shop.git", branch: --upload-pack=x, path: ../etc}
    interval: 60
    windows: [{kind: allow, schedule: whenever, duration: 8h}]
`),
  ).toEqual([
    'c.yaml:3:1: [E_UNKNOWN_FIELD] listn is not a known field (did you mean listen?)',
    'c.yaml:4:11: [E_VALUE] apiToken must be { env: NAME } or { file: /PATH }: the file must not contain the secret',
    'c.yaml:6:45: [E_VALUE] webhooks[0].secrets must have at least one secret',
    'c.yaml:8:11: [E_VALUE] sets[0].name must be 1 to 64 lower-case letters, digits or "-", a letter or digit at both ends',
    'c.yaml:9:67: [E_VALUE] sets[0].repository.branch must be the name of a branch, without refs/heads/',
    'c.yaml:9:90: [E_VALUE] sets[0].repository.path must be a path inside the repository, without "." and "..", or "." for all of it',
    'c.yaml:10:15: [E_VALUE] sets[0].interval must be a duration of at least 1s, such as 30s or 1m30s',
    'c.yaml:11:39: [E_VALUE] sets[0].windows[0].schedule must be a cron expression with five fields, such as "0 9 * * 1-5"',
  ])
})

test('former webhook kinds are refused, and the error names their replacements', () => {
  const hooks = ['gitea', 'forgejo', 'bitbucket', 'svn']
    .map((kind) => `  - {source: a-${kind}, kind: ${kind}, secrets: [{env: A}]}\n`)
    .join('')

  expect(problemsOf(`${SMALLEST}webhooks:\n${hooks}`)).toEqual([
    'c.yaml:7:29: [E_VALUE] webhooks[0].kind gitea is no longer a kind: use github, whose signature Gitea sends as well',
    'c.yaml:8:31: [E_VALUE] webhooks[1].kind forgejo is no longer a kind: use github, whose signature Forgejo sends as well',
    'c.yaml:9:33: [E_VALUE] webhooks[2].kind bitbucket is no longer a kind: send POST /api/sets/NAME/run from a pipeline, or rely on the interval',
    'c.yaml:10:27: [E_VALUE] webhooks[3].kind must be one of github, gitlab, generic',
  ])
})

test('combinations of fields are checked as well', () => {
  const twice = `${SMALLEST}${SMALLEST.slice(SMALLEST.indexOf('  - name'))}webhooks:\n  - {source: a, kind: gitlab, secrets: [{env: A}], sets: [shp]}\n`

  expect(problemsOf(twice)).toEqual([
    'c.yaml:6:11: [E_VALUE] sets[1].name is used twice (give each its own)',
    'c.yaml:9:59: [E_VALUE] webhooks[0].sets[0] must be the name of a set (there are shop, shop)',
  ])
  expect(problemsOf(SMALLEST.replace('https://', 'file:///'))).toEqual([
    'c.yaml:5:24: [E_VALUE] sets[0].repository.url may be a file:// address only with allowFile: true',
  ])
  expect(problemsOf('')).toEqual(['c.yaml:1:1: [E_KIND] the file must contain one document, and contains 0'])
})

test('two sets cannot have the same state, even if one of them names it and the other does not', () => {
  const second = (state: string): string =>
    `${SMALLEST}${SMALLEST.slice(SMALLEST.indexOf('  - name')).replace('name: shop', 'name: other')}    state: ${state}\n`

  expect(() => settings(second('/srv/states/../shop.db'), { PHAROS_DATA_DIR: '/srv' })).toThrow(
    'the sets shop and other have the same state /srv/shop.db: give each its own "state"',
  )
  expect(settings(second('/srv/other.db'), { PHAROS_DATA_DIR: '/srv' }).sets).toHaveLength(2)
})

test('a safety limit that is no mapping is refused with the form', () => {
  expect(problemsOf(`${SMALLEST}    brakes: {maxDeletes: 3}\n`)).toEqual([
    'c.yaml:6:26: [E_VALUE] sets[0].brakes.maxDeletes must be a mapping such as {count: 3, percent: 10}',
  ])
})

test('a lease is long enough for its renewals, and a state in git uses the access of the set', () => {
  const inGit = (more: string): string =>
    `${SMALLEST}    state: "git:https://git.example.com/state.git#refs/pharos/shop"\n${more}`

  expect(problemsOf(`${SMALLEST}    leaseTtl: 900ms\n`)).toEqual([
    'c.yaml:6:15: [E_VALUE] sets[0].leaseTtl must be at least 1s for a state in a file',
  ])
  expect(problemsOf(inGit('    leaseTtl: 2s\n'))).toEqual([
    'c.yaml:7:15: [E_VALUE] sets[0].leaseTtl must be at least 5s for a state in git',
  ])
  const access = '    stateAccess: {credential: {password: {env: STATE_TOKEN}}, caFile: /etc/pharos/ca.crt}\n'
  const { sets } = settings(inGit(access), { STATE_TOKEN: 'a token', PHAROS_STATE_KEY: 'k'.repeat(32) })
  expect(sets[0]?.stateAccess).toEqual({
    credential: { username: 'x-access-token', password: 'a token' },
    caFile: '/etc/pharos/ca.crt',
  })
  expect(Object.keys(sets[0]?.manifestEnv ?? {})).toEqual([])
})

test('a state whose key is missing or too short is refused before anything runs', () => {
  const inGit = `${SMALLEST}    state: "git:https://git.example.com/state.git#refs/pharos/shop"\n`

  expect(() => settings(inGit)).toThrow(
    'the set shop cannot use its state: a state in git needs PHAROS_STATE_KEY',
  )
  for (const [text, env, source] of [
    [SMALLEST, { PHAROS_STATE_KEY: 'short' }, 'PHAROS_STATE_KEY'],
    [`${inGit}    stateKey: {env: OWN}\n`, { OWN: 'short' }, 'stateKey'],
  ] as const)
    expect(() => settings(text, env)).toThrow(
      `the set shop cannot use its state: the key in ${source} is too short`,
    )
  expect(settings(`${inGit}    stateKey: {env: OWN}\n`, { OWN: 'k'.repeat(32) }).sets).toHaveLength(1)
})

test.each([
  'https://canary@git.example.com/shop.git',
  'https:/canary@git.example.com/shop.git',
  'https:canary@git.example.com/shop.git',
  'https://git.example.com/shop.git?access_token=canary',
  'https://git.example.com/shop.git#canary',
])('an address of a repository or of a state with a token is refused without the token: %s', (address) => {
  const ofSource = SMALLEST.replace(/url: "[^"]*"/, `url: "${address}"`)
  const ofState = `${SMALLEST}    state: "git:${address}#refs/pharos/shop"\n`
  const refusal = (text: string): string => {
    try {
      settings(text, { PHAROS_STATE_KEY: 'k'.repeat(32) })
    } catch (error) {
      return String(error)
    }
    return 'none'
  }

  for (const message of [refusal(ofSource), refusal(ofState)]) {
    expect(message).toMatch(/ must (?:be an https|contain no credential|have no query)| names no ref/)
    expect(message).not.toContain('canary')
  }
})

test('an interval without a pause is refused with its place', () => {
  const set = SMALLEST.replace('"}', '", fetchTimeout: 1ns}')

  expect(problemsOf(`${set}    interval: 999ms\n`)).toEqual([
    expect.stringMatching(
      /^c\.yaml:5:\d+: \[E_VALUE\] sets\[0\]\.repository\.fetchTimeout must be a duration of at least 1s/,
    ),
    'c.yaml:6:15: [E_VALUE] sets[0].interval must be a duration of at least 1s, such as 30s or 1m30s',
  ])
  expect(problemsOf(`${SMALLEST}    interval: 0s\n`)).toEqual([
    'c.yaml:6:15: [E_VALUE] sets[0].interval must be a duration of at least 1s, such as 30s or 1m30s',
  ])
  expect(problemsOf(`${SMALLEST}    interval: 1s\n`)).toEqual([])
})

test('secrets are read from variables and files, and a missing or short one is named without its value', () => {
  const folder = testFolder()
  const file = join(folder, 'token')
  writeFileSync(file, 'a-token-of-length\n')
  const withToken = `${SMALLEST}apiToken: {file: ${file}}\n`

  expect(settings(withToken).apiToken).toBe('a-token-of-length')
  writeFileSync(file, 'short')
  expect(() => settings(withToken)).toThrow('apiToken must have at least 16 characters')
  rmSync(file)
  expect(() => settings(withToken)).toThrow(`apiToken is in the file ${file}, which cannot be read (ENOENT)`)
  expect(() => settings(`${SMALLEST}apiToken: {env: TOKEN}\n`)).toThrow(
    'environment variable TOKEN, which is not set',
  )
})

test('manifests cannot refer to the secrets of the controller', () => {
  const own = SMALLEST.replace('sets:', 'apiToken: {env: TOKEN}\nsets:')
  const { sets } = settings(own, { TOKEN: 'a-token-of-length', PROBE: 'x' })
  expect(Object.keys(sets[0]?.manifestEnv ?? {}).sort()).toEqual(['PROBE'])

  const proxies = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']
  const proxied = settings(SMALLEST, {
    ...Object.fromEntries(proxies.map((name) => [name, 'http://user:password@proxy.example:3128'])),
    PROBE: 'x',
  })
  expect(Object.keys(proxied.sets[0]?.manifestEnv ?? {})).toEqual(['PROBE'])
})

test('manifests of a set with a list of variables can refer to no others', () => {
  const own = SMALLEST.replace('sets:', 'apiToken: {env: TOKEN}\nsets:')
  const { sets } = settings(`${own}    variables: [PROBE, TOKEN, PHAROS_X, ABSENT]\n`, {
    TOKEN: 'a-token-of-length',
    PHAROS_X: 'x',
    PROBE: 'x',
    PROBE_OF_ANOTHER_SET: 'x',
  })

  expect(sets[0]?.manifestEnv).toEqual({ PROBE: 'x' })
})

test.each<readonly [string, string, Record<string, string>?]>([
  ['a secret', `${SMALLEST}    api: {key: {file: FOLDER/secrets/key}}\n`],
  ['a secret behind a link', `${SMALLEST}    api: {key: {file: FOLDER/link/key}}\n`],
  [
    'a private key',
    SMALLEST.replace(/\{url: .*\}/, '{url: "git@git.example.com:shop", sshKeyFile: FOLDER/secrets/key}'),
  ],
  ['a private key for a state', `${SMALLEST}    stateAccess: {sshKeyFile: FOLDER/secrets/key}\n`],
  ['a private key of the environment', SMALLEST, { PHAROS_GIT_SSH_KEY_FILE: 'FOLDER/secrets/key' }],
])(
  'a folder of secrets for manifests must not contain %s of the controller',
  (_what, configuration, env = {}) => {
    const folder = testFolder()
    mkdirSync(join(folder, 'secrets'))
    writeFileSync(join(folder, 'secrets/key'), KEY)
    symlinkSync('secrets', join(folder, 'link'))
    const here = (text: string): string => text.replaceAll('FOLDER', folder)
    const settingsWith = (secretsDir: string) =>
      settings(
        here(`${configuration}    secretsDir: FOLDER/${secretsDir}\n`),
        Object.fromEntries(Object.entries(env).map(([name, value]) => [name, here(value)])),
      )

    expect(() => settingsWith('secrets')).toThrow(/^manifests of the set shop could read .*\/key: /)
    expect(settingsWith('others').sets).toHaveLength(1)
  },
)

test('the error for a configuration that runs programs for secrets names the replacement', () => {
  expect(problemsOf(`${SMALLEST}    secretPrograms: {sops: true}\n`)).toEqual([
    'c.yaml:6:5: [E_UNKNOWN_FIELD] sets[0].secretPrograms is not a known field (the controller no longer runs programs: start it with "sops exec-env" or "op run", or let an agent write files into secretsDir)',
  ])
})

test('the JSON Schema for editors accepts valid configurations, and refuses invalid ones as far as it can', () => {
  const isValid = new Ajv({ strict: false }).compile(controllerJsonSchema())

  expect(isValid(loadAll(SMALLEST)[0])).toBe(true)
  expect(isValid(loadAll(SMALLEST.replace('name: shop', 'nme: shop'))[0])).toBe(false)
  expect(isValid(loadAll(`${SMALLEST}listen: 7180\n`)[0])).toBe(false)
})
