/**
 * Protobuf messages described by a table of fields, from which both the codec and the TypeScript type follow.
 *
 * Terraform starts a provider several times per command, so nothing here parses .proto text or generates code
 * at start: a message is a few closures over protobufjs' Reader and Writer.
 */
import protobuf from 'protobufjs/minimal.js'

type Reader = protobuf.Reader
type Writer = protobuf.Writer

const VARINT = 0
const LENGTH_DELIMITED = 2

/** How one field of a message is read, written and defaulted. `T` is the field's type after decoding. */
export interface Field<T> {
  readonly id: number
  /** The value of a field that is not on the wire. */
  absent(): T
  /** Reads one occurrence; `before` is what the field held until then, which repeated fields extend. */
  read(reader: Reader, before: T): T
  /** Writes the field with its tag, or nothing when the value is the default. */
  write(writer: Writer, value: T): void
}

type Fields = { readonly [name: string]: Field<unknown> }
type FieldType<F> = F extends { absent(): infer T } ? T : never

/** A message as decoded: every field is there, `undefined` where an optional one was not on the wire. */
export type Decoded<F> = { readonly [K in keyof F]: FieldType<F[K]> }

/** Reads and writes one kind of message. `T` is the decoded form; to encode, fields may be left out. */
export interface Message<T> {
  encode(value: Partial<T>): Buffer
  decode(bytes: Uint8Array): T
  writeInto(writer: Writer, value: Partial<T>): void
}

/** The decoded form of a message: `type Diagnostic = MessageOf<typeof diagnostic>`. */
export type MessageOf<M> = M extends { decode(bytes: Uint8Array): infer T } ? T : never

/** Builds the codec of a message from its fields. Fields that the table does not name are skipped when read. */
export function message<const F extends Fields>(fields: F): Message<Decoded<F>> {
  const table: [string, Field<unknown>][] = Object.entries(fields)
  const byId = new Map(table.map(([name, field]) => [field.id, { name, field }]))

  const writeInto = (writer: Writer, value: { readonly [name: string]: unknown }): void => {
    for (const [name, field] of table) {
      const given = value[name]
      if (given !== undefined) field.write(writer, given)
    }
  }
  const decode = (bytes: Uint8Array): Decoded<F> => {
    const reader = protobuf.Reader.create(bytes)
    const decoded: Record<string, unknown> = {}
    for (const [name, field] of table) decoded[name] = field.absent()
    while (reader.pos < reader.len) {
      const tag = reader.uint32()
      const known = byId.get(tag >>> 3)
      if (known === undefined) reader.skipType(tag & 7)
      else decoded[known.name] = known.field.read(reader, decoded[known.name])
    }
    // Every field of F was given its absent() value above and only replaced by its own read().
    return decoded as Decoded<F>
  }
  const encode = (value: { readonly [name: string]: unknown }): Buffer => {
    const writer = protobuf.Writer.create()
    writeInto(writer, value)
    const bytes = writer.finish()
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
  return { encode, decode, writeInto }
}

interface Scalar<T> {
  readonly wireType: number
  readonly zero: T
  read(reader: Reader): T
  write(writer: Writer, value: T): void
}

const STRING: Scalar<string> = {
  wireType: LENGTH_DELIMITED,
  zero: '',
  read: (reader) => reader.string(),
  write: (writer, value) => writer.string(value),
}

const BYTES: Scalar<Uint8Array> = {
  wireType: LENGTH_DELIMITED,
  zero: new Uint8Array(0),
  // The reader's slice points into the whole request, which it would keep alive.
  read: (reader) => Uint8Array.from(reader.bytes()),
  write: (writer, value) => writer.bytes(value),
}

const BOOL: Scalar<boolean> = {
  wireType: VARINT,
  zero: false,
  read: (reader) => reader.bool(),
  write: (writer, value) => writer.bool(value),
}

/** 64-bit fields of this protocol hold versions, counts and indices: a JavaScript number is wide enough. */
const INT64: Scalar<number> = {
  wireType: VARINT,
  zero: 0,
  read: (reader) => Number(reader.int64().toString()),
  write: (writer, value) => writer.int64(value),
}

const isDefault = (value: unknown): boolean =>
  value === '' || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0)

function plain<T>(id: number, scalar: Scalar<T>): Field<T> {
  return {
    id,
    absent: () => scalar.zero,
    read: (reader) => scalar.read(reader),
    write: (writer, value) => {
      if (!isDefault(value)) scalar.write(writer.uint32((id << 3) | scalar.wireType), value)
    },
  }
}

function present<T>(id: number, scalar: Scalar<T>): Field<T | undefined> {
  return {
    id,
    absent: () => undefined,
    read: (reader) => scalar.read(reader),
    write: (writer, value) => {
      if (value !== undefined) scalar.write(writer.uint32((id << 3) | scalar.wireType), value)
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

function writeMessage<T>(writer: Writer, id: number, codec: Message<T>, value: Partial<T>): void {
  codec.writeInto(writer.uint32((id << 3) | LENGTH_DELIMITED).fork(), value)
  writer.ldelim()
}

/** A message inside a message; `undefined` when it is not on the wire. */
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

/** The codec that `find` gives, looked up when it is used: for messages that contain themselves. */
export function lazily<T>(find: () => Message<T>): Message<T> {
  return {
    encode: (value) => find().encode(value),
    decode: (given) => find().decode(given),
    writeInto: (writer, value) => find().writeInto(writer, value),
  }
}
