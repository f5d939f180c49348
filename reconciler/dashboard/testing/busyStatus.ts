import type { ControllerStatus, ServiceStatus, SetStatus } from '../../controller/status/status.ts'
import { SAMPLE_DRIFT, sampleCondition, sampleService, sampleSet, sampleStatus } from './sampleStatus.ts'

const BUSY_SERVICES: readonly ServiceStatus[] = [
  ...Array.from({ length: 36 }, (_, index) => sampleService(`storefront-${index}`)),
  sampleService('checkout', {
    state: 'Drifted',
    message: 'it was changed outside git, and its policy is drift: report',
    todo: 'change the manifest, or put it back',
    fields: [
      SAMPLE_DRIFT,
      {
        pointer: '/endpoints/0/call/Http/timeout',
        from: { secs: 10, nanos: 0 },
        to: { secs: 5, nanos: 0 },
        reason: 'drift',
      },
      {
        pointer: '/endpoints/0/call/Http/headers/authorization',
        from: { sealed: 'k-1' },
        to: { sealed: 'v1:abcd' },
        reason: 'drift',
      },
    ],
  }),
  sampleService('payments', {
    state: 'Failed',
    message: 'the API responded with 400: regions[1]: unknown region "eu-west-9"',
    todo: 'correct spec.regions in services/payments.yaml',
  }),
  ...['legacy-cart', 'legacy-search', 'legacy-login', 'legacy-mail'].map((key) =>
    sampleService(key, {
      state: 'Pending',
      message: '4 deletes are more than the 3 that one run may make',
    }),
  ),
]

/** Three sets with something of everything that a page can show. */
export function busyStatus(): ControllerStatus {
  const search = sampleSet('search', {
    conditions: [sampleCondition('Suspended', 'release week', null)],
    suspensions: [
      {
        scope: '*',
        reason: 'release week: nothing may move',
        actor: 'ada',
        since: '2026-01-13T10:00:00.000Z',
        until: '2026-01-16T10:00:00.000Z',
      },
    ],
    window: { isOpen: false, reason: 'allow "0 9 * * 1-5" for 8h', changesAt: '2026-01-15T09:00:00.000Z' },
  })
  return sampleStatus([sampleSet('platform'), busySet(), search])
}

/** A set in which something waits, something failed, something drifted and something cannot be read. */
function busySet(): SetStatus {
  return sampleSet('shop', {
    conditions: [
      sampleCondition(
        'ApprovalRequired',
        '4 deletes are more than the 3 that one run may make of 42 services',
        'when that is meant, approve a1b2c3d4e5f60718',
      ),
      sampleCondition('ManifestsInvalid', '1 problem in manifests', 'correct it: its service is left alone'),
      sampleCondition('Drifted', '1 service was changed outside git', 'see the services'),
    ],
    services: BUSY_SERVICES,
    approvals: [
      {
        digest: 'a1b2c3d4e5f60718',
        brakes: [{ brake: 'maxDeletes', message: '4 deletes are more than the 3 that one run may make' }],
        changes: ['delete legacy-cart', 'delete legacy-search', 'delete legacy-login', 'delete legacy-mail'],
      },
    ],
    problems: [
      {
        file: 'services/invoices.yaml',
        line: 14,
        column: 9,
        code: 'E_UNKNOWN_FIELD',
        message: 'spec.intervall is not a known field',
        hint: 'did you mean interval?',
      },
    ],
  })
}
