import { beforeEach, expect, test } from 'vitest'
import { IDLE_SYNC } from '../../monitoring/agent/testing/idleSync.ts'
import { makeKeyPair } from '../../monitoring/protocol/sessionSeal.ts'
import { DISCONNECTED_MS, LOST_MS, Members, TOKEN_INSTANCES_MAX } from './members.ts'

const DUBLIN = { id: 'token', region: 'eu-west-1', name: 'dublin' }
const { publicKey } = makeKeyPair()

let nowMs: number
let members: Members
beforeEach(() => {
  nowMs = 1_000
  members = new Members(() => nowMs, 1)
})

const introduced = { token: DUBLIN, publicKey, version: '1.0.0', load: IDLE_SYNC.load }
const join = (instance: string) => members.join({ instance, ...introduced })
const presence = () => members.presenceIn(['eu-west-1'])

test('an agent is a member of its region from its first request on, and each change of members has a new epoch', () => {
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

test('an agent without requests or reports for 45 s is lost, and one that reports is not', () => {
  join('silent')
  join('reporting')
  nowMs += LOST_MS - 1
  const hasLostEarly = members.dropLost()
  members.see('eu-west-1', 'reporting')
  nowMs += 1

  expect([hasLostEarly, members.dropLost()]).toEqual([false, true])
  expect(members.instancesOf('eu-west-1')).toEqual(['reporting'])
})

test('an agent whose connection ended is lost after 5 s, and one that reconnects is not', () => {
  const killed = join('killed')
  const back = join('back')
  members.seeDisconnect(killed, killed.asks)
  members.seeDisconnect(back, back.asks)
  const ask = back.asks
  nowMs += DISCONNECTED_MS - 1
  const hasLostEarly = members.dropLost()
  join('back')
  // What ends late is the connection before.
  members.seeDisconnect(back, ask)
  nowMs += DISCONNECTED_MS

  expect([hasLostEarly, members.dropLost()]).toEqual([false, true])
  expect(members.instancesOf('eu-west-1')).toEqual(['back'])
})

test('an agent that reports after its connection ended stays, and the last messages of a killed one do not count', () => {
  for (const instance of ['killed', 'cut']) {
    const member = join(instance)
    members.seeDisconnect(member, member.asks)
  }
  nowMs += 999
  members.see('eu-west-1', 'killed')
  nowMs += 1
  members.see('eu-west-1', 'cut')
  nowMs += DISCONNECTED_MS

  expect(members.dropLost()).toBe(true)
  expect(members.instancesOf('eu-west-1')).toEqual(['cut'])
})

test('a region is lost after 45 s without an agent, and not during a restart of one', () => {
  members.leave(join('a'))
  const afterLeaving = presence()
  nowMs += LOST_MS - 1
  const beforeReturn = presence()
  join('b')
  const back = presence()
  nowMs += LOST_MS
  members.dropLost()

  expect([afterLeaving, beforeReturn]).toEqual([[], []])
  expect([back, presence()]).toEqual([
    [{ region: 'eu-west-1', isPresent: true }],
    [{ region: 'eu-west-1', isPresent: false }],
  ])
})

test('of two agents with the same instance id the second is refused until the first was silent for 45 s', () => {
  join('a')
  const other = { ...introduced, instance: 'a', publicKey: makeKeyPair().publicKey }

  expect(() => members.join(other)).toThrow('another agent has the instance a')
  nowMs += LOST_MS
  members.dropLost()
  expect(members.join(other).instance).toBe('a')
})

test('a token has a limited number of agents, and a revoked token none', () => {
  for (let index = 0; index < TOKEN_INSTANCES_MAX; index += 1) join(`agent ${index}`)

  expect(() => join('one more')).toThrow('the token dublin is used by 32 agents already')
  members.leaveAllOf('token')
  expect(members.instancesOf('eu-west-1')).toEqual([])
})

test('an invalid public key is refused', () => {
  const introduction = { ...introduced, instance: 'a', publicKey: 'A'.repeat(43) }

  expect(() => members.join(introduction)).toThrow('public_key: is not an X25519 public key')
})
