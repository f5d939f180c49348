/** Whether `npm run torture` runs the tests: what takes long for what it adds is done in full only then. */
export const isTorture = process.env.PHAROS_TEST_TORTURE === 'yes'

/** How many random cases are tried: `few` in the suite, `many` in the torture. */
export const cases = (few: number, many: number): number => (isTorture ? many : few)
