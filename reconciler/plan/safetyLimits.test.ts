import { expect, test } from 'vitest'
import type { Change, Plan } from './planValue.ts'
import {
  applySafetyLimits,
  approvableKeys,
  DEFAULT_SAFETY_LIMITS,
  isInScope,
  type LimitFacts,
  releasedKeys,
  type TrippedLimit,
} from './safetyLimits.ts'

const sound: LimitFacts = {
  exists: true,
  services: 5,
  isValid: true,
  liveServices: 5,
  suspensions: [],
  name: 'monitoring',
  formerName: 'monitoring',
}

function prune(key: string): Change {
  return { kind: 'prune', key, id: `id-${key}`, how: 'delete', name: key, createdAt: null }
}

function planOf(changes: readonly Change[], owned: number): Plan {
  return { changes, unchanged: [], owned, kept: 1 }
}

function prunes(count: number): readonly Change[] {
  return Array.from({ length: count }, (_, index) => prune(`s${index}`))
}

test.each([
  [1, 1, []],
  [2, 2, ['maxDeletes']],
  [2, 4, []],
  [3, 4, ['maxDeletes']],
  [3, 5, []],
  [4, 5, ['maxDeletes']],
  [100, 1_000, []],
  [110, 1_000, ['maxDeletes']],
])('%i deletions of %i owned trip %j', (count, owned, brakes) => {
  const { tripped } = applySafetyLimits(planOf(prunes(count), owned), sound)
  expect(tripped.map((limit) => limit.brake)).toEqual(brakes)
})

test('a percentage allows the deletion of more than half of a small set, and a count does not', () => {
  const withPolicy = (maxDeletes: { count: number; percent: number }) =>
    applySafetyLimits(planOf(prunes(4), 4), sound, { ...DEFAULT_SAFETY_LIMITS, maxDeletes }).tripped.length

  expect(withPolicy({ count: 4, percent: 0 })).toBe(1)
  expect(withPolicy({ count: 0, percent: 100 })).toBe(0)
})

test.each([
  ['delete', ['maxDeletes']],
  ['pause', ['maxDeletes']],
  ['detach', []],
  ['forget', []],
] as const)('removals that %s trip %j when there are four of five', (how, brakes) => {
  const removals = prunes(4).map((change) => (change.kind === 'prune' ? { ...change, how } : change))
  const { tripped } = applySafetyLimits(planOf(removals, 5), sound)
  expect(tripped.map((limit) => limit.brake)).toEqual(brakes)
})

test.each([
  [{ exists: false }, 'missingPath', false],
  [{ isValid: false }, 'invalidSource', false],
  [{ services: 0 }, 'emptySource', true],
] as const)('nothing is removed when the source looks broken: %j', (facts, brake, approvable) => {
  const limited = applySafetyLimits(planOf(prunes(1), 5), { ...sound, ...facts })
  expect(limited.changes).toEqual([])
  expect(limited.tripped.map((one) => [one.brake, one.approvable])).toEqual([[brake, approvable]])
})

test('services are not created again in an empty organisation without approval, and other changes are made', () => {
  const again: Change = {
    kind: 'create',
    key: 'lost',
    desired: { name: 'lost', interval_secs: 60, regions: [], endpoints: [] },
    paused: false,
    replacesLost: 'id-lost',
  }
  const fresh: Change = { ...again, key: 'fresh', replacesLost: null }
  const limited = applySafetyLimits(planOf([again, fresh], 1), { ...sound, liveServices: 0 })
  expect(limited.changes).toEqual([fresh])
  expect(limited.tripped.map((limit) => limit.brake)).toEqual(['emptyLive'])
})

test.each([
  ['monitoring --env production', 'monitoring --env staging', true],
  ['monitoring', 'monitoring --env staging', true],
  ['monitoring --env production', 'monitoring', true],
  ['monitoring --env production', 'elsewhere --env production', false],
  [null, 'monitoring --env staging', false],
  ['monitoring', 'shop.yaml', true],
  ['monitoring --env production', 'shop.yml --env production', true],
  ['shop.yaml', 'pay.yaml', false],
  ['shop.yaml', 'monitoring', false],
])('a state applied from %j blocks changes from %j until approval: %s', (formerName, name, isHeld) => {
  const plan = planOf([prune('a')], 5)

  const limited = applySafetyLimits(plan, { ...sound, formerName, name })

  expect(limited.tripped.map(({ brake, approvable }) => [brake, approvable])).toEqual(
    isHeld ? [['otherSource', true]] : [],
  )
  expect(limited.changes).toEqual(isHeld ? [] : plan.changes)
})

test.each([
  ['all of one state for another folder', { prunes: 1, formerName: 'shop' }, ['otherSource']],
  ['all of one state, whose folder is not known', { prunes: 2, formerName: null }, ['otherSource']],
  ['all but one', { prunes: 2, kept: 1, formerName: 'shop' }, []],
  ['the only service of the same folder', { prunes: 1, formerName: 'monitoring' }, []],
  ['all services of the same folder', { prunes: 2, formerName: 'monitoring' }, ['otherSource']],
  ['nothing, because nothing is owned', { prunes: 0, formerName: null }, []],
])('manifests that would replace %s are blocked as manifests of another state', (_, planResult, brakes) => {
  const { prunes: count, kept = 0, formerName } = { kept: 0, ...planResult }
  const fresh: Change = {
    kind: 'create',
    key: 'fresh',
    desired: { name: 'fresh', interval_secs: 60, regions: [], endpoints: [] },
    paused: false,
    replacesLost: null,
  }
  // Limits on deletions are another matter.
  const policy = { ...DEFAULT_SAFETY_LIMITS, maxDeletes: { count: 0, percent: 100 } }
  const plan = { changes: [...prunes(count), fresh], unchanged: [], owned: count, kept }

  const limited = applySafetyLimits(plan, { ...sound, formerName }, policy)

  expect(limited.tripped.map(({ brake, approvable }) => [brake, approvable])).toEqual(
    brakes.map((limit) => [limit, true]),
  )
  expect(limited.changes.length).toBe(brakes.length === 0 ? plan.changes.length : 0)
})

test('a selection counts as manifests of another state when all of the manifests do', () => {
  const part = { changes: prunes(1), unchanged: [], owned: 3, kept: 0 }

  const whole = applySafetyLimits(part, { ...sound, removalsOfWhole: 3 })
  const alone = applySafetyLimits(part, { ...sound, removalsOfWhole: 1 })

  expect([whole, alone].map(({ tripped }) => tripped.map(({ brake }) => brake))).toEqual([
    ['otherSource'],
    [],
  ])
})

function updates(count: number, ...reasons: readonly ('git' | 'drift')[]): readonly Change[] {
  const actual = { name: 'a', interval_secs: 60, regions: [], endpoints: [] }
  return Array.from({ length: count }, (_, index) => ({
    kind: 'update' as const,
    key: `u${index}`,
    id: `id-u${index}`,
    renamedFrom: null,
    fields: reasons.map((reason) => ({ pointer: `/${reason}-${index}`, from: 1, to: 2, reason })),
    shown: [],
    outside: [],
    replace: true,
    keeps: [],
    pausing: null,
    shrinks: false,
    actual,
    observed: actual,
  }))
}

test.each([
  ['git', [10, 'git'], []],
  ['git', [11, 'git'], ['maxUpdates']],
  ['drift', [11, 'drift'], ['maxHeals']],
  ['git and drift at once, which git asked for', [11, 'git', 'drift'], ['maxUpdates']],
] as const)('updates for %s: %j trip %j', (_reason, [count, ...reasons], brakes) => {
  const { tripped } = applySafetyLimits(planOf(updates(count, ...reasons), 12), sound)
  expect(tripped.map(({ brake }) => brake)).toEqual(brakes)
})

test.each([
  [10, []],
  [11, ['maxHeals', 'suspectedServerChange']],
])('%i services of 20 that differ in the very same field trip %j', (count, brakes) => {
  const alike = updates(count, 'drift').map((change) =>
    change.kind === 'update'
      ? { ...change, fields: change.fields.map((field) => ({ ...field, pointer: '/regions' })) }
      : change,
  )
  const { tripped } = applySafetyLimits(planOf(alike, 20), sound)
  expect(tripped.map(({ brake }) => brake).sort()).toEqual(brakes)
})

test('an approval releases no change that another safety limit blocks as well', () => {
  const plan = planOf(prunes(5), 5)
  const open = applySafetyLimits(plan, sound)
  const shut = applySafetyLimits(plan, { ...sound, exists: false })

  expect([...releasedKeys(open)]).toHaveLength(5)
  expect([...approvableKeys(shut)]).toHaveLength(5)
  expect([...releasedKeys(shut)]).toEqual([])
})

test.each([
  ['*', ['a', 'b', 'shop.eu']],
  ['shop.*', ['shop.eu']],
  ['sho*', ['shop.eu']],
  ['shop', []],
])(
  'a suspension of %s blocks exactly the services that it names, and no approval releases them',
  (scope, keys) => {
    const plan = planOf(
      ['a', 'b', 'shop.eu'].map((key) => ({
        kind: 'prune' as const,
        key,
        id: key,
        how: 'detach' as const,
        name: key,
        createdAt: null,
      })),
      5,
    )
    const { withheld, tripped } = applySafetyLimits(plan, {
      ...sound,
      suspensions: [{ scope, reason: 'a migration', actor: 'ada' }],
    })
    expect(withheld.map(({ key }) => key)).toEqual(keys)
    expect(tripped.every(({ brake, approvable }) => brake === 'suspended' && !approvable)).toBe(true)
  },
)

function recreates(count: number): readonly Change[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'create' as const,
    key: `c${index}`,
    desired: { name: `c${index}`, interval_secs: 60, regions: [], endpoints: [] },
    paused: false,
    replacesLost: `id-c${index}`,
  }))
}

const alike = updates(11, 'drift').map((change) =>
  change.kind === 'update'
    ? {
        ...change,
        fields: ['/regions', '/name'].map((pointer) => ({
          pointer,
          from: 1,
          to: 2,
          reason: 'drift' as const,
        })),
      }
    : change,
)

const keysOf = (changes: readonly Change[]) => changes.map(({ key }) => key)

test('the message of a safety limit counts one deletion and one service in the singular', () => {
  const policy = { ...DEFAULT_SAFETY_LIMITS, maxDeletes: { count: 0, percent: 0 } }
  const { tripped } = applySafetyLimits(planOf(prunes(1), 1), sound, policy)

  expect(tripped.map(({ message }) => message)).toEqual([
    '1 deletion of 1 service: more than 0 need approval',
  ])
})

test.each<[string, readonly Change[], number, Partial<LimitFacts>, readonly TrippedLimit[]]>([
  [
    'deletions',
    prunes(4),
    10,
    {},
    [
      {
        brake: 'maxDeletes',
        message: '4 deletions of 10 services: more than 3 need approval',
        keys: ['s0', 's1', 's2', 's3'],
        approvable: true,
      },
    ],
  ],
  [
    'updates from git',
    updates(11, 'git'),
    11,
    {},
    [
      {
        brake: 'maxUpdates',
        message: '11 updates from git of 11 services: more than 10 need approval',
        keys: keysOf(updates(11)),
        approvable: true,
      },
    ],
  ],
  [
    'updates that revert the same drift, in any order of its fields',
    alike.map((change, index) =>
      change.kind === 'update' && index > 4 ? { ...change, fields: change.fields.toReversed() } : change,
    ),
    20,
    {},
    [
      {
        brake: 'suspectedServerChange',
        message:
          '11 of 20 services changed in the same fields, so the API may have changed how it shows them: "pharos approve --pointers /name,/regions" records the present values, approving the digest puts the old ones back',
        keys: keysOf(alike),
        approvable: true,
      },
      {
        brake: 'maxHeals',
        message: '11 updates that undo drift of 20 services: more than 10 need approval',
        keys: keysOf(alike),
        approvable: true,
      },
    ],
  ],
  [
    're-creations, of an organisation that has services',
    recreates(4),
    10,
    {},
    [
      {
        brake: 'maxRecreates',
        message: '4 re-creations of 10 services: more than 3 need approval',
        keys: keysOf(recreates(4)),
        approvable: true,
      },
    ],
  ],
  [
    'a re-creation in an empty organisation',
    recreates(1),
    1,
    { liveServices: 0 },
    [
      {
        brake: 'emptyLive',
        message:
          'the organisation has no services, but the state has 1: check the address and the API key, or approve if they were deleted',
        keys: ['c0'],
        approvable: true,
      },
    ],
  ],
  [
    'removals where the path is gone',
    prunes(1),
    5,
    { exists: false },
    [
      {
        brake: 'missingPath',
        message: 'the path does not exist, so its services are not removed',
        keys: ['s0'],
        approvable: false,
      },
    ],
  ],
  [
    'removals where manifests are invalid',
    prunes(1),
    5,
    { isValid: false },
    [
      {
        brake: 'invalidSource',
        message: 'some manifests are invalid, so no service is removed',
        keys: ['s0'],
        approvable: false,
      },
    ],
  ],
  [
    'removals where there are no manifests',
    prunes(1),
    5,
    { services: 0 },
    [
      {
        brake: 'emptySource',
        message: 'the source has no Service manifest',
        keys: ['s0'],
        approvable: true,
      },
    ],
  ],
  [
    'the manifests of another environment',
    prunes(1),
    5,
    { name: 'monitoring --env staging' },
    [
      {
        brake: 'otherSource',
        message:
          'the state was last applied with no --env, and this is --env staging: use the state of that environment, or approve if it replaces the other one',
        keys: ['s0'],
        approvable: true,
      },
    ],
  ],
  [
    'all changes, for a person who suspended them',
    recreates(1),
    5,
    { suspensions: [{ scope: '*', reason: 'a migration', actor: 'ada' }] },
    [
      {
        brake: 'suspended',
        message: 'ada suspended everything: a migration',
        keys: ['c0'],
        approvable: false,
      },
    ],
  ],
  [
    'one manifest, for a person who suspended it',
    recreates(1),
    5,
    { suspensions: [{ scope: 'c0', reason: 'a migration', actor: 'ada' }] },
    [{ brake: 'suspended', message: 'ada suspended c0: a migration', keys: ['c0'], approvable: false }],
  ],
  [
    'changes that the caller blocks',
    recreates(1),
    5,
    { holds: [{ brake: 'windowClosed', message: 'not now', keys: ['c0'], approvable: false }] },
    [{ brake: 'windowClosed', message: 'not now', keys: ['c0'], approvable: false }],
  ],
])('%s are blocked with the reason', (_, changes, owned, facts, tripped) => {
  expect(applySafetyLimits(planOf(changes, owned), { ...sound, ...facts })).toEqual({
    changes: [],
    withheld: changes,
    tripped,
  })
})

test.each([
  ['shop', ', last applied from "shop",'],
  [null, ''],
])(
  'manifests that would replace all of a state last applied from %j say which state it is',
  (formerName, from) => {
    const changes = prunes(2)
    const plan = { changes, unchanged: [], owned: 2, kept: 0 }

    expect(applySafetyLimits(plan, { ...sound, formerName }).tripped).toContainEqual({
      brake: 'otherSource',
      message: `the state${from} has no service of these manifests and would lose all of its services (2): use the state that belongs to "monitoring", or approve if "monitoring" replaces the others`,
      keys: ['s0', 's1'],
      approvable: true,
    })
  },
)

test.each([
  [
    'nothing of a state is removed',
    { changes: recreates(1), unchanged: [], owned: 1, kept: 0 },
    { formerName: 'shop' },
  ],
  [
    'nothing was owned',
    { changes: recreates(1), unchanged: [], owned: 0, kept: 0 },
    { formerName: 'a --env b' },
  ],
  [
    'nothing was owned and no service exists',
    { changes: recreates(1), unchanged: [], owned: 0, kept: 0 },
    { liveServices: 0 },
  ],
])('no safety limit blocks anything where %s', (_, plan, facts) => {
  expect(applySafetyLimits(plan, { ...sound, ...facts })).toEqual({
    changes: plan.changes,
    withheld: [],
    tripped: [],
  })
})

test('a source without manifests is reported as such', () => {
  const plan = { changes: prunes(2), unchanged: [], owned: 4, kept: 0 }
  const { tripped } = applySafetyLimits(plan, { ...sound, services: 0, formerName: 'shop' })

  expect(tripped.map(({ brake }) => brake)).toEqual(['emptySource'])
})

test('a suspension does not block plan entries that change nothing', () => {
  const shown: readonly Change[] = [
    { kind: 'blocked', key: 'a', message: 'm', hint: 'h', needsDecision: true },
    { kind: 'drifted', key: 'b', id: 'id-b', fields: [], shown: [], looping: [] },
  ]
  const suspensions = [{ scope: '*', reason: 'a migration', actor: 'ada' }]

  expect(applySafetyLimits(planOf(shown, 5), { ...sound, suspensions })).toEqual({
    changes: shown,
    withheld: [],
    tripped: [],
  })
})

test('the same drift in a small share of the services is not a suspected server change', () => {
  const { tripped } = applySafetyLimits(planOf(alike, 100), sound)

  expect(tripped).toEqual([])
})

test('an approval releases only approvable changes', () => {
  const limited = applySafetyLimits(planOf(prunes(1), 5), { ...sound, exists: false })

  expect([...approvableKeys(limited)]).toEqual([])
})

test('all characters of a scope except the asterisk are literal', () => {
  expect([
    isInScope('a.b', 'a.b'),
    isInScope('axb', 'a.b'),
    isInScope('a(b', 'a(b'),
    isInScope('xa', 'a'),
  ]).toEqual([true, false, true, false])
})
