import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startTarget, type Target } from '../../server/testing/target.ts'
import { openRecipe, openShop, type Shop } from './testing/shop.ts'

const SECRETS = {
  PHAROS_STATE_KEY: 'ab'.repeat(32),
  SHOP_PROBE_TOKEN: 'canary-5ab1',
  PHAROS_GIT_TOKEN: 'unused',
}
const MANIFEST = ['monitoring/services/catalogue.yaml']

/** Where one of the services is. */
const PAGE = /https:\/\/\S+\/$/m

/** The step that runs the checks, for the one service that is there, on this machine. */
function withLocalChecks(recipe: string): string {
  return recipe.replace(/pharos test .*?--env \w+/, '$& --target website --allow-ranges 127.0.0.0/8')
}

let shop: Shop
let page: Target
beforeEach(async () => {
  page = await startTarget()
  shop = await openShop((work) => {
    cpSync(join(import.meta.dirname, '../gitops'), join(work, 'monitoring'), { recursive: true })
    const file = join(work, 'monitoring/services/website.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace(PAGE, page.url('/')))
  })
})
afterEach(async () => {
  page.close()
  await shop.close()
})

test.each(['github.yml', 'gitlab.yml'])(
  'Scenario 52: with %s a plan is a comment that later runs edit, a merge applies it, and drift fails at night',
  // Some thirty processes, one after the other.
  { timeout: 240_000 },
  async (file) => {
    const { client } = shop
    const recipe = await openRecipe(shop, file, SECRETS, withLocalChecks)
    const { run, exitCodesOf, pullRequest, again, platform } = recipe

    const first = await run('push')
    expect(first.apply?.output).toContain('Applied: 4 created')
    expect(exitCodesOf(first)).toEqual({ apply: 0 })
    expect((await client.listServices()).services).toHaveLength(4)

    shop.edit(MANIFEST, 'interval: 30s', 'interval: 50s')
    expect(exitCodesOf(await run(pullRequest))).toEqual({ validate: 0, test: 0, plan: 0 })
    expect(page.visits('/').length).toBe(1)
    expect(platform.comments[1]?.body).toContain('### Plan: 1 to update, 3 unchanged')
    expect(platform.comments[1]?.body).toContain('interval: 30s → 50s')

    shop.edit(MANIFEST, 'interval: 50s', 'intervall: 50s')
    const broken = await run(pullRequest)
    expect(exitCodesOf(broken)).toEqual({ validate: 7, test: 7, plan: 1 })
    expect(platform.writes).toEqual([recipe.posted, recipe.edited])
    expect(platform.comments[1]?.body).toContain('did you mean interval?')
    shop.edit(MANIFEST, 'intervall: 50s', 'interval: 50s')

    expect(exitCodesOf(await run(again))).toEqual({ apply: 0 })
    expect(exitCodesOf(await run('schedule'))).toEqual({ drift: 0 })
    const { services } = await client.listServices()
    await client.pauseService(services.find(({ name }) => name === 'Newsletter')?.id ?? '')
    await client.deleteService(services.find(({ name }) => name === 'Website')?.id ?? '')
    const night = await run('schedule')
    expect(exitCodesOf(night)).toEqual({ drift: 2 })
    expect(night.drift?.output).toContain('was deleted')
    expect(JSON.stringify([platform.comments, broken, night])).not.toContain(SECRETS.SHOP_PROBE_TOKEN)
    expect(recipe.ran()).toEqual(recipe.jobs)
    await platform.close()
  },
)
