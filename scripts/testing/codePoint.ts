import fc from 'fast-check'

const SURROGATES_FIRST = 0xd800
const SURROGATES = 0x800

/**
 * Any character of Unicode, as unit of a string. The unit `binary` of fast-check is the same, but lists a million
 * characters before the first: half a second in each process.
 */
export const codePoint = fc
  .integer({ min: 0, max: 0x10_ffff - SURROGATES })
  .map((place) => String.fromCodePoint(place < SURROGATES_FIRST ? place : place + SURROGATES))
