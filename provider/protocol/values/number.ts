/**
 * Terraform's numbers: decimals of any size, each with exactly one representation.
 *
 * | number | held as |
 * | --- | --- |
 * | integer up to 2^53-1 in size | `number` |
 * | larger integer | `bigint` |
 * | fraction that `Number` prints back unchanged | `number` |
 * | any other decimal | `Decimal` |
 */

/** A number that neither `number` nor `bigint` can represent. `text` is its canonical decimal text. */
export class Decimal {
  readonly text: string

  /** `text` must be canonical; use `numberFromText`, which decides whether a Decimal is needed at all. */
  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

export type NumberValue = number | bigint | Decimal

/** Integers with an exponent and more digits than this are kept as text, so that `1e999999999` takes no memory. */
const EXPANDED_DIGITS_MAX = 1_000

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,15}))?$/

/** The parts of a decimal: `sign digits * 10^exponent`, without zeros at either end of `digits`. */
interface Parts {
  readonly sign: string
  readonly digits: string
  readonly exponent: number
}

function partsOf(text: string): Parts | undefined {
  const match = DECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match
  const unpadded = (whole + fraction).replace(/^0+/, '')
  const digits = unpadded.replace(/0+$/, '')
  if (digits === '') return { sign: '', digits: '0', exponent: 0 }
  const exponent = Number(exponentText) - fraction.length + (unpadded.length - digits.length)
  return { sign: sign === '-' ? '-' : '', digits, exponent }
}

const samePart = (a: Parts, b: Parts): boolean =>
  a.sign === b.sign && a.digits === b.digits && a.exponent === b.exponent

function integerValue(value: bigint): NumberValue {
  const small = Number(value)
  return Number.isSafeInteger(small) ? small : value
}

/** Reads decimal text such as `-12.50` or `1e9`. `undefined` when it is not a decimal number. */
export function numberFromText(text: string): NumberValue | undefined {
  const parts = partsOf(text)
  if (parts === undefined) return undefined
  const { sign, digits, exponent } = parts
  if (exponent >= 0 && digits.length + exponent <= EXPANDED_DIGITS_MAX) {
    return integerValue(BigInt(`${sign}${digits}${'0'.repeat(exponent)}`))
  }
  const near = Number(text)
  const printed = Number.isFinite(near) ? partsOf(String(near)) : undefined
  if (exponent < 0 && printed !== undefined && samePart(printed, parts)) return near
  return new Decimal(`${sign}${digits}e${exponent}`)
}

/** The one representation of `value`; for example 2^60 given as a `number` becomes a `bigint`. */
export function canonicalNumber(value: NumberValue): NumberValue {
  if (value instanceof Decimal) return numberFromText(value.text) ?? value
  if (typeof value === 'bigint') return integerValue(value)
  if (Object.is(value, -0)) return 0
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value
}

/** Whether two numbers are the same decimal. Both must be canonical, as every decoded value is. */
export function equalNumbers(a: NumberValue, b: NumberValue): boolean {
  if (a instanceof Decimal) return b instanceof Decimal && a.text === b.text
  return a === b
}
