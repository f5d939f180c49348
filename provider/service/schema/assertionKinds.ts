/** The kinds of assertion as attributes: one of them, with one operator of its family. */
import type { AssertionKind } from '../../../api/contract/assertion.ts'
import type { DURATION_OPERATORS, INTEGER_OPERATORS, TEXT_OPERATORS } from './operators.ts'
import { durationText, sameDurations, sameHeaderName } from './spellings.ts'

/** Our attribute for each kind. */
export const KINDS = {
  StatusCode: 'status_code',
  Latency: 'latency',
  DnsResoltion: 'dns_resolution',
  Header: 'header',
  Body: 'body',
} as const satisfies Readonly<Record<AssertionKind, string>>

/** An attribute for each of our names in `Table`. */
type AttributesOf<Table> = Readonly<Record<Table[keyof Table] & string, object>>

const integerOperators = {
  eq: { type: 'number', optional: true, description: 'Equal to this value. API: `Eq`.' },
  ne: { type: 'number', optional: true, description: 'Anything but this value. API: `NotEq`.' },
  gt: { type: 'number', optional: true, description: 'Greater than this value. API: `GreaterThan`.' },
  gte: { type: 'number', optional: true, description: 'This value or greater. API: `GreaterOrEqual`.' },
  lt: { type: 'number', optional: true, description: 'Less than this value. API: `LessThan`.' },
  lte: { type: 'number', optional: true, description: 'This value or less. API: `LessOrEqual`.' },
  between: {
    type: { list: 'number' },
    optional: true,
    description: 'Two bounds, both included, the lower one first. API: `Between`.',
  },
  one_of: { type: { set: 'number' }, optional: true, description: 'Any of these values. API: `OneOf`.' },
} as const satisfies AttributesOf<typeof INTEGER_OPERATORS>

const durationOperators = {
  lt: { ...durationText, description: 'Shorter than this duration, such as `800ms`. API: `LessThan`.' },
  lte: { ...durationText, description: 'At most this duration. API: `LessOrEqual`.' },
  between: {
    type: { list: 'string' },
    optional: true,
    equal: sameDurations,
    description: 'Two durations, both included, the shorter one first. API: `Between`.',
  },
} as const satisfies AttributesOf<typeof DURATION_OPERATORS>

const textOperators = {
  eq: { type: 'string', optional: true, description: 'Exactly this text. API: `Equals`.' },
  contains: { type: 'string', optional: true, description: 'This text somewhere inside. API: `Contains`.' },
  starts_with: { type: 'string', optional: true, description: 'This text at the start. API: `StartsWith`.' },
  ends_with: { type: 'string', optional: true, description: 'This text at the end. API: `EndsWith`.' },
  regex: {
    type: 'string',
    optional: true,
    description: 'A regular expression in RE2 syntax: no look-around, no back-references. API: `Regex`.',
  },
} as const satisfies AttributesOf<typeof TEXT_OPERATORS>

export const assertionAttributes = {
  status_code: {
    nesting: 'single',
    optional: true,
    description: 'What the status code has to be. Exactly one operator. API: `StatusCode`.',
    attributes: integerOperators,
  },
  latency: {
    nesting: 'single',
    optional: true,
    description: 'How long the answer may take. Exactly one operator. API: `Latency`.',
    attributes: {
      phase: {
        type: 'string',
        required: true,
        description: 'Which time: `headers`, `body` or `total`. API: `l_type`.',
      },
      ...durationOperators,
    },
  },
  dns_resolution: {
    nesting: 'single',
    optional: true,
    description: 'How long resolving the name may take. Exactly one operator. API: `DnsResoltion`.',
    attributes: durationOperators,
  },
  header: {
    nesting: 'single',
    optional: true,
    description: 'What a header of the answer has to be. Exactly one operator. API: `Header`.',
    attributes: {
      name: {
        type: 'string',
        required: true,
        equal: sameHeaderName,
        description: 'Name of the header, in any case.',
      },
      ...textOperators,
    },
  },
  body: {
    nesting: 'single',
    optional: true,
    description: 'What the body of the answer has to be. Exactly one operator. API: `Body`.',
    attributes: textOperators,
  },
} as const satisfies AttributesOf<typeof KINDS>
