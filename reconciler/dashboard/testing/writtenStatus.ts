import type { ControllerStatus } from '../../controller/status/status.ts'
import { sampleCondition, sampleService, sampleSet, sampleStatus } from './sampleStatus.ts'

/** A status with `text` wherever an outside author may have written, in a set called `name` and one more. */
export function writtenStatus(text: string, name = 'shop'): ControllerStatus {
  const service = sampleService(text, {
    serviceId: text,
    state: 'Failed',
    message: text,
    todo: text,
    fields: [
      {
        pointer: `/endpoints/0/call/Http/headers/${text.replaceAll('~', '').replaceAll('/', '~1')}`,
        from: { plain: text },
        to: { plain: `${text}!` },
        reason: 'drift',
      },
    ],
  })
  const set = sampleSet(name, {
    source: { repository: text, branch: text, path: text, environment: text },
    apiUrl: text,
    leaseHolder: text,
    commit: { sha: text, subject: text, author: text, at: text },
    conditions: [sampleCondition('Degraded', text, text)],
    services: [service],
    approvals: [{ digest: 'a1b2c3d4e5f60718', brakes: [{ brake: text, message: text }], changes: [text] }],
    problems: [{ file: text, line: 1, column: 2, code: text, message: text, hint: text }],
    suspensions: [{ scope: text, reason: text, actor: text, since: text, until: null }],
    window: { isOpen: false, reason: text, changesAt: text },
  })
  return { ...sampleStatus([set, sampleSet('search')]), version: text, replica: text }
}
