import type { NotificationSettings } from '../controller/config/notificationSettings.ts'
import { type Route, type RouteAnswer, refusal } from '../controller/http/route.ts'
import type { ControllerClock } from '../controller/schedule/clock.ts'
import { sendOverHttp } from '../notifications/delivery/outgoing.ts'
import { reportersOf } from '../notifications/forge/reporters.ts'
import { faceMetrics } from '../notifications/notificationMetrics.ts'
import { channelsOf } from '../notifications/notifier.ts'
import type { Face, FaceDeps } from './faceSeam.ts'
import { pageFor } from './pages.ts'

/** What people see of a controller is made with this. */
export interface FaceOptions {
  readonly settings: NotificationSettings
  /** How people reach the page; null when the configuration does not say. */
  readonly publicUrl: string | null
  /** Whether the routes below /api may be used. */
  readonly hasApi: boolean
  readonly version: string
  readonly replica: string
  readonly clock: ControllerClock
  readonly newId: () => string
  /** Hears in words what keeps others from hearing. Never holds a secret, nor an address that may be one. */
  readonly onProblem: (message: string) => void
}

/** Pages for those who come to look, and messages to those who want to be told. */
export function mountFace({ status, registry }: FaceDeps, options: FaceOptions): Face {
  const { settings, clock, publicUrl } = options
  const send = sendOverHttp(clock.wallMs)
  const metrics = faceMetrics(
    registry,
    () => new Map([...channels].map(([name, { waiting }]) => [name, waiting])),
  )
  const channels = channelsOf(settings.channels, { ...options, send, onResult: metrics.onDelivery })
  const reporters = reportersOf(settings.forges, { ...options, status, send, onResult: metrics.onReport })
  const listeners = [...channels.values(), ...reporters]
  return {
    routes: pageRoutes(status, options.hasApi ? (publicUrl?.replace(/\/+$/, '') ?? UNKNOWN_URL) : null),
    onEvent: (event) => {
      for (const listener of listeners) listener.offer(event)
    },
    close: async () => {
      await Promise.all(listeners.map((listener) => listener.close()))
    },
  }
}

/** Paths of the pages, as the listener knows them. */
const PATHS = ['/', '/face.css', '/favicon.svg', '/status.json', '/sets/:set', '/badge/:file'] as const

/** Stands in commands for an address that the configuration does not say. */
const UNKNOWN_URL = '$PHAROS_CONTROLLER'

function pageRoutes(status: FaceDeps['status'], apiUrl: string | null): readonly Route[] {
  return PATHS.map((path) => ({
    method: 'GET',
    path,
    handle: ({ params, query }): RouteAnswer => {
      const target = path.replace(/:(\w+)/, (_whole, name: string) => encodeURIComponent(params[name] ?? ''))
      const answer = pageFor(`${target}?${query}`, status, { apiUrl })
      if (answer === undefined) return refusal(404, 'there is no such set')
      const { 'Content-Type': type = '', ...headers } = answer.headers
      return { status: answer.status, type, headers, body: answer.body }
    },
  }))
}
