import { beforeEach, expect, test } from 'vitest'
import { makeKeyPair } from '../../monitoring/protocol/sessionSeal.ts'
import { LOST_MS, Members, TOKEN_INSTANCES_MAX } from './members.ts'

const DUBLIN = { id: 'token', region: 'eu-west-1', name: 'dublin' }
const { publicKey } = makeKeyPair()

let nowMs: number
let members: Members
beforeEach(() => {
  nowMs = 1_000
  members = new Members(() => nowMs, 1)
})

const join = (instance: string) => members.join({ instance, token: DUBLIN, publicKey })
const changes = () => members.regionChanges(['eu-west-1'])

test('an agent is one of its region from its first request on, and each change of them has another epoch', () => {
  const epochs = [members.epochOf('eu-west-1')]
  join('b')
  epochs.push(members.epochOf('eu-west-1'))
  join('a')
  epochs.push(members.epochOf('eu-west-1'))
  join('a')
  epochs.push(members.epochOf('eu-west-1'))

  expect(members.instancesOf('eu-west-1')).toEqual(['a', 'b'])
  expect(members.instancesOf('us-east-1')).toEqual([])
  expect([new Set(epochs).size, epochs[2] === epochs[3]]).toEqual([3, true])
})

test('an agent that neither asks nor reports for 45 s is lost, and one that reports is not', () => {
  join('silent')
  join('reporting')
  nowMs += LOST_MS - 1
  const hasLostEarly = members.dropLost()
  members.see('eu-west-1', 'reporting')
  nowMs += 1

  expect([hasLostEarly, members.dropLost()]).toEqual([false, true])
  expect(members.instancesOf('eu-west-1')).toEqual(['reporting'])
})

test('a region without an agent for 45 s is lost once, and back once', () => {
  join('a')
  const atFirst = changes()
  nowMs += LOST_MS
  members.dropLost()
  const lost = [changes(), changes()]
  join('a')
  const back = [changes(), changes()]

  expect(atFirst).toEqual([])
  expect(lost).toEqual([[{ region: 'eu-west-1', kind: 'lost' }], []])
  expect(back).toEqual([[{ region: 'eu-west-1', kind: 'back' }], []])
})

test('a region whose agent is restarted within 45 s is never lost', () => {
  members.leave(join('a'))
  const afterLeaving = changes()
  nowMs += LOST_MS - 1
  const beforeReturn = changes()
  join('b')

  expect([afterLeaving, beforeReturn, changes()]).toEqual([[], [], []])
})

test('of two agents with one instance the second is refused until the first was silent for 45 s', () => {
  join('a')
  const other = { instance: 'a', token: DUBLIN, publicKey: makeKeyPair().publicKey }

  expect(() => members.join(other)).toThrow('another agent has the instance a')
  nowMs += LOST_MS
  members.dropLost()
  expect(members.join(other).instance).toBe('a')
})

test('a token has a limited number of agents, and a revoked one none', () => {
  for (let index = 0; index < TOKEN_INSTANCES_MAX; index += 1) join(`agent ${index}`)

  expect(() => join('one more')).toThrow('the token dublin is used by 32 agents already')
  members.leaveAllOf('token')
  expect(members.instancesOf('eu-west-1')).toEqual([])
})

test('a public key that is none is refused', () => {
  const introduction = { instance: 'a', token: DUBLIN, publicKey: 'A'.repeat(43) }

  expect(() => members.join(introduction)).toThrow('public_key: is no X25519 public key')
})
