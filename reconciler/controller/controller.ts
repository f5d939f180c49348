import { isDeepStrictEqual } from 'node:util'
import { Registry } from 'prom-client'
import type { EventSink, Face, FaceDeps } from '../dashboard/faceSeam.ts'
import { counted } from '../render/planText.ts'
import { actionsOn } from './actions.ts'
import type { ControllerSettings } from './config/settings.ts'
import { healthRoutes } from './healthRoutes.ts'
import { type WrongRequests, wrongRequests } from './http/addressLimit.ts'
import { apiRoutes } from './http/apiRoutes.ts'
import { hookRoute } from './http/hookRoute.ts'
import { type Listener, listen } from './http/listener.ts'
import type { Route } from './http/route.ts'
import { type Metrics, metricsOf } from './metrics.ts'
import type { CycleReport } from './set/cycle.ts'
import { KeptSets, type KeptSetsDeps, type SetsChange } from './setManager.ts'
import type { ControllerEvent, ControllerStatus } from './status/status.ts'
import { eventOf } from './view/eventsOf.ts'

/** What a controller is started with. */
export interface ControllerOptions extends Omit<KeptSetsDeps, 'metrics'> {
  readonly settings: ControllerSettings
  /** Makes what people see; absent for a controller without. */
  readonly mountFace?: ((deps: FaceDeps, settings: ControllerSettings) => Face) | undefined
}

/** A controller that runs. */
export interface Controller {
  /** Where it listens; null when it does not. */
  readonly url: () => string | null
  readonly status: () => ControllerStatus
  /**
   * One cycle of every set, and nothing else; those that another one has are waited for at most `waitMs` each. Throws
   * StateError `held` when that is over, once all other sets had their cycle.
   */
  readonly runOnce: (waitMs: number) => Promise<readonly CycleReport[]>
  /** Starts all loops; resolves when all have ended after `stop`. */
  readonly run: () => Promise<void>
  /**
   * Goes on with other settings: what is as before is not disturbed. Throws StateError or ConfigError;
   * then the old settings stay in force.
   */
  readonly reload: (settings: ControllerSettings) => Promise<SetsChange>
  /** Tells people something that is about no set. */
  readonly tell: (told: Told) => void
  /** Lets what is in flight end, gives leases back and closes everything. */
  readonly stop: () => void
  readonly close: () => Promise<void>
}

type Told = Pick<ControllerEvent, 'type' | 'severity' | 'message'>

/** Opens everything that the settings name. Throws StateError, and ConfigError where it cannot listen. */
export async function openController(options: ControllerOptions): Promise<Controller> {
  const controller = new OpenController(options)
  try {
    await controller.reload(options.settings)
  } catch (error) {
    await controller.close()
    throw error
  }
  return {
    url: () => controller.listener?.url ?? null,
    status: () => controller.status(),
    runOnce: (waitMs) => controller.sets.runOnce(waitMs),
    run: () => {
      const { version } = options
      const message = `pharos ${version} keeps ${counted(controller.sets.all.length, 'set')}`
      controller.tell(null, { type: 'ControllerStarted', severity: 'info', message })
      return controller.sets.run()
    },
    reload: (settings) => controller.reload(settings),
    tell: (told) => controller.tell(null, told),
    stop: () => {
      const message = 'what is in flight ends first'
      controller.tell(null, { type: 'ControllerStopping', severity: 'info', message })
      controller.sets.stop()
    },
    close: () => controller.close(),
  }
}

/** A face, and the registry that has its metrics. */
interface MadeFace {
  readonly made: Face
  readonly registry: Registry
}

/** All sets, the listener and the face, together; each of them can be exchanged. */
class OpenController {
  readonly sets: KeptSets
  listener: Listener | null = null
  readonly #options: ControllerOptions
  readonly #metrics: Metrics
  readonly #wrong: WrongRequests
  /** Deliveries of webhooks that were here: a reload does not let them in again. */
  readonly #deliveries = new Set<string>()
  readonly #startedAt: string
  #settings: ControllerSettings
  #routes: readonly Route[] = []
  #face: MadeFace | null = null

  constructor(options: ControllerOptions) {
    const { settings, clock } = options
    this.#options = options
    this.#settings = settings
    this.#startedAt = this.#now()
    this.#metrics = metricsOf(() => this.status(), clock.wallMs)
    this.#wrong = wrongRequests(clock.nowMs)
    const onEvent: EventSink = (event) => {
      options.onEvent(event)
      this.#face?.made.onEvent(event)
    }
    this.sets = new KeptSets({ ...options, onEvent, metrics: this.#metrics })
  }

  status(): ControllerStatus {
    return {
      version: this.#options.version,
      startedAt: this.#startedAt,
      at: this.#now(),
      replica: this.#settings.replica,
      sets: this.sets.all.map(({ view }) => view.status()),
    }
  }

  tell(set: string | null, told: Told): void {
    const event = eventOf(told, { at: this.#now(), set, commit: null, runId: null })
    this.#options.onEvent(event)
    this.#face?.made.onEvent(event)
  }

  async reload(settings: ControllerSettings): Promise<SetsChange> {
    const listener = await this.#listenerFor(settings)
    let change: SetsChange
    try {
      change = await this.sets.change(settings.sets)
    } catch (error) {
      if (listener !== this.listener) await listener?.close()
      throw error
    }
    const [oldListener, oldFace] = [this.listener, this.#face]
    this.#face = this.#faceFor(settings)
    this.#settings = settings
    this.#routes = this.#routesFor(settings)
    this.listener = listener
    if (oldListener !== listener) await oldListener?.close()
    if (oldFace !== this.#face) await oldFace?.made.close()
    return change
  }

  async close(): Promise<void> {
    await this.listener?.close()
    await this.#face?.made.close()
    await this.sets.close()
  }

  #now(): string {
    return new Date(this.#options.clock.wallMs()).toISOString()
  }

  /** The listener of now, where it listens on what `settings` say; otherwise another one. */
  async #listenerFor({ listen: at }: ControllerSettings): Promise<Listener | null> {
    if (at === null) return null
    if (this.listener !== null && isDeepStrictEqual(at, this.#settings.listen)) return this.listener
    return listen(
      at,
      () => this.#routes,
      (error) => {
        const message = error instanceof Error ? error.message : String(error)
        this.tell(null, { type: 'Notice', severity: 'error', message: `a request failed: ${message}` })
      },
    )
  }

  /** The face of now, where what it is made of stays; otherwise another one, with metrics of its own. */
  #faceFor(settings: ControllerSettings): MadeFace | null {
    const seenIn = ({ notifications, config, replica, apiToken }: ControllerSettings) => [
      notifications,
      config.publicUrl,
      apiToken !== null,
      replica,
    ]
    if (this.#face !== null && isDeepStrictEqual(seenIn(settings), seenIn(this.#settings))) return this.#face
    const registry = new Registry()
    const deps: FaceDeps = { status: () => this.status(), nowMs: this.#options.clock.wallMs, registry }
    const made = this.#options.mountFace?.(deps, settings)
    return made === undefined ? null : { made, registry }
  }

  #routesFor(settings: ControllerSettings): readonly Route[] {
    const { sets } = this
    const acting = sets.all.map(({ context, loop }) => ({
      context,
      loop,
      pendingDigest: () => loop.facts().report?.applied?.situation.digest ?? null,
    }))
    return [
      ...(this.#face?.made.routes ?? []),
      hookRoute({
        hooks: settings.hooks,
        sets: settings.sets.map(({ config: { name, repository } }) => ({
          name,
          branch: repository.branch,
          addresses: [repository.url, ...repository.aliases],
        })),
        trigger: async (name) => sets.all.find(({ loop }) => loop.name === name)?.loop.trigger('webhook'),
        wrong: this.#wrong,
        deliveries: this.#deliveries,
        onResult: this.#metrics.onHook,
      }),
      ...apiRoutes({
        token: settings.apiToken,
        wrong: this.#wrong,
        ...actionsOn(acting, (set, told) => this.tell(set, told)),
      }),
      ...healthRoutes(() => sets.all),
      {
        method: 'GET',
        path: '/metrics',
        handle: async () => ({
          status: 200,
          type: this.#metrics.contentType,
          body: `${await this.#metrics.text()}${(await this.#face?.registry.metrics()) ?? ''}`,
        }),
      },
    ]
  }
}
