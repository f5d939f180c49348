/** The kinds of assertion as attributes, of which exactly one is set, with one operator of its family. */
import type { AssertionKind } from '../../../api/contract/assertion.ts'
import { optional, required } from '../../protocol/authoring/schema.ts'
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
  eq: optional('number', 'Equal to this value. API: `Eq`.'),
  ne: optional('number', 'Not equal to this value. API: `NotEq`.'),
  gt: optional('number', 'Greater than this value. API: `GreaterThan`.'),
  gte: optional('number', 'Greater than or equal to this value. API: `GreaterOrEqual`.'),
  lt: optional('number', 'Less than this value. API: `LessThan`.'),
  lte: optional('number', 'Less than or equal to this value. API: `LessOrEqual`.'),
  between: optional({ list: 'number' }, 'Lower and upper bound, both inclusive. API: `Between`.'),
  one_of: optional({ set: 'number' }, 'Any of these values. API: `OneOf`.'),
} as const satisfies AttributesOf<typeof INTEGER_OPERATORS>

const durationOperators = {
  lt: durationText('Shorter than this duration, such as `800ms`. API: `LessThan`.'),
  lte: durationText('At most this duration. API: `LessOrEqual`.'),
  between: {
    ...optional({ list: 'string' }, 'Shortest and longest duration, both inclusive. API: `Between`.'),
    equal: sameDurations,
  },
} as const satisfies AttributesOf<typeof DURATION_OPERATORS>

const textOperators = {
  eq: optional('string', 'Exactly this text. API: `Equals`.'),
  contains: optional('string', 'Contains this text. API: `Contains`.'),
  starts_with: optional('string', 'Starts with this text. API: `StartsWith`.'),
  ends_with: optional('string', 'Ends with this text. API: `EndsWith`.'),
  regex: optional(
    'string',
    'Regular expression in RE2 syntax: no look-around, no back-references. API: `Regex`.',
  ),
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
      phase: required('string', 'Time to measure: `headers`, `body` or `total`. API: `l_type`.'),
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
      name: { ...required('string', 'Name of the header, case-insensitive.'), equal: sameHeaderName },
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
