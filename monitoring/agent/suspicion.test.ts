import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type CheckReport, skippedCheck } from './checkReport.ts'
import { Suspicion } from './suspicion.ts'
import { pending } from './testing/pendingResults.ts'

const UP = pending(1, 0).report
const REFUSED: CheckReport = {
  ...skippedCheck('connect_refused', 'connection refused by 192.0.2.1:443 (IPv4)'),
  ...{ outcome: 'down', attempts: 2 },
}

let isManyHosts: boolean
let changes: boolean[]
let suspicion: Suspicion
/** Host, outcome and reason of the delivered reports, in order. */
let delivered: string[]

beforeEach(() => {
  vi.useFakeTimers()
  isManyHosts = true
  changes = []
  delivered = []
  suspicion = new Suspicion({
    monotonicMs: () => Date.now(),
    hasManyHosts: () => isManyHosts,
    onChange: (isSuspect) => changes.push(isSuspect),
  })
})
afterEach(() => vi.useRealTimers())

const HOSTS = Array.from({ length: 20 }, (_, index) => `host-${index}`)
const org = 'one'
const TARGETS = new Map(HOSTS.map((host) => [host, { host, org }]))
const begin = (host: string) => suspicion.begin(TARGETS.get(host) ?? { host, org })

/** A check of `host` that starts now and ends with `report` after `ms`. */
function check(host: string, report: CheckReport, ms = 1): void {
  const begun = begin(host)
  vi.advanceTimersByTime(ms)
  suspicion.end(begun, report, ({ outcome, reason }) => delivered.push(`${host} ${outcome} ${reason}`))
}

test('when nearly all hosts become unreachable at once, all results are unknown, including the first ones, with one alert', () => {
  for (const host of HOSTS) check(host, UP)
  delivered = []
  for (let round = 0; round < 3; round += 1) {
    for (const host of HOSTS.slice(1)) check(host, REFUSED, 500)
    check('host-0', UP)
  }
  vi.advanceTimersByTime(20_000)

  const unreached = delivered.filter((one) => !one.startsWith('host-0 '))
  expect(new Set(unreached.map((one) => one.replace(/^\S+ /, '')))).toEqual(
    new Set(['unknown agent_suspect']),
  )
  expect(unreached.length).toBe(57)
  expect(delivered.filter((one) => one === 'host-0 up none').length).toBe(3)
  expect([changes, suspicion.isSuspect]).toEqual([[true], true])
})

test('hosts that fail while others respond are down, as soon as others have responded', () => {
  for (const host of HOSTS) check(host, UP)
  for (let round = 0; round < 5; round += 1) {
    for (const host of HOSTS.slice(0, 10)) check(host, REFUSED, 10)
    for (const host of HOSTS.slice(10)) check(host, UP, 10)
  }
  const isDownAtOnce = delivered.filter((one) => one.endsWith('down connect_refused')).length > 40
  vi.advanceTimersByTime(10_000)

  expect(isDownAtOnce).toBe(true)
  expect(delivered.filter((one) => one.endsWith('down connect_refused')).length).toBe(50)
  expect(changes).toEqual([])
})

test('hosts that fail shortly after one another in every interval are down at once from the second interval on', () => {
  for (let round = 0; round < 4; round += 1) {
    for (const host of HOSTS.slice(0, 5)) check(host, REFUSED, 1_000)
    for (const host of HOSTS.slice(5, 12)) check(host, UP, 5_000)
    vi.advanceTimersByTime(10_000)
  }

  const found = (failure: string) => [
    ...HOSTS.slice(0, 5).map((host) => `${host} ${failure}`),
    ...HOSTS.slice(5, 12).map((host) => `${host} up none`),
  ]
  expect(delivered).toEqual([
    ...found('unknown agent_suspect'),
    ...[1, 2, 3].flatMap(() => found('down connect_refused')),
  ])
  expect(changes).toEqual([true, false])
})

test('a few responses in a long outage do not make the other hosts down', () => {
  const many = Array.from({ length: 40 }, (_, index) => ({ host: `host-${index}`, org }))
  for (let round = 0; round < 4; round += 1) {
    for (const [index, target] of many.entries()) {
      const begun = suspicion.begin(target)
      vi.advanceTimersByTime(100)
      suspicion.end(begun, index % 13 === 0 && index > 0 ? UP : REFUSED, ({ outcome, reason }) =>
        delivered.push(`${outcome} ${reason}`),
      )
    }
  }
  vi.advanceTimersByTime(10_000)

  expect(new Set(delivered)).toEqual(new Set(['up none', 'unknown agent_suspect']))
  expect(changes).toEqual([true])
})

test('many dead hosts of one organisation do not hide the outage of a host of another', () => {
  const dead = Array.from({ length: 50 }, (_, index) => ({ host: `dead-${index}`, org: 'dead' }))
  const others = Array.from({ length: 5 }, (_, index) => ({ host: `host-${index}`, org: 'other' }))
  const failing = others[0]
  for (let round = 0; round < 5; round += 1) {
    // In each interval, ten checks of dead hosts and one of another.
    for (let at = 0; at < 55; at += 1) {
      const target = at % 11 === 10 ? others[Math.floor(at / 11)] : dead[at - Math.floor(at / 11)]
      if (target === undefined) throw new Error('no target')
      const begun = suspicion.begin(target)
      vi.advanceTimersByTime(1_000)
      const isUp = target.org === 'other' && (target !== failing || round === 0)
      suspicion.end(begun, isUp ? UP : REFUSED, ({ outcome, reason }) => {
        if (target === failing) delivered.push(`${outcome} ${reason}`)
      })
    }
  }
  vi.advanceTimersByTime(10_000)

  expect(delivered).toEqual(['up none', ...Array<string>(4).fill('down connect_refused')])
  expect(suspicion.isSuspect).toBe(false)
})

test('an outage of the agent is noticed whatever the organisations of its hosts are', () => {
  for (let round = 0; round < 3; round += 1) {
    for (const [index, host] of HOSTS.entries()) {
      const begun = suspicion.begin({ host, org: `org-${index % 4}` })
      vi.advanceTimersByTime(500)
      suspicion.end(begun, REFUSED, ({ outcome, reason }) => delivered.push(`${outcome} ${reason}`))
    }
  }

  expect(new Set(delivered)).toEqual(new Set(['unknown agent_suspect']))
  expect(suspicion.isSuspect).toBe(true)
})

test('an agent that checks fewer than five hosts trusts its results at once', () => {
  isManyHosts = false
  for (const host of HOSTS.slice(0, 4)) check(host, REFUSED)

  expect(delivered).toEqual(HOSTS.slice(0, 4).map((host) => `${host} down connect_refused`))
})

test('a failure that no other check explains is down after ten seconds', () => {
  for (const host of HOSTS) check(host, UP)
  vi.advanceTimersByTime(60_000)
  delivered = []

  check('host-0', REFUSED)
  const before = [...delivered]
  vi.advanceTimersByTime(9_999)
  const shortlyBefore = [...delivered]
  vi.advanceTimersByTime(1)

  expect([before, shortlyBefore, delivered]).toEqual([[], [], ['host-0 down connect_refused']])
})

test('after an outage results count again, except those of checks that began during it', () => {
  for (const host of HOSTS.slice(0, 5)) check(host, REFUSED)
  const begun = begin('host-5')
  check('host-6', REFUSED)
  delivered = []
  for (const host of HOSTS.slice(0, 5)) check(host, UP)
  suspicion.end(begun, REFUSED, ({ reason }) => delivered.push(`late ${reason}`))
  check('host-7', REFUSED)
  suspicion.stop()

  expect(delivered).toEqual([
    ...HOSTS.slice(0, 5).map((host) => `${host} up none`),
    'late agent_suspect',
    'host-7 down connect_refused',
  ])
  expect(changes).toEqual([true, false])
})

test('a wrong response counts as a failure of its host, and a forbidden address as a failure of no host', () => {
  const wrong: CheckReport = {
    ...UP,
    outcome: 'down',
    reason: 'assertion_status',
    status: 503,
  }
  for (const host of HOSTS.slice(0, 10)) check(host, wrong)
  for (const host of HOSTS.slice(10)) check(host, skippedCheck('address_forbidden', 'not checked'))

  expect(delivered.length).toBe(20)
  expect(changes).toEqual([])
})
