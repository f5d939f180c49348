import { actionsOn } from './actions.ts'
import type { ControllerClock } from './clock.ts'
import type { ControllerSettings } from './config/settings.ts'
import type { CycleReport } from './cycle.ts'
import { eventOf } from './eventsOf.ts'
import type { EventSink, Face, FaceDeps } from './faceSeam.ts'
import { addressLimit } from './http/addressLimit.ts'
import { apiRoutes } from './http/apiRoutes.ts'
import { hookRoute } from './http/hookRoute.ts'
import { type Listener, listen } from './http/listener.ts'
import { json, type Route } from './http/route.ts'
import { type Metrics, metricsOf } from './metrics.ts'
import { type OpenSet, openSet, sharedLimiters } from './openSet.ts'
import { ServiceClaims } from './serviceClaims.ts'
import { SetLoop } from './setLoop.ts'
import { SetView } from './setView.ts'
import type { ControllerEvent, ControllerStatus } from './status.ts'

/** What a controller is started with. */
export interface ControllerOptions {
  readonly settings: ControllerSettings
  readonly clock: ControllerClock
  readonly newId: () => string
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** For people: program, machine and process, as the lease shows it. */
  readonly holder: string
  readonly onEvent: EventSink
  /** Makes what people see; absent for a controller without. */
  readonly mountFace?: ((deps: FaceDeps) => Face) | undefined
}

/** A controller that runs. */
export interface Controller {
  /** Where it listens; null when it does not. */
  readonly url: string | null
  readonly status: () => ControllerStatus
  /** One cycle of every set, and nothing else. Throws StateError `held` when another one has a lease. */
  readonly runOnce: () => Promise<readonly CycleReport[]>
  /** Starts all loops; resolves when all have ended after `stop`. */
  readonly run: () => Promise<void>
  /** Lets what is in flight end, gives leases back and closes everything. */
  readonly stop: () => void
  readonly close: () => Promise<void>
}

interface RunningSet extends OpenSet {
  readonly loop: SetLoop
  readonly view: SetView
  hasEnded: boolean
}

/** Opens everything that `settings` names. Throws StateError, and what listening throws. */
export async function openController(given: ControllerOptions): Promise<Controller> {
  const { settings, clock, version } = given
  const startedAt = iso(clock)
  const sets: RunningSet[] = []
  const status = (): ControllerStatus => ({
    version,
    startedAt,
    at: iso(clock),
    replica: settings.replica,
    sets: sets.map(({ view }) => view.status()),
  })
  const metrics = metricsOf(status, clock.wallMs)
  const face = given.mountFace?.({ status, nowMs: clock.wallMs, registry: metrics.registry })
  const options: ControllerOptions = {
    ...given,
    onEvent: (event) => {
      given.onEvent(event)
      face?.onEvent(event)
    },
  }
  const closeSets = async (): Promise<void> => {
    await Promise.all(sets.map(({ close }) => close()))
  }
  try {
    await openSets(options, sets, metrics)
    const listener = await listenerFor(options, sets, metrics, face?.routes ?? [])
    return {
      url: listener?.url ?? null,
      status,
      runOnce: async () => {
        const reports: CycleReport[] = []
        for (const { loop } of sets) reports.push(await loop.runOnce('start'))
        return reports
      },
      run: async () => {
        tell(options, null, {
          type: 'ControllerStarted',
          severity: 'info',
          message: `pharos ${version} keeps ${sets.length} sets`,
        })
        await Promise.all(
          sets.map(async (set) => {
            await set.loop.run()
            set.hasEnded = true
          }),
        )
      },
      stop: () => {
        tell(options, null, {
          type: 'ControllerStopping',
          severity: 'info',
          message: 'what is in flight ends first',
        })
        for (const { loop } of sets) loop.stop()
      },
      close: async () => {
        await listener?.close()
        await face?.close()
        await closeSets()
      },
    }
  } catch (error) {
    await closeSets()
    throw error
  }
}

function iso(clock: ControllerClock): string {
  return new Date(clock.wallMs()).toISOString()
}

function tell(
  { onEvent, clock }: ControllerOptions,
  set: string | null,
  told: Pick<ControllerEvent, 'type' | 'severity' | 'message'>,
): void {
  onEvent(eventOf(told, { at: iso(clock), set, commit: null, runId: null }))
}

async function openSets(options: ControllerOptions, sets: RunningSet[], metrics: Metrics): Promise<void> {
  const { settings, clock, newId, version, env, holder, onEvent } = options
  const limiterOf = sharedLimiters(clock)
  const claims = new ServiceClaims()
  for (const one of settings.sets) {
    const { name } = one.config
    const open = await openSet(one, {
      clock,
      newId,
      userAgent: `pharos/${version}`,
      env,
      limiterOf,
      claims,
      onAttempt: metrics.onAttempt,
      onFetch: metrics.onFetch,
    })
    const loop = new SetLoop(open.context, holder, {
      onReport: (report) => {
        metrics.onReport(name, report)
        for (const event of view.take(report)) onEvent(event)
      },
      onCommit: (commit, runId) => {
        for (const event of view.see(commit, runId)) onEvent(event)
      },
      onLease: (change, epoch) => {
        const isTaken = change === 'taken'
        const message = isTaken
          ? `this replica does the work now (epoch ${epoch})`
          : `another replica took over (epoch ${epoch} is over)`
        tell(options, name, {
          type: isTaken ? 'LeaseTaken' : 'LeaseLost',
          severity: isTaken ? 'info' : 'warning',
          message,
        })
      },
      onFault: (error) => {
        const message = error instanceof Error ? error.message : String(error)
        tell(options, name, { type: 'RunFailed', severity: 'error', message })
      },
    })
    const view = new SetView(one, () => loop.facts(), clock.wallMs)
    metrics.onSet(name, open.context.limiter)
    sets.push({ ...open, loop, view, hasEnded: false })
  }
}

async function listenerFor(
  options: ControllerOptions,
  sets: readonly RunningSet[],
  metrics: Metrics,
  faceRoutes: readonly Route[],
): Promise<Listener | null> {
  const { settings, clock } = options
  if (settings.listen === null) return null
  const mayPass = addressLimit(clock.nowMs)
  const acting = sets.map(({ context, loop }) => ({
    context,
    loop,
    pendingDigest: () => loop.facts().report?.applied?.situation.digest ?? null,
  }))
  const routes: readonly Route[] = [
    ...faceRoutes,
    hookRoute({
      hooks: settings.hooks,
      sets: settings.sets.map(({ config }) => ({ name: config.name, branch: config.repository.branch })),
      trigger: async (name) => sets.find(({ loop }) => loop.name === name)?.loop.trigger('webhook'),
      mayPass,
      onResult: metrics.onHook,
    }),
    ...apiRoutes({
      token: settings.apiToken,
      mayPass,
      ...actionsOn(acting, (set, told) => tell(options, set, told)),
    }),
    ...healthRoutes(sets),
    {
      method: 'GET',
      path: '/metrics',
      handle: async () => ({ status: 200, type: metrics.contentType, body: await metrics.text() }),
    },
  ]
  return listen(settings.listen, routes, (error) => {
    const message = error instanceof Error ? error.message : String(error)
    tell(options, null, { type: 'Notice', severity: 'error', message: `a request failed: ${message}` })
  })
}

function healthRoutes(sets: readonly RunningSet[]): readonly Route[] {
  const answer = (path: string, namesOf: () => readonly string[], what: string): Route => ({
    method: 'GET',
    path,
    handle: () => {
      const names = namesOf()
      return names.length === 0 ? json(200, { status: 'ok' }) : json(503, { status: what, sets: names })
    },
  })
  const named = (fitting: (set: RunningSet) => boolean) => () =>
    sets.filter(fitting).map(({ loop }) => loop.name)
  return [
    answer(
      '/healthz',
      named(({ hasEnded }) => hasEnded),
      'a loop has ended',
    ),
    answer(
      '/readyz',
      named(({ loop }) => !isReady(loop)),
      'not read yet',
    ),
  ]
}

/** A follower is ready at once: all that it has to do is wait. */
function isReady(loop: SetLoop): boolean {
  const { role, report } = loop.facts()
  return role === 'follower' || report?.source?.accepted != null
}
