import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatProblem } from '../../manifest/manifestProblem.ts'
import { readConfig } from './readConfig.ts'
import { settingsOf } from './settings.ts'

const ENV = {
  PHAROS_URL: 'http://127.0.0.1:7171',
  PHAROS_API_KEY: `pharos_${'a'.repeat(64)}`,
  SLACK: 'https://hooks.slack.example/services/T/B/x',
  SIGN: 'a-secret-of-the-receiver',
  TOKEN: 'a-token',
}

function configOf(notifications: string): string {
  return `apiVersion: pharos/v1
kind: Controller
sets:
  - name: shop
    repository: {url: "https://git.example.com/shop.git"}
notifications:
${notifications}`
}

function problemsOf(notifications: string): readonly string[] {
  const read = readConfig('c.yaml', Buffer.from(configOf(notifications)))
  return 'problems' in read ? read.problems.map(formatProblem) : []
}

function settings(notifications: string, env: Readonly<Record<string, string>>) {
  const read = readConfig('c.yaml', Buffer.from(configOf(notifications)))
  if (!('config' in read)) throw new Error(problemsOf(notifications).join('\n'))
  return settingsOf(read.config, env).notifications
}

const WHOLE = `  channels:
    - {name: ops, kind: slack, url: {env: SLACK}}
    - name: pager
      kind: webhook
      url: https://pager.example.com/pharos
      secret: {env: SIGN}
      sets: [shop]
      severity: error
      events: [RunFailed, ConditionRaised]
  forges:
    - {kind: gitlab, repository: group/sub/monitoring, token: {env: TOKEN}}
    - {kind: github, url: "https://git.example.com/api/v3/", repository: shop/monitoring, token: {env: TOKEN}, comment: false}
`

test('channels and forges are read with defaults, and with their secrets from references', () => {
  const { channels, forges } = settings(WHOLE, ENV)

  expect(channels).toMatchObject([
    { name: 'ops', severity: 'warning', url: ENV.SLACK },
    { name: 'pager', severity: 'error', url: 'https://pager.example.com/pharos', secret: ENV.SIGN },
  ])
  expect(forges).toMatchObject([
    { url: 'https://gitlab.com/api/v4', token: 'a-token', commitStatus: true, comment: true },
    { url: 'https://git.example.com/api/v3', commitStatus: true, comment: false },
  ])
})

test('problems of a channel or a forge are reported with places and advice', () => {
  expect(
    problemsOf(`  chanels: []
  channels:
    - {name: ops, kind: slack, url: "https://hooks.slack.example/services/T/B/x", secret: {env: SIGN}}
    - {name: pager, kind: webhook, url: ftp://pager.example.com}
    - {name: audit, kind: webhook, url: "https://me:pw@audit.example.com", secret: {env: SIGN}, events: [Everything, ConfigurationReloaded]}
  forges:
    - {kind: github, repository: shop, token: {env: TOKEN}}
    - {kind: gitlab, repository: a/b, token: in-clear, url: "http://git.example.com/api/v4"}
`),
  ).toEqual([
    'c.yaml:7:3: [E_UNKNOWN_FIELD] notifications.chanels is not a known field (did you mean channels?)',
    'c.yaml:9:38: [E_VALUE] notifications.channels[0].url must be { env: NAME } or { file: /PATH }: the address of a Slack webhook is a secret',
    'c.yaml:9:91: [E_VALUE] notifications.channels[0].secret has no effect: Slack checks no signature',
    'c.yaml:10:7: [E_REQUIRED] notifications.channels[1].secret is required: it must be { env: NAME } or { file: /PATH }: the receiver verifies the sender by it',
    'c.yaml:10:41: [E_VALUE] notifications.channels[1].url must be an http:// or https:// address',
    expect.stringContaining(
      'c.yaml:11:42: [E_VALUE] notifications.channels[2].url must contain no credential',
    ),
    expect.stringContaining(
      'c.yaml:11:106: [E_VALUE] notifications.channels[2].events[0] must be one of ControllerStarted',
    ),
    'c.yaml:11:118: [E_VALUE] notifications.channels[2].events[1] ConfigurationReloaded is no longer an event, because the configuration is read only at the start: remove it',
    'c.yaml:13:34: [E_VALUE] notifications.forges[0].repository must be OWNER/NAME, or the path or number of a GitLab project',
    expect.stringContaining('c.yaml:14:46: [E_VALUE] notifications.forges[1].token must be { env: NAME }'),
  ])
  expect(problemsOf('  channels: [{name: ops, kind: webhook, url: "http://a.example"}]\n')).toEqual([
    'c.yaml:7:14: [E_REQUIRED] notifications.channels[0].secret is required: it must be { env: NAME } or { file: /PATH }: the receiver verifies the sender by it',
  ])
  expect(
    problemsOf(
      '  forges: [{kind: gitlab, repository: a/b, token: {env: T}, url: "http://git.example.com/api/v4"}]\n',
    ),
  ).toEqual([
    'c.yaml:7:67: [E_VALUE] notifications.forges[0].url must be an https:// address, because the token is sent there',
  ])
})

test('channel names are unique, and the named sets exist', () => {
  const twice = '    - {name: ops, kind: slack, url: {env: SLACK}, sets: [shp]}\n'
  expect(problemsOf(`  channels:\n${twice}${twice.replace(', sets: [shp]', '')}`)).toEqual([
    'c.yaml:8:58: [E_VALUE] notifications.channels[0].sets[0] must be the name of a set (there are shop)',
    'c.yaml:9:14: [E_VALUE] notifications.channels[1].name is used twice (give each its own)',
  ])
})

test('a secret that is missing, too short or not a URL is named without its value', () => {
  const without = (name: keyof typeof ENV) =>
    Object.fromEntries(Object.entries(ENV).filter(([key]) => key !== name))
  expect(() => settings(WHOLE, without('SLACK'))).toThrow(
    'notifications.channels[0].url is in the environment variable SLACK, which is not set',
  )
  expect(() => settings(WHOLE, { ...ENV, SLACK: 'CANARY' })).toThrow(
    /^notifications\.channels\[0\]\.url must be an http:\/\/ or https:\/\/ address$/,
  )
  expect(() => settings(WHOLE, { ...ENV, SIGN: 'CANARY' })).toThrow(
    /^notifications\.channels\[1\]\.secret must have at least 16 characters: others could guess it$/,
  )
})

test('the notifications that docs/operations.md shows are valid', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8')
  const shown = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => yaml ?? '')
  const about = shown.filter((yaml) => yaml.includes('notifications:'))
  expect(about).toHaveLength(2)
  const base = configOf('').replace('notifications:\n', '')
  for (const yaml of about) {
    const read = readConfig('c.yaml', Buffer.from(`${base}${yaml}`))
    expect('problems' in read ? read.problems.map(formatProblem) : []).toEqual([])
  }
})
