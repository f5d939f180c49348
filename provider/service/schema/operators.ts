/** The names of operators, phases and subjects in the contract and in attributes, in one table for both directions. */
import type {
  DurationOperator,
  IntegerOperator,
  LATENCY_TYPES,
  TextOperator,
} from '../../../api/contract/assertion.ts'

export const INTEGER_OPERATORS = {
  Eq: 'eq',
  NotEq: 'ne',
  GreaterThan: 'gt',
  GreaterOrEqual: 'gte',
  LessThan: 'lt',
  LessOrEqual: 'lte',
  Between: 'between',
  OneOf: 'one_of',
} as const satisfies Readonly<Record<IntegerOperator, string>>

export const DURATION_OPERATORS = {
  LessThan: 'lt',
  LessOrEqual: 'lte',
  Between: 'between',
} as const satisfies Readonly<Record<DurationOperator, string>>

export const TEXT_OPERATORS = {
  Equals: 'eq',
  Contains: 'contains',
  StartsWith: 'starts_with',
  EndsWith: 'ends_with',
  Regex: 'regex',
} as const satisfies Readonly<Record<TextOperator, string>>

/** The operators of each family. */
export const OPERATORS = {
  integer: INTEGER_OPERATORS,
  duration: DURATION_OPERATORS,
  text: TEXT_OPERATORS,
} as const

export const PHASES = {
  HeadersLatency: 'headers',
  BodyLatency: 'body',
  TotalLatency: 'total',
} as const satisfies Readonly<Record<(typeof LATENCY_TYPES)[number], string>>

/** The attribute for the subject of an assertion. */
export const SUBJECTS = { l_type: 'phase', name: 'name' } as const

/** The attribute name in `table` for the contract's name `theirs`; `undefined` for none. Pure. */
export function attributeNameOf<Table extends Readonly<Record<string, string>>>(
  table: Table,
  theirs: string,
): Table[keyof Table] | undefined {
  // True because the table has this key.
  return Object.hasOwn(table, theirs) ? (table[theirs] as Table[keyof Table]) : undefined
}

/** The contract's name for the attribute name `ours`. Pure. */
export function contractNameOf<Table extends Readonly<Record<string, string>>>(
  table: Table,
  ours: Table[keyof Table],
): keyof Table & string {
  // True because `ours` is one of the table's values.
  return Object.keys(table).find((theirs) => table[theirs] === ours) as keyof Table & string
}
