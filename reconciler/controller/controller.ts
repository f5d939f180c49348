import type { FastifyInstance } from 'fastify'
import { proxyOf } from '../../api/network/proxy.ts'
import { addActingRoutes } from '../dashboard/acting/actingRoutes.ts'
import { addDashboardRoutes } from '../dashboard/dashboardRoutes.ts'
import { openNotifications } from '../notifications/notifications.ts'
import { counted } from '../text/counts.ts'
import { actionsOn } from './actions.ts'
import type { ControllerSettings } from './config/settings.ts'
import { addHealthRoutes } from './healthRoutes.ts'
import { wrongRequests } from './http/addressLimit.ts'
import { addApiRoutes } from './http/apiRoutes.ts'
import { addHookRoute } from './http/hookRoute.ts'
import { startHttpServer } from './http/httpServer.ts'
import { type Metrics, metricsOf } from './metrics.ts'
import { manageSets, type SetManager, type SetManagerDeps } from './setManager.ts'
import type { ControllerStatus, EventSink } from './status/status.ts'
import { type Announce, eventOf } from './view/eventsOf.ts'

/** Inputs of openController. */
export interface ControllerOptions extends Omit<SetManagerDeps, 'metrics' | 'announce'> {
  readonly settings: ControllerSettings
  /** Called with the reason why notifications fail, which never contains a secret. */
  readonly onProblem: (message: string) => void
}

/** An open controller. */
export interface Controller {
  /** Address on which it listens; null for none. */
  readonly url: string | null
  readonly status: () => ControllerStatus
  /** Runs one cycle of every set, and waits at most `waitMs` for each lease that another replica holds. */
  readonly runOnce: SetManager['runOnce']
  /** Runs all loops; resolves when all have ended after `stop`. */
  readonly run: () => Promise<void>
  /** Finishes operations in progress and releases the leases. */
  readonly stop: () => void
  readonly close: () => Promise<void>
}

/**
 * Opens notifications and the HTTP server. Each set opens its state when it runs. Throws StateError when the folders of
 * a set cannot be made, and ConfigError when it cannot listen.
 */
export async function openController(options: ControllerOptions): Promise<Controller> {
  const { settings, clock, version } = options
  const now = (): string => new Date(clock.wallMs()).toISOString()
  const startedAt = now()
  const status = (): ControllerStatus => ({
    version,
    startedAt,
    at: now(),
    replica: settings.replica,
    sets: sets.sets.map(({ view }) => view.status()),
  })
  const metrics = metricsOf(status, clock.wallMs)
  const notifications = openNotifications(settings.notifications, {
    ...options,
    status,
    registry: metrics.registry,
    publicUrl: settings.config.publicUrl ?? null,
    replica: settings.replica,
    proxy: proxyOf(options.env),
  })
  const onEvent: EventSink = (event) => {
    options.onEvent(event)
    notifications.onEvent(event)
  }
  const announce: Announce = (set, event) =>
    onEvent(eventOf(event, { at: now(), set, commit: null, runId: null }))
  const sets = manageSets(settings.sets, { ...options, onEvent, announce, metrics })
  const closeAll = async (): Promise<void> => {
    await notifications.close()
    await sets.close()
  }
  const addRoutes = routesOf({ options, sets, status, metrics, announce })
  const server =
    settings.listen === null
      ? null
      : await startHttpServer(settings.listen, addRoutes, faultTo(announce)).catch(async (error: unknown) => {
          await closeAll()
          throw error
        })
  return {
    url: server?.url ?? null,
    status,
    runOnce: (waitMs) => sets.runOnce(waitMs),
    run: () => {
      const message = `pharos ${version} manages ${counted(sets.sets.length, 'set')}`
      announce(null, { type: 'ControllerStarted', severity: 'info', message })
      return sets.run()
    },
    stop: () => {
      const message = 'operations in progress are finished first'
      announce(null, { type: 'ControllerStopping', severity: 'info', message })
      sets.stop()
    },
    close: async () => {
      await server?.close()
      await closeAll()
    },
  }
}

interface RouteParts {
  readonly options: ControllerOptions
  readonly sets: SetManager
  readonly status: () => ControllerStatus
  readonly metrics: Metrics
  readonly announce: Announce
}

/** Pages, webhooks, API, health and metrics. */
function routesOf({ options, sets, status, metrics, announce }: RouteParts): (app: FastifyInstance) => void {
  const { settings, clock } = options
  const wrong = wrongRequests(clock.nowMs)
  const acting = sets.sets.map(({ loop }) => ({
    loop,
    pendingDigest: () => loop.facts().report?.applied?.planResult.digest ?? null,
  }))
  return (app) => {
    const actions = { token: settings.apiToken, wrong, ...actionsOn(acting, announce) }
    const publicUrl = settings.config.publicUrl ?? null
    const viewerOf = addActingRoutes(app, { ...actions, status, publicUrl, nowMs: clock.nowMs })
    addDashboardRoutes(app, status, { publicUrl, hasApi: settings.apiToken !== null, viewerOf })
    addHookRoute(app, {
      hooks: settings.hooks,
      sets: settings.sets.map(({ config: { name, repository } }) => ({
        name,
        branch: repository.branch,
        addresses: [repository.url, ...repository.aliases],
      })),
      trigger: async (name) => sets.sets.find(({ loop }) => loop.name === name)?.loop.trigger('webhook'),
      wrong,
      onResult: metrics.onHook,
    })
    addApiRoutes(app, actions)
    addHealthRoutes(app, sets.sets)
    app.get('/metrics', async (_request, reply) =>
      reply.type(metrics.contentType).send(await metrics.registry.metrics()),
    )
  }
}

function faultTo(announce: Announce): (error: unknown) => void {
  return (error) => {
    const message = error instanceof Error ? error.message : String(error)
    announce(null, { type: 'Notice', severity: 'error', message: `a request failed: ${message}` })
  }
}
