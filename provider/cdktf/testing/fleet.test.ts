import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { libraries, synthesised } from './libraries.ts'

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-fleet-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  return folder
}

describe.each(libraries)('a fleet on $name', (library) => {
  const { MonitoredService, ServiceGroup, documentsIn, duration, get, monitorEach } = library.pharos
  const { TerraformStack, TerraformVariable, Testing } = library.terraform
  const shared = { regions: ['eu-west-1'] }

  test('gives the same services from a list, in any order, from a record and one by one', () => {
    const one = synthesised(library, (stack) => {
      new MonitoredService(stack, 'web_shop', {
        ...shared,
        name: 'Web shop',
        endpoints: get('https://a.example/'),
      })
      new MonitoredService(stack, 'blog', { ...shared, name: 'blog', endpoints: get('https://b.example/') })
    })
    const hosts = [
      { name: 'blog', url: 'https://b.example/' },
      { name: 'Web shop', url: 'https://a.example/' },
    ]

    const listed = synthesised(library, (stack) => {
      monitorEach(stack, hosts, ({ name, url }) => ({ ...shared, name, endpoints: get(url) }))
    })
    const recorded = synthesised(library, (stack) => {
      const fleet = monitorEach(
        stack,
        { blog: ['blog', 'https://b.example/'], web_shop: ['Web shop', 'https://a.example/'] } as const,
        ([name, url]) => ({ ...shared, name, endpoints: get(url) }),
      )
      expect(fleet.web_shop.friendlyUniqueId).toBe('web_shop')
    })

    expect(listed).toEqual(one)
    expect(recorded).toEqual(one)
  })

  test('gives the same services from groups, whose settings services and nested groups may override', () => {
    const one = synthesised(library, (stack) => {
      const common = { regions: ['eu-west-1'], interval: '5m', timeouts: { create: '1m' } } as const
      new MonitoredService(stack, 'home', { ...common, endpoints: get('https://a.example/') })
      new MonitoredService(stack, 'pay', {
        ...{ ...common, interval: '10s', name: 'Payments', regions: ['us-east-1'] },
        endpoints: get('https://b.example/'),
      })
      new MonitoredService(stack, 'blog', {
        ...common,
        interval: '10s',
        endpoints: get('https://c.example/'),
      })
    })

    const grouped = synthesised(library, (stack) => {
      const shop = new ServiceGroup(stack, {
        ...{ regions: ['eu-west-1'], interval: '5m', timeouts: { create: '1m' } },
      })
      shop.monitor('home', { interval: undefined, endpoints: get('https://a.example/') })
      const often = shop.with({ interval: '10s' })
      often.monitor('pay', {
        ...{ name: 'Payments', regions: ['us-east-1'] },
        endpoints: get('https://b.example/'),
      })
      const made = often.monitorEach({ blog: 'c.example' }, (host) => ({
        endpoints: get(`https://${host}/`),
      }))
      expect(made.blog.friendlyUniqueId).toBe('blog')
    })

    expect(grouped).toEqual(one)
  })

  test('refuses two services with one address, and a name that yields no address', () => {
    const stack = new TerraformStack(Testing.app(), 'stack')
    const fleet = (...names: readonly string[]) =>
      monitorEach(stack, names, (name) => ({ ...shared, name, endpoints: get('https://a.example/') }))

    expect(() => fleet('Web shop', 'web-shop')).toThrow("already a Construct with name 'web_shop'")
    expect(() => fleet('…')).toThrow('no Terraform address can be derived from the name "…"')
  })

  test('refuses keys that would merge two services into one, and keys that give no valid address', () => {
    const stack = new TerraformStack(Testing.app(), 'stack')
    const fleet = (...keys: readonly string[]) =>
      monitorEach(stack, Object.fromEntries(keys.map((key) => [key, key])), () => ({
        ...shared,
        endpoints: get('https://a.example/'),
      }))

    expect(() => fleet('shop.eu', 'shopeu')).toThrow(
      '"stack/shop.eu" and "stack/shopeu" have the same Terraform address, pharos_service.shopeu: rename one',
    )
    expect(() => fleet('日本')).toThrow('no Terraform address can be made from the id "日本"')
    expect(() => fleet('1st')).toThrow('no Terraform address can be made from the id "1st"')
    expect(Object.keys(fleet('blog.example.com', '_x', 'Web-shop'))).toHaveLength(3)
  })

  test('names the entry whose definition fails, such as a document without an expected member', () => {
    const stack = new TerraformStack(Testing.app(), 'stack')
    interface Page {
      readonly token: string
      readonly timeout: string
    }
    const { shop, blog, docs }: Record<'shop' | 'blog' | 'docs', Page> = JSON.parse(
      '{"shop": {"token": "a", "timeout": "5s"}, "blog": {"timeout": "5s"}, "docs": {"token": "a", "timeout": "5"}}',
    )
    const definitionOf = ({ token, timeout }: Page) => ({
      ...shared,
      name: token,
      endpoints: get('https://a.example/').header('X-Token', token).timeout(duration(timeout)),
    })

    expect(() => monitorEach(stack, { shop, blog }, definitionOf)).toThrow(
      'service stack/blog: the value of the header "X-Token" is neither a string nor a secret',
    )
    expect(() => monitorEach(stack, [shop, docs], definitionOf)).toThrow(
      'service stack/entry 2: "5" is not a duration',
    )
  })

  test('refuses names and keys that only Terraform can resolve, which would change the address at each run', () => {
    const stack = new TerraformStack(Testing.app(), 'stack')
    const { stringValue } = new TerraformVariable(stack, 'team', { type: 'string' })
    const config = { ...shared, endpoints: get('https://a.example/') }

    expect(() => monitorEach(stack, [stringValue], (name) => ({ ...config, name }))).toThrow(
      'a name that only Terraform knows makes no stable address',
    )
    expect(() => monitorEach(stack, { [stringValue]: 1 }, () => config)).toThrow(/token/i)
  })

  test('is read from a folder of files with one service each', () => {
    const folder = folderOf({
      'shop.yaml': 'host: shop.example\npaths: [/, /health]\n',
      'blog.json': '{"host": "blog.example", "paths": ["/"]}',
      'README.md': 'not a service',
    })
    mkdirSync(join(folder, 'archive'))
    const page = (content: unknown): { readonly host: string; readonly paths: readonly string[] } => {
      const { host, paths } = content as { host: string; paths: string[] }
      return { host, paths }
    }

    const document = synthesised(library, (stack) => {
      monitorEach(stack, documentsIn(folder, page), ({ host, paths }) => ({
        ...shared,
        endpoints: paths.map((path) => get(`https://${host}${path}`)),
      }))
    })

    expect(document.resource).toMatchObject({
      pharos_service: {
        blog: { name: 'blog', endpoints: [{ url: 'https://blog.example/' }] },
        shop: { endpoints: [{ url: 'https://shop.example/' }, { url: 'https://shop.example/health' }] },
      },
    })
  })

  test('names the file that cannot be read, and refuses a folder without files', () => {
    const broken = folderOf({ 'shop.yaml': 'a: [\n' })
    const other = folderOf({ 'shop.yaml': 'host: 7\n' })
    const double = folderOf({ 'shop.yaml': 'a: 1', 'shop.json': '{}' })
    const refuse = (): never => {
      throw new Error('host is not a text')
    }

    expect(() => documentsIn(broken)).toThrow(/shop\.yaml: .*\(2:1\)/s)
    expect(() => documentsIn(other, refuse)).toThrow(/shop\.yaml: host is not a text/)
    expect(() => documentsIn(double)).toThrow(/another file is named shop too/)
    expect(() => documentsIn(folderOf({}))).toThrow(/holds no \.yaml, \.yml, \.json file/)
  })
})
