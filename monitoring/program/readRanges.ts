import { InvalidArgumentError } from 'commander'
import { isAddressRange } from '../check/network/addressRules.ts'

/**
 * The address ranges of an option, separated by commas. Throws an InvalidArgumentError that names an invalid one. Pure.
 */
export function readRanges(text: string): readonly string[] {
  const ranges = text.split(',')
  const wrong = ranges.find((range) => !isAddressRange(range))
  if (wrong === undefined) return ranges
  throw new InvalidArgumentError(`"${wrong}" is not an address range such as 10.0.0.0/8`)
}
