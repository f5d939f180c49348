import { Registry } from 'prom-client'
import type { NotificationSettings } from '../../controller/config/settings.ts'
import type { ControllerStatus } from '../../controller/status/status.ts'
import { type FakeClock, fakeClock } from '../../testing/fakeClock.ts'
import { type NotificationDeps, type Notifications, openNotifications } from '../notifications.ts'

/** Notifications with a clock that stands still; `problems` is what they complain about. */
export interface TestNotifications extends Notifications {
  readonly clock: FakeClock
  readonly registry: Registry
  readonly problems: readonly string[]
}

/** Opens notifications about `status`. */
export function testNotifications(
  status: () => ControllerStatus,
  settings: NotificationSettings,
  publicUrl: NotificationDeps['publicUrl'] = null,
): TestNotifications {
  const clock = fakeClock()
  const registry = new Registry()
  const problems: string[] = []
  let ids = 0
  const notifications = openNotifications(settings, {
    status,
    registry,
    publicUrl,
    version: '0.1.0',
    replica: 'pharos-0',
    clock,
    proxy: undefined,
    newId: () => {
      ids += 1
      return `delivery-${ids}`
    },
    onProblem: (message) => problems.push(message),
  })
  return { ...notifications, clock, registry, problems }
}
