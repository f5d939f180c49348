/** Whether `npm run torture` runs the tests. Only then do long tests of little value run in full. */
export const isTorture = process.env.PHAROS_TEST_TORTURE === 'yes'

/** Number of random cases: `few` in the suite, `many` in the torture. */
export const cases = (few: number, many: number): number => (isTorture ? many : few)
