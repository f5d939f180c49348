import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { masterKeyOf } from '../../domain/seal.ts'
import { QUICK_HASH } from '../testing/startConsoleServer.ts'
import { clientAddress, networkOf } from './clientNetwork.ts'
import { deviceOf, newDevice } from './deviceCookie.ts'
import { PasswordHasher, PasswordsBusyError } from './passwordHasher.ts'

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0db8:0001::6', '2001:db8:1:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test('the address of a client is the one that the outermost trusted proxy saw, not one that the client claims', () => {
  const header = '198.51.100.1, 203.0.113.9, 10.0.0.2'

  expect([0, 1, 2, 9].map((proxies) => clientAddress('10.0.0.1', header, proxies))).toEqual([
    '10.0.0.1',
    '10.0.0.2',
    '203.0.113.9',
    '10.0.0.1',
  ])
  expect(clientAddress('10.0.0.1', undefined, 1)).toBe('10.0.0.1')
})

test('a device is recognised for its person only, with any current master key', () => {
  const [key, newer] = [masterKeyOf(randomBytes(32)), masterKeyOf(randomBytes(32))]
  const person = randomUUID()
  const value = newDevice(person, key, randomBytes)
  const [, nonce] = value.split('.')
  const forged = `${value.slice(0, -2)}AA`

  expect(deviceOf(value, person, [newer, key])).toBe(nonce)
  expect([
    deviceOf(value, randomUUID(), [key]),
    deviceOf(value, person, [newer]),
    deviceOf(forged, person, [key]),
  ]).toEqual([undefined, undefined, undefined])
  expect([deviceOf(undefined, person, [key]), deviceOf('x', person, [key])]).toEqual([undefined, undefined])
})

test('ten passwords are checked or wait; further ones are asked to retry', async () => {
  const desk = new PasswordHasher(randomBytes, QUICK_HASH)
  const results = await Promise.allSettled(
    Array.from({ length: 12 }, (_, index) => desk.matches('x', null, `${index}`)),
  )
  const busy = results.filter((one) => one.status === 'rejected' && one.reason instanceof PasswordsBusyError)

  expect(busy).toHaveLength(2)
  expect(results.filter((one) => one.status === 'fulfilled' && one.value === false)).toHaveLength(10)
  expect(await desk.matches('a password', await desk.hash('a password'), 'ada')).toBe(true)
})

test('one account takes at most three places, so that others are checked too', async () => {
  const desk = new PasswordHasher(randomBytes, QUICK_HASH)
  const ofOne = Array.from({ length: 10 }, () => desk.matches('x', null, 'eve'))
  const other = desk.matches('x', null, 'ada')
  const results = await Promise.allSettled(ofOne)

  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  expect(await other).toBe(false)
  expect(await desk.matches('x', null, 'eve')).toBe(false)
})
