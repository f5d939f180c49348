import fc from 'fast-check'
import protobuf from 'protobufjs/minimal.js'
import { describe, expect, test } from 'vitest'
import { WIRE_TYPE, WireReader, WireWriter } from './bytes.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 300 })
const bytes = fc.uint8Array({ maxLength: 300 })
const number = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -2, max: 300 }))

describe('an independent implementation', () => {
  test('reads what our writer wrote', () => {
    fc.assert(
      fc.property(number, text, bytes, (value, word, data) => {
        const writer = new WireWriter()
        writer.tag(3, WIRE_TYPE.varint)
        writer.varint(value)
        writer.tag(2_000, WIRE_TYPE.lengthDelimited)
        writer.message((inner) => {
          inner.text(word)
          inner.bytes(data)
        })
        const reader = protobuf.Reader.create(writer.finish())
        const read = [reader.uint32(), Number(reader.int64().toString()), reader.uint32()]
        const inner = protobuf.Reader.create(reader.bytes())

        expect(read).toEqual([(3 << 3) | WIRE_TYPE.varint, value, (2_000 << 3) | WIRE_TYPE.lengthDelimited])
        expect([inner.string(), [...inner.bytes()]]).toEqual([word, [...data]])
        expect(reader.pos).toBe(reader.len)
      }),
    )
  })

  test('writes what our reader reads', () => {
    fc.assert(
      fc.property(number, text, bytes, (value, word, data) => {
        const written = protobuf.Writer.create()
        written.int64(value).string(word).bytes(data).double(1).fixed32(1).bool(true)
        const reader = new WireReader(written.finish())
        const read = [reader.varint(), reader.text(), [...reader.bytes()]]
        reader.skip(WIRE_TYPE.fixed64)
        reader.skip(WIRE_TYPE.fixed32)

        expect(read).toEqual([value, word, [...data]])
        expect([reader.varint(), reader.isAtEnd]).toEqual([1, true])
      }),
    )
  })
})

test('a number at the limits of 64 bits is read as the nearest double', () => {
  const written = protobuf.Writer.create()
  written.int64('9223372036854775807').int64('-9223372036854775808').int64(-1)
  const reader = new WireReader(written.finish())

  expect([reader.varint(), reader.varint(), reader.varint()]).toEqual([2 ** 63, -(2 ** 63), -1])
})

test.each<[string, readonly number[], (reader: WireReader) => unknown]>([
  ['an unterminated number', [0x80], (reader) => reader.varint()],
  ['a number of more than 64 bits', Array(11).fill(0xff), (reader) => reader.varint()],
  ['a length beyond the end', [5, 1, 2], (reader) => reader.bytes()],
  ['a negative length', [...Array(9).fill(0xff), 1], (reader) => reader.bytes()],
  ['a fixed field beyond the end', [1, 2, 3], (reader) => reader.skip(WIRE_TYPE.fixed32)],
  ['a group', [1], (reader) => reader.skip(3)],
])('%s is refused', (_, given, read) => {
  expect(() => read(new WireReader(Uint8Array.from(given)))).toThrow(RangeError)
})

test('reading ends for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (given) => {
      const reader = new WireReader(given)
      try {
        while (!reader.isAtEnd) reader.skip(reader.varint() % 8)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
  )
})
