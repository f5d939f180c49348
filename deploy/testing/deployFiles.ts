import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAll } from 'js-yaml'

/** The folder with all files that operators deploy. */
export const DEPLOY = join(import.meta.dirname, '..')

/** Paths of the files to deploy, relative to DEPLOY, without tests. */
export function deployFiles(): readonly string[] {
  return readdirSync(DEPLOY, { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(DEPLOY.length + 1))
    .filter((file) => !/\.ts$|^secrets\//.test(file))
    .sort()
}

export function readDeployFile(file: string): string {
  return readFileSync(join(DEPLOY, file), 'utf8')
}

/** The documents of a YAML file. */
export function documentsOf(file: string): readonly unknown[] {
  return loadAll(readDeployFile(file))
}

/** Values at any depth of `value` below a key `name`. */
export function valuesOf(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [
    ...(key === name ? [member] : []),
    ...valuesOf(member, name),
  ])
}

/** The parts of a workload's container that the tests read. */
export interface Container {
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly securityContext: object
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
}

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string }
}

/** The parts of a Deployment or StatefulSet that the tests read. */
export interface Workload {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly selector: { readonly matchLabels: Labels }
    readonly template: {
      readonly metadata: { readonly labels: Labels }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly securityContext: object
        readonly containers: readonly [Container]
        readonly volumes: readonly Volume[]
      }
    }
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
  }
}

export type Labels = Readonly<Record<string, string>>

interface Volume {
  readonly name: string
  readonly secret?: { readonly items: readonly { readonly path: string }[] }
}

/** A Kubernetes object. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: unknown
}

/** The objects in all manifests, each with its file. Kustomizations and patches are not included. */
export function manifests(): readonly { readonly file: string; readonly manifest: Manifest }[] {
  return deployFiles()
    .filter((file) => /^kubernetes\/.*\.yaml$/.test(file))
    .filter((file) => !/kustomization\.yaml$|pharos-controller\.yaml$|databaseSecret\.yaml$/.test(file))
    .flatMap((file) =>
      // True because Kubernetes accepts no other form.
      documentsOf(file).map((document) => ({ file, manifest: document as Manifest })),
    )
}

/** The workloads among the manifests. */
export function workloads(): readonly Workload[] {
  return manifests()
    .filter(({ manifest: { kind } }) => kind === 'Deployment' || kind === 'StatefulSet')
    .map(({ manifest }) => manifest as Manifest & Workload) // True because of the kinds.
}
