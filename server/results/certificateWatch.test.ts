import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { seriesNumber } from '../domain/regions.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import type { AppliedEffect, Transition } from '../store/monitoringStore.ts'
import { openStore } from '../store/sqlite/openStore.ts'
import { prepareCertificateWatch } from './certificateWatch.ts'
import { prepareStateRows } from './stateRows.ts'
import { monitoredService, ORG, openedResults, STORE } from './testing/openedResults.ts'
import { batchOf } from './testing/resultMessages.ts'

const HOUR_S = 60 * 60
const DAY_S = 24 * HOUR_S
const NOW_S = 1_800_000_000

let folder: string
let results: ReturnType<typeof openedResults>
beforeEach(() => {
  folder = testFolder()
  openResultsAgain()
})
afterEach(() => results.database.close())

function openResultsAgain(): void {
  results = openedResults(folder)
  results.update([monitoredService(1)], NOW_S)
}

/** The certificate of a host is seen at `atS`; the agent delivers that at `deliveredS`. */
function see(atS: number, fingerprint = 'first', endS = NOW_S + 5 * DAY_S, deliveredS = atS): void {
  const series = seriesNumber(1, 'eu-west-1')
  const batch = batchOf(STORE, [{ series, dueS: atS }])
  const seen = {
    ...{ series, host: 'shop.example', port: 443, fingerprint },
    ...{ subject: 'CN=shop.example', issuer: 'CN=ca', serial: '01' },
    not_before_ms: (endS - 90 * DAY_S) * 1_000,
    not_after_ms: endS * 1_000,
    chain_not_after_ms: endS * 1_000,
  }
  results.ingest([{ ...batch, request: { ...batch.request, certificates: [seen] } }], deliveredS)
}

/** Looks at `atS`; the thresholds of what was reported, in days. */
function look(atS: number): readonly number[] {
  const before = transitions().length
  const watch = prepareCertificateWatch(results.database, prepareStateRows(results.database))
  results.database.transact(() => watch(atS))
  return transitions()
    .slice(before)
    .map(({ body }) => JSON.parse(body).threshold_s / DAY_S)
}

function transitions(): readonly Transition[] {
  const sql = `SELECT sequence, at_s AS "atS", service_id AS "serviceId", kind, body FROM transitions
    WHERE kind = 'certificate.expiring' ORDER BY sequence`
  return results.database.prepare<[], Transition>(sql).all()
}

test('a certificate that was seen twice is reported once for each threshold and when it expires, seen again or not', () => {
  see(NOW_S)
  const once = look(NOW_S)
  see(NOW_S + HOUR_S)
  const seven = [look(NOW_S + HOUR_S), look(NOW_S + HOUR_S + 60)]
  see(NOW_S + 2 * DAY_S)
  const three = look(NOW_S + 2 * DAY_S)
  see(NOW_S + 4.5 * DAY_S)
  const one = look(NOW_S + 4.5 * DAY_S)
  const ended = [look(NOW_S + 5 * DAY_S), look(NOW_S + 5 * DAY_S + 60)]

  expect({ once, seven, three, one, ended }).toEqual({
    once: [],
    seven: [[7], []],
    three: [3],
    one: [1],
    ended: [[0], []],
  })
  expect(JSON.parse(transitions()[0]?.body ?? '')).toEqual({
    ...{ org_id: ORG, host: 'shop.example', port: 443, fingerprint: 'first' },
    ...{ subject: 'CN=shop.example', issuer: 'CN=ca', serial: '01' },
    ...{ not_before_s: NOW_S - 85 * DAY_S, not_after_s: NOW_S + 5 * DAY_S, days_left: 4 },
    ...{ threshold_s: 7 * DAY_S, endpoint_ids: monitoredService(1).endpoints.map(({ id }) => id) },
  })
})

test('a replaced certificate is tracked anew, and the former one is removed after a day', () => {
  see(NOW_S)
  see(NOW_S + HOUR_S)
  look(NOW_S + HOUR_S)
  const later = NOW_S + HOUR_S + DAY_S + 1
  see(later, 'second', later + 80 * DAY_S)
  see(later + HOUR_S, 'second', later + 80 * DAY_S)

  expect(look(later + HOUR_S)).toEqual([])
  results.keep(later + HOUR_S)
  const left = results.database.prepare('SELECT fingerprint FROM certificates').pluck().all()
  expect(left).toEqual(['second'])
})

test('a loss of the results reports a certificate again, and causes no second notice', async () => {
  const store = await openStore(folder, systemEnvironment.nowMs)
  async function apply(file: string): Promise<readonly AppliedEffect['kind'][]> {
    const kinds: AppliedEffect['kind'][] = []
    let after = await store.appliedTransition(file)
    for (const transition of transitions().filter(({ sequence }) => sequence > after)) {
      kinds.push((await store.applyTransition(file, after, transition)).kind)
      after = transition.sequence
    }
    return kinds
  }
  see(NOW_S)
  see(NOW_S + HOUR_S)
  look(NOW_S + HOUR_S)
  const first = await apply('first file')
  results.database.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `results.db${suffix}`), { force: true })
  openResultsAgain()
  see(NOW_S + 2 * HOUR_S)
  see(NOW_S + 3 * HOUR_S)
  look(NOW_S + 3 * HOUR_S)
  const again = await apply('second file')
  see(NOW_S + 2 * DAY_S)
  look(NOW_S + 2 * DAY_S)
  const next = await apply('second file')
  await store.close()

  expect({ first, again, next }).toEqual({ first: ['noticed'], again: ['nothing'], next: ['noticed'] })
})

test('transitions are kept for seven days, and until they are applied', () => {
  see(NOW_S)
  see(NOW_S + HOUR_S)
  look(NOW_S + HOUR_S)
  const [transition] = transitions()
  const eightDays = NOW_S + 8 * DAY_S

  results.keep(eightDays)
  const before = transitions().length
  results.apply(transition?.sequence ?? 0)
  results.keep(NOW_S + 6 * DAY_S)
  const young = transitions().length
  results.keep(eightDays)

  expect([before, young, transitions().length]).toEqual([1, 1, 0])
})

test('a renewed certificate does not count as in use again when an agent delivers results of before the renewal', async () => {
  see(NOW_S)
  see(NOW_S + HOUR_S)
  const laterS = NOW_S + 2 * HOUR_S + DAY_S
  for (const atS of [laterS - HOUR_S, laterS]) see(atS, 'second', NOW_S + 90 * DAY_S)

  see(NOW_S + 2 * HOUR_S, 'first', NOW_S + 5 * DAY_S, laterS)

  const [state] = await results.measurements(laterS + 60).states(ORG)
  expect(look(laterS + 60)).toEqual([])
  expect(state?.certificates.map(({ notAfterS }) => notAfterS)).toEqual([NOW_S + 90 * DAY_S])
})

test('a host is forgotten with its certificate, which no check saw for a day', () => {
  const hosts = (): number =>
    Number(results.database.prepare('SELECT count(*) FROM certificate_endpoints').pluck().get())
  see(NOW_S)
  results.keep(NOW_S + DAY_S - HOUR_S)
  const before = hosts()
  results.keep(NOW_S + DAY_S + HOUR_S)

  expect([before, hosts()]).toEqual([1, 0])
})
