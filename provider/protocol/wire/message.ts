/**
 * Protobuf messages described by a table of fields, from which the codec and the TypeScript type are derived.
 *
 * Terraform starts a provider several times per command, so nothing here parses .proto text or generates code at start:
 * the codec of a message is a few closures.
 */
import { WIRE_TYPE, WireReader, WireWriter } from './bytes.ts'

/** How one field of a message is read, written and defaulted. `T` is the field's type after decoding. */
export interface Field<T> {
  readonly id: number
  /** The value of a field that is not on the wire. */
  absent(): T
  /** Reads one occurrence; `before` is the previous value of the field, which repeated fields extend. */
  read(reader: WireReader, before: T): T
  /** Writes the field with its tag, or nothing when the value is the default. */
  write(writer: WireWriter, value: T): void
}

type Fields = { readonly [name: string]: Field<unknown> }
type FieldType<F> = F extends { absent(): infer T } ? T : never

/** A decoded message with every field; `undefined` for a missing optional one. */
export type Decoded<F> = { readonly [K in keyof F]: FieldType<F[K]> }

/** Reads and writes one kind of message. `T` is the decoded form; to encode, fields may be left out. */
export interface Message<T> {
  encode(value: Partial<T>): Buffer
  decode(bytes: Uint8Array): T
  writeInto(writer: WireWriter, value: Partial<T>): void
}

/** The decoded form of a message: `type Diagnostic = MessageOf<typeof diagnostic>`. */
export type MessageOf<M> = M extends { decode(bytes: Uint8Array): infer T } ? T : never

/** Builds the codec of a message from its fields. Unknown fields are skipped. */
export function message<const F extends Fields>(fields: F): Message<Decoded<F>> {
  const table: [string, Field<unknown>][] = Object.entries(fields)
  const byId = new Map(table.map(([name, field]) => [field.id, { name, field }]))

  const writeInto = (writer: WireWriter, value: { readonly [name: string]: unknown }): void => {
    for (const [name, field] of table) {
      const given = value[name]
      if (given !== undefined) field.write(writer, given)
    }
  }
  const decode = (bytes: Uint8Array): Decoded<F> => {
    const reader = new WireReader(bytes)
    const decoded: Record<string, unknown> = {}
    for (const [name, field] of table) decoded[name] = field.absent()
    while (!reader.isAtEnd) {
      const tag = reader.varint()
      const known = byId.get(Math.floor(tag / 8))
      if (known === undefined) reader.skip(tag % 8)
      else decoded[known.name] = known.field.read(reader, decoded[known.name])
    }
    // Every field of F has its absent() value or the result of its own read().
    return decoded as Decoded<F>
  }
  const encode = (value: { readonly [name: string]: unknown }): Buffer => {
    const writer = new WireWriter()
    writeInto(writer, value)
    return writer.finish()
  }
  return { encode, decode, writeInto }
}

interface Scalar<T> {
  readonly wireType: number
  readonly zero: T
  read(reader: WireReader): T
  write(writer: WireWriter, value: T): void
}

const STRING: Scalar<string> = {
  wireType: WIRE_TYPE.lengthDelimited,
  zero: '',
  read: (reader) => reader.text(),
  write: (writer, value) => writer.text(value),
}

const BYTES: Scalar<Uint8Array> = {
  wireType: WIRE_TYPE.lengthDelimited,
  zero: new Uint8Array(0),
  // Copied, because a view would keep the whole request alive.
  read: (reader) => new Uint8Array(reader.bytes()),
  write: (writer, value) => writer.bytes(value),
}

const BOOL: Scalar<boolean> = {
  wireType: WIRE_TYPE.varint,
  zero: false,
  read: (reader) => reader.varint() !== 0,
  write: (writer, value) => writer.varint(value ? 1 : 0),
}

/** 64-bit fields of this protocol hold versions, counts and indices, for which a JavaScript number is large enough. */
const INT64: Scalar<number> = {
  wireType: WIRE_TYPE.varint,
  zero: 0,
  read: (reader) => reader.varint(),
  write: (writer, value) => writer.varint(value),
}

const isDefault = (value: unknown): boolean =>
  value === '' || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0)

function writeScalar<T>(writer: WireWriter, id: number, scalar: Scalar<T>, value: T): void {
  writer.tag(id, scalar.wireType)
  scalar.write(writer, value)
}

function plain<T>(id: number, scalar: Scalar<T>): Field<T> {
  return {
    id,
    absent: () => scalar.zero,
    read: (reader) => scalar.read(reader),
    write: (writer, value) => {
      if (!isDefault(value)) writeScalar(writer, id, scalar, value)
    },
  }
}

function present<T>(id: number, scalar: Scalar<T>): Field<T | undefined> {
  return {
    id,
    absent: () => undefined,
    read: (reader) => scalar.read(reader),
    write: (writer, value) => {
      if (value !== undefined) writeScalar(writer, id, scalar, value)
    },
  }
}

export const string = (id: number): Field<string> => plain(id, STRING)
export const bytes = (id: number): Field<Uint8Array> => plain(id, BYTES)
export const bool = (id: number): Field<boolean> => plain(id, BOOL)
export const int64 = (id: number): Field<number> => plain(id, INT64)
/** An enum or a small number: the same varint on the wire. */
export const uint32 = (id: number): Field<number> => plain(id, INT64)

/** A string of a oneof or an `optional` field: `''` is written, absence is `undefined`. */
export const presentString = (id: number): Field<string | undefined> => present(id, STRING)
/** A number of a oneof or an `optional` field: 0 is written, absence is `undefined`. */
export const presentInt64 = (id: number): Field<number | undefined> => present(id, INT64)

function writeMessage<T>(writer: WireWriter, id: number, codec: Message<T>, value: Partial<T>): void {
  writer.tag(id, WIRE_TYPE.lengthDelimited)
  writer.message((inner) => codec.writeInto(inner, value))
}

/** A nested message; `undefined` when it is not on the wire. */
export function nested<T>(id: number, codec: Message<T>): Field<Partial<T> | undefined> {
  return {
    id,
    absent: () => undefined,
    read: (reader) => codec.decode(reader.bytes()),
    write: (writer, value) => {
      if (value !== undefined) writeMessage(writer, id, codec, value)
    },
  }
}

/** Messages in order; empty when none is on the wire. */
export function repeated<T>(id: number, codec: Message<T>): Field<readonly Partial<T>[]> {
  return {
    id,
    absent: () => [],
    read: (reader, before) => [...before, codec.decode(reader.bytes())],
    write: (writer, values) => {
      for (const value of values) writeMessage(writer, id, codec, value)
    },
  }
}

/** A `map<string, Message>`; empty when none is on the wire. */
export function mapOf<T>(id: number, codec: Message<T>): Field<ReadonlyMap<string, Partial<T>>> {
  const entry = message({ key: string(1), value: nested(2, codec) })
  return {
    id,
    absent: () => new Map(),
    read: (reader, before) => {
      const { key, value } = entry.decode(reader.bytes())
      return new Map(before).set(key, value ?? codec.decode(new Uint8Array(0)))
    },
    write: (writer, values) => {
      for (const [key, value] of values) writeMessage(writer, id, entry, { key, value })
    },
  }
}

/** The codec that `find` returns; for recursive messages. `find` is called at first use. */
export function lazily<T>(find: () => Message<T>): Message<T> {
  return {
    encode: (value) => find().encode(value),
    decode: (given) => find().decode(given),
    writeInto: (writer, value) => find().writeInto(writer, value),
  }
}
