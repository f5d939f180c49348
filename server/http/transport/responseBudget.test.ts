import { expect, test } from 'vitest'
import { RESPONSE_BOUNDS, ResponseBudget } from './responseBudget.ts'

const a = { orgId: 'a', keyId: 'a1' }
const a2 = { orgId: 'a', keyId: 'a2' }
const b = { orgId: 'b', keyId: 'b1' }
const c = { orgId: 'c', keyId: 'c1' }

/** A budget of 10 bytes, of which one organisation may hold at most 6. */
function smallBudget(bounds = {}): ResponseBudget {
  return new ResponseBudget({ ...RESPONSE_BOUNDS, bytesMax: 10, orgBytesMax: 6, ...bounds })
}

/** Records `name` when the memory that it waits for is free. */
function noteIn(granted: string[], name: string) {
  return (reservation: { release: () => void }) => {
    granted.push(name)
    return reservation
  }
}

test('an organisation that used up its share waits, and does not delay others', async () => {
  const budget = smallBudget()
  const granted: string[] = []
  const first = await budget.take(a, 6)

  const second = budget.take(a, 1).then(noteIn(granted, 'a'))
  await budget.take(b, 4).then(noteIn(granted, 'b'))
  first.release()
  await second

  expect(granted).toEqual(['b', 'a'])
})

test('organisations take turns, and so do the keys of one, however many requests each has waiting', async () => {
  const budget = smallBudget()
  const granted: string[] = []
  const all = await budget.take(c, 6)
  const rest = await budget.take(b, 4)

  const waiting = [
    budget.take(a, 6).then(noteIn(granted, 'a1')),
    budget.take(a, 6).then(noteIn(granted, 'a1')),
    budget.take(a2, 6).then(noteIn(granted, 'a2')),
    budget.take(b, 6).then(noteIn(granted, 'b')),
  ]
  all.release()
  rest.release()
  for (const reservation of waiting) {
    void reservation.then(({ release }) => release())
  }
  await Promise.all(waiting)

  expect(granted).toEqual(['a1', 'b', 'a2', 'a1'])
  expect([budget.heldBytes, budget.mostHeldBytes]).toEqual([0, 10])
})

test('a large request is not overtaken indefinitely by small ones', async () => {
  const budget = smallBudget({ orgBytesMax: 10 })
  const granted: string[] = []
  const held = await budget.take(a, 6)

  const long = budget.take(b, 8).then(noteIn(granted, 'long'))
  const short = budget.take(c, 2).then(noteIn(granted, 'short'))
  held.release()
  await Promise.all([long, short])

  expect(granted).toEqual(['long', 'short'])
})

test('the queue of one organisation is limited in length and time', async () => {
  const budget = smallBudget({ waitingMax: 1, waitMs: 1 })
  await budget.take(a, 6)

  const waiting = budget.take(a, 1)
  const oneTooMany = budget.take(a2, 1)

  await expect(oneTooMany).rejects.toMatchObject({ code: 'rate_limited' })
  await expect(waiting).rejects.toMatchObject({ code: 'rate_limited' })
  expect(budget.heldBytes).toBe(6)
})

test('a response that takes too long is cut off when others wait for its memory', async () => {
  const budget = smallBudget({ graceMs: 0, mibMs: 0 })
  const slow = await budget.take(a, 6)
  slow.cutWith(slow.release)

  await budget.take(a, 6)

  expect(budget.mostHeldBytes).toBe(6)
})

test('memory is released once, however often release is called', async () => {
  const budget = smallBudget()
  const reservation = await budget.take(a, 4)

  expect([reservation.resize(7), reservation.resize(2), budget.heldBytes]).toEqual([false, true, 2])
  reservation.release()
  reservation.release()
  expect(budget.heldBytes).toBe(0)
})
