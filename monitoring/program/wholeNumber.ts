import { InvalidArgumentError } from 'commander'

/** Parses an option whose value is a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}`)
  }
}
