import { Registry } from 'prom-client'
import type { ControllerStatus } from '../../controller/status/status.ts'
import { type FakeClock, fakeClock } from '../../testing/fakeClock.ts'
import { type FaceOptions, mountFace } from '../face.ts'
import type { Face } from '../faceSeam.ts'

/** A face with a clock that stands still; `problems` is what it complains about. */
export interface TestFace extends Face {
  readonly clock: FakeClock
  readonly registry: Registry
  readonly problems: readonly string[]
}

/** Mounts the face over `status`, with what `over` says. */
export function testFace(status: () => ControllerStatus, over: Partial<FaceOptions> = {}): TestFace {
  const clock = fakeClock()
  const registry = new Registry()
  const problems: string[] = []
  let ids = 0
  const face = mountFace(
    { status, nowMs: clock.wallMs, registry },
    {
      settings: { channels: [], forges: [] },
      publicUrl: null,
      hasApi: true,
      version: '0.1.0',
      replica: 'pharos-0',
      clock,
      newId: () => {
        ids += 1
        return `delivery-${ids}`
      },
      onProblem: (message) => problems.push(message),
      ...over,
    },
  )
  return { ...face, clock, registry, problems }
}
