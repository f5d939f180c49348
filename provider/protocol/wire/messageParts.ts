/** The parts of the messages of the plugin protocol: values, paths, diagnostics, schemas, signatures, identities. */
import {
  bool,
  bytes,
  int64,
  lazily,
  type Message,
  type MessageOf,
  message,
  nested,
  presentInt64,
  presentString,
  repeated,
  string,
  uint32,
} from './message.ts'

export const empty = message({})

export const dynamicValue = message({ msgpack: bytes(1), json: bytes(2) })

const attributePathStep = message({
  attributeName: presentString(1),
  elementKeyString: presentString(2),
  elementKeyInt: presentInt64(3),
})
export type WirePathStep = Partial<MessageOf<typeof attributePathStep>>

export const attributePath = message({ steps: repeated(1, attributePathStep) })
export type WirePath = Partial<MessageOf<typeof attributePath>>

/** Values of `Diagnostic.severity`. */
export const SEVERITY = { error: 1, warning: 2 } as const

export const diagnostic = message({
  severity: uint32(1),
  summary: string(2),
  detail: string(3),
  attribute: nested(4, attributePath),
})
export type WireDiagnostic = Partial<MessageOf<typeof diagnostic>>

export const clientCapabilities = message({ writeOnlyAttributesAllowed: bool(2) })

export const serverCapabilities = message({ planDestroy: bool(1), getProviderSchemaOptional: bool(2) })

/** `StringKind`: the format of a description. */
export const MARKDOWN = 1

/** Values of a nested attribute's `nesting`. */
export const NESTING = { single: 1, list: 2, set: 3, map: 4 } as const

/** One attribute of a schema; nested attributes have `nestedType` instead of `type`. */
export interface WireAttribute {
  readonly name: string
  readonly type: Uint8Array
  readonly description: string
  readonly required: boolean
  readonly optional: boolean
  readonly computed: boolean
  readonly sensitive: boolean
  readonly descriptionKind: number
  readonly nestedType: Partial<WireObjectType> | undefined
  readonly writeOnly: boolean
}

/** The attributes of a nested attribute, and its nesting. */
interface WireObjectType {
  readonly attributes: readonly Partial<WireAttribute>[]
  readonly nesting: number
}

const attribute: Message<WireAttribute> = message({
  name: string(1),
  type: bytes(2),
  description: string(3),
  required: bool(4),
  optional: bool(5),
  computed: bool(6),
  sensitive: bool(7),
  descriptionKind: uint32(8),
  nestedType: nested(
    10,
    lazily(() => objectType),
  ),
  writeOnly: bool(11),
})

const objectType: Message<WireObjectType> = message({
  attributes: repeated(1, attribute),
  nesting: uint32(3),
})

const block = message({
  attributes: repeated(2, attribute),
  description: string(4),
  descriptionKind: uint32(5),
})

export const schema = message({ version: int64(1), block: nested(2, block) })
export type WireSchema = Partial<MessageOf<typeof schema>>

const functionParameter = message({
  name: string(1),
  type: bytes(2),
  description: string(5),
  descriptionKind: uint32(6),
})

export const functionSignature = message({
  parameters: repeated(1, functionParameter),
  returns: nested(3, message({ type: bytes(1) })),
  summary: string(4),
  description: string(5),
  descriptionKind: uint32(6),
})
export type WireFunction = Partial<MessageOf<typeof functionSignature>>

export const identityData = message({ data: nested(1, dynamicValue) })
export type WireIdentity = Partial<MessageOf<typeof identityData>>
