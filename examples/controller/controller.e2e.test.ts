import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { faceMetrics } from '../../reconciler/controller/face/faceMetrics.ts'
import { metricsOf } from '../../reconciler/controller/metrics.ts'

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8')

test('the alert rules ask only for metrics and conditions that there are', async () => {
  const status = () => ({ version: '', startedAt: '', at: '', replica: '', sets: [] })
  const { registry } = metricsOf(status, Date.now)
  faceMetrics(registry, () => new Map())
  const known = await registry.metrics()
  const conditions = readFileSync('reconciler/controller/status.ts', 'utf8')

  const rules: unknown = load(read('alerts.yaml'))
  const text = JSON.stringify(rules)
  const asked = [...text.matchAll(/\bpharos_[a-z_]+/g)].map(([name]) => name)
  const named = [...text.matchAll(/condition=~\\"([A-Za-z|]+)/g)].flatMap(([, names = '']) =>
    names.split('|'),
  )

  expect(asked.filter((name) => !known.includes(`# TYPE ${name} `))).toEqual([])
  expect(asked.length).toBeGreaterThan(5)
  expect(named.filter((name) => !conditions.includes(`'${name}'`))).toEqual([])
  expect(named.length).toBeGreaterThan(5)
})

test('systemd accepts the unit, where there is one to ask', () => {
  const unit = read('pharos-controller.service')
  expect(unit).toContain('SuccessExitStatus=143')
  const program = '/usr/bin/systemd-analyze'
  if (!existsSync(program)) return
  const folder = mkdtempSync(join(tmpdir(), 'pharos-unit-'))
  const file = join(folder, 'pharos-controller.service')
  // The program lies elsewhere here, and systemd looks whether it is there.
  writeFileSync(file, unit.replace('/usr/local/bin/pharos', process.execPath))

  const said = execFileSync(program, ['verify', '--man=no', file], { stdio: 'pipe' }).toString()

  expect(said).toBe('')
  rmSync(folder, { recursive: true })
})

test('the container runs as nobody special, and has the programs that the controller runs', () => {
  const steps = read('Containerfile')

  expect([/^USER node$/m.test(steps), steps.includes(' git openssh-client')]).toEqual([true, true])
  expect(steps).toContain('ENTRYPOINT ["pharos", "controller"]')
})
