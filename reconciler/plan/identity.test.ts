import { expect, test } from 'vitest'
import type { Blocked } from './planValue.ts'
import { binding, brief, desired, ID, live, OTHER_ID, plan } from './testing/planning.ts'

const elsewhere = { url: 'https://new.example.com/' }

/** What a plan says of a manifest about which a person has to decide. */
function undecided(key: string, message: string, hint: string, claims?: readonly string[]): Blocked {
  return { kind: 'blocked', key, message, hint, needsDecision: true, ...(claims && { claims }) }
}

test('a manifest keeps its service, also with metadata.id of the same service', () => {
  const { changes, unchanged } = plan({
    desired: [desired({}, { id: ID })],
    actual: [live()],
    bindings: [binding()],
  })

  expect([changes, unchanged]).toEqual([[], ['shop']])
})

test('a bound manifest whose metadata.id names another service needs a decision', () => {
  const { changes } = plan({
    desired: [desired({}, { id: OTHER_ID })],
    actual: [live(), live({ id: OTHER_ID })],
    bindings: [binding()],
  })

  expect(changes).toEqual([
    undecided(
      'shop',
      `metadata.id names service ${OTHER_ID}, but the state binds this name to ${ID}`,
      'remove metadata.id, or correct it',
      ['shop'],
    ),
  ])
})

test('a renamed manifest keeps the service that its metadata.id names', () => {
  const { changes } = plan({
    desired: [desired(elsewhere, { key: 'store', id: ID })],
    actual: [live(), live({ id: OTHER_ID, name: 'Other' })],
    bindings: [binding(), binding({ name: 'Other' }, { id: OTHER_ID, name: 'Other' }, { key: 'other' })],
    frozenKeys: ['other'],
  })

  expect(brief(changes)).toEqual(['replace store from shop: git /endpoints/0/url'])
})

test('a manifest whose previous name and metadata.id are different services needs a decision, and neither is removed', () => {
  const { changes } = plan({
    desired: [desired({}, { key: 'store', id: OTHER_ID, previousNames: ['shop'] })],
    actual: [live(), live({ id: OTHER_ID })],
    bindings: [binding()],
  })

  expect(changes).toEqual([
    undecided(
      'store',
      `metadata.id names service ${OTHER_ID}, but the state binds this name to ${ID}`,
      'remove metadata.id, or correct it',
      ['shop'],
    ),
  ])
})

test('a manifest whose previous names are two services needs a decision, and neither is removed', () => {
  const { changes } = plan({
    desired: [desired({}, { key: 'store', previousNames: ['a', 'b'] })],
    actual: [live({ id: 'a' }), live({ id: 'b' })],
    bindings: ['a', 'b'].map((key) => binding({}, { id: key }, { key })),
  })

  expect(changes).toEqual([
    undecided('store', 'previousNames matches several services: a, b', 'keep one of them', ['a', 'b']),
  ])
})

test('without state a manifest without metadata.id is blocked with advice', () => {
  const { changes } = plan({ desired: [desired()], hasState: false })

  expect(changes).toEqual([
    {
      ...undecided(
        'shop',
        'without a state only services with metadata.id can be identified',
        'add --state FILE, which the first apply creates, or set metadata.id',
      ),
      needsDecision: false,
    },
  ])
})

test('a service bound to another manifest cannot be named by metadata.id', () => {
  const { changes } = plan({
    desired: [
      desired({ name: 'First' }, { key: 'first' }),
      desired(),
      desired({}, { key: 'second', id: ID }),
    ],
    actual: [live({ id: OTHER_ID, name: 'First' }), live()],
    bindings: [binding({ name: 'First' }, { id: OTHER_ID, name: 'First' }, { key: 'first' }), binding()],
  })

  expect(changes).toEqual([
    undecided('second', `service ${ID} belongs to shop`, 'remove one of the two manifests'),
  ])
})

test('a metadata.id without a service is reported with how to get a service', () => {
  const { changes } = plan({ desired: [desired({}, { id: ID })], actual: [live({ id: OTHER_ID })] })

  expect(changes).toEqual([
    undecided(
      'shop',
      `service ${ID} of metadata.id does not exist in this organisation`,
      'remove metadata.id to create it',
    ),
  ])
})

test('a service that waits for deletion is no candidate for a new manifest', () => {
  const { changes } = plan({
    desired: [desired({}, { key: 'store' })],
    actual: [live({ paused: true })],
    bindings: [binding({}, {}, { onDelete: 'pause', tombstonedAtMs: 1 })],
  })

  expect(brief(changes)).toEqual(['create store'])
})

test('a service that one manifest claims by its previous name is no candidate for another', () => {
  const { changes } = plan({
    desired: [
      desired({}, { key: 'store', previousNames: ['shop'] }),
      desired({}, { key: 'same' }),
      desired({ interval: 30 }, { key: 'similar' }),
    ],
    actual: [live()],
    bindings: [binding()],
  })

  expect(brief(changes)).toEqual(['record store from shop', 'create same', 'create similar'])
})

test('of two removed manifests, the new name of one does not count as the new name of the other', () => {
  const { changes } = plan({
    desired: [desired({}, { key: 'store' }), desired({ interval: 30 }, { key: 'similar' })],
    actual: [live(), live({ id: OTHER_ID, name: 'Other', ...elsewhere })],
    bindings: [
      binding(),
      binding(
        { name: 'Other', ...elsewhere },
        { id: OTHER_ID, name: 'Other', ...elsewhere },
        { key: 'other' },
      ),
    ],
  })

  expect(brief(changes)).toEqual(['record store from shop', 'create similar', 'delete other'])
})

test('an adopted service without a write is no candidate for a new manifest', () => {
  const { changes } = plan({
    desired: [desired({}, { key: 'store' })],
    actual: [live()],
    bindings: [binding({}, {}, { desired: null, observed: null })],
  })

  expect(brief(changes)).toEqual(['create store', 'delete shop'])
})

test('a new manifest with the same definition and another spec.name counts as the renamed one', () => {
  const { changes } = plan({
    desired: [desired({ name: 'Store' }, { key: 'store' })],
    actual: [live()],
    bindings: [binding()],
  })

  expect(brief(changes)).toEqual(['replace store from shop: git /name'])
})

test('while a manifest has a problem, no service is given to a new manifest that resembles its own', () => {
  const guesses = [desired({ name: 'Store' }, { key: 'store' }), desired({ interval: 90 }, { key: 'store' })]
  const plans = guesses.map((service) =>
    plan({ desired: [service], actual: [live()], bindings: [binding()], isValid: false }),
  )

  const waiting = {
    ...undecided(
      'store',
      'it may be the new name of shop, or that manifest has a problem',
      'correct the manifests with problems, or set previousNames: [shop]',
      ['shop'],
    ),
    needsDecision: false,
  }
  expect(plans.map(({ changes }) => changes)).toEqual([[waiting], [waiting]])
})

test('an announced rename is planned while a manifest has a problem', () => {
  const { changes } = plan({
    desired: [desired({}, { key: 'store', previousNames: ['shop'] })],
    actual: [live()],
    bindings: [binding()],
    isValid: false,
  })

  expect(brief(changes)).toEqual(['record store from shop'])
})

test('secrets distinguish manifests that are equal otherwise', () => {
  const keys = ['a', 'b']
  const { changes } = plan({
    desired: [desired({ secret: 'of b' }, { key: 'store' })],
    actual: keys.map((id) => live({ id })),
    bindings: keys.map((key) => binding({ secret: `of ${key}` }, { id: key }, { key })),
  })

  expect(brief(changes)).toEqual(['record store from b', 'delete a'])
})

test('a new manifest that is equal except for a secret may be the renamed one', () => {
  const { changes } = plan({
    desired: [desired({ secret: 'two', name: 'New', ...elsewhere }, { key: 'store' })],
    actual: [live(elsewhere)],
    bindings: [binding(elsewhere)],
  })

  expect(changes).toEqual([
    undecided(
      'store',
      'it has the name or the addresses of removed manifests: shop',
      'if it is the same service, set previousNames: [shop]; if not, apply once without it',
      ['shop'],
    ),
  ])
})

test('a new manifest that equals two removed ones names both, and neither is removed', () => {
  const { changes } = plan({
    desired: [desired({}, { key: 'store' })],
    actual: ['a', 'b'].map((id) => live({ id })),
    bindings: ['a', 'b'].map((key) => binding({}, { id: key }, { key })),
  })

  expect(changes).toEqual([
    undecided(
      'store',
      'its definition equals that of removed manifests: a, b',
      'name the right one in previousNames',
      ['a', 'b'],
    ),
  ])
})

test('two new manifests that equal a removed one both name it, and it is not removed', () => {
  const { changes } = plan({
    desired: [desired({}, { key: 'a' }), desired({}, { key: 'b' })],
    actual: [live()],
    bindings: [binding()],
  })

  const message = 'its definition equals that of removed manifests: shop'
  expect(changes).toEqual([
    undecided('a', message, 'name the right one in previousNames', ['shop']),
    undecided('b', message, 'name the right one in previousNames', ['shop']),
  ])
})

test('among more than 20 equal removed manifests, secrets aside, none is selected', () => {
  const among = (count: number) => {
    const keys = Array.from({ length: count }, (_, index) => `k${index}`)
    return plan({
      desired: [desired({ secret: 'of k3' }, { key: 'store' })],
      actual: keys.map((id) => live({ id })),
      bindings: keys.map((key) => binding({ secret: `of ${key}` }, { id: key }, { key, onDelete: 'detach' })),
    }).changes
  }
  const keys = Array.from({ length: 21 }, (_, index) => `k${index}`)

  expect(brief(among(20))[0]).toBe('record store from k3')
  expect(among(21)).toEqual([
    undecided(
      'store',
      `its definition equals that of removed manifests: ${keys.slice(0, 20).join(', ')}`,
      'name the right one in previousNames',
      keys,
    ),
  ])
})

test.each([
  [3, 'a1, a2, a3'],
  [5, 'a1, a2, a3 and 2 more'],
])('if %i removed manifests had the name of a new one, three of them are named', (count, shown) => {
  const keys = Array.from({ length: count }, (_, index) => `a${index + 1}`)
  const { changes } = plan({
    desired: [desired({ interval: 30 }, { key: 'store' })],
    actual: keys.map((id) => live({ id })),
    bindings: keys.map((key) => binding({}, { id: key }, { key })),
  })

  expect(changes).toEqual([
    undecided(
      'store',
      `it has the name or the addresses of removed manifests: ${shown}`,
      'if it is the same service, set previousNames: [a1]; if not, apply once without it',
      keys,
    ),
  ])
})

test('a new manifest with the same URLs in another order may be the renamed one', () => {
  const [one, two] = ['https://one.example.com/', 'https://two.example.com/']
  const before = { url: one, moreUrls: [two] }
  const { changes } = plan({
    desired: [desired({ name: 'New', url: two, moreUrls: [one] }, { key: 'store' })],
    actual: [live(before)],
    bindings: [binding(before)],
  })

  expect(brief(changes)).toEqual(['blocked store for a person'])
})

test('a manifest with the name of a deleted service is a new one', () => {
  const { changes } = plan({
    desired: [desired({ interval: 30 }, { key: 'store' })],
    bindings: [binding()],
  })

  expect(brief(changes)).toEqual(['create store', 'forget shop'])
})

test('two manifests that name the same previous name need a decision, and the service is kept', () => {
  const { changes } = plan({
    desired: ['a', 'b'].map((key) => desired({}, { key, previousNames: ['shop'] })),
    actual: [live()],
    bindings: [binding()],
  })

  expect(changes).toEqual(
    ['a', 'b'].map((key) => undecided(key, 'a and b claim the same service', 'remove one of them', ['shop'])),
  )
})

test('a manifest may have the same spec.name as a service bound to another manifest', () => {
  const { changes } = plan({
    desired: [desired(), desired({ interval: 30 }, { key: 'second' })],
    actual: [live()],
    bindings: [binding()],
  })

  expect(brief(changes)).toEqual(['create second'])
})

test('a manifest with the name of unmanaged services is blocked, with how to adopt one', () => {
  const { changes } = plan({ desired: [desired()], actual: [live(), live({ id: OTHER_ID })] })

  expect(changes).toEqual([
    undecided(
      'shop',
      `a service named "Shop" exists and is not managed here: ${ID}, ${OTHER_ID}`,
      '"pharos state adopt apply" adopts it if it is equal; metadata.id selects it in any case; or choose another spec.name',
    ),
  ])
})

test('a manifest whose service was deleted while an unmanaged one has its name is blocked, with how to adopt that one', () => {
  const { changes } = plan({ desired: [desired()], actual: [live({ id: OTHER_ID })], bindings: [binding()] })

  expect(changes).toEqual([
    {
      ...undecided(
        'shop',
        `a service named "Shop" exists and is not managed here: ${OTHER_ID}`,
        `its service ${ID} was deleted: after "pharos state unbind shop" the other one can be adopted or bound; or choose another spec.name`,
      ),
      lost: ID,
    },
  ])
})
