import { ExtData, encode } from '@msgpack/msgpack'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codePoint } from '../../../scripts/testing/codePoint.ts'
import { ConformError, conform } from './conform.ts'
import { equalValues } from './equality.ts'
import { parseJson } from './json.ts'
import { decodeMsgpack, encodeMsgpack } from './msgpack.ts'
import { Decimal, numberFromText } from './number.ts'
import type { Type } from './type.ts'
import { UNKNOWN, type Value } from './value.ts'

const roundTrip = (type: Type, value: Value): Value => decodeMsgpack(type, encodeMsgpack(value))

describe('numbers', () => {
  test.each([
    ['12', 12],
    ['-0', 0],
    ['1e3', 1000],
    ['12.50', 12.5],
    ['0.1', 0.1],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['123456789012345678901234567890', 123456789012345678901234567890n],
    ['0.12345678901234567890123', new Decimal('12345678901234567890123e-23')],
    ['1e999999', new Decimal('1e999999')],
    ['twelve', undefined],
  ])('the text %s has one canonical number', (text, number) => {
    const read = numberFromText(text)

    expect(read).toStrictEqual(number)
  })

  test('every fraction and every safe integer survives a round trip through text', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (double) => {
        // The value of a larger integral double is exact, while its text is only the shortest one that parses to it.
        fc.pre(!Number.isInteger(double) || Number.isSafeInteger(double))

        const value = conform('number', double)

        expect(value).toStrictEqual(numberFromText(String(double)))
      }),
    )
  })

  test('decimals that differ in the last of 25 digits are not equal', () => {
    const a = conform('number', '0.1234567890123456789012345')
    const b = conform('number', '0.1234567890123456789012346')

    expect(equalValues('number', a, b)).toBe(false)
  })
})

describe('MessagePack', () => {
  test.each([
    ['the canonical unknown', new ExtData(0, new Uint8Array(1))],
    ['an unknown that is not null', new ExtData(12, encode({ 1: false }))],
    ['an unknown with a prefix', new ExtData(12, encode({ 1: false, 2: 'https://' }))],
  ])('%s is unknown', (_name, extension) => {
    const decoded = decodeMsgpack({ object: { url: 'string' } }, encode({ url: extension }))

    expect(decoded).toStrictEqual({ url: UNKNOWN })
  })

  test('an unknown value is encoded in its canonical bytes', () => {
    const bytes = encodeMsgpack(UNKNOWN)

    expect([...bytes]).toStrictEqual([0xd4, 0, 0])
  })

  test.each([
    ['a 64-bit integer', 9223372036854775807n],
    ['an integer beyond 64 bits', 2n ** 70n],
    ['an exact decimal', new Decimal('12345678901234567890123e-23')],
    ['a fraction', 0.1],
    ['an integer above 32 bits', 2 ** 40],
    ['a negative integer', -5],
  ])('%s keeps every digit', (_name, value) => {
    expect(roundTrip('number', value)).toStrictEqual(value)
  })

  test('null, an empty list and an absent attribute stay distinct', () => {
    const type: Type = { object: { a: { list: 'string' }, b: { list: 'string' }, c: { list: 'string' } } }

    const decoded = decodeMsgpack(type, encode({ a: null, b: [] }))

    expect(decoded).toStrictEqual({ a: null, b: [], c: null })
  })

  test('strings are normalised to form C when read and written', () => {
    const decomposed = 'u\u0308'

    expect(decodeMsgpack('string', encode(decomposed))).toBe('ü')
  })

  test('a value of the wrong type is refused with its path and without its content', () => {
    const type: Type = { object: { items: { list: { object: { size: 'number' } } } } }
    const bytes = encode({ items: [{ size: 'hunter2' }] })

    expect(() => decodeMsgpack(type, bytes)).toThrow(
      new ConformError(['items', 0, 'size'], 'expected number, found a string'),
    )
  })
})

describe('equality', () => {
  test.each<[string, Type, Value, Value, boolean]>([
    ['sets in another order are equal', { set: 'string' }, ['a', 'b'], ['b', 'a'], true],
    ['sets with repetitions are equal', { set: 'string' }, ['a', 'a'], ['a'], true],
    ['lists in another order differ', { list: 'string' }, ['a', 'b'], ['b', 'a'], false],
    [
      'sets of objects are compared by their content',
      { set: { object: { n: 'number' } } },
      [{ n: 1 }, { n: 2 }],
      [{ n: 2 }, { n: 1 }],
      true,
    ],
    ['null differs from empty', { list: 'string' }, null, [], false],
    ['null differs from unknown', 'string', null, UNKNOWN, false],
    ['unknown equals unknown', 'string', UNKNOWN, UNKNOWN, true],
    [
      'maps in another order are equal',
      { map: 'number' },
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
      new Map([
        ['b', 2],
        ['a', 1],
      ]),
      true,
    ],
    ['bigints are compared by value', 'number', 2n ** 60n, 2n ** 60n, true],
  ])('%s', (_name, type, a, b, equal) => {
    expect(equalValues(type, a, b)).toBe(equal)
  })
})

describe('JSON', () => {
  test('agrees with JSON.parse wherever JSON.parse is exact', () => {
    const lossless = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constant(null),
        fc.boolean(),
        fc.string({ unit: codePoint }),
        fc.maxSafeInteger(),
        fc.array(tie('value')),
        fc.dictionary(fc.string(), tie('value')),
      ),
    })).value

    fc.assert(
      fc.property(lossless, (value) => {
        const text = JSON.stringify(value, undefined, 1)

        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('keeps integers and decimals that a double would round off', () => {
    const parsed = parseJson('{"a": 12345678901234567890, "b": [0.12345678901234567890123]}')

    expect(conform({ object: { a: 'number', b: { list: 'number' } } }, parsed)).toStrictEqual({
      a: 12345678901234567890n,
      b: [new Decimal('12345678901234567890123e-23')],
    })
  })

  test.each(['', '{', '[1,]', '{"a" 1}', '"\\x"', '01', '1 2', '{"a":1,}', 'nul'])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError)
  })

  test('never quotes the text that it refuses', () => {
    expect(() => parseJson('{"password": "hunter2\\x"}')).toThrow(/^not JSON$/)
  })
})
