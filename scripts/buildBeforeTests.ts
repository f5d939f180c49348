import { buildAll } from './build.mjs'

/** Whole-program tests run what a user runs, so the bundles are made from the sources under test first. */
export default buildAll
