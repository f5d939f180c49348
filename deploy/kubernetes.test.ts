import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { STOP_MS_MAX } from '../server/process/listeners.ts'
import {
  DEPLOY,
  deployFiles,
  documentsOf,
  type Labels,
  manifests,
  valuesOf,
  type Workload,
  workloads,
} from './testing/deployFiles.ts'

const KUSTOMIZATIONS = deployFiles().filter((file) => file.endsWith('kustomization.yaml'))
const KUBECTL = ['/usr/bin/kubectl', '/usr/local/bin/kubectl'].find(existsSync)

/**
 * Time that a stopping server needs for its listeners and its database, in addition to the requests in progress
 * (seconds).
 */
const STOP_RESERVE_S = 5

test('every manifest file belongs to a kustomization, and every file that a kustomization names exists', () => {
  const named = KUSTOMIZATIONS.flatMap((file) => {
    const [kustomization] = documentsOf(file)
    const names = [
      ...valuesOf(kustomization, 'resources'),
      ...valuesOf(kustomization, 'files'),
      valuesOf(kustomization, 'path'),
    ].flat()
    return names.map((name) => join(dirname(file), String(name)))
  })
  const present = deployFiles().filter(
    (file) => file.startsWith('kubernetes/') && !file.endsWith('kustomization.yaml'),
  )

  expect(KUSTOMIZATIONS.length).toBe(4)
  expect(named.filter((path) => !existsSync(join(DEPLOY, path)))).toEqual([])
  expect(present.filter((file) => !named.includes(file))).toEqual([])
})

test.each(KUSTOMIZATIONS)('kubectl, if installed, builds %s', (file) => {
  expect(documentsOf(file).length).toBe(1)
  if (KUBECTL === undefined) return
  const built = execFileSync(KUBECTL, ['kustomize', join(DEPLOY, dirname(file))], { encoding: 'utf8' })

  expect(built).toContain('kind: ')
})

describe.each(workloads().map((workload) => [workload.metadata.name, workload] as const))(
  '%s',
  (_, { spec }) => {
    const pod = spec.template.spec
    const [container] = pod.containers

    test('selects its own pods', () => {
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels)
    })

    test('runs as an unprivileged user, on a read-only root', () => {
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 10_001,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(container.securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      })
    })

    test('mounts only volumes that it declares, and mounts each of them', () => {
      const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name)
      const volumes = [...pod.volumes.map(({ name }) => name), ...claims]

      expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(volumes.sort())
    })

    test('mounts each secret file that a variable names', () => {
      const files = container.volumeMounts.flatMap(({ name, mountPath }) =>
        (pod.volumes.find((volume) => volume.name === name)?.secret?.items ?? []).map(
          ({ path }) => `${mountPath}/${path}`,
        ),
      )
      const named = (container.env ?? [])
        .filter(({ name }) => name.endsWith('_FILE'))
        .map(({ value }) => value)

      expect(named.sort()).toEqual(files.sort())
    })

    test('runs commands that consist of strings', () => {
      const words = [...valuesOf(container, 'args'), ...valuesOf(container, 'command')].flat()

      // Without quotes, a colon in a word makes a map of it, which the API server refuses.
      expect(words.length).toBeGreaterThan(1)
      expect(words.filter((word) => typeof word !== 'string')).toEqual([])
    })

    test('probes only ports that it declares', () => {
      const ports = (container.ports ?? []).map(({ name }) => name)
      const probed = valuesOf(container, 'httpGet').flatMap((probe) => valuesOf(probe, 'port'))

      expect(probed.filter((port) => !ports.includes(String(port)))).toEqual([])
    })
  },
)

test('a stopping server has time for preStop and for the requests in flight', () => {
  const [server] = workloads().filter(({ metadata }) => metadata.name === 'pharos-server')
  const [container] = server?.spec.template.spec.containers ?? []
  const [program, seconds] = container?.lifecycle?.preStop.exec.command ?? []
  const neededS = Number(seconds) + STOP_MS_MAX / 1_000 + STOP_RESERVE_S

  expect(program).toBe('sleep')
  expect(server?.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(neededS)
})

/** Labels of pods, and names of their ports. */
const PODS = workloads().map(({ spec }: Workload) => ({
  labels: spec.template.metadata.labels,
  ports: (spec.template.spec.containers[0].ports ?? []).map(({ name }) => name),
}))

/** The pods that the labels `selector` select. */
function selected(selector: Labels): typeof PODS {
  return PODS.filter(({ labels }) => Object.entries(selector).every(([key, value]) => labels[key] === value))
}

test.each(
  manifests()
    .filter(({ manifest }) => ['Service', 'PodDisruptionBudget', 'NetworkPolicy'].includes(manifest.kind))
    .map(({ manifest }) => [manifest.kind, manifest.metadata.name, manifest.spec] as const),
)('the %s %s selects existing pods and ports', (kind, _name, spec) => {
  const [selector] = valuesOf(spec, kind === 'NetworkPolicy' ? 'podSelector' : 'selector')
  const labels = kind === 'Service' ? selector : valuesOf(selector, 'matchLabels')[0]
  // True because Kubernetes takes no other.
  const pods = selected(labels as Labels)
  const ports = [...valuesOf(spec, 'targetPort'), ...valuesOf(spec, 'port')].filter(
    (port) => typeof port === 'string',
  )

  expect(pods.length).toBe(1)
  expect(ports.filter((port) => !pods.some((pod) => pod.ports.includes(port)))).toEqual([])
})
