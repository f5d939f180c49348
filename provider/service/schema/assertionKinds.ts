/** The kinds of assertion as attributes, of which exactly one is set, with one operator of its family. */
import type { AssertionKind } from '../../../api/contract/assertion.ts'
import type { DURATION_OPERATORS, INTEGER_OPERATORS, TEXT_OPERATORS } from './operators.ts'
import { durationText, sameDurations, sameHeaderName } from './spellings.ts'

/** The attribute for each kind. */
export const KINDS = {
  StatusCode: 'status_code',
  Latency: 'latency',
  DnsResoltion: 'dns_resolution',
  Header: 'header',
  Body: 'body',
} as const satisfies Readonly<Record<AssertionKind, string>>

/** An attribute for each attribute name in `Table`. */
type AttributesOf<Table> = Readonly<Record<Table[keyof Table] & string, object>>

const integerOperators = {
  eq: { type: 'number', optional: true, description: 'Equal to this value. API: `Eq`.' },
  ne: { type: 'number', optional: true, description: 'Not equal to this value. API: `NotEq`.' },
  gt: { type: 'number', optional: true, description: 'Greater than this value. API: `GreaterThan`.' },
  gte: {
    type: 'number',
    optional: true,
    description: 'Greater than or equal to this value. API: `GreaterOrEqual`.',
  },
  lt: { type: 'number', optional: true, description: 'Less than this value. API: `LessThan`.' },
  lte: {
    type: 'number',
    optional: true,
    description: 'Less than or equal to this value. API: `LessOrEqual`.',
  },
  between: {
    type: { list: 'number' },
    optional: true,
    description: 'Lower and upper bound, both inclusive. API: `Between`.',
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
    description: 'Shortest and longest duration, both inclusive. API: `Between`.',
  },
} as const satisfies AttributesOf<typeof DURATION_OPERATORS>

const textOperators = {
  eq: { type: 'string', optional: true, description: 'Exactly this text. API: `Equals`.' },
  contains: { type: 'string', optional: true, description: 'Contains this text. API: `Contains`.' },
  starts_with: { type: 'string', optional: true, description: 'Starts with this text. API: `StartsWith`.' },
  ends_with: { type: 'string', optional: true, description: 'Ends with this text. API: `EndsWith`.' },
  regex: {
    type: 'string',
    optional: true,
    description: 'Regular expression in RE2 syntax: no look-around, no back-references. API: `Regex`.',
  },
} as const satisfies AttributesOf<typeof TEXT_OPERATORS>

export const assertionAttributes = {
  status_code: {
    nesting: 'single',
    optional: true,
    description: 'Expected status code. Exactly one operator. API: `StatusCode`.',
    attributes: integerOperators,
  },
  latency: {
    nesting: 'single',
    optional: true,
    description: 'Expected response time. Exactly one operator. API: `Latency`.',
    attributes: {
      phase: {
        type: 'string',
        required: true,
        description: 'Time to measure: `headers`, `body` or `total`. API: `l_type`.',
      },
      ...durationOperators,
    },
  },
  dns_resolution: {
    nesting: 'single',
    optional: true,
    description: 'Expected time to resolve the host name. Exactly one operator. API: `DnsResoltion`.',
    attributes: durationOperators,
  },
  header: {
    nesting: 'single',
    optional: true,
    description: 'Expected value of a response header. Exactly one operator. API: `Header`.',
    attributes: {
      name: {
        type: 'string',
        required: true,
        equal: sameHeaderName,
        description: 'Name of the header, case-insensitive.',
      },
      ...textOperators,
    },
  },
  body: {
    nesting: 'single',
    optional: true,
    description: 'Expected response body. Exactly one operator. API: `Body`.',
    attributes: textOperators,
  },
} as const satisfies AttributesOf<typeof KINDS>
