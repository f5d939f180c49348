import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Incident } from '../../api/contract/incident.ts'
import type { IncidentStatus } from '../../api/contract/incidentTerms.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { cases } from '../../scripts/testing/torture.ts'
import { OPERATOR } from '../domain/accounts/actor.ts'
import { updateIncident } from '../domain/incidentChanges.ts'
import { seriesNumber } from '../domain/regions.ts'
import { createService } from '../domain/serviceChanges.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { openResults } from '../results/file/openResults.ts'
import { OpenHours } from '../results/history/openHours.ts'
import { loadLog, ResultLog } from '../results/history/resultLog.ts'
import { type Ingest, prepareIngest } from '../results/ingest.ts'
import { StateBoard } from '../results/stateBoard.ts'
import { batchOf } from '../results/testing/resultMessages.ts'
import type { Transition } from '../store/monitoringStore.ts'
import { openStore } from '../store/sqlite/openStore.ts'
import type { Store } from '../store/store.ts'
import { prepareFirstStart } from '../testing/firstStart.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { applyTransitions } from './applyTransitions.ts'

const ORG = '0192b1d4-5c1e-7000-8000-000000000002'
/** On the grid of rounds. */
const START_S = 1_800_000_000
const MINUTE_S = 60
const [THRESHOLD, WINDOW_S, STEADY_S, UPDATE_PAUSE_S, UPDATES_MAX] = [2, 1_800, 600, 300, 20]
/** Two intervals, the timeout and 30 s. */
const STALE_S = 160

type Outcome = 'up' | 'degraded' | 'down' | 'unknown'
/** What happens in a minute: results of both endpoints, a crash, and what a person does. */
interface Minute {
  readonly outcomes: readonly [Outcome, Outcome]
  /** Transitions that are applied before everything is opened anew; `null` for no crash. */
  readonly crashAfter: number | null
  /** Whether the results arrive a second time, as after a response that was lost. */
  readonly isRepeated: boolean
  readonly person: 'update' | 'resolve' | null
}

const outcome = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Outcome>('up') },
  { weight: 5, arbitrary: fc.constant<Outcome>('down') },
  fc.constantFrom<Outcome>('degraded', 'unknown'),
)
const minute: fc.Arbitrary<Minute> = fc.record({
  // Often all is well, or services would hardly ever be up for long enough.
  outcomes: fc.oneof(fc.tuple(outcome, outcome), fc.constant<[Outcome, Outcome]>(['up', 'up'])),
  crashAfter: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.nat({ max: 4 })),
  isRepeated: fc.boolean(),
  person: fc.oneof(
    { weight: 10, arbitrary: fc.constant(null) },
    fc.constantFrom('update' as const, 'resolve' as const),
  ),
})
/** Minutes that come several times in a row, so that outages and recoveries last. */
const history = fc
  .array(fc.tuple(minute, fc.integer({ min: 1, max: 14 })), { minLength: 1, maxLength: 12 })
  .map((parts) =>
    parts.flatMap(([one, count]) => [
      one,
      ...Array.from({ length: count - 1 }, () => ({ ...one, person: null, crashAfter: null })),
    ]),
  )

/** The statuses of an incident's updates, in order. */
type Log = IncidentStatus[]

/** The rules once more, over the whole history, as simply as they can be written. */
function expectedLogs(minutes: readonly Minute[]): readonly Log[] {
  const logs: Log[] = []
  const ends = [0, 1].map(() => ({
    state: 'unknown' as Outcome,
    clean: 0,
    knownS: 0,
    rounds: [] as number[],
  }))
  let open: {
    log: Log
    isTaken: boolean
    isFailing: boolean
    updates: number
    said: string
    at: Record<string, number>
  } | null = null
  let isMuted = false
  let clearS: number | null = null
  let isSteady = false
  for (const [index, { outcomes, person }] of minutes.entries()) {
    const nowS = START_S + (index + 1) * MINUTE_S
    const say = (status: IncidentStatus) => {
      if (open === null) return
      open.log.push(status)
      open.updates += 1
      open.at[status] = nowS
    }
    const maySay = (status: string) =>
      open !== null &&
      !open.isTaken &&
      open.updates < UPDATES_MAX &&
      nowS - (open.at[status] ?? 0) >= UPDATE_PAUSE_S
    const turn = (atS: number) => {
      const seen = ends.filter(({ state, knownS }) => state !== 'unknown' || knownS > 0)
      const isClear = seen.length > 0 && seen.every(({ state }) => state === 'up')
      if (isClear === (clearS !== null)) return
      clearS = isClear ? atS : null
      isSteady = false
      if (!isClear) return
      if (isMuted) for (const end of ends) end.rounds = []
      isMuted = false
      if (maySay('monitoring')) say('monitoring')
      if (open !== null) open.isFailing = false
    }
    for (const [place, end] of ends.entries()) {
      const dueS = START_S + index * MINUTE_S + 10 + 30 * place
      const result = outcomes[place] as Outcome
      if (result === 'unknown') continue
      const before = end.state
      end.knownS = dueS
      if (result === 'up' && before === 'down') {
        end.clean += 1
        if (end.clean === 2) end.state = 'up'
      } else end.state = result
      if (end.state !== 'down' || result === 'down') end.clean = 0
      if (end.state !== before) turn(dueS)
      if (end.state === 'down') {
        end.rounds.push(START_S + index * MINUTE_S)
        const down = ends.map(({ state }) => state === 'down').join()
        if (open !== null) {
          open.isFailing = true
          const hasChanged = open.log.at(-1) === 'monitoring' || open.said !== down
          if (hasChanged && maySay('investigating')) {
            say('investigating')
            open.said = down
          }
        } else if (!isMuted && end.rounds.filter((at) => at > dueS - WINDOW_S).length >= THRESHOLD) {
          open = {
            log: ['investigating'],
            isTaken: false,
            isFailing: true,
            updates: 0,
            said: down,
            at: { investigating: nowS },
          }
          logs.push(open.log)
        }
      } else if (clearS !== null && !isSteady && dueS - clearS >= STEADY_S) {
        isSteady = true
        if (open?.isTaken === true) {
          if (open.updates < UPDATES_MAX) say('monitoring')
        } else if (open !== null) {
          open.log.push('resolved')
          open = null
          for (const one of ends) one.rounds = []
        }
      }
    }
    for (const end of ends) {
      if (end.state === 'unknown' || nowS < end.knownS + STALE_S) continue
      end.state = 'unknown'
      end.clean = 0
      turn(end.knownS + STALE_S)
    }
    if (open !== null && person === 'update') {
      open.isTaken = true
      open.log.push('identified')
    } else if (open !== null && person === 'resolve') {
      open.log.push('resolved')
      isMuted = open.isFailing
      open = null
      for (const end of ends) end.rounds = []
    }
  }
  return logs
}

/** The real board and the real store in one folder, which can be left at any point and opened again. */
class Rig {
  readonly folder = mkdtempSync(join(tmpdir(), 'pharos-model-'))
  nowS = START_S
  store!: Store
  service!: ServiceResponse
  #results!: ReturnType<typeof openResults>
  #board!: StateBoard
  #ingest!: Ingest

  constructor() {
    prepareFirstStart(this.folder)
  }

  async open(): Promise<void> {
    this.store = await openStore(this.folder, () => this.nowS * 1_000)
    this.#results = openResults(this.folder, false)
    const { database } = this.#results
    this.#board = new StateBoard(database, this.store.storeId)
    const log = new ResultLog(database, new OpenHours())
    for (const slice of loadLog(database, log.openHours, () => 0)) slice()
    this.#ingest = prepareIngest(database, this.#board, log)
  }

  async close(): Promise<void> {
    this.#results.database.close()
    await this.store.close()
  }

  async create(): Promise<void> {
    await this.store.activateMasterKey('first', 0)
    await this.store.createOrg({ id: ORG, name: 'Acme', plan: 'business', nowMs: 0 })
    const body = serviceBody({ endpoints: [endpointBody({ name: 'a' }), endpointBody({ name: 'b' })] })
    const seal = () => {
      throw new Error('the body has no secret')
    }
    const autoIncidents = { threshold: THRESHOLD, windowMinutes: WINDOW_S / MINUTE_S }
    const { text } = await this.store.createService(ORG, undefined, ({ quota }) =>
      createService(body, {
        ...{ ...systemEnvironment, nowMs: 0, isBlocked: () => false, seal },
        quota: { ...quota, autoIncidents },
      }),
    )
    // True because the response is a service.
    this.service = JSON.parse(text) as ServiceResponse
  }

  /** What the main thread sends the results thread when it starts. */
  report(): void {
    const { id, endpoints } = this.service
    const monitored = {
      ...{ id, orgId: ORG, generation: 1, pausedAtS: null, intervalS: MINUTE_S, steadyS: STEADY_S },
      regions: ['eu-west-1'],
      endpoints: endpoints.map((endpoint, index) => ({
        id: endpoint.id,
        number: index + 1,
        timeoutMs: 10_000,
      })),
    }
    this.#board.transact(() =>
      this.#board.update({ services: [monitored], ended: [], isWhole: true }, this.nowS),
    )
  }

  ingest(outcomes: readonly Outcome[]): void {
    const results = outcomes.map((one, index) => ({
      series: seriesNumber(index + 1, 'eu-west-1'),
      dueS: this.nowS - MINUTE_S + 10 + 30 * index,
      outcome: one,
    }))
    this.#ingest([batchOf(this.store.storeId, results)], this.store.storeId, this.nowS * 1_000)
    this.#board.transact(() => this.#board.markStale(this.nowS))
  }

  /** Applies transitions, at most `countMax`: a process that dies has applied some of them. */
  async apply(countMax = Number.POSITIVE_INFINITY): Promise<void> {
    const select = this.#results.database.prepare<[number], Transition>(
      `SELECT sequence, at_s AS atS, service_id AS serviceId, kind, body FROM transitions
       WHERE sequence > ? ORDER BY sequence`,
    )
    let left = countMax
    const read = async (_: string, after: number) => {
      const transitions = select.all(after).slice(0, left)
      left -= transitions.length
      return transitions
    }
    const applying = applyTransitions({ store: this.store, log: pino({ level: 'silent' }), read })
    applying.apply(this.#results.fileId)
    await applying.settled()
  }

  async person(act: 'update' | 'resolve'): Promise<void> {
    const [incident] = await this.#incidents('active')
    if (incident === undefined) return
    const status = act === 'update' ? ('identified' as const) : ('resolved' as const)
    const environment = { ...systemEnvironment, nowMs: () => this.nowS * 1_000 }
    await this.store.changeIncident(ORG, incident.id, OPERATOR, (before, quota) =>
      updateIncident(before, { body: 'A person was here.', status }, { environment, quota }),
    )
  }

  async logs(): Promise<readonly Log[]> {
    const all = [...(await this.#incidents('active')), ...(await this.#incidents('resolved'))]
    const numberOf = ({ display_id }: Incident) => Number(display_id.slice('INC-'.length))
    return all
      .sort((a, b) => numberOf(a) - numberOf(b))
      .map(({ updates }) => updates.map(({ status_at_update }) => status_at_update))
  }

  async #incidents(section: 'active' | 'resolved'): Promise<readonly Incident[]> {
    const filter = { q: undefined, severity: undefined, serviceIds: [], page: 1, limit: 100, section }
    const list = await this.store.listIncidents(ORG, filter, async () => {})
    return 'items' in list ? list.items : []
  }

  /** How many transitions were written, and how many of them were applied. */
  async counts(): Promise<readonly [number, number]> {
    const { database, fileId } = this.#results
    const written = database.prepare<[], number>('SELECT coalesce(max(sequence), 0) FROM transitions').pluck()
    return [written.get() ?? 0, await this.store.appliedTransition(fileId)]
  }
}

async function realLogs(minutes: readonly Minute[]): Promise<readonly Log[]> {
  const rig = new Rig()
  try {
    await rig.open()
    await rig.create()
    rig.report()
    for (const { outcomes, crashAfter, isRepeated, person } of minutes) {
      rig.nowS += MINUTE_S
      rig.ingest(outcomes)
      if (crashAfter !== null) {
        await rig.apply(crashAfter)
        await rig.close()
        await rig.open()
        rig.report()
      }
      if (isRepeated) rig.ingest(outcomes)
      await rig.apply()
      if (person !== null) await rig.person(person)
    }
    const [written, applied] = await rig.counts()
    expect(applied).toBe(written)
    return await rig.logs()
  } finally {
    await rig.close()
    rmSync(rig.folder, { recursive: true })
  }
}

test('after any sequence of events and crashes, each incident exists once and follows the rules', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (minutes) => {
      expect(await realLogs(minutes)).toEqual(expectedLogs(minutes))
    }),
    { numRuns: cases(10, 60) },
  )
})
